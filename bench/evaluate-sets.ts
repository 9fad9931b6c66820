import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { lookupKey } from "../src/lookup/lookup-list.ts";
import { generateMap } from "../src/generate/generate-map.ts";
import { sampleIndex } from "../src/study/sample/sample-archive.ts";
import { sampleLookups } from "../src/study/sample/sample-lookups.ts";
import { madeOnce } from "./bench-folder.ts";

/** An archive, what was asked of it, and how large its maps may be. */
export interface EvaluationSet {
  readonly name: string;
  /** A map that lists all keys. */
  readonly truth: string;
  readonly lookups: string;
  /** Lookups of the time before, to learn from. */
  readonly misses: string | undefined;
  /** What was archived or wanted later. */
  readonly future: string | undefined;
  /** Lines, or a share of the keys. */
  readonly sizes: readonly (number | `${number}%`)[];
  /** Bytes of packed maps. */
  readonly packedBytes?: readonly number[];
}

/** An archive and lookups to compare maps and filters of the same size on. */
export interface FrontierSet extends Pick<EvaluationSet, "name" | "truth" | "lookups" | "misses"> {
  /** Whether lookups are whole URIs, with their queries. */
  readonly queries: boolean;
}

/** The folder of the real data, beside the checkout unless `MEMENTOMAP_DATA` names it. */
const DATA =
  process.env["MEMENTOMAP_DATA"] ?? fileURLToPath(new URL("../../shared/data", import.meta.url));

/** Makes the files of all sets; those of real data are left out where it is not at hand. */
export async function evaluationSets(folder: string): Promise<EvaluationSet[]> {
  const sample = await sampleSet(folder);
  if (!existsSync(DATA)) return [sample];
  const posts = tsv("congress-a.lookups.tsv.gz");
  const tweets = (name: string, keep: (year: string) => boolean): Promise<string> =>
    textFile(folder, name, () =>
      posts.filter(([time]) => keep(time.slice(0, 4))).map(([, uri]) => uri),
    );
  const until2018 = await tweets("posts-until-2018.txt", (year) => year <= "2018");
  const until2019 = await tweets("posts-until-2019.txt", (year) => year <= "2019");
  const until2020 = await tweets("posts-until-2020.txt", (year) => year <= "2020");
  const of2019 = await tweets("posts-2019.txt", (year) => year === "2019");
  const of2020 = await tweets("posts-2020.txt", (year) => year === "2020");
  const since2021 = await tweets("posts-since-2021.txt", (year) => year >= "2021");
  const nominated = await textFile(folder, "nominations.txt", () =>
    tsv("eot-a.nominations.tsv.gz").map(([, uri]) => uri),
  );
  const holdings = await textFile(folder, "holdings.surts", () =>
    tsv("eot-a.holdings.tsv.gz").map(([surt]) => surt),
  );
  const dense = await mapOf(folder, "dense.ukvs", holdings);
  const sparse = await mapOf(folder, "sparse.ukvs", until2019);
  const sparser = await mapOf(folder, "sparser.ukvs", until2018);
  const newTo = (name: string, log: string): Promise<string> =>
    textFile(folder, name, () => {
      const seen = new Set(lines(log).map(lookupKey));
      return [...new Set(lines(since2021).map(lookupKey))].filter((key) => !seen.has(key));
    });
  const newToDense = await newTo("posts-new-to-2020.surts", until2020);
  const newToSparse = await newTo("posts-new-to-2020-alone.surts", of2020);
  const halves = await Promise.all(
    [0, 1].map(async (half) => {
      const keys = await textFile(folder, `holdings-${half}.surts`, () =>
        lines(holdings).filter((surt) => halfOf(surt) === half),
      );
      const truth = await mapOf(folder, `dense-${half}.ukvs`, keys);
      const name = `dense, hosts of half ${half + 1}`;
      return {
        name,
        truth,
        lookups: since2021,
        misses: until2020,
        future: undefined,
        sizes: ["1.5%"] as const,
      };
    }),
  );
  return [
    {
      name: "dense",
      truth: dense,
      lookups: since2021,
      misses: until2020,
      future: nominated,
      sizes: ["1.5%", "0.28%"],
      packedBytes: [10_000, 32_000, 140_000, 1_000_000, 5_000_000],
    },
    {
      name: "sparse",
      truth: sparse,
      lookups: since2021,
      misses: of2020,
      future: of2020,
      sizes: [26_573, "10%", "50%"],
      packedBytes: [10_000, 20_000, 40_000, 75_000, 125_000, 300_000],
    },
    {
      name: "dense, lookups that are not in the log",
      truth: dense,
      lookups: newToDense,
      misses: until2020,
      future: undefined,
      sizes: ["1.5%"],
    },
    {
      name: "sparse, lookups that are not in the log",
      truth: sparse,
      lookups: newToSparse,
      misses: of2020,
      future: undefined,
      sizes: [26_573],
    },
    {
      name: "dense, asked for nominations",
      truth: dense,
      lookups: nominated,
      misses: until2020,
      future: undefined,
      sizes: ["1.5%"],
    },
    ...halves,
    {
      name: "sparse, a year earlier",
      truth: sparser,
      lookups: of2020,
      misses: of2019,
      future: of2019,
      sizes: ["25%"],
    },
    {
      name: "sparse, asked for nominations",
      truth: sparse,
      lookups: nominated,
      misses: of2020,
      future: undefined,
      sizes: ["25%"],
    },
    sample,
  ];
}

