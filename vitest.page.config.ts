import { defineConfig } from "vitest/config";

/** The page in real browsers. Tests say so when one is missing. */
export default defineConfig({
  test: {
    include: ["test/page/browser/**/*.test.ts"],
    passWithNoTests: true,
    testTimeout: 300_000,
    hookTimeout: 120_000,
    pool: "forks",
    // Browsers are heavy.
    fileParallelism: false,
  },
});
