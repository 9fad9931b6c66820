import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compactMap } from "../../src/compact/compact-map.ts";
import { MemoryIndex } from "../../src/lookup/memory-index.ts";
import { validateMap } from "../../src/maps/validate-map.ts";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";
import { collected, decode, encode } from "../maps/map-files.ts";
import { cases } from "../support/cases.ts";

const FIELDS = '!fields {"keys":["surt"],"values":["frequency"],"queries":true}';

async function compacted(rows: readonly string[], pathWeight: number): Promise<string[]> {
  const map = encode([FIELDS, ...rows, ""].join("\n"));
  const blocks = await collected(compactMap([map], { pathWeight, hostWeight: Infinity }));
  return decode(Buffer.concat(blocks)).split("\n").slice(1, -1);
}

const key = fc
  .tuple(
    fc.constantFrom("com,a", "com,a,b", "com,c"),
    fc.constantFrom("/", "/p", "/p-b", "/p/q", "/p/q/r", "/p0", "/pa", "/2/x", "/P!"),
    fc.constantFrom("", "", "?x=1", "?x=2", "?!", "?y", "?a/b?c"),
  )
  .map(([host, path, query]) => `${host})${path}${query}`);

const heldKeys = fc.uniqueArray(key, { minLength: 1, maxLength: 40 });

function mapOf(keys: readonly string[]): string {
  const rows = keys.toSorted((a, b) => (a < b ? -1 : 1)).map((one, i) => `${one} ${i + 1}\n`);
  return `${FIELDS}\n${rows.join("")}`;
}

function rowsOf(map: string): string[] {
  return map.split("\n").filter((line) => line !== "" && !line.startsWith("!"));
}

function sumOf(map: string): number {
  return rowsOf(map).reduce((sum, row) => sum + Number(row.split(" ")[1]), 0);
}

/** What the map holds and the smaller one calls absent, and what is wrong with the smaller one. */
async function faultsOf(smaller: string, keys: readonly string[]): Promise<unknown[]> {
  const index = MemoryIndex.build(encode(smaller));
  const lost = keys.filter((one) => !index.lookupSurtSync(one).present);
  const faults = await collected(validateMap([encode(smaller)]));
  return [...lost, ...faults, ...(smaller.includes(FIELDS) ? [] : ["no queries"])];
}

