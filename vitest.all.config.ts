import { readdirSync, readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";

/**
 * What `npm run test:all` runs beyond `npm test`, one file at a time, or only some of it with
 * `-- --project peers`. Tests say so when what they need is missing.
 */

/** The properties again, with four times as many cases and another seed. */
const PROPERTIES = readdirSync("test", { recursive: true, encoding: "utf8" })
  .map((name) => `test/${name}`)
  .filter((name) => /(?<!slow)\.test\.ts$/.test(name))
  .filter((name) => /\bcases\(\d/.test(readFileSync(name, "utf8")));
if (process.env["MEMENTOMAP_SEED"] === undefined) {
  process.env["MEMENTOMAP_SEED"] = String(Date.now() % 2 ** 31);
  process.stdout.write(`MEMENTOMAP_SEED=${process.env["MEMENTOMAP_SEED"]}\n`);
}

export default defineConfig({
  test: {
    setupFiles: ["test/support/setup.ts"],
    // Kills are as many as MEMENTOMAP_KILLS says. A test that hangs must end, too.
    testTimeout: process.env["MEMENTOMAP_KILLS"] === undefined ? 600_000 : 3_600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 20_000 } },
    pool: "forks",
    // Each starts servers, browsers or a JVM, and faults take moments from how long a run lasts.
    fileParallelism: false,
    projects: [
      project("slow", ["test/**/*.slow.test.ts"]),
      project("properties", PROPERTIES, {
        MEMENTOMAP_CASES: process.env["MEMENTOMAP_CASES"] ?? "1",
      }),
      project("faults", ["test/faults/**/*.test.ts"]),
      project("peers", ["test/peers/**/*.test.ts"]),
      project("spark", ["test/spark/**/*.test.ts"]),
      project("attack", ["test/attack/**/*.test.ts"]),
      project("browsers", ["test/page/browser/**/*.test.ts"]),
    ],
  },
});

function project(name: string, include: string[], env: Record<string, string> = {}) {
  return { extends: true as const, test: { name, include, env } };
}
