import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Interrupt } from "../../src/interruption.ts";
import { withTempDir } from "../../src/files/scratch.ts";
import { scratchDir } from "../support/scratch.ts";

describe("withTempDir", () => {
  it("removes the folder and all in it after use", async () => {
    const parent = scratchDir();
    const result = await withTempDir({ parent }, async (path) => {
      writeFileSync(join(path, "run-1"), "x");
      return readdirSync(parent).length;
    });
    expect(result).toBe(1);
    expect(readdirSync(parent)).toEqual([]);
  });

  it("removes it after a failure", async () => {
    const parent = scratchDir();
    const failing = withTempDir({ parent }, async (path) => {
      writeFileSync(join(path, "run-1"), "x");
      throw new Error("the input is bad");
    });
    await expect(failing).rejects.toThrow("the input is bad");
    expect(readdirSync(parent)).toEqual([]);
  });

  it("removes it when interrupted", async () => {
    const parent = scratchDir();
    const interrupt = new Interrupt();
    await withTempDir({ parent, interrupt }, async (path) => {
      interrupt.cleanUp();
      expect(existsSync(path)).toBe(false);
    });
  });

  it("names a parent that does not exist", async () => {
    const parent = join(scratchDir(), "none");
    await expect(withTempDir({ parent }, () => Promise.resolve())).rejects.toMatchObject({
      code: "MM_IO",
      position: { source: parent },
    });
  });
});
