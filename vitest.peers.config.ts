import { defineConfig } from "vitest/config";

/** Tests beside real neighbours: pywb, Wget, nginx, a browser. Each says so when one is missing. */
export default defineConfig({
  test: {
    include: ["test/peers/**/*.test.ts"],
    passWithNoTests: true,
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: "forks",
    // `expect.poll` gives up after a second otherwise, which a busy machine may need.
    expect: { poll: { timeout: 20_000 } },
    // Neighbours are heavy, and some share a cache folder.
    fileParallelism: false,
  },
});
