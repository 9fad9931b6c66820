import fc from "fast-check";
import { MissList, MissLog } from "../../src/compact/misses.ts";
import { compactMap } from "../../src/compact/compact-map.ts";
import type { CompactMapOptions } from "../../src/compact/compact-map.ts";
import { chunked, collected } from "../support/chunked.ts";
import { byBytes } from "../support/compaction-oracle.ts";

const label = fc.constantFrom("a", "b", "a-b", "a0", "a+b", "a%20", "x:80");
const host = fc
  .tuple(fc.constantFrom("com", "org"), fc.array(label, { maxLength: 4 }))
  .map(([tld, labels]) => [tld, ...labels].join(","));
const segment = fc.constantFrom(
  "a",
  "b",
  "c",
  "a-b",
  "a.html",
  "a0",
  "%20",
  "!x",
  "%2ab",
  "(z)",
  "a)",
);
const path = fc.array(segment, { maxLength: 5 }).map((segments) => segments.join("/"));

/** A key of any kind that a map may hold. */
const key: fc.Arbitrary<string> = fc.oneof(
  { weight: 12, arbitrary: fc.tuple(host, path).map(([h, p]) => `${h})/${p}`) },
  {
    weight: 2,
    arbitrary: fc.tuple(host, path).map(([h, p]) => `${h})/${p === "" ? "" : `${p}/`}*`),
  },
  { weight: 1, arbitrary: host.map((h) => `${h},*`) },
  { weight: 1, arbitrary: fc.tuple(host, path).map(([h, p]) => `${h},*)/${p}`) },
  { weight: 1, arbitrary: fc.tuple(host, path).map(([h, p]) => `${h})/${p}?q=1`) },
  { weight: 1, arbitrary: fc.constantFrom("*", "dns:a.com", "com,a", "com,a,zz") },
);

const frequency: fc.Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 1, max: 20 }).map(String) },
  { weight: 2, arbitrary: fc.constant("0") },
  { weight: 1, arbitrary: fc.constantFrom("5+", "7-", "3~", "/", "/4", "4/2", "0/3", "9+/2-") },
);

/** The rows of a map, sorted; at least one, as a map without any is refused. */
export const map: fc.Arbitrary<string[]> = fc
  .uniqueArray(fc.tuple(key, frequency), {
    minLength: 1,
    maxLength: 60,
    selector: ([text]) => text,
  })
  .map((rows) => rows.map((row) => row.join(" ")).sort(byBytes));

export const weight: fc.Arbitrary<number> = fc.constantFrom(
  0,
  0.02,
  0.05,
  0.1,
  0.2,
  0.4,
  Number.POSITIVE_INFINITY,
);

/** Compacts rows, or the lines of a whole map. */
export async function compactedRows(
  rows: readonly string[],
  options: CompactMapOptions,
  chunkSize: number = 1 << 16,
): Promise<string[]> {
  const text = Buffer.from(rows.map((row) => `${row}\n`).join(""));
  const bytes = await collected(compactMap(chunked(text, [chunkSize]), options));
  return Buffer.from(bytes).toString().split("\n").slice(0, -1);
}

/** Lookups that missed, in the order they came, as keys. */
export function missListOf(keys: Iterable<string>): MissList {
  const log = new MissLog();
  for (const key of keys) {
    const bytes = Buffer.from(key);
    log.add(bytes, 0, bytes.length);
  }
  return new MissList(log);
}
