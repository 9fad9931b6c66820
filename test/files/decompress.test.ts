import { gzipSync } from "node:zlib";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { recognizeCompression } from "../../src/bytes/bytes.ts";
import { decompressed } from "../../src/files/decompress.ts";
import { chunked, collected } from "../support/chunked.ts";

const ZSTD_HELLO_WORLD = [
  // `printf 'hello\n' | zstd -c` and `printf 'world\n' | zstd -c`
  "KLUv/QRYMQAAaGVsbG8KU4i9kQ==",
  "KLUv/QRYMQAAd29ybGQKqm5Wnw==",
];

async function* failing(): AsyncGenerator<Uint8Array> {
  yield gzipSync("hello").subarray(0, 14);
  throw new Error("the cable is gone");
}

const lengths = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 });

describe("decompressed", () => {
  const options = { source: "x" };

  async function text(bytes: Uint8Array, lengths: readonly number[] = [7]): Promise<string> {
    const output = await collected(decompressed(chunked(bytes, lengths), options));
    return Buffer.from(output).toString();
  }

  it("gives plain bytes as they are, however they are cut", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), lengths, async (bytes, cut) => {
        fc.pre(recognizeCompression(bytes) === undefined);
        const output = await collected(decompressed(chunked(bytes, cut), options));
        expect(Buffer.from(output)).toEqual(Buffer.from(bytes));
      }),
    );
  });

  it("reads every gzip member, however they are cut", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string(), { minLength: 1 }), lengths, async (members, cut) => {
        const bytes = Buffer.concat(members.map((member) => gzipSync(member)));
        expect(await text(bytes, cut)).toBe(members.join(""));
      }),
    );
  });

  it("reads what is much larger than it is stored, and keeps what was given", async () => {
    const lines = Array.from({ length: 400_000 }, (__, i) => `com,site${i % 700})/page/${i}\n`);
    const plain = Buffer.from(lines.join(""));
    const stored = Buffer.concat([gzipSync(plain), gzipSync(Buffer.alloc(20_000_000, "x"))]);
    const output = await collected(decompressed(chunked(stored, [300_000, 7]), options));
    expect(Buffer.compare(output, Buffer.concat([plain, Buffer.alloc(20_000_000, "x")]))).toBe(0);
  });

  it("allows zero bytes after the last gzip member", async () => {
    const padded = Buffer.concat([gzipSync("hello\n"), Buffer.alloc(100)]);
    expect(await text(padded)).toBe("hello\n");
    expect(await text(padded, [1000])).toBe("hello\n");
  });

  const gzip = gzipSync("hello world, hello world\n");
  it.each([
    ["cut in the trailer", gzip.subarray(0, -3), /truncated/],
    ["cut in the data", gzip.subarray(0, 14), /truncated/],
    ["cut in the header", gzip.subarray(0, 5), /truncated/],
    ["cut in the second member", Buffer.concat([gzip, gzip.subarray(0, 9)]), /truncated/],
    ["followed by text", Buffer.concat([gzip, Buffer.from("text")]), /damaged or followed/],
    [
      "followed by zeros and a member",
      Buffer.concat([gzip, Buffer.alloc(30), gzip]),
      /unexpected data after/,
    ],
    [
      "damaged",
      Buffer.from(gzip.map((byte, index) => (index === 15 ? byte ^ 0xff : byte))),
      /damaged/,
    ],
  ])("refuses gzip that is %s", async (_name, bytes, message) => {
    for (const cut of [[1], [7], [1000]]) {
      await expect(text(bytes, cut)).rejects.toMatchObject({
        code: "MM_BAD_INPUT",
        message: expect.stringMatching(message),
        position: { source: "x" },
      });
    }
  });

  const zstd = Buffer.concat(ZSTD_HELLO_WORLD.map((frame) => Buffer.from(frame, "base64")));
  const skippable = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 9, 9, 9]);
  it("reads every zstd frame and passes over skippable ones", async () => {
    for (const cut of [[1], [7], [1000]]) {
      expect(await text(zstd, cut)).toBe("hello\nworld\n");
      expect(await text(Buffer.concat([skippable, zstd]), cut)).toBe("hello\nworld\n");
    }
  });

  it("refuses zstd that is cut short or followed by something else", async () => {
    const frameEnd = zstd.length / 2;
    for (let length = 5; length < zstd.length; length++) {
      if (length === frameEnd) continue;
      const cut = text(zstd.subarray(0, length));
      await expect(cut, `${length} bytes`).rejects.toMatchObject({ code: "MM_BAD_INPUT" });
    }
    const followed = Buffer.concat([zstd, Buffer.from("something else entirely")]);
    await expect(text(followed)).rejects.toMatchObject({ code: "MM_BAD_INPUT" });
  });

  it("stops at the limit of bytes", async () => {
    const bomb = gzipSync(Buffer.alloc(1_000_000));
    const output = decompressed(chunked(bomb, [100]), { ...options, maxDecompressedBytes: 5000 });
    await expect(collected(output)).rejects.toMatchObject({ code: "MM_LIMIT" });
  });

  it("stops a bomb by its ratio", async () => {
    const member = gzipSync(Buffer.alloc(2 ** 27));
    async function* members(): AsyncGenerator<Uint8Array> {
      for (let count = 0; count < 10; count += 1) yield member;
    }
    const drain = async (): Promise<void> => {
      for await (const chunk of decompressed(members(), options)) {
        expect(chunk.length).toBeGreaterThan(0);
      }
    };
    await expect(drain()).rejects.toMatchObject({
      code: "MM_LIMIT",
      message: expect.stringContaining("more than 1000 times"),
    });
  });

  it("closes its source when the reader leaves early", async () => {
    let isClosed = false;
    let given = 0;
    const random = Buffer.from(Array.from({ length: 3000 }, (_, index) => (index * 7919) % 251));
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) {
          given += 1;
          yield gzipSync(random);
        }
      } finally {
        isClosed = true;
      }
    }
    for await (const chunk of decompressed(endless(), options)) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
    expect(isClosed).toBe(true);
    expect(given).toBeLessThan(1000);
  });

  it("passes on the errors of its source", async () => {
    await expect(collected(decompressed(failing(), options))).rejects.toThrow("the cable is gone");
  });
});

