import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Damage } from "../bytes/damage.ts";
import { MementoMapError, quote } from "../errors.ts";
import { withTempDir } from "../files/scratch.ts";
import type { IndexInput } from "../input/index-input.ts";
import { holdsRecords } from "../input/listed-files.ts";
import { checkSignal } from "../interruption.ts";
import type { UkvsHeaders } from "../ukvs/header.ts";
import type { MapSink } from "../ukvs/writer.ts";
import { withMapSources } from "../lookup/map-sources.ts";
import { type MapOutput, withMapOutput } from "../maps/map-output.ts";
import { addIndexCounts, countDamage, type IndexCounts, newIndexCounts } from "./index-counts.ts";
import { GENERATE } from "./key-counter.ts";
import {
  type Canonicalization,
  type MapDescription,
  mapHeaders,
  type RowKeyOptions,
} from "./map-rows.ts";
import { cutRuns } from "./runs.ts";
import { withScan, type ScanOptions } from "./scan.ts";
import type { Lane, MergeResult } from "./scan-job.ts";
import { combineRuns, type StoredRun } from "./stored-runs.ts";

/** How the keys of a run are made; runs are merged only where all of it is the same. */
export interface RunKeys extends RowKeyOptions {
  readonly distinct: boolean;
  readonly queries: boolean;
}

export interface GenerateOptions extends ScanOptions {
  /** Maps to add the inputs to; the result is as if it were made from all their indexes. */
  readonly add?: readonly string[] | undefined;
  /** Count captures of the same URI and time once; always done for logs and TimeMaps. */
  readonly distinct?: boolean | undefined;
  /** Count originals too. */
  readonly originals?: boolean | undefined;
  /** Keep queries: a row for each URI, in a map with queries. */
  readonly queries?: boolean | undefined;
  /** Digits of the datetime to split rows by, 0 (the default) to 14. */
  readonly datetimeDigits?: number | undefined;
  readonly description?: MapDescription | undefined;
  /** Scratch files that a thread merges at once, at most; 128 by default. */
  readonly maxOpenRuns?: number | undefined;
}

/** What was found while reading. */
export interface ReadingSummary {
  readonly counts: IndexCounts;
  /** What was read: records of WARC and ARC files, or lines. */
  readonly unit: "lines" | "records";
  /** Files of records that were not read, because an index that names them was. */
  readonly indexed: readonly string[];
  /** How the keys were made, as the map's header says. */
  readonly canonicalization: Canonicalization;
  /** The first few places that could not be read. */
  readonly damages: readonly Damage[];
}

export interface GenerateSummary extends ReadingSummary {
  /** Rows of the map. */
  readonly rows: number;
  /** Bytes of the map, before compression. */
  readonly bytes: number;
  /** The sum of all counts. */
  readonly mementos: number;
  /** Captures that were read before; known only with deduplication. */
  readonly duplicates: number;
  /** Sorted runs that went through the disk. */
  readonly runs: number;
}

/** The keys of indexes, sorted and counted, in runs. */
export interface KeysRead {
  readonly runs: readonly StoredRun[];
  /** How the keys are made. */
  readonly keys: RunKeys;
  /** What a map of them says about itself. */
  readonly description: MapDescription;
  readonly summary: ReadingSummary;
  /** Who has read; free for other work. */
  readonly lanes: readonly Lane<IndexCounts>[];
  readonly scratch: string;
}

/**
 * Reads all lines of indexes into sorted, counted keys, and runs `use` with them.
 *
 * @throws as withScan; MM_USAGE for inputs whose counts cannot be added up
 */
export function withKeysRead<T>(
  paths: readonly string[],
  options: GenerateOptions,
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
  return withScan(paths, GENERATE, options, keysOf, ({ inputs, indexed, damage, ...scan }) => {
    const counts = newIndexCounts();
    for (const { found } of scan.results) addIndexCounts(counts, found);
    countDamage(counts, damage);
    const canonicalization = counts.keyedByColumn === 0 ? "surt" : "index";
    const isSample = counts.samples > 0;
    return use({
      runs: scan.results.flatMap(({ runs }) => runs),
      keys: keysOf(inputs),
      description: { ...options.description, isSample, canonicalization },
      summary: {
        counts,
        indexed,
        unit: inputs.every(holdsRecords) ? "records" : "lines",
        canonicalization,
        damages: damage.first,
      },
      lanes: scan.lanes,
      scratch: scan.scratch,
    });
  });
}

/** A sample tells of captures that an index has too: adding both up would be wrong. */
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

/**
 * Makes a map from index files: reads, filters, keys, counts, sorts and writes.
 *
 * The rows do not depend on the order of files, on threads or on memory.
 *
 * @throws as withKeysRead
 */
