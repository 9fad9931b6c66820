import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ZstdWindowCheck } from "../../src/files/decoders.ts";
import { decompressed } from "../../src/files/decompress.ts";
import { chunked, collected } from "../support/chunked.ts";

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
const SMALL = frame(0x18);
const LARGEST = frame((27 - 10) << 3);
const TOO_LARGE = frame(((27 - 10) << 3) | 1);

describe("ZstdWindowCheck", () => {
  it("refuses a window over 128 MiB in whichever frame, however the bytes are cut", () => {
    const sound = fc.array(fc.constantFrom(SMALL, LARGEST, SKIPPABLE, wholeFrame(2n ** 27n)));
    const lengths = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 });
    fc.assert(
      fc.property(sound, fc.boolean(), lengths, (frames, isBad, sizes) => {
        const bytes = Buffer.concat([...frames, ...(isBad ? [TOO_LARGE] : []), ...frames]);
        const check = new ZstdWindowCheck("x.zst");
        let refusal = "";
        try {
          for (let at = 0, turn = 0; at < bytes.length; turn++) {
            const length = sizes[turn % sizes.length];
            check.take(bytes.subarray(at, at + length));
            at += length;
          }
        } catch (error) {
          refusal = String(error);
        }
        expect(refusal.includes("zstd data needs 150994944 bytes")).toBe(isBad);
      }),
    );
  });

  it("refuses 19 bytes that would take 2 GB to read", async () => {
    const bomb = Buffer.from("KLUv/fJYMQAAaGVsbG8KU4gZ9g==", "base64");
    for (const hostile of [bomb, wholeFrame(2n ** 30n)]) {
      const read = collected(decompressed(chunked(hostile, [5]), { source: "x.zst" }));
      await expect(read).rejects.toThrow(/zstd|compressed data/);
    }
  });
});
