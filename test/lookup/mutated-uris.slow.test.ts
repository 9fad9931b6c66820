import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { Mutator } from "../../fuzz/mutator.ts";
import { Random } from "../../src/bytes/random.ts";
import type { Answer } from "../../src/lookup/map-lookup.ts";
import {
  compactMapFile,
  generateMapFile,
  type MementoMap,
  openMap,
  uriKey,
} from "../../src/node.ts";
import { cases } from "../support/cases.ts";
import { scratchDir } from "../support/scratch.ts";
import { byText } from "./map-arbitraries.ts";
import { sharedData } from "../support/shared-data.ts";

const SEED = 20_160_131;
/** `MEMENTOMAP_CASES=10` makes it a million. */
const URIS = cases(100_000);
/** URIs of one map. */
const MAP_URIS = 100_000;

/** What means something in a URI, its host, path or query. */
const WORDS: readonly string[] = [
  "https://",
  "HTTP://",
  "//",
  "ftp://",
  "http:",
  "urn:",
  "dns:",
  "http%3A//",
  "www.",
  "WWW2.",
  "u:p@",
  ":80",
  ":443",
  ":8080",
  ":",
  ".",
  "..",
  "[::1]",
  "127.1",
  "0300.1",
  "é",
  "ß",
  "漢",
  "☃",
  "xn--",
  "­",
  "％",
  "。",
  "א",
  "/./",
  "/../",
  "//",
  ";jsessionid=",
  "/(s(0123456789abcdefghijklmn))/",
  "%2F",
  "%25",
  "%c3",
  "?",
  "&",
  "#",
  "=",
  "?*",
  "*",
  "/*",
  ")",
  "(",
  ",",
  "?a=1&a=0",
  "%2a",
  "%zz",
  "%",
  " ",
  "&sid=0123456789abcdef0123456789abcdef",
  "&cfid=1&cftoken=2",
  "!",
  "@",
  '"',
  "{",
];

const lists = ["eot-a.holdings.tsv.gz", "arquivo-pwa9609.captures.tsv.gz"].map(sharedData);
const [holdings, captures] = lists;

/** Real URIs, spread over both lists. */
function realUris(): string[] {
  const uris = [holdings, captures].flatMap((path) => {
    const lines = gunzipSync(readFileSync(path ?? ""))
      .toString()
      .trimEnd()
      .split("\n");
    return lines.map((line) => line.slice(line.indexOf("\t") + 1));
  });
  const step = Math.max(1, Math.floor(uris.length / 100_000));
  return uris.filter((_, i) => i % step === 0);
}

/** Writes an index of such URIs, without keys. */
function indexOf(path: string, uris: readonly string[]): string {
  const lines = uris.map((url) => `- 20160131000000 ${JSON.stringify({ url, status: "200" })}\n`);
  writeFileSync(path, lines.join(""));
  return path;
}

/** Those of the URIs that a map says are absent. */
async function absentOf(map: MementoMap, uris: readonly string[]): Promise<string[]> {
  const absent: string[] = [];
  let i = 0;
  for await (const { present } of map.lookupMany(uris)) {
    if (!present) absent.push(uris[i]);
    i++;
  }
  return absent;
}

async function answersOf(map: MementoMap, uris: readonly string[]): Promise<Answer[]> {
  const answers: Answer[] = [];
  for await (const answer of map.lookupMany(uris)) answers.push(answer);
  return answers;
}

describe.skipIf(lists.includes(undefined))(
  "a map of mutated URIs of real archives (skipped where they are not at hand)",
  () => {
    const mutator = new Mutator(new Random(SEED), WORDS);
    let pool: readonly Uint8Array[] = [];
    beforeAll(() => {
      pool = realUris().map((uri) => Buffer.from(uri));
    });

    /** Mutated URIs, and a map that has a capture of each. */
    async function heldUris(count: number, map: string): Promise<string[]> {
      const index = `${map}.cdxj`;
      const uris = Array.from({ length: count }, () => Buffer.from(mutator.next(pool)).toString());
      const { counts } = await generateMapFile([indexOf(index, uris)], map, {
        format: "cdxj",
        threads: 1,
        skipBad: true,
      });
      expect(counts.captures).toBeGreaterThan(0.9 * count);
      // In the order of the map, so that neighbours are read together.
      uris.sort((a, b) => byText(uriKey(a), uriKey(b)));
      const absent = await withMap(map, { inMemory: true }, (all) => absentOf(all, uris));
      if (absent.length === 0) return uris;
      // What is absent was left out by itself: an index of nothing else gives no row.
      const none = `${map}.none`;
      await generateMapFile([indexOf(index, absent)], none, {
        format: "cdxj",
        threads: 1,
        skipBad: true,
      });
      expect(readFileSync(none, "utf8")).not.toMatch(/^[^!]/m);
      const skipped = new Set(absent);
      return uris.filter((uri) => !skipped.has(uri));
    }

    it(`of which none is absent in any form of it: ${URIS} URIs`, async () => {
      const folder = scratchDir();
      const map = join(folder, "map.ukvs");
      for (let left = URIS; left > 0; left -= MAP_URIS) {
        const uris = await heldUris(Math.min(left, MAP_URIS), map);
        const inMemory = await withMap(map, { inMemory: true }, (all) => answersOf(all, uris));
        const inFile = await withMap(map, {}, (all) => answersOf(all, uris));
        expect(inFile).toEqual(inMemory);
        const [small, best] = [join(folder, "small.ukvs"), join(folder, "best.ukvs")];
        await compactMapFile(map, small, { weights: { hostWeight: 4, pathWeight: 2 } });
        await compactMapFile(map, best, { budget: { maxLines: Math.ceil(uris.length / 3) } });
        const [whole, fits] = [join(folder, "whole.packed"), join(folder, "fits.packed")];
        await compactMapFile(map, whole, { pack: { bits: 8 }, force: true });
        await compactMapFile(map, fits, { pack: { maxBytes: 10_000 + uris.length }, force: true });
        for (const path of [small, best, whole, fits]) {
          for (const options of [{}, { inMemory: true }]) {
            const absent = await withMap(path, options, (all) => absentOf(all, uris));
            expect([path, absent.slice(0, 20)]).toEqual([path, []]);
          }
        }
      }
    });
  },
);

async function withMap<T>(
  path: string,
  options: { readonly inMemory?: boolean },
  use: (map: MementoMap) => Promise<T>,
): Promise<T> {
  const map = await openMap(path, options);
  try {
    return await use(map);
  } finally {
    await map.close();
  }
}
