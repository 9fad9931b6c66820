import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Interrupt } from "../../src/interruption.ts";
import { withOutputFolder } from "../../src/files/output-file.ts";
import { scratchDir } from "../support/scratch.ts";

async function writePage(folder: string): Promise<void> {
  writeFileSync(join(folder, "page-0001.ukvs"), "com,a)/ 1\n");
}

describe("withOutputFolder", () => {
  it("shows the folder when it is complete, and not before", async () => {
    const parent = scratchDir();
    const path = join(parent, "pages");
    await withOutputFolder(path, {}, async (folder) => {
      await writePage(folder);
      expect(existsSync(path)).toBe(false);
    });
    expect(readdirSync(parent)).toEqual(["pages"]);
    expect(readdirSync(path)).toEqual(["page-0001.ukvs"]);
  });

  it("takes the place of an empty folder", async () => {
    const path = join(scratchDir(), "pages");
    mkdirSync(path);
    await withOutputFolder(path, {}, writePage);
    expect(readdirSync(path)).toEqual(["page-0001.ukvs"]);
  });

  it("leaves nothing behind on failure", async () => {
    const parent = scratchDir();
    const failing = withOutputFolder(join(parent, "pages"), {}, async (folder) => {
      await writePage(folder);
      throw new Error("the input is bad");
    });
    await expect(failing).rejects.toThrow("the input is bad");
    expect(readdirSync(parent)).toEqual([]);
  });

  it("leaves nothing behind when interrupted", async () => {
    const parent = scratchDir();
    const interrupt = new Interrupt();
    const stopped = withOutputFolder(join(parent, "pages"), { interrupt }, async (folder) => {
      await writePage(folder);
      interrupt.cleanUp();
      expect(readdirSync(parent)).toEqual([]);
      throw new Error("stopped");
    });
    await expect(stopped).rejects.toThrow("stopped");
  });

  it("keeps its hands off what is there already", async () => {
    const parent = scratchDir();
    writeFileSync(join(parent, "file"), "x");
    mkdirSync(join(parent, "full"));
    writeFileSync(join(parent, "full", "file"), "x");
    await expect(withOutputFolder(join(parent, "full"), {}, writePage)).rejects.toMatchObject({
      code: "MM_IO",
      message: expect.stringContaining("not empty"),
    });
    await expect(withOutputFolder(join(parent, "file"), {}, writePage)).rejects.toMatchObject({
      code: "MM_IO",
    });
    await expect(withOutputFolder(join(parent, "no", "x"), {}, writePage)).rejects.toMatchObject({
      code: "MM_IO",
    });
  });
});
