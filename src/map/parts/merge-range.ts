import { join } from "node:path";
import { MementoMapError } from "../../errors.ts";
import { withTempDir } from "../../files/scratch.ts";
import type { InputStreams } from "../../files/input-file.ts";
import { checkSignal, type Interrupt } from "../../interruption.ts";
import { type MapDescription, mapHeaders, MapRows } from "../generate/map-rows.ts";
import { type KeyRange, mergeRuns } from "../generate/runs.ts";
import {
  combineRuns,
  combineStored,
  MAX_OPEN_RUNS,
  readingRuns,
  type RunCombiner,
  type StoredRun,
  writingTo,
} from "../generate/stored-runs.ts";
import { withPartMark } from "../lookup/part-mark.ts";
import type { MapOutput } from "../output/map-output.ts";
import { rangesBetween } from "./cuts.ts";
import {
  cutsDigest,
  type MapRunFooter,
  openRunFiles,
  type RunFile,
  type RunKeys,
} from "./run-file.ts";

/** One of the ranges between cuts. */
export interface CutRange {
  readonly cuts: readonly Uint8Array[];
  /** From 1 up. */
  readonly number: number;
}

export interface MergeRangeOptions {
  /** The whole map by default. */
  readonly range?: CutRange | undefined;
  readonly scratch?: string | undefined;
  readonly streams: InputStreams;
  readonly interrupt?: Interrupt | undefined;
  readonly maxOpenRuns?: number | undefined;
}

export interface MergeRangeSummary {
  readonly runs: number;
  readonly rows: number;
  readonly bytes: number;
  readonly mementos: number;
}

/**
 * Merges a range of the keys of runs, and writes their rows as a part of the map; without a range, as the
 * map. Holds a buffer for each run, 128 at most.
 *
 * @throws MM_USAGE for runs that do not belong together; as openRunFiles; MM_LIMIT, MM_IO
 */
export async function mergeRange(
  paths: readonly string[],
  output: MapOutput,
  options: MergeRangeOptions,
): Promise<MergeRangeSummary> {
  const { interrupt, streams, maxOpenRuns = MAX_OPEN_RUNS } = options;
  return withTempDir({ parent: options.scratch, interrupt }, async (scratch) => {
    const opened = await openRunFiles(paths, scratch, { ...streams, interrupt });
    const files = opened.map(runOfMap);
    const keys = sameKeys(files);
    const description = joinDescriptions(files.map((file) => file.description));
    const headers = mapHeaders(description, keys);
    const { range: chosen } = options;
    for (const file of files) checkRange(file, chosen);
    const range = chosen === undefined ? {} : rangesBetween(chosen.cuts)[chosen.number - 1];
    await output.writeHead(
      chosen === undefined
        ? headers
        : withPartMark(headers, {
            number: chosen.number,
            of: chosen.cuts.length + 1,
            from: textOf(range.from),
            to: textOf(range.to),
          }),
    );
    const first = runsToOpen(files, range, scratch, maxOpenRuns);
    checkSignal(interrupt?.signal);
    const runs = await combineRuns(first, [HERE], { scratch, interrupt, maxOpenRuns });
    const rowOptions = { ...keys, isSample: description.isSample };
    const written = await writeRows(runs, range, rowOptions, output, join(scratch, "rows"));
    return { runs: files.length, ...written };
  });
}

/** Works on this thread. */
export const HERE: RunCombiner = { combine: async (task) => combineStored(task) };

/** No more runs than `maxOpen` times as many: the files, or runs of this range of them. */
export function runsToOpen(
  files: readonly RunFile[],
  range: KeyRange,
  scratch: string,
  maxOpen: number,
): readonly StoredRun[] {
  if (files.length <= maxOpen) return files;
  const groups = Array.from({ length: Math.ceil(files.length / maxOpen) }, (_, i) =>
    files.slice(i * maxOpen, (i + 1) * maxOpen),
  );
  return groups.map((runs, i) =>
    combineStored({ runs, range, path: join(scratch, `first-${i}.run`) }),
  );
}

async function writeRows(
  runs: readonly StoredRun[],
  range: KeyRange,
  options: ConstructorParameters<typeof MapRows>[0],
  output: MapOutput,
  scratch: string,
): Promise<Omit<MergeRangeSummary, "runs">> {
  const { place } = output;
  const target =
    place === undefined
      ? { path: scratch }
      : { path: place.path, offset: place.offset, name: output.name };
  let bytes = 0;
  let result = { rows: 0, mementos: 0 };
  readingRuns(runs, range.from, (readers) => {
    writingTo(target, (write) => {
      const rows = new MapRows(options, (block) => {
        bytes += block.length;
        write(block);
      });
      mergeRuns(readers, range, (key, length, count) => rows.add(key, length, count));
      rows.end();
      result = { rows: rows.rows, mementos: rows.mementos };
    });
  });
  if (place === undefined) await output.copy(scratch, result.rows);
  else place.skip({ bytes, records: result.rows });
  return { ...result, bytes: bytes + output.headBytes };
}

function textOf(key: Uint8Array | undefined): string | undefined {
  return key === undefined ? undefined : new TextDecoder().decode(key);
}

/** A run of the keys of a map. */
type MapRun = RunFile & MapRunFooter;

/** @throws MM_BAD_INPUT for a run of another kind. */
function runOfMap(file: RunFile): MapRun {
  const { keys, description, counts } = file;
  if (keys !== undefined && description !== undefined && counts !== undefined) {
    return { ...file, keys, description, counts };
  }
  throw new MementoMapError(
    "MM_BAD_INPUT",
    "is a run of captures for analyze; partition makes those for a map",
    { position: { source: file.name } },
  );
}

/** How the keys of all runs are made. */
function sameKeys(files: readonly MapRun[]): RunKeys {
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

/** What a map of all runs says of itself. */
function joinDescriptions(all: readonly MapDescription[]): MapDescription {
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

/** @throws MM_USAGE for a run that was cut to another range. */
export function checkRange({ range, name }: RunFile, chosen: CutRange | undefined): void {
  if (range === undefined) return;
  const isSame =
    chosen !== undefined &&
    range.number === chosen.number &&
    range.cuts === cutsDigest(chosen.cuts);
  if (isSame) return;
  throw new MementoMapError(
    "MM_USAGE",
    `the run has only range ${range.number} of ${range.of}, of ` +
      `${range.cuts === cutsDigest(chosen?.cuts ?? []) ? "these" : "other"} cuts; ` +
      `give --range ${range.number} and the --cuts it was made with`,
    { position: { source: name } },
  );
}
