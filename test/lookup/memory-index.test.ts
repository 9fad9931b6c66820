import { describe, expect, it } from "vitest";
import { MAX_INDEX_BYTES, MemoryIndex } from "../../src/lookup/memory-index.ts";

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("an index in memory", () => {
  it("is built in slices as it is at once", async () => {
    const keys = Array.from({ length: 30_000 }, (_, i) => `com,a)/${10_000 + i}`);
    const lines = keys.map((key, i) => `${key} ${i % 3}\n`).join("");
    // Only the last slice has a spread key, only the first a query.
    const bytes = encode(`com,a)/0?q 7\n${lines}org,*)/a 1\n`);
    let pauses = 0;
    const pause = async (): Promise<void> => void pauses++;
    const sliced = await MemoryIndex.buildInSlices(bytes, { pause });
    const whole = MemoryIndex.build(bytes);
    expect(pauses).toBeGreaterThan(2);
    expect(sliced.keyCount).toBe(30_002);
    for (const surt of [...keys, "com,a)/0?q", "org,b)/a", "org,b)/b"]) {
      expect(sliced.lookupSurtSync(surt)).toEqual(whole.lookupSurtSync(surt));
    }
  });

  it("refuses rows that are not in order, with the line and what to do", () => {
    const map = encode("!meta {}\ncom,a)/ 1\n\ncom,b)/ 1\ncom,a)/ 2\n");
    expect(() => MemoryIndex.build(map, { source: "m.ukvs" })).toThrow(
      expect.objectContaining({
        code: "MM_NOT_SORTED",
        position: { source: "m.ukvs", line: 5 },
        message: expect.stringContaining("mementomap merge") as string,
      }),
    );
  });

  it("names the line of a fault", () => {
    const map = encode("!meta {}\r\ncom,a)/ 1\r\ncom,b)/ 1 {}\r\ncom,c)/ x\r\n");
    expect(() => MemoryIndex.build(map)).toThrow(
      expect.objectContaining({ position: { source: "memory", line: 4 } }),
    );
  });

  it("refuses a map too large to index, and tells what to do", () => {
    // Only its length is looked at: the memory itself is not needed.
    const huge = Object.create(Uint8Array.prototype, {
      length: { value: MAX_INDEX_BYTES + 1 },
    }) as Uint8Array;
    expect(() => MemoryIndex.build(huge)).toThrow("search the file instead");
  });
});
