import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sampleIndex } from "../../src/study/sample/sample-archive.ts";
import { byBytes } from "../support/compaction-oracle.ts";
import { runCli, SMALL_MEMORY } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";
import { sharedData } from "../support/shared-data.ts";
import { cases } from "../support/cases.ts";

const env = { SOURCE_DATE_EPOCH: "1700000000" };

async function ok(argv: readonly string[], stdin?: string): Promise<string> {
  const { code, stdout, stderr } = await runCli(argv, {
    env,
    ...(stdin === undefined ? {} : { stdin }),
  });
  expect({ argv, code, stderr }).toEqual({ argv, code: 0, stderr });
  return stdout;
}

interface Job {
  /** Options of generate and partition. */
  readonly options: readonly string[];
  /** The files of each split. */
  readonly splits: readonly (readonly string[])[];
  /** Cuts, or how many ranges to choose them for. */
  readonly cuts: readonly string[] | number;
  readonly compact?: readonly string[];
}

/** Makes a map on one machine and by parts; gives the bytes of both. */
async function bothWays(job: Job, folder: string = scratchDir()): Promise<[Buffer, Buffer]> {
  const at = (name: string): string => join(folder, name);
  const { options, splits, compact } = job;
  await ok(["generate", "-q", ...options, ...splits.flat(), "-o", at("whole.ukvs")]);
  const whole = compact === undefined ? at("whole.ukvs") : at("whole-small.ukvs");
  if (compact !== undefined) await ok(["compact", "-q", ...compact, at("whole.ukvs"), "-o", whole]);
  const runsOf = splits.map((_, i) => at(`split-${i}.run`));
  for (const [i, files] of splits.entries()) {
    await ok(["partition", "-q", ...options, ...files, "-o", runsOf[i]]);
  }
  if (typeof job.cuts === "number") {
    await ok(["partition", "-q", "--into", String(job.cuts), ...runsOf, "-o", at("cuts.txt")]);
  } else {
    writeFileSync(at("cuts.txt"), job.cuts.map((cut) => `${cut}\n`).join(""));
  }
  const ranges = readFileSync(at("cuts.txt"), "utf8").split("\n").length;
  const parts: string[] = [];
  for (let range = 1; range <= ranges; range++) {
    const cut = ["--cuts", at("cuts.txt"), "--range", String(range)];
    const part = at(`part-${range}.ukvs`);
    await ok(["combine", "-q", ...cut, ...runsOf, "-o", part]);
    parts.push(part);
  }
  await ok(["merge", "-q", ...parts, "-o", at("joined.ukvs")]);
  if (compact !== undefined) {
    await ok(["compact", "-q", ...compact, at("joined.ukvs"), "-o", at("joined.ukvs")]);
  }
  return [readFileSync(whole), readFileSync(at("joined.ukvs"))];
}

const host = fc
  .tuple(
    fc.constantFrom("com", "org", "uk,co"),
    fc.array(fc.constantFrom("a", "b", "a-b", "a0", "www"), { minLength: 1, maxLength: 3 }),
  )
  .map(([suffix, labels]) => [suffix, ...labels].join(","));
const path = fc
  .array(fc.constantFrom("a", "b", "c", "a-b", "a.html", "a0", "%20"), { maxLength: 4 })
  .map((segments) => segments.join("/"));
const surt = fc.tuple(host, path).map(([h, p]) => `${h})/${p}`);
const line = fc
  .tuple(
    surt,
    fc.constantFrom("", "", "?x=1", "?y", "?x=2"),
    fc.constantFrom("2012", "20130101000000"),
  )
  .map(([key, query, date]) => `${key}${query} ${date} {"status": "200"}`);

const OPTIONS = [[], ["--queries"], ["--originals"], ["--distinct"], ["--by", "datetime:year"]];

