import { MementoMapError } from "../errors.ts";
import type { InputStreams } from "../files/input-file.ts";
import { withTempDir } from "../files/scratch.ts";
import type { Interrupt } from "../interruption.ts";
import type { MapOutput } from "../maps/map-output.ts";
import { withPartMark } from "../ukvs/head.ts";
import { type MapDescription, mapHeaders, MapRows } from "./map-rows.ts";
import type { SortedKeyRuns } from "./partition.ts";
import { type RunFile, type RunKeys, withRunFiles } from "./run-file.ts";
import type { KeyRange } from "./runs.ts";
import { type MergeOptions, mergeStored } from "./stored-runs.ts";

/** One of the ranges between cuts. */
interface CutRange {
  readonly cuts: readonly Uint8Array[];
  /** From 1 up. */
  readonly number: number;
}

export interface CombineOptions {
  /** The whole map by default. */
  readonly range?: CutRange | undefined;
  readonly scratch?: string | undefined;
  readonly streams: InputStreams;
  readonly interrupt?: Interrupt | undefined;
  readonly maxOpenRuns?: number | undefined;
}

interface MapWritten {
  readonly rows: number;
  /** Headers included. */
  readonly bytes: number;
  readonly mementos: number;
}

/**
 * Merges a range of the keys of runs, and writes their rows as a part of the map; without a range, as the
 * map.
 *
 * @throws MM_USAGE for runs that do not belong together; as withRunFiles; as writeMap
 */
export function combineFiles(
  paths: readonly string[],
  output: MapOutput,
  { range, streams, interrupt, maxOpenRuns, ...options }: CombineOptions,
): Promise<MapWritten & { readonly runs: number }> {
  const io = { ...streams, interrupt };
  return withTempDir({ parent: options.scratch, interrupt }, (scratch) =>
    withRunFiles(paths, { io, tmp: scratch }, async (runs) => {
      const keys = sameKeys(runs);
      const description = joinDescriptions(runs.map((run) => run.description));
      const merging = { scratch, interrupt, maxOpenRuns };
      const written = await writeMap({ runs, keys, description }, output, merging, range);
      return { runs: runs.length, ...written };
    }),
  );
}

/**
 * Writes the rows of runs as a map, or those between two cuts as a part of it.
 *
 * @throws as mergeStored; MM_LIMIT
 */
export async function writeMap(
  { runs, keys, description }: SortedKeyRuns,
  output: MapOutput,
  options: Omit<MergeOptions, "range">,
  part?: CutRange,
): Promise<MapWritten> {
  const headers = mapHeaders(description, keys);
  const { cuts = [], number = 1 } = part ?? {};
  const range: KeyRange = { from: cuts[number - 2], to: cuts[number - 1] };
  const mark = { number, of: cuts.length + 1, from: textOf(range.from), to: textOf(range.to) };
  await output.writeHead(part === undefined ? headers : withPartMark(headers, mark));
  const rows = new MapRows({ ...keys, isSample: description.isSample });
  let written = 0;
  const flush = async (): Promise<void> => {
    await output.write(rows.take(), rows.rows - written);
    written = rows.rows;
  };
  const add = rows.add.bind(rows);
  await mergeStored(runs, { ...options, range }, add, flush);
  rows.end();
  await flush();
  return {
    rows: rows.rows,
    bytes: output.headBytes + output.size.bytes,
    mementos: rows.mementos,
  };
}

function textOf(key: Uint8Array | undefined): string | undefined {
  return key === undefined ? undefined : new TextDecoder().decode(key);
}

/** How the keys of all runs are made. */
function sameKeys(files: readonly RunFile[]): RunKeys {
  const [first] = files;
  for (const { keys, name } of files) {
    for (const option of ["queries", "originals", "distinct", "datetimeDigits"] as const) {
      if (keys[option] === first.keys[option]) continue;
      const named = option === "datetimeDigits" ? "by" : option;
      throw new MementoMapError(
        "MM_USAGE",
        `cannot be merged with ${first.name}: one was made with --${named} and the other was not; ` +
          "give partition the same options for all splits" +
          (option === "distinct" ? " (logs and TimeMaps always have --distinct)" : ""),
        { position: { source: name } },
      );
    }
  }
  return first.keys;
}

/** The description of a map made from the inputs of several others. */
export function joinDescriptions(all: readonly MapDescription[]): MapDescription {
  const last = all.map(({ updatedAt = "" }) => updatedAt).reduce((a, b) => (a > b ? a : b));
  return {
    id: all.find(({ id }) => id !== undefined)?.id,
    name: all.find(({ name }) => name !== undefined)?.name,
    updatedAt: last === "" ? undefined : last,
    generator: all[0].generator,
    isSample: all.some(({ isSample }) => isSample === true),
    canonicalization: all.every(({ canonicalization }) => canonicalization === "surt")
      ? "surt"
      : "index",
  };
}
