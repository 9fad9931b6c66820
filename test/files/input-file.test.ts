import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { openInput } from "../../src/files/input-file.ts";
import { chunked, collected } from "../support/chunked.ts";
import { scratchDir } from "../support/scratch.ts";

const text = "com,a)/ 1\n".repeat(200_000);

function stdin(bytes: string | Uint8Array): { stdin: AsyncIterable<Uint8Array> } {
  return { stdin: chunked(Buffer.from(bytes), [1000]) };
}

describe("openInput", () => {
  it("reads a file of several chunks and counts what it reads", async () => {
    const path = join(scratchDir(), "map.ukvs");
    writeFileSync(path, text);
    let read = 0;
    const input = await openInput(path, stdin(""), { onRead: (bytes) => (read += bytes) });
    expect(input).toMatchObject({ name: path, size: text.length });
    expect(Buffer.from(await collected(input.chunks)).toString()).toBe(text);
    expect(read).toBe(text.length);
  });

  it("recognises gzip by content, not by name, and counts stored bytes", async () => {
    const path = join(scratchDir(), "map.txt");
    const stored = gzipSync(text);
    writeFileSync(path, stored);
    let read = 0;
    const input = await openInput(path, stdin(""), { onRead: (bytes) => (read += bytes) });
    expect(Buffer.from(await collected(input.chunks)).toString()).toBe(text);
    expect(input.size).toBe(stored.length);
    expect(read).toBe(stored.length);
  });

  it.each([undefined, "-"])("reads standard input for %s", async (path) => {
    const input = await openInput(path, stdin(gzipSync("com,a)/ 1\n")));
    expect(input).toMatchObject({ name: "stdin", size: undefined });
    expect(Buffer.from(await collected(input.chunks)).toString()).toBe("com,a)/ 1\n");
  });

  it("fails at once for a path that cannot be read", async () => {
    const folder = scratchDir();
    mkdirSync(join(folder, "sub"));
    await expect(openInput(join(folder, "none"), stdin(""))).rejects.toMatchObject({
      code: "MM_IO",
      message: expect.stringContaining("no such file"),
    });
    await expect(openInput(join(folder, "sub"), stdin(""))).rejects.toMatchObject({
      code: "MM_IO",
      message: expect.stringContaining("is a directory"),
    });
  });

  it("stops between chunks when asked to, and closes the file", async () => {
    const path = join(scratchDir(), "map.ukvs");
    writeFileSync(path, text);
    const controller = new AbortController();
    const input = await openInput(path, stdin(""), { signal: controller.signal });
    const read = async (): Promise<void> => {
      for await (const chunk of input.chunks) {
        expect(chunk.length).toBeGreaterThan(0);
        controller.abort(new Error("enough"));
      }
    };
    await expect(read()).rejects.toThrow("enough");
    await input.close();
  });

  it("may be left early, or closed unread", async () => {
    const path = join(scratchDir(), "map.ukvs");
    writeFileSync(path, text);
    const left = await openInput(path, stdin(""));
    for await (const chunk of left.chunks) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
    const unread = await openInput(path, stdin(""));
    await unread.close();
    await unread.close();
  });

  it("names the file of damaged data", async () => {
    const path = join(scratchDir(), "cut.gz");
    writeFileSync(path, gzipSync(text).subarray(0, -9));
    const input = await openInput(path, stdin(""));
    await expect(collected(input.chunks)).rejects.toMatchObject({
      code: "MM_BAD_INPUT",
      position: { source: path },
    });
  });
});
