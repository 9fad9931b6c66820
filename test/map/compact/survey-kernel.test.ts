import fc from "fast-check";
import { describe, expect, it } from "vitest";
// The kernel exists only in the build.
import { FIELD, NodeTable } from "../../../src/map/compact/budget/budget-survey.ts";
import { SurveyKernel } from "../../../src/map/compact/run/budget-kernels.ts";
import { MissList } from "../../../src/map/compact/budget/misses.ts";
import type { Survey } from "../../../src/map/compact/budget/budget-survey.ts";
import { surveyMap } from "../../../src/map/compact/budget/budget-compaction.ts";
import { key } from "./compaction-arbitraries.ts";
import { byBytes } from "../../support/compaction-oracle.ts";
import { isPlainKey } from "../../support/plain-key.ts";

const BLOCK_BYTES = 1 << 12;

/** Surveys rows, fed in blocks of `lines` lines; undefined if the kernel gives up. */
function surveyByKernel(
  rows: readonly string[],
  misses: MissList | undefined,
  lines: number,
): Survey | undefined {
  const kernel = SurveyKernel.open(new NodeTable(), misses, BLOCK_BYTES);
  if (kernel === undefined) return undefined;
  for (let at = 0; at < rows.length; at += lines) {
    if (!kernel.take(Buffer.from(textOf(rows.slice(at, at + lines))))) return undefined;
  }
  return kernel.finish() ? kernel.survey() : undefined;
}

async function surveyByTypeScript(
  rows: readonly string[],
  misses: MissList | undefined,
): Promise<Survey> {
  const read = async function* read(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(textOf(rows));
  };
  return (await surveyMap(read, { source: "map", misses })).survey;
}

function textOf(rows: readonly string[]): string {
  return rows.map((row) => `${row}\n`).join("");
}

/** All that a survey says, as plain values. */
function said(survey: Survey): unknown {
  const records: number[][] = [];
  survey.table.forEachPage((page, _, count) => {
    for (let at = 0; at < count; at++) {
      records.push(Object.values(FIELD).map((column) => page[at + column]));
    }
  });
  const { count, record, miss, textLength, early, misses, isHost } = survey.branches;
  const columns = [record, miss, textLength, early, misses, isHost];
  return {
    records,
    branches: columns.map((column) => Array.from(column.subarray(0, count))),
    hosts: survey.heaps.hosts,
    exponent: survey.heaps.exponent,
    fixedRows: survey.fixedRows,
    heldRows: survey.heldRows,
    topSingles: survey.topSingles,
    singleHosts: survey.singleHosts,
    hasWildcards: survey.hasWildcards,
  };
}

const plainKey = key.filter(isPlainKey);
const map = fc
  .uniqueArray(plainKey, { minLength: 1, maxLength: 80 })
  .map((keys) => keys.map((text) => `${text} 3`).sort(byBytes));
const page = plainKey.filter((text) => text.includes(")/") && !text.includes("*"));
const outsideTheTree = fc.constantFrom("dns:a.com", "mailto:me@a.com", "com", "com,a");
const asked = fc.array(fc.oneof({ weight: 9, arbitrary: page }, outsideTheTree), {
  maxLength: 80,
});

describe("the survey kernel", () => {
  it("says what the TypeScript survey says, however rows are cut into blocks", async () => {
    await fc.assert(
      fc.asyncProperty(
        map,
        fc.option(asked, { nil: undefined }),
        fc.integer({ min: 1, max: 20 }),
        async (rows, keys, lines) => {
          const misses = keys === undefined ? undefined : new MissList(keys);
          const survey = surveyByKernel(rows, misses, lines);
          if (survey === undefined) throw new Error("it gave up, or has not been built");
          expect(said(survey)).toEqual(said(await surveyByTypeScript(rows, misses)));
        },
      ),
      { numRuns: 500 },
    );
  });

  it("keeps records that fill more than a page", async () => {
    const rows = Array.from(
      { length: 20_000 },
      (_, i) => `com,a)/${String(i >> 1).padStart(6, "0")}/${i & 1} 1`,
    );
    const misses = new MissList(rows.map((row) => row.replace(/\d \d$/, "void/1")));
    const survey = surveyByKernel(rows, misses, 100);
    if (survey === undefined) throw new Error("it gave up, or has not been built");
    expect(survey.table.size).toBe(10_003);
    expect(survey.branches.count).toBe(10_000);
    expect(said(survey)).toEqual(said(await surveyByTypeScript(rows, misses)));
  });

  it.each([
    ["an exclusion", "com,a)/x 0"],
    ["a bound", "com,a)/x 5+"],
    ["a query", "com,a)/x?y 5"],
    ["a spread key", "com,a,*)/x 5"],
    ["an opaque key", "dns:a.com 5"],
    ["a home page without slash", "com,a) 5"],
    ["a line longer than a block", `com,a)/${"x".repeat(BLOCK_BYTES)} 5`],
  ])("gives up at %s", (_, row) => {
    expect(surveyByKernel([row], undefined, 1)).toBeUndefined();
  });

  it.each([
    ["a query", "com,a)/x?y"],
    ["a wildcard", "com,a)/x/*"],
    ["a wildcard of hosts", "com,a,*)/x"],
    ["a home page without slash", "com,a)"],
  ])("gives up at %s in the misses", (_, miss) => {
    const misses = new MissList([miss]);
    expect(surveyByKernel(["com,a)/ 1"], misses, 1)).toBeUndefined();
  });

  it("gives up at rows that are out of order or come twice", () => {
    expect(surveyByKernel(["com,b)/ 1", "com,a)/ 1"], undefined, 2)).toBeUndefined();
    expect(surveyByKernel(["com,a)/ 1", "com,a)/ 1"], undefined, 2)).toBeUndefined();
    expect(surveyByKernel(["com,a)/x 1", "com,a)/ 1"], undefined, 2)).toBeUndefined();
  });
});
