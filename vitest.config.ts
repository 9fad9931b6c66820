import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

/**
 * Tests that share a process, in which modules are loaded once and not for each file: they change
 * nothing that others see. `parquet-missing` replaces a package.
 */
const SHARED =
  "test/{bytes,fuzz,input,library,map,memento,packed,study,surt,ukvs}/**/!(parquet-missing).test.ts";
// See vitest.peers.config.ts, vitest.faults.config.ts, vitest.spark.config.ts, vitest.page.config.ts.
const ELSEWHERE = ["test/peers/**", "test/faults/**", "test/spark/**", "test/page/browser/**"];

export default defineConfig({
  test: {
    setupFiles: ["test/support/property-seed.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // `expect.poll` gives up after a second otherwise, which a busy machine may need.
    expect: { poll: { timeout: 20_000 } },
    // Worker threads are what we test, so the runner itself must not use them.
    pool: "forks",
    // On two cores, the smallest machine we support, the default is one: many tests wait for processes.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: [
      {
        extends: true,
        test: { name: "shared", isolate: false, include: [SHARED] },
      },
      {
        extends: true,
        test: {
          name: "isolated",
          include: ["test/**/*.test.ts"],
          exclude: [SHARED, ...ELSEWHERE],
        },
      },
    ],
    // Of `npm run coverage`. Threads and commands run as processes use dist, and are not measured.
    coverage: { include: ["src/**/*.ts"], reporter: ["text-summary", "html"] },
  },
});
