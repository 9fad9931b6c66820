import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sampleIndex } from "../../../src/study/sample/sample-archive.ts";
import { byBytes } from "../../support/compaction-oracle.ts";
import { runCli, SMALL_MEMORY } from "../../support/run-cli.ts";
import { scratchDir } from "../../support/scratch.ts";
import { runs } from "../../map/lookup/any-map-and-questions.ts";

async function ok(argv: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runCli(argv);
  expect({ argv, code, stderr }).toEqual({ argv, code: 0, stderr });
  return stdout;
}

/** The numbers of an analysis, without how they were found. */
function numbersOf(json: string): unknown {
  const {
    run: _run,
    index,
    method,
    ...rest
  } = JSON.parse(json) as {
    run: unknown;
    index: Record<string, unknown>;
    method: Record<string, unknown>;
  };
  return {
    ...rest,
    index: { ...index, files: 0, storedBytes: 0 },
    method: { ...method, runs: 0 },
  };
}

/** Analyzes files whole, by runs, range by range, and by runs that were cut into ranges. */
async function allWays(
  files: readonly string[],
  cuts: readonly string[] | number,
  options: readonly string[] = [],
): Promise<unknown[]> {
  const folder = scratchDir();
  const at = (name: string): string => join(folder, name);
  const whole = await ok(["analyze", "--json", "-q", ...options, ...files]);
  const captures = files.map((_, i) => at(`${i}.captures`));
  for (const [i, file] of files.entries()) {
    await ok(["analyze", "--partial", "-q", ...options, file, "-o", captures[i]]);
  }
  const byRuns = await ok(["analyze", "--json", "-q", ...options, ...captures]);
  const text =
    typeof cuts === "number"
      ? await ok(["partition", "-q", "--into", String(cuts), ...captures])
      : cuts.map((cut) => `${cut}\n`).join("");
  writeFileSync(at("cuts.txt"), text);
  const parts: string[] = [];
  for (let range = 1; range <= text.split("\n").length; range++) {
    const part = at(`${range}.json`);
    const cut = ["--cuts", at("cuts.txt"), "--range", String(range)];
    await ok(["analyze", "--partial", "-q", ...options, ...cut, ...captures, "-o", part]);
    parts.push(part);
  }
  const byRanges = await ok(["analyze", "--json", "-q", ...options, ...parts.toReversed()]);
  for (const run of captures) {
    await ok(["partition", "-q", "--cuts", at("cuts.txt"), run, "-o", `${run}s`]);
  }
  for (const [i, part] of parts.entries()) {
    const own = captures.map((run) => join(`${run}s`, `${String(i + 1).padStart(5, "0")}.run`));
    const cut = ["--cuts", at("cuts.txt"), "--range", String(i + 1)];
    await ok(["analyze", "--partial", "-q", ...options, ...cut, ...own, "-o", part]);
  }
  const byCutRuns = await ok(["analyze", "--json", "-q", ...options, ...parts]);
  return [whole, byRuns, byRanges, byCutRuns].map(numbersOf);
}

const host = fc
  .tuple(
    fc.constantFrom("com", "org", "uk,co"),
    fc.array(fc.constantFrom("a", "b", "a-b", "www"), { minLength: 1, maxLength: 3 }),
  )
  .map(([suffix, labels]) => [suffix, ...labels].join(","));
const path = fc
  .array(fc.constantFrom("a", "b", "a-b", "a.html", "a0"), { maxLength: 4 })
  .map((segments) => segments.join("/"));
const surt = fc.oneof(
  { weight: 10, arbitrary: fc.tuple(host, path).map(([h, p]) => `${h})/${p}`) },
  { weight: 1, arbitrary: fc.constantFrom("1,0,0,127)/a", "odd", "odd?x", "odd?y") },
);
const line = fc
  .tuple(surt, fc.constantFrom("", "", "?x=1", "?y"), fc.constantFrom("2012", "201301", "20140105"))
  .map(([key, query, date]) => `${key}${query} ${date} {"status": "200", "mime": "text/html"}`);

describe("an analysis of parts", () => {
  it("has the numbers of the whole, wherever it is cut", async () => {
    const job = fc.record({
      splits: fc.array(fc.array(line, { minLength: 1, maxLength: 25 }), {
        minLength: 1,
        maxLength: 3,
      }),
      cuts: fc.oneof(
        fc.integer({ min: 1, max: 6 }),
        fc
          .uniqueArray(
            fc
              .tuple(surt, fc.nat({ max: 9 }))
              .map(([text, end]) => text.slice(0, -end || undefined)),
            { maxLength: 4 },
          )
          .map((cuts) => cuts.filter((cut) => cut !== "").sort(byBytes)),
      ),
    });
    await fc.assert(
      fc.asyncProperty(job, async ({ splits, cuts }) => {
        const folder = scratchDir();
        const files = splits.map((lines, i) => {
          const file = join(folder, `${i}.cdxj`);
          writeFileSync(file, lines.map((text) => `${text}\n`).join(""));
          return file;
        });
        const [whole, ...others] = await allWays(files, cuts, SMALL_MEMORY);
        for (const other of others) expect(other).toEqual(whole);
      }),
      { numRuns: runs(25) },
    );
  });

  it("has the numbers of 20,000 generated lines", async () => {
    const folder = scratchDir();
    const lines = Buffer.concat([...sampleIndex({ lines: 20_000 })])
      .toString()
      .split("\n")
      .slice(0, -1);
    const files = [0, 1, 2].map((i) => {
      const file = join(folder, `${i}.cdxj`);
      writeFileSync(
        file,
        lines
          .filter((_, n) => n % 3 === i)
          .map((text) => `${text}\n`)
          .join(""),
      );
      return file;
    });
    const [whole, ...others] = await allWays(files, 7);
    for (const other of others) expect(other).toEqual(whole);
  });

  it("has the numbers of a file that is read in splits by bytes", async () => {
    const folder = scratchDir();
    const file = join(folder, "index.cdxj");
    const lines = Buffer.concat([...sampleIndex({ lines: 20_000 })]);
    writeFileSync(file, lines);
    const captures = [0, 1, 2].map((i) => join(folder, `${i}.captures`));
    const third = Math.floor(lines.length / 3);
    for (const [i, run] of captures.entries()) {
      const split = `${i * third}-${i === 2 ? lines.length : (i + 1) * third}`;
      await ok(["analyze", "--partial", "-q", "--split", split, file, "-o", run]);
    }
    const exact = (json: string): unknown => {
      const { run: _run, method: _method, ...rest } = JSON.parse(json) as Record<string, unknown>;
      return rest;
    };
    const whole = exact(await ok(["analyze", "--json", "-q", file]));
    expect(exact(await ok(["analyze", "--json", "-q", ...captures]))).toEqual(whole);
  });
});
