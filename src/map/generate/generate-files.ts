import type { IndexCounts } from "./index-counts.ts";
import { addIndexCounts, countDamage, newIndexCounts } from "./index-counts.ts";
import type { Canonicalization, MapDescription } from "./map-headers.ts";
import { mapHeaders } from "./map-headers.ts";
import type { Damage } from "../../bytes/damage.ts";
import { newDamageLog } from "../../bytes/damage.ts";
import type { InputFormat, KeyTrust } from "../../input/detect.ts";
import type { CaptureFilter } from "../../input/filter.ts";
import type { InputStreams } from "../../files/input-file.ts";
import type { Interrupt } from "../../interruption.ts";
import type { MapOutput } from "../output/map-output.ts";
import { holdsRecords } from "../../input/open-inputs.ts";
import { withTempDir } from "../../files/scratch.ts";
import { earlyThreads, openLanes } from "./open-lanes.ts";
import { planGenerate } from "./plan.ts";
import { KeysDiffer, readAll } from "./read-all.ts";
import { writeRows } from "./write-rows.ts";

export interface GenerateOptions {
  readonly format?: InputFormat | undefined;
  readonly filter?: CaptureFilter | undefined;
  /** Maps to add the inputs to; the result is as if it were made from all their indexes. */
  readonly add?: readonly string[] | undefined;
  /** Whether to trust key columns; by default only where a sample agrees with the URIs. */
  readonly keys?: KeyTrust | undefined;
  /** Which archive to take from logs and TimeMaps of aggregators. */
  readonly archive?: string | undefined;
  /** Count captures of the same URI and time once; always done for logs and TimeMaps. */
  readonly distinct?: boolean | undefined;
  /** Count originals too. */
  readonly originals?: boolean | undefined;
  /** Digits of the datetime to split rows by, 0 (the default) to 14. */
  readonly datetimeDigits?: number | undefined;
  /** Count and leave out lines and stretches that cannot be read, instead of failing. */
  readonly skipBad?: boolean | undefined;
  readonly description?: MapDescription | undefined;
  /** What the whole run may hold; 512 MiB by default. */
  readonly memoryBytes?: number | undefined;
  readonly threads?: number | undefined;
  /** The folder for scratch files. */
  readonly scratch?: string | undefined;
  /** Scratch files that a thread merges at once, at most; 128 by default. */
  readonly maxOpenRuns?: number | undefined;
  readonly maxLineBytes?: number | undefined;
  readonly streams: InputStreams;
  readonly interrupt?: Interrupt | undefined;
  /** Told how many stored bytes were read since the last call. */
  readonly onRead?: ((bytes: number) => void) | undefined;
}

export interface GenerateSummary {
  readonly counts: IndexCounts;
  /** Rows of the map. */
  readonly rows: number;
  /** Bytes of the map, before compression. */
  readonly bytes: number;
  /** The sum of all counts. */
  readonly mementos: number;
  /** Captures that were told of before; only known where captures are told apart. */
  readonly duplicates: number;
  /** Inputs whose key column is not the SURT of the URI, so that keys were made anew. */
  readonly rekeyed: readonly string[];
  /** What was read: records of WARC and ARC files, or lines. */
  readonly unit: "lines" | "records";
  /** Files of records that were not read, because an index that names them was. */
  readonly indexed: readonly string[];
  /** How the keys were made, as the map's header says. */
  readonly canonicalization: Canonicalization;
  /** The first few places that could not be read. */
  readonly damages: readonly Damage[];
  /** Sorted runs that went through the disk. */
  readonly runs: number;
}

/**
 * Makes a map from index files: reads, filters, keys, counts, sorts and writes.
 *
 * Reads every input once, in any order and sorted or not; again from the start if a key column that
 * was trusted turns out to differ from the URIs. Holds at most `memoryBytes`; what does not fit goes
 * through sorted runs in a scratch folder. The rows do not depend on the order of files, on threads
 * or on memory.
 *
 * @throws MM_IO, MM_BAD_INPUT, MM_BAD_LINE (with file and line), MM_LIMIT, MM_INTERRUPTED, MM_USAGE
 */
export async function generateFiles(
  paths: readonly string[],
  output: MapOutput,
  options: GenerateOptions,
): Promise<GenerateSummary> {
  const untrusted = new Set<string>();
  for (;;) {
    try {
      return await generateOnce(paths, output, options, untrusted);
    } catch (error) {
      if (!(error instanceof KeysDiffer)) throw error;
      untrusted.add(error.source);
    }
  }
}

async function generateOnce(
  paths: readonly string[],
  output: MapOutput,
  options: GenerateOptions,
  untrusted: ReadonlySet<string>,
): Promise<GenerateSummary> {
  // Threads take as long to start as it takes to make a plan.
  const threads = await earlyThreads(paths, options);
  const damage = newDamageLog();
  const noted = options.skipBad === true ? damage : undefined;
  const plan = await planGenerate(paths, options, untrusted, noted).catch(
    async (error: unknown) => {
      await Promise.all(threads.map((thread) => thread.end()));
      throw error;
    },
  );
  const scratchOptions = { parent: options.scratch, interrupt: options.interrupt };
  return withTempDir(scratchOptions, async (scratch) => {
    const lanes = openLanes(plan, scratch, options, threads);
    let isDone = false;
    try {
      await readAll(plan, lanes, damage, options.onRead);
      const finished = await Promise.all(lanes.map((lane) => lane.finish()));
      const counts = newIndexCounts();
      for (const result of finished) addIndexCounts(counts, result.counts);
      countDamage(counts, damage);
      const isSample = counts.samples > 0;
      // A stream cannot be read again with other keys.
      const canonicalization = counts.keysDifferent > 0 ? "index" : plan.canonicalization;
      const description = { ...plan.description, isSample, canonicalization };
      await output.writeHead(mapHeaders(description, options.datetimeDigits ?? 0));
      const merged = await writeRows(lanes, finished, {
        scratch,
        isSample,
        output,
        interrupt: options.interrupt,
        maxOpenRuns: options.maxOpenRuns,
      });
      isDone = true;
      return {
        ...merged,
        counts,
        bytes: merged.bytes + output.headBytes,
        duplicates: plan.isDistinct ? counts.captures - merged.mementos : 0,
        rekeyed: plan.inputs.filter((i) => i.format.isRekeyed).map((i) => i.source),
        indexed: plan.indexed,
        unit: plan.inputs.every(holdsRecords) ? "records" : "lines",
        canonicalization,
        damages: damage.first,
      };
    } finally {
      const ended = Promise.all(lanes.map((lane) => lane.end()));
      // When all rows are written, nobody needs to wait for threads to go.
      if (isDone) ended.catch(() => undefined);
      else await ended;
    }
  });
}
