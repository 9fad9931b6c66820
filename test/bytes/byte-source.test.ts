import { describe, expect, it } from "vitest";
import { MemorySource, sourceChunks } from "../../src/bytes/byte-source.ts";

const bytes = Buffer.from(Array.from({ length: 2000 }, (_, i) => `${i} `).join(""));

describe("sourceChunks", () => {
  it("gives the bytes of a range, whatever the chunk size", async () => {
    for (const chunkBytes of [1, 7, 4096, 1 << 20]) {
      const chunks: Uint8Array[] = [];
      for await (const chunk of sourceChunks(new MemorySource(bytes), {
        start: 10,
        end: 5000,
        chunkBytes,
      })) {
        expect(chunk.length).toBeLessThanOrEqual(chunkBytes);
        chunks.push(chunk);
      }
      expect(Buffer.concat(chunks).equals(bytes.subarray(10, 5000))).toBe(true);
    }
  });
});
