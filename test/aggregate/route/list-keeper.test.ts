import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { MementoMapError } from "../../../src/errors.ts";
import { ListKeeper, type ListKeeperOptions } from "../../../src/aggregate/route/archive-list.ts";
import { scratchDir } from "../../support/scratch.ts";

interface Keeping {
  readonly keeper: ListKeeper;
  readonly path: string;
  readonly failures: string[];
  readonly taken: () => number;
  /** What the next takes throw; none when undefined. */
  readonly refuse: (error: Error | undefined) => void;
}

async function keeping(options: Partial<ListKeeperOptions> = {}): Promise<Keeping> {
  const path = join(scratchDir(), "archives.json");
  writeFileSync(path, "[1]");
  const failures: string[] = [];
  let taken = 0;
  let refusal: Error | undefined;
  const keeper = new ListKeeper({
    files: () => [path],
    take: () => {
      taken += 1;
      return refusal === undefined ? Promise.resolve() : Promise.reject(refusal);
    },
    checkEveryMs: 60_000,
    onFailure: (error) => failures.push(error.message),
    ...options,
  });
  onTestFinished(() => keeper.stop());
  await keeper.start();
  return { keeper, path, failures, taken: () => taken, refuse: (error) => (refusal = error) };
}

describe("ListKeeper", () => {
  it("has the list read when its file changes, is replaced, goes or comes; else not", async () => {
    const { keeper, path, taken } = await keeping();
    await keeper.check();
    expect(taken()).toBe(0);
    writeFileSync(path, "[1, 2]");
    await keeper.check();
    expect(taken()).toBe(1);
    writeFileSync(`${path}.new`, "[3, 4]");
    renameSync(`${path}.new`, path);
    await keeper.check();
    await keeper.check();
    expect(taken()).toBe(2);
    rmSync(path);
    await keeper.check();
    await keeper.check();
    expect(taken()).toBe(3);
    writeFileSync(path, "[5]");
    await keeper.check();
    expect(taken()).toBe(4);
  });

  it("says what is wrong until a good list comes, and tells of it once", async () => {
    let now = 1000;
    const { keeper, path, failures, refuse } = await keeping({ now: () => now });
    refuse(new MementoMapError("MM_BAD_INPUT", "this is not a list"));
    now = 2000;
    writeFileSync(path, "{");
    await keeper.check();
    await keeper.reload();
    expect(keeper.state).toEqual({ takenAt: 1000, error: "this is not a list [MM_BAD_INPUT]" });
    expect(failures).toEqual(["this is not a list"]);
    refuse(undefined);
    await keeper.reload();
    expect(keeper.state).toEqual({ takenAt: 2000, error: undefined });
  });

  it("tries again what could not be read, though the file is the same", async () => {
    const { keeper, path, taken, refuse } = await keeping();
    refuse(new MementoMapError("MM_IO", "too many open files"));
    writeFileSync(path, "[1, 2]");
    await keeper.check();
    refuse(undefined);
    await keeper.check();
    expect([taken(), keeper.state.error]).toEqual([2, undefined]);
    await keeper.check();
    expect(taken()).toBe(2);
  });

  it("has a list read by the clock where no file can tell", async () => {
    const { keeper, taken } = await keeping({ files: () => [], takeEveryMs: 20, checkEveryMs: 5 });
    await expect.poll(taken).toBeGreaterThan(1);
    expect(keeper.state.error).toBeUndefined();
  });

  it("does one thing after the other", async () => {
    const events: string[] = [];
    const { keeper } = await keeping({
      take: async () => {
        events.push("begin");
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
        events.push("end");
      },
    });
    await Promise.all([keeper.reload(), keeper.reload()]);
    expect(events).toEqual(["begin", "end", "begin", "end"]);
  });

  it("does not hide what should not have happened", async () => {
    const { keeper, refuse } = await keeping();
    refuse(new TypeError("a bug"));
    await expect(keeper.reload()).rejects.toThrow("a bug");
  });

  it("logs what should not have happened in its timer, and goes on", async () => {
    let isBroken = false;
    const { keeper, failures, taken } = await keeping({
      files: () => {
        if (isBroken) throw new TypeError("a fault in a timer");
        return [];
      },
      takeEveryMs: 1,
      checkEveryMs: 5,
    });
    isBroken = true;
    await expect.poll(() => failures.join()).toContain("a fault in a timer");
    const before = taken();
    isBroken = false;
    await expect.poll(taken).toBeGreaterThan(before);
    expect(keeper.state.error).toBeUndefined();
  });
});
