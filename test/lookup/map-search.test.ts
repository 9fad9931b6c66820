import { describe, expect, it } from "vitest";
import { type ByteSource, MemorySource, sourceChunks } from "../../src/bytes/byte-source.ts";
import { MapSearch } from "../../src/lookup/map-search.ts";
import { byText } from "./map-arbitraries.ts";

class CountingSource implements ByteSource {
  readonly name = "counting";
  readonly size: number;
  readonly #inner: MemorySource;
  reads = 0;

  constructor(bytes: Uint8Array) {
    this.#inner = new MemorySource(bytes);
    this.size = bytes.length;
  }

  read(offset: number, length: number): Promise<Uint8Array> {
    this.reads++;
    return this.#inner.read(offset, length);
  }
}

const keys = Array.from({ length: 50_000 }, (_, i) => `com,site${i % 500})/page/${i}`).sort(byText);
const bytes = new TextEncoder().encode(keys.map((key, i) => `${key} ${i + 1}\n`).join(""));

describe("MapSearch", () => {
  it("reads the headers once, and about log2(blocks) blocks for the first search", async () => {
    const source = new CountingSource(bytes);
    const search = await MapSearch.open(source, { blockBytes: 4096 });
    expect(source.reads).toBe(1);
    const key = keys[30_000] ?? "";
    expect(await search.find(key)).toEqual({
      present: true,
      decides: true,
      key,
      frequency: "30001",
    });
    const levels = Math.ceil(Math.log2(bytes.length / 4096));
    expect(source.reads).toBeLessThanOrEqual(levels + 2);

    const before = source.reads;
    await search.find(key);
    expect(source.reads).toBe(before);
  });

  it("shares blocks between searches", async () => {
    const source = new CountingSource(bytes);
    const search = await MapSearch.open(source, { blockBytes: 4096, maxBytes: 64 * 4096 });
    let found = 0;
    for (let i = 0; i < keys.length; i += 97) {
      if ((await search.find(keys[i] ?? "")) !== undefined) found++;
    }
    expect(found).toBe(Math.ceil(keys.length / 97));
    // In key order a search needs little more than the block its key is in.
    expect(source.reads / found).toBeLessThan(3);
  });

  it("keeps no more blocks than told", async () => {
    const source = new CountingSource(bytes);
    const search = await MapSearch.open(source, { blockBytes: 4096, maxBytes: 4096 });
    await search.find(keys[40_000] ?? "");
    const first = source.reads;
    await search.find(keys[10_000] ?? "");
    const second = source.reads;
    expect(second).toBeGreaterThan(first);
    await search.find(keys[40_000] ?? "");
    expect(source.reads).toBeGreaterThan(second);
  });

  it("refuses a line without end", async () => {
    const source = new MemorySource(new Uint8Array(2_100_000).fill(0x61));
    const search = MapSearch.open(source, { blockBytes: 512 });
    await expect(search).rejects.toMatchObject({
      code: "MM_LIMIT",
      position: { source: "memory" },
    });
  });

  it("says so when the source became shorter", async () => {
    const source: ByteSource = {
      name: "shrunk",
      size: 100,
      read: () => Promise.resolve(new Uint8Array(3)),
    };
    await expect(MapSearch.open(source)).rejects.toMatchObject({ code: "MM_IO" });
  });

  it("stops when its signal says so", async () => {
    const controller = new AbortController();
    const source: ByteSource = {
      name: "slow",
      size: bytes.length,
      read(offset, length, signal) {
        signal?.throwIfAborted();
        return Promise.resolve(bytes.subarray(offset, offset + length));
      },
    };
    const search = await MapSearch.open(source);
    controller.abort(new Error("enough"));
    await expect(search.find("com,site7)/x", { signal: controller.signal })).rejects.toThrow(
      "enough",
    );
  });
});

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
