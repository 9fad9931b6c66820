import { defineConfig } from "vitest/config";

/** Tests of the archive with Node and of real Spark, which are skipped, and say so, where it is missing. */
export default defineConfig({
  test: {
    include: ["test/spark/**/*.test.ts"],
    testTimeout: 600_000,
    hookTimeout: 600_000,
    pool: "forks",
    // Each starts a JVM or several.
    fileParallelism: false,
  },
});
