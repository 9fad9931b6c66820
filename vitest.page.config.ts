import { defineConfig } from "vitest/config";

/** The page in real browsers. Tests say so when one is missing. */
export default defineConfig({
  test: {
    include: ["test/page/browser/**/*.test.ts"],
    passWithNoTests: true,
    testTimeout: 300_000,
    hookTimeout: 120_000,
    pool: "forks",
    // What a page shows comes after what was asked for; a busy machine needs more than a second.
    expect: { poll: { timeout: 20_000 } },
    // Browsers are heavy.
    fileParallelism: false,
  },
});
