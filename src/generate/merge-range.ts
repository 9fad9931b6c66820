import { join } from "node:path";
import { MementoMapError } from "../errors.ts";
import { withTempDir } from "../files/scratch.ts";
import type { InputStreams } from "../files/input-file.ts";
import { checkSignal, type Interrupt } from "../interruption.ts";
import { type MapDescription, mapHeaders } from "./map-rows.ts";
import type { KeyRange } from "./runs.ts";
import { mergeRows } from "./scan-job.ts";
import {
  combineRuns,
  combineStored,
  MAX_OPEN_RUNS,
  type RunCombiner,
  type StoredRun,
  writingTo,
} from "./stored-runs.ts";
import { withPartMark } from "../ukvs/part-mark.ts";
import type { MapOutput } from "../maps/map-output.ts";
import { rangesBetween } from "./cuts.ts";
import type { RunKeys } from "./generate.ts";
import { openRunFiles, type RunFile } from "./run-file.ts";

/** One of the ranges between cuts. */
interface CutRange {
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
    const files = await openRunFiles(paths, scratch, { ...streams, interrupt });
    const keys = sameKeys(files);
    const description = joinDescriptions(files.map((file) => file.description));
    const headers = mapHeaders(description, keys);
    const { range: chosen } = options;
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
    const rows = join(scratch, "rows");
    const written = writingTo(rows, (write) =>
      mergeRows(runs, range, { ...keys, isSample: description.isSample }, write),
    );
    await output.copy(rows, written.rows);
    return { runs: files.length, ...written, bytes: written.bytes + output.headBytes };
  });
}

/** Works on this thread. */
const HERE: RunCombiner = { combine: async (task) => combineStored(task) };

/** No more runs than `maxOpen` times as many: the files, or runs of this range of them. */
function runsToOpen(
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