/** One frame of a raw block, with a window descriptor of its own. */
function frame(descriptor: number, content = "hello"): Buffer {
  const block = Buffer.alloc(3);
  block.writeUIntLE((content.length << 3) | 1, 0, 3);
  return Buffer.concat([
    Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, descriptor]),
    block,
    Buffer.from(content),
  ]);
}

/** A frame without a window, which says that it holds `size` bytes. */
function wholeFrame(size: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(size);
  return Buffer.concat([
    Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xe0]),
    bytes,
    Buffer.from([(5 << 3) | 1, 0, 0]),
    Buffer.from("hello"),
  ]);
}

const SKIPPABLE = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
const LARGEST_WINDOW = (27 - 10) << 3;

describe("zstd that needs much memory", () => {
  const read = async (bytes: Uint8Array, sizes: readonly number[]): Promise<string> =>
    Buffer.from(await collected(decompressed(chunked(bytes, sizes), { source: "x" }))).toString();

  it("is refused beyond 128 MiB in whichever frame, however the bytes are cut", async () => {
    const sound = fc.array(fc.constantFrom(frame(0x18), SKIPPABLE, wholeFrame(5n)));
    await fc.assert(
      fc.asyncProperty(sound, fc.boolean(), lengths, async (frames, isBad, sizes) => {
        const bad = isBad ? [frame(LARGEST_WINDOW | 1)] : [];
        const bytes = Buffer.concat([...frames, ...bad, ...frames]);
        const outcome = await read(bytes, sizes).catch(String);
        const content = "hello".repeat(2 * frames.filter((one) => one !== SKIPPABLE).length);
        const isRight = isBad
          ? outcome.includes("zstd data takes 150994944 bytes")
          : outcome === content;
        expect(isRight).toBe(true);
      }),
    );
    expect(await read(frame(LARGEST_WINDOW), [5])).toBe("hello");
  });

  it.each([
    ["with a window", Buffer.from("KLUv/fJYMQAAaGVsbG8KU4gZ9g==", "base64")],
    ["without", wholeFrame(2n ** 30n)],
  ])("is refused if 19 bytes would take 2 GB, %s", async (_name, bomb) => {
    await expect(read(bomb, [5])).rejects.toThrow(/zstd data takes \d+ bytes/);
  });
});
