import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { type Cache, decodeHolding, encodeHolding } from "../../../src/aggregate/ask/cache.ts";
import { lmdbCache } from "../../../src/aggregate/ask/lmdb-cache.ts";
import { MementoList } from "../../../src/memento/memento-list.ts";
import { until } from "../../support/until.ts";
import { scratchDir } from "../../support/scratch.ts";

async function opened(folder: string, maxBytes = 1e7): Promise<Cache> {
  const errors: Error[] = [];
  const cache = await lmdbCache(folder, { maxBytes, onError: (error) => errors.push(error) });
  if (cache === undefined) throw new Error("the package lmdb is not installed");
  onTestFinished(async () => {
    await cache.close();
    expect(errors).toEqual([]);
  });
  return cache;
}

const text = (bytes: Uint8Array | undefined): string | undefined =>
  bytes === undefined ? undefined : Buffer.from(bytes).toString();

it("a cache in a folder is shared, and there again after a restart, whatever the keys", async () => {
  const folder = scratchDir();
  const [one, two] = [await opened(folder), await opened(folder)];
  const keys = ["", "a", "a".repeat(10_000), "http://é/"];
  for (const key of keys) one.set(key, Buffer.from(`of ${key}`));
  for (const key of keys) await expect.poll(() => text(two.get(key))).toBe(`of ${key}`);
  await one.close();
  const three = await opened(folder);
  expect(keys.map((key) => text(three.get(key)))).toEqual(keys.map((key) => `of ${key}`));
});

it("returns holdings as they were kept, and no part of one", async () => {
  const cache = await opened(scratchDir());
  const mementos = new MementoList();
  for (const uri of ["http://a/1", "http://a/12"]) {
    mementos.addBytes(Buffer.from(uri), 0, uri.length, 1_104_537_600_000);
  }
  const times = { askedAt: 1, madeAt: 2, freshUntil: 3, staleUntil: 4 };
  cache.set("a", encodeHolding({ mementos, ...times }));
  await until(() => cache.get("a") !== undefined);
  const bytes = cache.get("a") ?? new Uint8Array();
  const kept = decodeHolding(bytes);
  expect(kept).toMatchObject(times);
  expect([0, 1].map((i) => kept?.mementos.uriAt(i))).toEqual(["http://a/1", "http://a/12"]);
  for (const length of [0, 5, 47, 48, 50]) {
    expect(decodeHolding(bytes.subarray(0, length))).toBeUndefined();
  }
});

it.each([
  ["another file", (path: string) => writeFileSync(path, "garbage".repeat(10_000))],
  ["an empty one", (path: string) => writeFileSync(path, "")],
  ["one that was cut", (path: string) => truncateSync(path, 10_000)],
])("begins anew in the place of %s", async (_what, damage) => {
  const folder = scratchDir();
  const before = await opened(folder);
  before.set("a", Buffer.from("b"));
  await before.close();
  damage(join(folder, "answers-1.mdb"));
  const cache = await opened(folder);
  expect(cache.get("a")).toBeUndefined();
  cache.set("a", Buffer.from("c"));
  await expect.poll(() => text(cache.get("a"))).toBe("c");
});

it("drops the oldest half when it is full, and keeps the newest", async () => {
  const cache = await opened(scratchDir(), 1e6);
  for (let i = 0; i < 400; i++) {
    cache.set(`${i}`, Buffer.alloc(4000, i));
    // Writes are made in batches; the length of the file is that of what was written.
    await until(() => cache.get(`${i}`)?.length === 4000);
  }
  await expect.poll(() => cache.get("399")?.length).toBe(4000);
  expect(cache.get("0")).toBeUndefined();
  const kept = Array.from({ length: 400 }, (_, i) => cache.get(`${i}`)).filter(Boolean);
  expect(kept.length).toBeGreaterThan(50);
  expect(kept.length).toBeLessThan(300);
});
