import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FileSource } from "../../src/files/input-file.ts";
import { scratchDir } from "../support/scratch.ts";

describe("FileSource", () => {
  it("reads any range, cut at the end of the file", async () => {
    const path = join(scratchDir(), "map.ukvs");
    const bytes = Buffer.from("com,a)/ 1\ncom,b)/ 2\ncom,c)/ 3\n");
    writeFileSync(path, bytes);
    const source = await FileSource.open(path);
    expect(source).toMatchObject({ name: path, size: bytes.length });
    await fc.assert(
      fc.asyncProperty(fc.nat(40), fc.nat(40), async (offset, length) => {
        const expected = bytes.subarray(offset, offset + length);
        expect(Buffer.from(await source.read(offset, length))).toEqual(Buffer.from(expected));
      }),
    );
    await source.close();
  });

  it("says what is wrong with the path", async () => {
    const folder = scratchDir();
    const missing = join(folder, "missing.ukvs");
    await expect(FileSource.open(missing)).rejects.toMatchObject({
      code: "MM_IO",
      message: expect.stringContaining("no such file"),
      position: { source: missing },
    });
    mkdirSync(join(folder, "sub"));
    await expect(FileSource.open(join(folder, "sub"))).rejects.toMatchObject({
      code: "MM_IO",
      message: expect.stringContaining("is a directory"),
    });
    await expect(FileSource.open("/dev/null")).rejects.toMatchObject({ code: "MM_IO" });
  });

  it("notices a file that shrinks under it", async () => {
    const path = join(scratchDir(), "map.ukvs");
    writeFileSync(path, "com,a)/ 1\n");
    const source = await FileSource.open(path);
    truncateSync(path, 3);
    await expect(source.read(0, 10)).rejects.toMatchObject({ code: "MM_IO" });
    await source.close();
  });

  it("stops when asked to", async () => {
    const path = join(scratchDir(), "map.ukvs");
    writeFileSync(path, "com,a)/ 1\n");
    const source = await FileSource.open(path);
    await expect(source.read(0, 10, AbortSignal.abort(new Error("enough")))).rejects.toThrow(
      "enough",
    );
    await source.close();
  });
});
