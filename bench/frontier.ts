/**
 * Draws the frontier of docs/evaluation.md: how well packed maps, text maps, Bloom filters and binary fuse
 * filters of the same size answer.
 *
 *     npx tsx bench/frontier.ts [--kind packed --kind 'packed, trained'] [--sizes 50000,300000] [NAME...]
 *
 * Prints a table for each set, and writes docs/frontier-*.svg. A NAME picks the sets whose names begin with it.
 * What was measured is kept in `frontier.json` in the folder of benches; remove it to measure again. With a kind or
 * sizes only these are measured, and what is drawn is all that is known.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { isMementoMapError } from "../src/errors.ts";
import { compactFileToBudget } from "../src/compact/budget-files.ts";
import { withMapOutput } from "../src/maps/map-output.ts";
import { packMap } from "../src/pack/pack-files.ts";
import { mapPredictor } from "../src/study/evaluate/predictor.ts";
import { benchFolder } from "./bench-folder.ts";
import { BloomFilter } from "./bloom-filter.ts";
import { type FrontierSet, frontierSets } from "./evaluate-sets.ts";
import { FuseFilter } from "./fuse-filter.ts";
import { Judge, type Verdict } from "./judge.ts";
import { markdownTable } from "./markdown-table.ts";
import { lineChart } from "../src/page/chart/line-chart.ts";
import { svgFile } from "../src/page/chart/svg-file.ts";

const SIZES: readonly number[] = [
  10_000, 15_000, 20_000, 30_000, 50_000, 75_000, 100_000, 140_000, 200_000, 300_000, 500_000,
  1_000_000, 2_000_000, 5_000_000,
];
const KINDS = ["packed", "packed, trained", "Bloom", "fuse", "text", "text, trained"] as const;
type Kind = (typeof KINDS)[number];

const io = { stdin: process.stdin, stdout: process.stdout };
const folder = await benchFolder();
const KEPT = join(folder, "frontier.json");

/** By set, size and kind; null where nothing is so small. */
type Known = Record<string, Verdict | null>;

const known: Known = existsSync(KEPT) ? (JSON.parse(readFileSync(KEPT, "utf8")) as Known) : {};

/** Measures one set; everything that is not known yet. */
class Frontier {
  readonly #set: FrontierSet;
  #judge: Judge | undefined;
  #fuse: FuseFilter | undefined;

  constructor(set: FrontierSet) {
    this.#set = set;
  }

  get judge(): Judge {
    const { truth, lookups, queries } = this.#set;
    this.#judge ??= new Judge(truth, lookups, queries);
    return this.#judge;
  }

  /** What was measured before. */
  known(kind: Kind, bytes: number): Verdict | null | undefined {
    return (known as Partial<Known>)[`${this.#set.name} ${bytes} ${kind}`];
  }

  async verdict(kind: Kind, bytes: number): Promise<Verdict | null> {
    const name = `${this.#set.name} ${bytes} ${kind}`;
    if (known[name] === undefined) {
      known[name] = await this.#measured(kind, bytes).catch((error: unknown) => {
        if (isMementoMapError(error) && error.code === "MM_BUDGET") return null;
        throw error;
      });
      writeFileSync(KEPT, JSON.stringify(known, undefined, 1));
    }
    return known[name];
  }

  async #measured(kind: Kind, bytes: number): Promise<Verdict | null> {
    if (kind === "Bloom") return this.#bloom(bytes);
    if (kind === "fuse") return this.#fuseFilter(bytes);
    const misses = kind.endsWith("trained") ? this.#set.misses : undefined;
    const map = kind.startsWith("packed")
      ? await this.#packed(bytes, misses)
      : await this.#text(bytes, misses);
    const predictor = mapPredictor(kind, map);
    const says = (key: Uint8Array): boolean => predictor.says(key);
    this.judge.checkRecall(kind, says);
    return this.judge.judge(says);
  }

  #bloom(bytes: number): Verdict {
    const filter = new BloomFilter(bytes, this.judge.held.length);
    for (const key of this.judge.held) filter.add(key);
    return this.judge.judge((key) => filter.has(key));
  }

  #fuseFilter(bytes: number): Verdict | null {
    this.#fuse ??= new FuseFilter(this.judge.held);
    const fuse = this.#fuse;
    const bits = fuse.bitsWithin(bytes);
    if (bits === 0) return null;
    this.judge.checkRecall("fuse", (key) => fuse.has(key, bits));
    return this.judge.judge((key) => fuse.has(key, bits));
  }

  async #packed(maxBytes: number, misses: string | undefined): Promise<Uint8Array> {
    const { file } = await packMap(this.#set.truth, { maxBytes, misses, streams: io });
    if (file.length > maxBytes) throw new Error(`${file.length} bytes, not ${maxBytes}`);
    return file;
  }

  async #text(maxBytes: number, misses: string | undefined): Promise<Uint8Array> {
    const path = join(folder, "frontier.ukvs");
    await withMapOutput(path, io, (output) =>
      compactFileToBudget(this.#set.truth, output, { budget: { maxBytes }, misses, streams: io }),
    );
    return readFileSync(path);
  }
}

const { values, positionals: wanted } = parseArgs({
  options: { kind: { type: "string", multiple: true }, sizes: { type: "string" } },
  allowPositionals: true,
});
const kinds: readonly string[] = values.kind ?? KINDS;
const sizes = values.sizes?.split(",").map(Number) ?? SIZES;
for (const set of await frontierSets(folder)) {
  if (wanted.length > 0 && !wanted.some((name) => set.name.startsWith(name))) continue;
  const frontier = new Frontier(set);
  const found = new Map<string, Verdict | null | undefined>();
  for (const kind of KINDS) {
    for (const bytes of SIZES) {
      const isWanted = kinds.includes(kind) && sizes.includes(bytes);
      const verdict = isWanted ? await frontier.verdict(kind, bytes) : frontier.known(kind, bytes);
      found.set(`${kind} ${bytes}`, verdict);
    }
  }
  const rows = SIZES.map((bytes) => [
    `${bytes / 1000} kB`,
    ...KINDS.map((kind) => text(found.get(`${kind} ${bytes}`))),
  ]);
  const series = KINDS.map((kind) => ({
    name: kind,
    points: SIZES.flatMap((bytes) => {
      const verdict = found.get(`${kind} ${bytes}`);
      return verdict === null || verdict === undefined
        ? []
        : [{ x: bytes, y: 1 - verdict.accuracy }];
    }),
  }));
  const file = `frontier-${set.name.replaceAll(/\W+/g, "-")}.svg`;
  const path = fileURLToPath(new URL(`../docs/${file}`, import.meta.url));
  const axes = {
    x: { name: "bytes", isLog: true },
    y: { name: "wrong answers", isLog: true, text: percent },
  };
  writeFileSync(
    path,
    svgFile(lineChart({ ...axes, series }), `Wrong answers by size: ${set.name}`),
  );
  console.log(`### ${set.name}\n\n![Wrong answers by size](${file})\n`);
  console.log(`${markdownTable(["size", ...KINDS], rows)}\n`);
}

function percent(share: number): string {
  return `${Number((100 * share).toPrecision(1))} %`;
}

/** Accuracy, and that on held hosts. */
function text(verdict: Verdict | null | undefined): string {
  if (verdict === null || verdict === undefined) return "–";
  return `${verdict.accuracy.toFixed(4)} / ${verdict.onHeldHosts.toFixed(3)}`;
}
