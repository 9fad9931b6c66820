import { describe, expect, it } from "vitest";
import { type ByteSource, MemorySource } from "../../src/bytes/byte-source.ts";
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
    const reads: number[] = [];
    for (const i of [40_000, 10_000, 40_000]) {
      await search.find(keys[i] ?? "");
      reads.push(source.reads);
    }
    expect(new Set(reads).size).toBe(3);
  });

  it.each([0, 3000])(
    "answers many at a time though it may keep only %s bytes",
    async (maxBytes) => {
      const search = await MapSearch.open(new MemorySource(bytes), { blockBytes: 1024, maxBytes });
      const some = Array.from({ length: 500 }, (_, i) => i * 100);
      const answers = await Promise.all(some.map((i) => search.lookupSurt(keys[i])));
      expect(answers.map(({ frequency }) => frequency)).toEqual(some.map((i) => String(i + 1)));
    },
  );

  it("answers at once what it has kept", async () => {
    const search = await MapSearch.open(new MemorySource(bytes));
    const first = search.lookupNow(keys[4000], {}, true);
    expect(first).toBeInstanceOf(Promise);
    expect(search.lookupNow(keys[4000], {}, true)).toBeInstanceOf(Promise);
    expect(await first).toMatchObject({ present: true, frequency: "4001" });
    expect(search.lookupNow(keys[4000], {}, true)).toEqual(await first);
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
});

const MAP = Buffer.from(Array.from({ length: 90 }, (_, i) => `com,h${i + 10})/ ${i}\n`).join(""));

/** A map whose reads after the headers wait until they are let go, or aborted. */
class HeldSource implements ByteSource {
  readonly name = "held";
  readonly size = MAP.length;
  readonly signals: (AbortSignal | undefined)[] = [];
  readonly #waiting: (() => void)[] = [];
  isHeld = false;

  read(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array> {
    const bytes = MAP.subarray(offset, offset + length);
    if (!this.isHeld) return Promise.resolve(bytes);
    this.signals.push(signal);
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => resolve(bytes));
      signal?.addEventListener("abort", () => reject(signal.reason as Error));
    });
  }

  letGo(): void {
    this.isHeld = false;
    for (const go of this.#waiting.splice(0)) go();
  }
}

/** It keeps one block, the last, so that other lookups read. */
async function heldSearch(): Promise<{ source: HeldSource; search: MapSearch }> {
  const source = new HeldSource();
  const search = await MapSearch.open(source, { blockBytes: 256, maxBytes: 256 });
  await search.lookupSurt("com,h99)/");
  source.isHeld = true;
  return { source, search };
}

describe("lookups at the same time", () => {
  it("share a read, whether they can be aborted or not", async () => {
    const { source, search } = await heldSearch();
    const signals = [undefined, new AbortController().signal, new AbortController().signal];
    const answers = signals.map((signal) => search.lookupSurt("com,h11)/", { signal }));
    expect(source.signals).toHaveLength(1);
    source.letGo();
    for (const answer of answers) expect(await answer).toMatchObject({ frequency: "1" });
  });

  it("end only their own wait when they are aborted", async () => {
    const { source, search } = await heldSearch();
    const [first, second] = [new AbortController(), new AbortController()];
    const aborted = search.lookupSurt("com,h11)/", { signal: first.signal });
    const other = search.lookupSurt("com,h11)/", { signal: second.signal });
    first.abort(new Error("enough"));
    await expect(aborted).rejects.toThrow("enough");
    expect(source.signals[0]?.aborted).toBe(false);
    source.letGo();
    expect(await other).toMatchObject({ frequency: "1" });
  });

  it("abort the read when none of them waits any more", async () => {
    const { source, search } = await heldSearch();
    const controllers = [new AbortController(), new AbortController()];
    const answers = controllers.map(({ signal }) => search.lookupSurt("com,h11)/", { signal }));
    for (const controller of controllers) controller.abort(new Error("enough"));
    for (const answer of answers) await expect(answer).rejects.toThrow("enough");
    expect(source.signals.map((signal) => signal?.aborted)).toEqual([true]);
    // The next one reads again.
    source.isHeld = false;
    expect(await search.lookupSurt("com,h11)/")).toMatchObject({ frequency: "1" });
  });

  it("refuse at once what is aborted before", async () => {
    const { source, search } = await heldSearch();
    const signal = AbortSignal.abort(new Error("never"));
    await expect(search.lookupSurt("com,h11)/", { signal })).rejects.toThrow("never");
    expect(source.signals.every((held) => held?.aborted)).toBe(true);
  });
});