export async function generateFiles(
  paths: readonly string[],
  output: MapOutput,
  options: GenerateOptions,
): Promise<GenerateSummary> {
  if ((options.add ?? []).length > 0) return addToMaps(paths, output, options);
  return withKeysRead(paths, options, async (read) => {
    const written = await writeMap(read, output, options);
    const { counts } = read.summary;
    return {
      ...read.summary,
      ...written,
      duplicates: read.keys.distinct ? counts.captures - written.mementos : 0,
      runs: read.runs.filter((run) => "path" in run).length,
    };
  });
}

/** Merging in more parts than threads lets the first be written out while others are merged. */
const MERGES_PER_LANE = 4;

/** Writes the map of what was read. */
async function writeMap(
  { runs, keys, description, lanes, scratch }: KeysRead,
  output: MapOutput,
  { interrupt, maxOpenRuns }: Pick<GenerateOptions, "interrupt" | "maxOpenRuns">,
): Promise<MergeResult> {
  await output.writeHead(mapHeaders(description, keys));
  const left = await combineRuns(runs, lanes, { scratch, interrupt, maxOpenRuns });
  const rows = { ...keys, isSample: description.isSample };
  const indexes = left.map((run) => run.index);
  const ranges = cutRuns(indexes, lanes.length === 1 ? 1 : lanes.length * MERGES_PER_LANE);
  const parts = ranges.map((range, i) => {
    const path = join(scratch, `part-${i}.rows`);
    return { path, result: lanes[i % lanes.length].merge({ runs: left, range, path, rows }) };
  });
  for (const { result } of parts) result.catch(() => undefined); // met below, in order
  const total = { rows: 0, bytes: output.headBytes, mementos: 0 };
  for (const { path, result } of parts) {
    const part = await result;
    checkSignal(interrupt?.signal);
    total.rows += part.rows;
    total.bytes += part.bytes;
    total.mementos += part.mementos;
    await output.copy(path, part.rows);
    await rm(path);
  }
  return total;
}

/** Makes a map of indexes, and merges it with others. */
async function addToMaps(
  paths: readonly string[],
  output: MapOutput,
  { add = [], ...options }: GenerateOptions,
): Promise<GenerateSummary> {
  const { interrupt, streams } = options;
  if (options.originals === true) {
    throw cannotAdd("a map does not say which originals it counted; leave out --originals");
  }
  const scratchOptions = { parent: options.scratch, interrupt };
  return withTempDir(scratchOptions, async (scratch) => {
    const path = join(scratch, "new.ukvs");
    const stdout = process.stdout;
    const summary = await withMapOutput(path, { stdout, interrupt, isScratch: true }, (made) =>
      withKeysRead(paths, options, async (read) => {
        if (read.keys.distinct) {
          throw cannotAdd(
            "a map does not say which captures it counted, so duplicates cannot be told",
          );
        }
        if (read.description.isSample === true) {
          throw cannotAdd("a sample tells of captures that the map has too");
        }
        const written = await writeMap(read, made, options);
        return { ...read.summary, ...written };
      }),
    );
    const { mergeMaps } = await import("../maps/merge-maps.ts");
    const { openLogicalMaps } = await import("../maps/logical-map.ts");
    const io = { ...streams, interrupt };
    await withMapSources([path, ...add], { io, tmp: scratch }, async (sources) => {
      const maps = await openLogicalMaps(sources, { signal: interrupt?.signal });
      const headers = mapHeaders(joinDescriptions(maps, options.description), options);
      const sink: MapSink = {
        writeHead: () => output.writeHead(headers),
        write: (rows) => output.write(rows),
      };
      await mergeMaps(sources, sink, { signal: interrupt?.signal });
    });
    const { bytes, records } = output.size;
    return { ...summary, rows: records, bytes: bytes + output.headBytes, duplicates: 0, runs: 0 };
  });
}

/** What a map says of itself that others were added to, first among `maps`. */
function joinDescriptions(
  maps: readonly { readonly headers: UkvsHeaders }[],
  given: MapDescription = {},
): MapDescription {
  const textOf = (name: string): string[] =>
    maps.map(({ headers }) => headers.meta[name]).filter((value) => typeof value === "string");
  const canonicalizations = maps.map(({ headers }) => headers.meta["canonicalization"]);
  return {
    ...given,
    id: given.id ?? maps.find(({ headers }) => headers.id !== undefined)?.headers.id,
    name: given.name ?? textOf("name")[0],
    updatedAt: textOf("updated_at").toSorted().at(-1),
    isSample: maps.some(({ headers }) => headers.meta["sample"] === true),
    canonicalization: canonicalizations.every((name) => name === "surt") ? "surt" : "index",
  };
}

function cannotAdd(why: string): MementoMapError {
  return new MementoMapError("MM_USAGE", `cannot add to a map: ${why}`);
}
