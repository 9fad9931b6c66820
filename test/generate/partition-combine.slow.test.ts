import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
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
}

/** Makes a map on one machine and by parts; gives the bytes of both. */
async function bothWays(job: Job, folder: string = scratchDir()): Promise<[Buffer, Buffer]> {
  const at = (name: string): string => join(folder, name);
  const { options, splits } = job;
  await ok(["generate", "-q", ...options, ...splits.flat(), "-o", at("whole.ukvs")]);
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
  return [readFileSync(at("whole.ukvs")), readFileSync(at("joined.ukvs"))];
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
  it("make the map that generate makes, of any splits, cuts and options", async () => {
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
    });
    await fc.assert(
      fc.asyncProperty(job, async ({ splits, ...rest }) => {
        fc.pre(splits.flat().length > 0);
        const folder = scratchDir();
        const files = splits.map((lines, i) => {
          const file = join(folder, `split-${i}.cdxj`);
          writeFileSync(file, lines.map((text) => `${text}\n`).join(""));
          return [file];
        });
        const options = ["--format", "cdxj", ...SMALL_MEMORY, ...rest.options];
        const full = { ...rest, options, splits: files };
        const [whole, joined] = await bothWays(full, folder);
        expect(joined.toString()).toBe(whole.toString());
      }),
      { numRuns: cases(20) },
    );
  });

  it("cut the keys into ranges of equal size", async () => {
    const folder = scratchDir();
    const keys = [
      ...Array.from({ length: 300 }, (_, i) => `com,big)/${1000 + i}`),
      ...Array.from({ length: 100 }, (_, i) => `org,small${1000 + i})/`),
    ];
    const file = join(folder, "keys.txt");
    writeFileSync(file, keys.map((key) => `${key}\n`).join(""));
    await ok(["partition", "-q", "--format", "surts", file, "-o", join(folder, "a.run")]);
    const cuts = await ok(["partition", "-q", "--into", "4", join(folder, "a.run")]);
    expect(cuts.split("\n")).toEqual(["com,big)/1099", "com,big)/1201", "org,small1000)/", ""]);
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

  const real = sharedData("cdx-real");
  it.skipIf(real === undefined)(
    "make the same map of real indexes (skipped where missing)",
    async () => {
      const files = readdirSync(real ?? "").filter((name) => /\.cdxj?$/.test(name));
      const splits = files.map((name) => [join(real ?? "", name)]);
      const [whole, joined] = await bothWays({ options: [], splits, cuts: 16 });
      expect(joined.equals(whole)).toBe(true);
    },
  );
});
