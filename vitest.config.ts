import { defineConfig } from "vitest/config";

/** They replace modules, or count what their process has open: each has a process of its own. */
const ALONE = [
  "test/files/open-files.test.ts",
  "test/http/origin-pools.test.ts",
  "test/input/parquet-missing.test.ts",
  "test/aggregate/memgator-disk-full.test.ts",
  "test/aggregate/route/map-read-again.test.ts",
];

/** Of `npm run test:all`, see vitest.all.config.ts. */
const ELSEWHERE = [
  "test/**/*.slow.test.ts",
  "test/{attack,faults,peers,spark}/**",
  "test/page/browser/**",
];

export default defineConfig({
  test: {
    setupFiles: ["test/support/setup.ts"],
    // Limits of time end a hang; they judge nothing.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
    // Worker threads are what we test, so the runner itself must not use them.
    pool: "forks",
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        // Modules are loaded once, not for each file.
        test: {
          name: "test",
          isolate: false,
          include: ["test/**/*.test.ts"],
          exclude: [...ELSEWHERE, ...ALONE],
        },
      },
      { extends: true, test: { name: "alone", include: ALONE } },
    ],
    // Of `npm run coverage`. Threads and commands run as processes use dist, and are not measured.
    coverage: { include: ["src/**/*.ts"], reporter: ["text-summary", "html"] },
  },
});
