import { availableParallelism } from "node:os";
import { expect, it } from "vitest";
import { keepCoresBusy } from "../../src/threads/thread.ts";

it("knows when nothing is free to help", () => {
  const cores = availableParallelism();
  expect(keepCoresBusy(cores, cores)).toBe(true);
  expect(keepCoresBusy(cores + 1, cores + 1)).toBe(true);
  // A thread without a file would have time for the files of others.
  expect(keepCoresBusy(cores + 1, cores)).toBe(false);
  expect(keepCoresBusy(cores - 1, cores)).toBe(false);
});
