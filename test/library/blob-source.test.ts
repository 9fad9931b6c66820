import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sourceChunks } from "../../src/bytes/byte-source.ts";
import { BlobSource } from "../../src/library/source.ts";

/** A blob of numbered bytes that counts how often it is read. */
function countedBlob(size: number): { blob: Blob; bytes: Uint8Array; reads: () => number } {
  const bytes = Uint8Array.from({ length: size }, (_, i) => (i * 31) >> 3);
  const blob = new Blob([bytes]);
  let reads = 0;
  const slice = (start?: number, end?: number): Blob => {
    reads += 1;
    return new Blob([bytes.slice(start, end)]);
  };
  return { blob: Object.assign(blob, { slice }), bytes, reads: () => reads };
}

describe("a blob as a source", () => {
  it("gives the bytes that are asked for, in any order", async () => {
    const size = 5000;
    const read = fc.tuple(fc.nat(size + 10), fc.nat(600));
    // Reads that follow each other, too.
    const reads = fc.array(fc.tuple(read, fc.nat(3)), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(reads, async (asked) => {
        const { blob, bytes } = countedBlob(size);
        const source = new BlobSource(blob, "blob");
        for (const [[offset, length], more] of asked) {
          for (let i = 0; i <= more; i++) {
            const at = offset + i * length;
            expect(await source.read(at, length)).toEqual(bytes.slice(at, at + length));
          }
        }
      }),
    );
  });

  it("is read in few steps from start to end", async () => {
    const { blob, bytes, reads } = countedBlob(20 * 2 ** 20);
    const chunks: Uint8Array[] = [];
    for await (const chunk of sourceChunks(new BlobSource(blob, "blob"))) chunks.push(chunk);
    expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
    expect(reads()).toBeLessThanOrEqual(4);
  });
});
