import type { Writable } from "node:stream";
import type { Damage } from "../bytes/damage.ts";
import { MementoMapError, quote } from "../errors.ts";
import { withOutput } from "../files/output-file.ts";
import type { IndexInput } from "../input/index-input.ts";
import { holdsRecords } from "../input/formats.ts";
import { addIndexCounts, countDamage, type IndexCounts, newIndexCounts } from "./index-counts.ts";
import { GENERATE } from "./key-counter.ts";
import type { Canonicalization, MapDescription } from "./map-rows.ts";
import { type RunKeys, writeRunFile } from "./run-file.ts";
import { type ScanOptions, withScan } from "./scan.ts";
import type { StoredRun } from "./stored-runs.ts";

/** How keys are read and counted. */
export interface KeysOptions extends ScanOptions {
  /** Count captures of the same URI and time once; always done for logs and TimeMaps. */
  readonly distinct?: boolean | undefined;
  /** Count originals too. */
  readonly originals?: boolean | undefined;
  /** Keep queries: a row for each URI, in a map with queries. */
  readonly queries?: boolean | undefined;
  /** Digits of the datetime to split rows by, 0 (the default) to 14. */
  readonly datetimeDigits?: number | undefined;
  readonly description?: MapDescription | undefined;
  /** Maximum scratch files merged at once; 128 by default. */
  readonly maxOpenRuns?: number | undefined;
}

/** The results of reading. */
export interface ReadingSummary {
  readonly counts: IndexCounts;
  /** The unit of the counts: records of WARC and ARC files, or lines. */
  readonly unit: "lines" | "records";
  /** How the keys were made, for the map's header. */
  readonly canonicalization: Canonicalization;
  /** The first few unreadable places. */
  readonly damages: readonly Damage[];
}

/** Sorted, counted keys, how they were made, and the description of a map of them. */
export interface SortedKeyRuns {
  readonly runs: readonly StoredRun[];
  readonly keys: RunKeys;
  readonly description: MapDescription;
}

/** The keys of indexes. */
export interface KeysRead extends SortedKeyRuns {
  readonly summary: ReadingSummary;
  /** A folder for scratch files. */
  readonly scratch: string;
}

/**
 * Reads all lines of indexes into sorted, counted keys, and runs `use` with them.
 *
 * @throws as withScan; MM_USAGE for inputs whose counts cannot be added up
 */
export function withKeysRead<T>(
  paths: readonly string[],
  options: KeysOptions,
  use: (read: KeysRead) => Promise<T>,
): Promise<T> {
  const keysOf = (inputs: readonly IndexInput[]): RunKeys => {
    checkSamples(inputs);
    return {
      originals: options.originals ?? false,
      distinct: options.distinct === true || inputs.some(({ format }) => format.repeats === true),
      queries: options.queries ?? false,
      datetimeDigits: options.datetimeDigits ?? 0,
    };
  };
  return withScan(paths, GENERATE, options, keysOf, ({ inputs, damage, ...scan }) => {
    const counts = newIndexCounts();
    for (const { found } of scan.results) addIndexCounts(counts, found);
    countDamage(counts, damage);
    const canonicalization = counts.keyedByColumn === 0 ? "surt" : "index";
    return use({
      runs: scan.results.flatMap(({ runs }) => runs),
      keys: keysOf(inputs),
      description: { ...options.description, isSample: counts.samples > 0, canonicalization },
      summary: {
        counts,
        unit: inputs.every(holdsRecords) ? "records" : "lines",
        canonicalization,
        damages: damage.first,
      },
      scratch: scan.scratch,
    });
  });
}

/** Rejects a sample together with an index: both count the same captures. */
function checkSamples(inputs: readonly IndexInput[]): void {
  const sample = inputs.find((input) => input.format.isSample === true);
  const index = inputs.find((input) => input.format.isSample !== true);
  if (sample === undefined || index === undefined) return;
  throw new MementoMapError(
    "MM_USAGE",
    `${quote(sample.source)} is a sample of what an archive holds, and ${quote(index.source)} an ` +
      "index; they tell of the same captures and cannot be counted together",
  );
}

export interface PartitionSummary extends ReadingSummary {
  /** Distinct keys. */
  readonly keys: number;
  /** Bytes of the run, without its footer. */
  readonly bytes: number;
}

/**
 * Reads index files into the sorted, counted keys that `generate` makes rows of, and writes them as a
 * run, to the file `path`.
 *
 * @throws as withKeysRead
 */
export async function partitionFiles(
  paths: readonly string[],
  path: string | undefined,
  options: KeysOptions & { readonly stdout: Writable },
): Promise<PartitionSummary> {
  const { interrupt, stdout, maxOpenRuns } = options;
  return withKeysRead(paths, options, async ({ runs, keys, description, summary, scratch }) => {
    const footer = { keys, description, counts: summary.counts };
    const index = await withOutput(path, { stdout, interrupt }, (output) =>
      writeRunFile(output, runs, footer, { scratch, interrupt, maxOpenRuns }),
    );
    return { ...summary, keys: index.keys, bytes: index.byteLength };
  });
}
