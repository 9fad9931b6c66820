import { defineConfig } from "vitest/config";

/** Kills, full disks, missing rights: the built command line on a machine that lets it down. */
export default defineConfig({
  test: {
    include: ["test/faults/**/*.test.ts"],
    // One kill takes a second or two; MEMENTOMAP_KILLS may ask for many.
    testTimeout: 3_600_000,
    hookTimeout: 120_000,
    pool: "forks",
    // Moments are taken from how long a run lasts, which must not depend on other tests.
    fileParallelism: false,
    disableConsoleIntercept: true,
  },
});
