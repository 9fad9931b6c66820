import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { byBytes } from "../../support/compaction-oracle.ts";
import { runCli } from "../../support/run-cli.ts";
import { scratchDir } from "../../support/scratch.ts";
import { key, map, weight } from "../compact/compaction-arbitraries.ts";
import { runs } from "../lookup/any-map-and-questions.ts";

const META = '!meta {"type":"MementoMap"}';

async function ok(argv: readonly string[]): Promise<void> {
  const { code, stderr } = await runCli(argv);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
}

interface CutMap {
  readonly fields: string;
  readonly rows: readonly string[];
  readonly cuts: readonly string[];
  readonly hostWeight: number;
  readonly pathWeight: number;
}

function keyOf(row: string): string {
  return row.slice(0, row.indexOf(" "));
}

/** Writes the parts of a map, as combine makes them of runs. */
function writeParts(folder: string, { fields, rows, cuts }: CutMap): string[] {
  return [undefined, ...cuts].map((from, i) => {
    const to = cuts[i];
    const mark = { number: i + 1, of: cuts.length + 1, from, to };
    const own = rows.filter((row) => {
      const isBehind = from === undefined || byBytes(keyOf(row), from) >= 0;
      return isBehind && (to === undefined || byBytes(keyOf(row), to) < 0);
    });
    const body = own.map((row) => `${row}\n`).join("");
    const size = JSON.stringify({ bytes: Buffer.byteLength(body), records: own.length });
    const part = `!meta ${JSON.stringify({ part: mark })}`;
    const path = join(folder, `part-${i + 1}.ukvs`);
    writeFileSync(path, `${[fields, META, part, `!size ${size}`].join("\n")}\n${body}`);
    return path;
  });
}

/** Compacts a map whole, and part by part. */
async function bothWays(cut: CutMap): Promise<{ whole: string; joined: string }> {
  const folder = scratchDir();
  const at = (name: string): string => join(folder, name);
  const { fields, rows, hostWeight, pathWeight } = cut;
  writeFileSync(at("map"), `${fields}\n${META}\n${rows.map((row) => `${row}\n`).join("")}`);
  const weights = ["--host-weight", hostWeight, "--path-weight", pathWeight].map((word) =>
    word === Number.POSITIVE_INFINITY ? "inf" : String(word),
  );
  const depths = ["--max-host-depth", "4", "--max-path-depth", "5"];
  await ok(["compact", "-q", ...weights, ...depths, at("map"), "-o", at("whole")]);
  const parts = writeParts(folder, cut);
  for (const part of parts) {
    await ok(["compact", "-q", ...weights, ...depths, part, "-o", `${part}.small`]);
  }
  const small = parts.map((part) => `${part}.small`).toReversed();
  await ok(["combine", "-q", ...small, "-o", at("joined")]);
  return { whole: readFileSync(at("whole"), "utf8"), joined: readFileSync(at("joined"), "utf8") };
}

const cutKeys = (keys: fc.Arbitrary<string>): fc.Arbitrary<string[]> =>
  fc
    .uniqueArray(
      fc.tuple(keys, fc.nat({ max: 12 })).map(([text, end]) => text.slice(0, text.length - end)),
      { maxLength: 5 },
    )
    .map((cuts) => cuts.filter((cut) => cut.length > 0 && !/[ \n]/.test(cut)).sort(byBytes));

/** Rows that the kernel takes. */
const plainMap = map
  .map((rows) => rows.filter((row) => /^[^*?]+\)\/[^?]* [1-9][0-9]*$/.test(row)))
  .filter((rows) => rows.length > 0);

const PLAIN = '!fields {"keys":["surt"],"values":["frequency"]}';
const QUERIES = '!fields {"keys":["surt"],"values":["frequency"],"queries":true}';