describe("partition and combine", () => {
  it("make the map that generate and compact make, of any splits, cuts and options", async () => {
    const job = fc.record({
      splits: fc.array(fc.array(line, { maxLength: 25 }), { minLength: 1, maxLength: 4 }),
      cuts: fc.oneof(
        fc.integer({ min: 1, max: 7 }),
        fc
          .uniqueArray(
            fc
              .tuple(surt, fc.nat({ max: 12 }))
              .map(([text, end]) => text.slice(0, -end || undefined)),
            { maxLength: 5 },
          )
          .map((cuts) => cuts.filter((cut) => cut !== "").sort(byBytes)),
      ),
      options: fc.constantFrom(...OPTIONS),
      compact: fc.option(
        fc
          .tuple(fc.constantFrom("0.02", "0.1", "inf"), fc.constantFrom("0.05", "0.2", "2"))
          .map(([hosts, paths]) => ["--host-weight", hosts, "--path-weight", paths]),
        { nil: undefined },
      ),
    });
    await fc.assert(
      fc.asyncProperty(job, async ({ splits, compact, ...rest }) => {
        fc.pre(splits.flat().length > 0);
        const folder = scratchDir();
        const files = splits.map((lines, i) => {
          const file = join(folder, `split-${i}.cdxj`);
          writeFileSync(file, lines.map((text) => `${text}\n`).join(""));
          return [file];
        });
        const options = ["--format", "cdxj", ...SMALL_MEMORY, ...rest.options];
        const full = { ...rest, options, splits: files, ...(compact ? { compact } : {}) };
        const [whole, joined] = await bothWays(full, folder);
        expect(joined.toString()).toBe(whole.toString());
      }),
      { numRuns: cases(20) },
    );
  });

  it("cut where domains begin, and within one that is too large", async () => {
    const folder = scratchDir();
    const keys = [
      ...Array.from({ length: 300 }, (_, i) => `com,big)/${1000 + i}`),
      ...Array.from({ length: 100 }, (_, i) => `org,small${1000 + i})/`),
    ];
    const file = join(folder, "keys.txt");
    writeFileSync(file, keys.map((key) => `${key}\n`).join(""));
    await ok(["partition", "-q", "--format", "surts", file, "-o", join(folder, "a.run")]);
    const cuts = await ok(["partition", "-q", "--into", "4", join(folder, "a.run")]);
    expect(cuts.split("\n")).toEqual(["com,big)/1099", "com,big)/1201", "org,small1000", ""]);
  });

  it("merge more runs than may be open", async () => {
    const folder = scratchDir();
    const names = Array.from({ length: 130 }, (_, i) => join(folder, `${i}.txt`));
    for (const [i, name] of names.entries()) writeFileSync(name, `com,a)/${i}\ncom,b)/\n`);
    const [whole, joined] = await bothWays(
      {
        options: ["--format", "surts", ...SMALL_MEMORY],
        splits: names.map((name) => [name]),
        cuts: ["com,a)/5"],
      },
      folder,
    );
    expect(joined.toString()).toBe(whole.toString());
  });
});

describe("partition and combine, on larger data", () => {
  it("make the same map of 20,000 generated lines with a site that is cut within", async () => {
    const folder = scratchDir();
    const lines = Buffer.concat([...sampleIndex({ lines: 20_000 })])
      .toString()
      .split("\n")
      .slice(0, -1);
    const big = Array.from(
      { length: 2000 },
      (_, i) =>
        `pt,big,h${i % 300})/${i % 7}/${i} 20140101000000 {"url":"http://h${i % 300}.big.pt/${i % 7}/${i}"}`,
    );
    const all = [...lines, ...big];
    const splits = Array.from({ length: 5 }, (_, i) => {
      const name = join(folder, `${i}.cdxj`);
      writeFileSync(
        name,
        all
          .filter((_text, n) => n % 5 === i)
          .map((text) => `${text}\n`)
          .join(""),
      );
      return [name];
    });
    const job: Job = {
      options: [],
      splits,
      cuts: 16,
      compact: ["--host-weight", "4"],
    };
    const [whole, joined] = await bothWays(job, folder);
    expect(joined.equals(whole)).toBe(true);
  });

  const real = sharedData("cdx-real");
  it.skipIf(real === undefined)(
    "make the same map of real indexes (skipped where missing)",
    async () => {
      const files = readdirSync(real ?? "").filter((name) => /\.cdxj?$/.test(name));
      const splits = files.map((name) => [join(real ?? "", name)]);
      for (const cuts of [16]) {
        const [whole, joined] = await bothWays({ options: [], splits, cuts, compact: [] });
        expect(joined.equals(whole)).toBe(true);
      }
    },
  );

  const holdings = sharedData("eot-a.holdings.tsv.gz");
  it.skipIf(holdings === undefined)(
    "make the same map of real holdings (skipped where missing)",
    async () => {
      const folder = scratchDir();
      const text = gunzipSync(readFileSync(holdings ?? "")).toString();
      const surts = text
        .split("\n")
        .slice(0, 200_000)
        .map((row) => row.split("\t")[0]);
      const keys = surts.filter((key) => /^[a-z0-9,-]+\)\//.test(key));
      const splits = Array.from({ length: 4 }, (_, i) => {
        const name = join(folder, `${i}.txt`);
        writeFileSync(
          name,
          keys
            .filter((_key, n) => n % 4 === i)
            .map((key) => `${key}\n`)
            .join(""),
        );
        return [name];
      });
      const job = {
        options: ["--format", "surts"],
        splits,
        cuts: 7,
        compact: ["--host-weight", "1"],
      };
      const [whole, joined] = await bothWays(job, folder);
      expect(whole.length).toBeGreaterThan(10_000);
      expect(joined.equals(whole)).toBe(true);
    },
  );
});
