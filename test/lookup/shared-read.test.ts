import { describe, expect, it } from "vitest";
import type { ByteSource } from "../../src/bytes/byte-source.ts";
import { MapSearch } from "../../src/lookup/map-search.ts";
import { encode } from "../maps/map-files.ts";

const MAP = encode(Array.from({ length: 90 }, (_, i) => `com,h${i + 10})/ ${i}\n`).join(""));

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