describe("compacting maps with queries", () => {
  it("rolls many queries of a page up, and the page with them", async () => {
    const rows = ["com,a)/p 7", "com,a)/p-b 1", "com,a)/p/b 1", "com,a)/p0 1"];
    const queries = ["com,a)/p?x 1", "com,a)/p?y 2", "com,a)/p?z 3"];
    // The cutoff at depth 3 is 2.55 for this weight; that of the root is 12.3, of /p 4.6.
    expect(await compacted([...rows, ...queries], 0.5)).toEqual([
      "com,a)/p-b 1",
      "com,a)/p/b 1",
      "com,a)/p0 1",
      "com,a)/p?* 13",
    ]);
    expect(await compacted([...rows, ...queries.slice(1)], 0.5)).toEqual([
      ...rows,
      ...queries.slice(1),
    ]);
  });

  it("keeps exclusions that cover nothing held", async () => {
    const queries = ["com,a)/p?x 1", "com,a)/p?y 2", "com,a)/p?z 3"];
    expect(await compacted(["com,a)/p 0", ...queries, "com,a)/p?zz 0"], 0.5)).toEqual([
      "com,a)/p 0",
      "com,a)/p?* 6",
      "com,a)/p?zz 0",
    ]);
    const pages = Array.from({ length: 13 }, (_, i) => `com,a)/p${i} 1`).toSorted();
    // What the first page holds would be hidden by the exclusion of its queries.
    expect(
      await compacted([...pages.slice(0, 1), "com,a)/p0?* 0", ...pages.slice(1)], 0.5),
    ).toEqual(["com,a)/* 13"]);
  });

  it("counts a page once beside a row for any query", async () => {
    const pages = Array.from({ length: 13 }, (_, i) => `com,a)/q${i} 1`).toSorted();
    expect(await compacted(["com,a)/p 5", "com,a)/p?* 8", "com,a)/p?x 2", ...pages], 0.5)).toEqual([
      "com,a)/* 21",
    ]);
  });

  it("loses nothing by weights, and counts every capture once", async () => {
    const path = join(scratchDir(), "map.ukvs");
    const weight = fc.constantFrom("0", "0.05", "0.1", "0.3", "inf");
    await fc.assert(
      fc.asyncProperty(heldKeys, weight, weight, async (keys, host, folder) => {
        const map = mapOf(keys);
        writeFileSync(path, map);
        const weights = ["--host-weight", host, "--path-weight", folder];
        const { stdout } = await runCli(["compact", "-q", ...weights, path]);
        expect(await faultsOf(stdout, keys)).toEqual([]);
        expect(sumOf(stdout)).toBe(sumOf(map));
      }),
      { numRuns: cases(60) },
    );
  });

  it("rolls up folders before queries of the same number: most queries asked for are new", async () => {
    const path = join(scratchDir(), "map.ukvs");
    const numbers = Array.from({ length: 30 }, (_, i) => i + 10);
    const pages = numbers.map((i) => `com,a)/f/${i} 1`);
    const queries = numbers.map((i) => `com,a)/w?v=${i} 1`);
    writeFileSync(path, [FIELDS, ...pages, ...queries, ""].join("\n"));
    const { stdout } = await runCli(["compact", "-q", path, "--max-lines", "34"]);
    expect(rowsOf(stdout)).toEqual(["com,a)/f/* 30", ...queries]);
  });

  it("gives the same for a file of several blocks as for a map in memory", async () => {
    const path = join(scratchDir(), "map.ukvs");
    const keys = Array.from({ length: 60_000 }, (_, i) => {
      const [host, page, query] = [i % 7, i % 301, i % 4 === 0 ? "" : `?x=${i}`];
      return `com,a${host})/${page % 2 === 0 ? "p" : "p/q"}${page}${query}`;
    });
    const rows = [...new Set(keys)].toSorted((a, b) => (a < b ? -1 : 1)).map((one) => `${one} 1`);
    writeFileSync(path, [FIELDS, ...rows, ""].join("\n"));
    const weights = ["--host-weight", "inf", "--path-weight", "2"];
    const { stdout } = await runCli(["compact", "-q", ...weights, path]);
    expect(rowsOf(stdout)).toEqual(await compacted(rows, 2));
    expect(sumOf(stdout)).toBe(rows.length);
  });

  it("loses nothing by a budget, and keeps to it", async () => {
    const path = join(scratchDir(), "map.ukvs");
    const misses = join(scratchDir(), "misses.txt");
    await fc.assert(
      fc.asyncProperty(
        heldKeys,
        fc.array(key, { minLength: 1 }),
        fc.integer({ min: 6, max: 30 }),
        fc.boolean(),
        async (keys, asked, lines, isTrained) => {
          const map = mapOf(keys);
          writeFileSync(path, map);
          writeFileSync(misses, asked.join("\n"));
          const more = isTrained ? ["--misses", misses] : [];
          const made = await runCli(["compact", "-q", path, "--max-lines", `${lines}`, ...more]);
          const isPossible = made.code === 0;
          expect(isPossible || made.stderr.includes("smaller than")).toBe(true);
          const smaller = isPossible ? made.stdout : map;
          expect(isPossible && smaller.split("\n").length - 1 > lines).toBe(false);
          expect(await faultsOf(smaller, keys)).toEqual([]);
          expect(sumOf(smaller)).toBe(sumOf(map));
        },
      ),
      { numRuns: cases(60) },
    );
  });
});