/** Compacts a map to a size whole, and part by part. */
async function bothWaysToSize(
  cut: CutMap,
  share: number,
  misses: readonly string[],
): Promise<{ whole: string; joined: string }> {
  const folder = scratchDir();
  const at = (name: string): string => join(folder, name);
  const { fields, rows } = cut;
  writeFileSync(at("map"), `${fields}\n${META}\n${rows.map((row) => `${row}\n`).join("")}`);
  const missed = misses.length === 0 ? [] : ["--misses", at("misses")];
  writeFileSync(at("misses"), misses.map((text) => `${text}\n`).join(""));
  const size = ["--max-lines", String(3 + Math.ceil(share * rows.length)), ...missed];
  const { code } = await runCli(["compact", "-q", ...size, at("map"), "-o", at("whole")]);
  const parts = writeParts(folder, cut);
  for (const part of parts) {
    await ok(["compact", "-q", "--survey", ...missed, part, "-o", `${part}.survey`]);
  }
  const surveys = parts.map((part) => `${part}.survey`).toReversed();
  const planned = await runCli(["combine", "-q", ...size, ...surveys, "-o", at("plan")]);
  expect(planned.code).toBe(code);
  if (code !== 0) return { whole: "", joined: "" }; // it cannot be made so small
  const plan = ["--plan", at("plan")];
  for (const part of parts) await ok(["compact", "-q", ...plan, part, "-o", `${part}.small`]);
  const small = parts.map((part) => `${part}.small`);
  await ok(["combine", "-q", ...plan, ...small, "-o", at("joined")]);
  return { whole: readFileSync(at("whole"), "utf8"), joined: readFileSync(at("joined"), "utf8") };
}

describe("parts of a map, compacted and joined", () => {
  it("have the exclusions of the whole, wherever it is cut", async () => {
    const rows = Array.from({ length: 300 }, (_, i) => `com,a)/${i % 10}/${1000 + i} 1`);
    const misses = Array.from({ length: 60 }, (_, i) => `com,a)/gone/${(i * 7) % 60}`);
    const cut = { fields: PLAIN, rows: rows.sort(byBytes), hostWeight: 0, pathWeight: 0 };
    for (const cuts of [["com,a)/5/1200"], ["com,a)/gone/3", "com,a)/gone/5"], ["com,a)/h"]]) {
      const { whole, joined } = await bothWaysToSize({ ...cut, cuts }, 0.01, misses);
      expect(joined).toBe(whole);
      expect(joined).toContain("com,a)/gone/* 0");
    }
  });

  it("are the map of a given size, where parts are read in several blocks", async () => {
    const rows = Array.from(
      { length: 40_000 },
      (_, i) =>
        `com,s${1000 + Math.floor(i / 40)})/${i % 7}/page-number-${100_000 + i}-of-the-site 1`,
    ).sort(byBytes);
    const cut = { fields: PLAIN, rows, cuts: ["com,s1900)/3"], hostWeight: 0, pathWeight: 0 };
    const misses = Array.from({ length: 90 }, (_, i) => `com,s1007)/gone/${(i * 7) % 90}`);
    const { whole, joined } = await bothWaysToSize(cut, 0.05, misses);
    expect(joined).toBe(whole);
  });

  it("are the map of a given size, wherever it is cut", async () => {
    const job = fc.record({
      fields: fc.constant(PLAIN),
      rows: fc.oneof(map, plainMap),
      cuts: cutKeys(key),
      share: fc.constantFrom(0, 0.1, 0.3, 0.5, 0.8),
      misses: fc.array(
        key.filter((text) => /^[a-z].*\)\/[^*?]*$/.test(text) && !text.includes("*")),
        {
          maxLength: 40,
        },
      ),
      hostWeight: fc.constant(0),
      pathWeight: fc.constant(0),
    });
    await fc.assert(
      fc.asyncProperty(job, async ({ share, misses, ...cut }) => {
        const { whole, joined } = await bothWaysToSize(cut, share, misses);
        expect(joined).toBe(whole);
      }),
      { numRuns: runs(60) },
    );
  });

  it("are the compacted map, wherever it is cut", async () => {
    const cutMap = fc.record({
      fields: fc.constantFrom(PLAIN, QUERIES),
      rows: fc.oneof(map, plainMap),
      cuts: cutKeys(key),
      hostWeight: weight,
      pathWeight: weight,
    });
    await fc.assert(
      fc.asyncProperty(cutMap, async (cut) => {
        const { whole, joined } = await bothWays(cut);
        expect(joined).toBe(whole);
      }),
      { numRuns: runs(100) },
    );
  });
});