/** The sets of the frontier; none where the real data is not at hand. */
export async function frontierSets(folder: string): Promise<FrontierSet[]> {
  const sets = await evaluationSets(folder);
  const frontier = ["dense", "sparse"].flatMap((name) =>
    sets.filter((set) => set.name === name).map((set) => ({ ...set, queries: false })),
  );
  const [dense] = frontier;
  if (dense === undefined) return [];
  const truth = await mapOf(folder, "dense-queries.ukvs", join(folder, "holdings.surts"), true);
  return [...frontier, { ...dense, name: "dense, whole URIs", truth, queries: true }];
}

async function sampleSet(folder: string): Promise<EvaluationSet> {
  const shape = { lines: 400_000 };
  const truth = await madeOnce(folder, "sample.ukvs", async (path) => {
    const { bytes } = await generateMap([{ name: "sample", chunks: sampleIndex(shape) }]);
    writeFileSync(path, bytes);
  });
  const lookups = await textFile(folder, "sample-lookups.txt", () => [
    ...sampleLookups({ ...shape, count: 20_000 }),
  ]);
  return {
    name: "sample",
    truth,
    lookups,
    misses: undefined,
    future: undefined,
    sizes: ["1.5%", "20%", "44%"],
  };
}

function tsv(name: string): string[][] {
  return gunzipSync(readFileSync(join(DATA, name)))
    .toString()
    .trimEnd()
    .split("\n")
    .map((line) => line.split("\t"));
}

function lines(path: string): string[] {
  return readFileSync(path, "utf8").trimEnd().split("\n");
}

function textFile(folder: string, name: string, make: () => string[]): Promise<string> {
  return madeOnce(folder, name, async (path) => {
    writeFileSync(path, `${make().join("\n")}\n`);
  });
}

function mapOf(
  folder: string,
  name: string,
  list: string,
  queries: boolean = false,
): Promise<string> {
  return madeOnce(folder, name, async (path) => {
    const format = list.endsWith(".surts") ? "surts" : "urls";
    const { bytes } = await generateMap([{ name: list, chunks: [readFileSync(list)] }], {
      format,
      queries,
    });
    writeFileSync(path, bytes);
  });
}

/** Which half of the hosts a SURT belongs to: by a hash, so that it says nothing else. */
function halfOf(surt: string): number {
  const host = surt.slice(0, surt.indexOf(")"));
  return createHash("sha256").update(host).digest()[0] % 2;
}
