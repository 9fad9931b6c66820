import { describe, expect, it } from "vitest";
import { type ByteSource, MemorySource } from "../../src/bytes/byte-source.ts";
import { encode } from "../maps/map-files.ts";
import { byText } from "./map-arbitraries.ts";
import { sampledSearch } from "./sampled.ts";

const keys = Array.from({ length: 5000 }, (_, i) => `com,site${i % 500})/page/${i}`).sort(byText);
const bytes = encode(keys.map((key, i) => `${key} ${i + 1}\n`).join(""));

class CountingSource implements ByteSource {
  readonly name = "counting";
  readonly size = bytes.length;
  readonly #inner = new MemorySource(bytes);
  reads = 0;

  read(offset: number, length: number): Promise<Uint8Array> {
    this.reads += 1;
    return this.#inner.read(offset, length);
  }
}

describe("SampledSearch", () => {
  it("finds every key, with one read for each segment", async () => {
    const source = new CountingSource();
    const search = await sampledSearch(source, 1024, bytes.length);
    source.reads = 0;
    for (const [i, key] of keys.entries()) {
      expect(await search.find(key)).toMatchObject({ key, frequency: String(i + 1) });
      expect(await search.find(`${key}/x`)).toBeUndefined();
    }
    expect(source.reads).toBeLessThanOrEqual(Math.ceil(bytes.length / 1024));
  });

  it("answers at once what it has kept", async () => {
    const search = await sampledSearch(new CountingSource(), 1024, bytes.length);
    const first = search.lookupNow(keys[4000], {}, true);
    expect(first).toBeInstanceOf(Promise);
    expect(await first).toMatchObject({ present: true, frequency: "4001" });
    expect(search.lookupNow(keys[4000], {}, true)).toMatchObject({
      present: true,
      frequency: "4001",
    });
  });

  it("shares reads between lookups at the same time", async () => {
    const source = new CountingSource();
    const search = await sampledSearch(source, 1024, bytes.length);
    source.reads = 0;
    const asked = keys.slice(0, 2000).map((key) => search.lookupSurt(key.replace("page", "none")));
    for (const { present } of await Promise.all(asked)) expect(present).toBe(false);
    expect(source.reads).toBeLessThanOrEqual(Math.ceil(bytes.length / 1024));
  });

  it.each([0, 1, 3000])("answers though it may keep only %s bytes", async (maxBytes) => {
    const source = new CountingSource();
    const search = await sampledSearch(source, 1024, maxBytes);
    source.reads = 0;
    const all = await Promise.all(keys.map((key) => search.lookupSurt(key)));
    expect(all.map(({ frequency }) => frequency)).toEqual(keys.map((_, i) => String(i + 1)));
    const before = source.reads;
    for (const key of keys) await search.find(key);
    expect(source.reads - before).toBeGreaterThan(bytes.length / 1100 - 3);
  });

  it("can be aborted", async () => {
    const search = await sampledSearch(new CountingSource(), 1024, 0);
    const stopped = AbortSignal.abort(new Error("enough"));
    await expect(search.lookupSurt(keys[0], { signal: stopped })).rejects.toThrow("enough");
    await expect(search.find(keys[0], { signal: stopped })).rejects.toThrow("enough");
  });
});
