import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const TESTS = fileURLToPath(new URL("..", import.meta.url));
const TIMER = /\bset(?:Timeout|Interval)\(|timers\/promises/g;

/**
 * Where tests may use timers: to play a peer that is slow, or to do something at a random moment.
 * Never to wait: for that there are events, `until` and fake clocks.
 */
const ALLOWED: Readonly<Record<string, number>> = {
  // Peers that are slow, send byte by byte, or close after what they sent has arrived.
  "cli/open-files.test.ts": 1,
  "http/connection-pool.test.ts": 2,
  "http/node-client.test.ts": 2,
  "harvest/harvest-index.test.ts": 2,
  "aggregate/upstream/bad-answers.test.ts": 2,
  "aggregate/upstream/limits.test.ts": 1,
  "support/demo-archives.ts": 1,
  "support/hostile-archives.ts": 1,
  // In a browser: measures how long it takes until something is shown.
  "page/browser/speed.test.ts": 3,
  // A thread that dies in the middle of its work.
  "map/generate/generate-process.test.ts": 1,
  // Kills and signals at random moments.
  "faults/kills.test.ts": 1,
  "faults/process-signals.test.ts": 1,
  // A program that writes no faster than a disk, and is killed.
  "aggregate/upstream/cache-writer.ts": 1,
  // Looks for a file while a real server is asked.
  "peers/inputs.test.ts": 1,
};

it("no test waits by the clock", () => {
  const names = readdirSync(TESTS, { recursive: true, encoding: "utf8" })
    .map((name) => name.replaceAll("\\", "/"))
    .filter((name) => /\.m?ts$|\.mjs$/.test(name) && name !== "package/timers.test.ts");
  const found = names.flatMap((name) => {
    const count = readFileSync(join(TESTS, name), "utf8").match(TIMER)?.length ?? 0;
    return count === 0 ? [] : [[name, count] as const];
  });
  expect(Object.fromEntries(found)).toEqual(ALLOWED);
});
