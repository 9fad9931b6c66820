import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import * as zlib from "node:zlib";
import { describe, expect, it } from "vitest";
import { Interrupt } from "../../src/interruption.ts";
import { isClosedPipe, openOutput, withOutput } from "../../src/files/output-file.ts";
import { scratchDir } from "../support/scratch.ts";

const stdout = new PassThrough();
const block = Buffer.from("com,a)/ 1\n");

function failWith(code: string): Writable {
  return new Writable({
    write(_chunk, _encoding, done) {
      done(Object.assign(new Error(code), { code }));
    },
  }).on("error", () => undefined);
}

describe("openOutput", () => {
  it("shows nothing under the name before commit, and all of it after", async () => {
    const folder = scratchDir();
    const path = join(folder, "map.ukvs");
    const output = await openOutput(path, { stdout });
    await output.write(block);
    expect(existsSync(path)).toBe(false);
    await output.commit();
    expect(readFileSync(path)).toEqual(block);
    expect(readdirSync(folder)).toEqual(["map.ukvs"]);
  });

  it("keeps what was there when aborted", async () => {
    const folder = scratchDir();
    const path = join(folder, "map.ukvs");
    writeFileSync(path, "before");
    const output = await openOutput(path, { stdout });
    await output.write(block);
    await output.abort();
    expect(readFileSync(path, "utf8")).toBe("before");
    expect(readdirSync(folder)).toEqual(["map.ukvs"]);
  });

  it("keeps the mode of the file it replaces, and the link that led to it", async () => {
    const folder = scratchDir();
    const path = join(folder, "map.ukvs");
    const link = join(folder, "link.ukvs");
    writeFileSync(path, "before");
    chmodSync(path, 0o640);
    symlinkSync(path, link);
    await withOutput(link, { stdout }, (output) => output.write(block));
    expect(readFileSync(path)).toEqual(block);
    expect(statSync(path).mode & 0o777).toBe(0o640);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
  });

  it.skipIf(process.platform === "win32")("makes private files for their owner alone", async () => {
    const path = join(scratchDir(), "note.json");
    writeFileSync(path, "before", { mode: 0o644 });
    await withOutput(path, { stdout, isPrivate: true }, (output) => output.write(block));
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("compresses a name that ends in .gz", async () => {
    const path = join(scratchDir(), "map.ukvs.gz");
    const random = Buffer.from(Array.from({ length: 700_000 }, (_, i) => (i * i * 7919) >> 7));
    await withOutput(path, { stdout }, async (output) => {
      for (let at = 0; at < random.length; at += 100_000) {
        await output.write(random.subarray(at, at + 100_000));
      }
    });
    expect(zlib.gunzipSync(readFileSync(path)).equals(random)).toBe(true);
  });

  it.skipIf("createZstdCompress" in zlib)("says where .zst can be written", async () => {
    const folder = scratchDir();
    await expect(openOutput(join(folder, "map.zst"), { stdout })).rejects.toMatchObject({
      code: "MM_USAGE",
      message: expect.stringContaining(".gz"),
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  it.runIf("createZstdCompress" in zlib)("compresses a name that ends in .zst", async () => {
    const path = join(scratchDir(), "map.zst");
    await withOutput(path, { stdout }, (output) => output.write(block));
    expect([...readFileSync(path).subarray(0, 4)]).toEqual([0x28, 0xb5, 0x2f, 0xfd]);
  });

  it.each(["map.ukvs", "map.ukvs.gz"])(
    "leaves no temporary file of %s on failure",
    async (name) => {
      const folder = scratchDir();
      const failing = withOutput(join(folder, name), { stdout }, async (output) => {
        await output.write(block);
        throw new Error("the input is bad");
      });
      await expect(failing).rejects.toThrow("the input is bad");
      expect(readdirSync(folder)).toEqual([]);
    },
  );

  it("removes its temporary file when interrupted", async () => {
    const folder = scratchDir();
    const interrupt = new Interrupt();
    const output = await openOutput(join(folder, "map.ukvs"), { stdout, interrupt });
    await output.write(block);
    interrupt.cleanUp();
    expect(readdirSync(folder)).toEqual([]);
    await output.abort();
  });

  it("leaves a committed file alone when interrupted later", async () => {
    const folder = scratchDir();
    const interrupt = new Interrupt();
    const path = join(folder, "map.ukvs");
    await withOutput(path, { stdout, interrupt }, (output) => output.write(block));
    interrupt.cleanUp();
    expect(readdirSync(folder)).toEqual(["map.ukvs"]);
  });

  it.skipIf(!existsSync("/dev/full"))("says that the disk is full", async () => {
    const writing = withOutput("/dev/full", { stdout }, (output) => output.write(block));
    await expect(writing).rejects.toMatchObject({
      code: "MM_IO",
      message: expect.stringContaining("no space left"),
      position: { source: "/dev/full" },
    });
    expect(statSync("/dev/full").isCharacterDevice()).toBe(true);
  });

  it("writes to a device directly", async () => {
    await withOutput("/dev/null", { stdout }, (output) => output.write(block));
    expect(statSync("/dev/null").isCharacterDevice()).toBe(true);
  });

  it("says what is wrong with the path", async () => {
    const folder = scratchDir();
    mkdirSync(join(folder, "sub"));
    await expect(openOutput(join(folder, "sub"), { stdout })).rejects.toMatchObject({
      code: "MM_IO",
      message: expect.stringContaining("is a directory"),
    });
    await expect(openOutput(join(folder, "no", "x"), { stdout })).rejects.toMatchObject({
      code: "MM_IO",
      message: expect.stringContaining("does not exist"),
    });
  });
});

describe("standard output", () => {
  it.each([undefined, "-"])("is used for %s", async (path) => {
    const stream = new PassThrough();
    await withOutput(path, { stdout: stream }, (output) => output.write(block));
    expect(stream.read()).toEqual(block);
  });

  it("waits until a block is taken", async () => {
    const waiting: (() => void)[] = [];
    const slow = new Writable({
      write(_chunk, _encoding, done) {
        waiting.push(() => {
          done();
        });
      },
    });
    const output = await openOutput(undefined, { stdout: slow });
    let isWritten = false;
    const writing = output.write(block).then(() => (isWritten = true));
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    expect(isWritten).toBe(false);
    waiting[0]?.();
    await writing;
    expect(isWritten).toBe(true);
  });

  it("tells a closed pipe from other failures", async () => {
    const closed = await openOutput("-", { stdout: failWith("EPIPE") });
    const error: unknown = await closed.write(block).catch((reason: unknown) => reason);
    expect(isClosedPipe(error)).toBe(true);
    const full = await openOutput("-", { stdout: failWith("ENOSPC") });
    await expect(full.write(block)).rejects.toMatchObject({ code: "MM_IO" });
  });
});
