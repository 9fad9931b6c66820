import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BudgetCompaction } from "../../src/compact/budget-compaction.ts";
import { MemoryIndex } from "../../src/lookup/memory-index.ts";
import { cases } from "../support/cases.ts";
import { missListOf } from "./compaction-arbitraries.ts";

const encoder = new TextEncoder();
const HEAD = '!fields {"keys":["surt"],"values":["frequency"]}\n';

/** Few labels and segments, so that keys share folders; some sort before a slash. */
const label = fc.constantFrom("a", "b", "a-b", "a+b", "co", "uk", "com");
const segment = fc.constantFrom("x", "x-y", "x.html", "2019", "p", "!", "index");
const key = fc
  .tuple(fc.array(label, { minLength: 1, maxLength: 4 }), fc.array(segment, { maxLength: 4 }))
  .map(([labels, segments]) => `${labels.join(",")})/${segments.join("/")}`);

const keys = fc.uniqueArray(key, { minLength: 1, maxLength: 60 });

function byBytes(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function mapOf(held: readonly string[]): Uint8Array {
  const rows = held.toSorted(byBytes).map((text) => `${text} 1\n`);
  return encoder.encode(HEAD + rows.join(""));
}

function reading(bytes: Uint8Array, chunkBytes = bytes.length): () => AsyncIterable<Uint8Array> {
  return async function* read() {
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.slice(at, at + chunkBytes);
  };
}

async function compacted(compaction: BudgetCompaction, maxRows: number): Promise<Buffer> {
  const blocks: Uint8Array[] = [];
  for await (const block of compaction.write(compaction.plan(maxRows))) blocks.push(block);
  return Buffer.concat(blocks);
}

function rowsOf(map: Uint8Array): string[] {
  const lines = new TextDecoder().decode(map).split("\n");
  return lines.filter((line) => line !== "" && !line.startsWith("!"));
}

describe("BudgetCompaction", () => {
  it("keeps every held key, the order and the budget, for any map, budget and misses", async () => {
    await fc.assert(
      fc.asyncProperty(
        keys,
        fc.array(key, { maxLength: 60 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.boolean(),
        async (held, misses, share, allowsExclusions) => {
          const compaction = await BudgetCompaction.survey(reading(mapOf(held)), {
            misses: missListOf(misses),
            allowsExclusions,
          });
          // One row a top-level domain is the least that is possible.
          const least = new Set(held.map((text) => /^[^,)]+/.exec(text)?.[0])).size;
          const maxRows = Math.max(least * 2, Math.round(share * held.length));
          const plan = compaction.plan(maxRows);
          const map = await compacted(compaction, maxRows);
          const rows = rowsOf(map);
          expect(rows).toHaveLength(plan.rows);
          expect(rows.length).toBeLessThanOrEqual(maxRows);
          expect(rows).toEqual(rows.toSorted((a, b) => byBytes(a.split(" ")[0], b.split(" ")[0])));
          const index = MemoryIndex.build(map);
          for (const text of held) {
            expect(await index.lookupSurt(text)).toMatchObject({ present: true });
          }
          const hasExclusions = rows.some((row) => row.endsWith(" 0"));
          expect(hasExclusions && !allowsExclusions).toBe(false);
        },
      ),
      { numRuns: cases(300) },
    );
  });

  it("gives the same bytes however the map is cut into chunks", async () => {
    await fc.assert(
      fc.asyncProperty(
        keys,
        fc.array(key, { maxLength: 20 }),
        fc.integer({ min: 1, max: 40 }),
        async (held, misses, chunkBytes) => {
          const map = mapOf(held);
          const options = { misses: missListOf(misses) };
          const whole = await BudgetCompaction.survey(reading(map), options);
          const cut = await BudgetCompaction.survey(reading(map, chunkBytes), options);
          const maxRows = Math.max(8, Math.floor(held.length / 2));
          expect(await compacted(cut, maxRows)).toEqual(await compacted(whole, maxRows));
        },
      ),
      { numRuns: cases(100) },
    );
  });

  it("keeps counts, wildcards and exclusions that a map has already", async () => {
    const map = encoder.encode(
      `${HEAD}com,a)/ 1\ncom,a)/p/* 5\ncom,a)/p/1 2\ncom,a)/q 3\ncom,a)/r/* 0\ncom,b)/1 1\ncom,b)/2 1\n`,
    );
    const compaction = await BudgetCompaction.survey(reading(map));
    expect(rowsOf(await compacted(compaction, 7))).toHaveLength(7);
    const rows = rowsOf(await compacted(compaction, 4));
    expect(rows.length).toBeLessThanOrEqual(4);
    expect(rows).toContain("com,a)/r/* 0");
  });

  it("keeps to its plan where the keys of one sub-tree lie within those of another", async () => {
    const held = ["a,a)/", "a)/", "a,b)/", "a)/x", "a+b,b)/", "a+b,a)/"];
    const compaction = await BudgetCompaction.survey(reading(mapOf(held)));
    for (const maxRows of [2, 3, 4, 5]) {
      const rows = rowsOf(await compacted(compaction, maxRows));
      expect(rows).toHaveLength(compaction.plan(maxRows).rows);
      expect(rows.length).toBeLessThanOrEqual(maxRows);
    }
  });

  it("leaves a map that is small enough as it is", async () => {
    const map = mapOf(["com,a)/", "com,a)/x"]);
    const compaction = await BudgetCompaction.survey(reading(map));
    expect(rowsOf(await compacted(compaction, 2))).toEqual(["com,a)/ 1", "com,a)/x 1"]);
  });

  it("says how small a map can be made", async () => {
    const compaction = await BudgetCompaction.survey(reading(mapOf(["com,a)/", "org,b)/"])));
    expect(() => compaction.plan(1)).toThrow("cannot be made smaller than 2 rows");
  });

  it("excludes what was asked for again and again, and is not held", async () => {
    const held = Array.from({ length: 200 }, (_, i) => `com,a)/${i}`);
    // Asked for all along, below two folders that hold nothing, in two ways.
    const misses = Array.from({ length: 400 }, (_, i) => `com,a)/void${i % 2}/${i}`);
    const compaction = await BudgetCompaction.survey(reading(mapOf(held)), {
      misses: missListOf(misses),
    });
    expect(rowsOf(await compacted(compaction, 10))).toEqual([
      "com,a)/* 200",
      "com,a)/void0/* 0",
      "com,a)/void1/* 0",
    ]);
  });

  it("does not exclude what was asked for at one time only", async () => {
    const held = Array.from({ length: 200 }, (_, i) => `com,a)/${i}`);
    const misses = Array.from(
      { length: 400 },
      (_, i) => `com,a)/${i < 200 ? "early" : "late"}/${i}`,
    );
    const compaction = await BudgetCompaction.survey(reading(mapOf(held)), {
      misses: missListOf(misses),
    });
    expect(rowsOf(await compacted(compaction, 10))).toEqual(["com,a)/* 200"]);
  });

  it("keeps folders apart that are missed in, and rolls up those that are not", async () => {
    const folder = (name: string): string[] =>
      Array.from({ length: 50 }, (_, i) => `com,a)/${name}/${i}`);
    const compaction = await BudgetCompaction.survey(
      reading(mapOf([...folder("asked"), ...folder("quiet")])),
      { misses: missListOf(Array.from({ length: 90 }, (_, i) => `com,a)/asked/new-${i}`)) },
    );
    const rows = rowsOf(await compacted(compaction, 51));
    expect(rows).toContain("com,a)/quiet/* 50");
    expect(rows).toContain("com,a)/asked/49 1");
  });

  it("does not take a public suffix for a site", async () => {
    const site = (host: string): string[] => Array.from({ length: 3 }, (_, i) => `${host})/${i}`);
    const held = ["uk,co,a", "uk,co,b", "uk,bl,a", "uk,bl,b", "uk,bl"].flatMap(site);
    const compaction = await BudgetCompaction.survey(reading(mapOf(held)));
    const rows = rowsOf(await compacted(compaction, 4));
    expect(rows.map((row) => row.split(" ")[0])).toContain("uk,bl,*");
    expect(rows.map((row) => row.split(" ")[0])).not.toContain("uk,co,*");
  });

  it("takes a path of a hundred thousand folders", async () => {
    const folder = `com,a)/${"a/".repeat(100_000)}`;
    const map = mapOf(["com,a)/b", "com,b)/c", `${folder}x`, `${folder}y`]);
    const compaction = await BudgetCompaction.survey(reading(map));
    expect(rowsOf(await compacted(compaction, 3))).toHaveLength(3);
  });
});
