import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { UpstreamRequest } from "../../../src/aggregate/upstream.ts";
import { PlaceIndex } from "../../../src/aggregate/upstream/cache-store.ts";
import { UnderWay, type UnderWayEntry } from "../../../src/aggregate/upstream/shared-answer.ts";
import { archiveAt, timemapRequest } from "./raw-archive.ts";

describe("the index of places", () => {
  it("finds what was set last, unless it was deleted, is below the floor, or had to go", () => {
    const hashes = fc.integer({ min: 0, max: 40 }).map((number) => (number * 0x9e37_79b1) >>> 0);
    const steps = fc.array(fc.tuple(hashes, fc.boolean()), { maxLength: 300 });
    fc.assert(
      fc.property(steps, fc.nat(300), (taken, floor) => {
        const index = new PlaceIndex(100);
        const model = new Map<number, number>();
        taken.forEach(([hash, isSet], place) => {
          if (isSet) {
            index.set(hash, place);
            model.set(hash, place);
          } else {
            index.delete(hash);
            model.delete(hash);
          }
        });
        for (const [hash] of taken) {
          const right = model.get(hash);
          const found = index.find(hash, floor);
          const isThere = right !== undefined && right >= floor;
          expect(isThere ? [right, undefined] : [undefined]).toContain(found);
        }
      }),
    );
  });

  it("forgets the oldest of a group, and no more than that", () => {
    const index = new PlaceIndex(16);
    for (let place = 0; place < 9; place++) index.set(place * 2 ** 20, place);
    const found = Array.from({ length: 9 }, (_, place) => index.find(place * 2 ** 20, 0));
    expect(found).toEqual([undefined, 1, 2, 3, 4, 5, 6, 7, 8]);
  });
});

describe("the table of what is under way", () => {
  const archive = archiveAt("http://127.0.0.1");
  const requests = fc.record({
    url: fc.constantFrom("http://a/", "http://b/", "http://c/"),
    followsRedirects: fc.boolean(),
    method: fc.constantFrom("GET", "HEAD", undefined),
    headers: fc.constantFrom(undefined, {}, { accept: "a" }, { accept: "b" }, { range: "a" }),
  });
  const sameness = ({ url, followsRedirects, method, headers }: UpstreamRequest): string =>
    JSON.stringify([url, followsRedirects, method ?? "GET", headers ?? {}]);

  it("finds the request that is the same, as long as it is there", () => {
    const steps = fc.array(fc.tuple(requests, fc.boolean()), { maxLength: 200 });
    fc.assert(
      fc.property(steps, (taken) => {
        const table = new UnderWay<UnderWayEntry>();
        const model = new Map<string, UnderWayEntry>();
        for (const [members, isAdded] of taken) {
          const request = timemapRequest(archive, members);
          const key = sameness(request);
          const hash = table.hashOf(request);
          const found = table.find(request, hash);
          expect(found).toBe(model.get(key));
          if (found !== undefined && !isAdded) {
            table.delete(found);
            model.delete(key);
          } else if (found === undefined && isAdded) {
            const entry: UnderWayEntry = { request, hash, next: undefined };
            table.add(entry);
            model.set(key, entry);
          }
        }
        expect(table.size).toBe(model.size);
      }),
    );
  });

  it("grows, and lets go of all", () => {
    const table = new UnderWay<UnderWayEntry>();
    const entries = Array.from({ length: 10_000 }, (_, number): UnderWayEntry => {
      const request = timemapRequest(archive, { url: `http://a/${number}` });
      return { request, hash: table.hashOf(request), next: undefined };
    });
    for (const entry of entries) table.add(entry);
    expect(entries.every((entry) => table.find(entry.request, entry.hash) === entry)).toBe(true);
    for (const entry of entries) table.delete(entry);
    expect(table.size).toBe(0);
    expect(entries.every(({ next }) => next === undefined)).toBe(true);
  });
});
