import { defineConfig } from "vitest/config";

/** Kills, full disks, missing rights: the built command line on a machine that lets it down. */
export default defineConfig({
  test: {
    include: ["test/faults/**/*.test.ts"],
    // One kill takes a second or two; MEMENTOMAP_KILLS may ask for many. A test that hangs must end, too.
    testTimeout: process.env["MEMENTOMAP_KILLS"] === undefined ? 300_000 : 3_600_000,
    hookTimeout: 120_000,
    pool: "forks",
    // `expect.poll` gives up after a second otherwise, which a busy machine may need.
    expect: { poll: { timeout: 20_000 } },
    // Moments are taken from how long a run lasts, which must not depend on other tests.
    fileParallelism: false,
    disableConsoleIntercept: true,
  },
});
