import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // See vitest.peers.config.ts, vitest.faults.config.ts, vitest.spark.config.ts, vitest.page.config.ts.
    exclude: ["test/peers/**", "test/faults/**", "test/spark/**", "test/page/browser/**"],
    setupFiles: ["test/support/property-seed.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // `expect.poll` gives up after a second otherwise, which a busy machine may need.
    expect: { poll: { timeout: 20_000 } },
    // Two forks match the smallest machine we support; worker threads are what we test, so the
    // runner itself must not use them.
    pool: "forks",
    // Of `npm run coverage`. Threads and commands run as processes use dist, and are not measured.
    coverage: { include: ["src/**/*.ts"], reporter: ["text-summary", "html"] },
  },
});
