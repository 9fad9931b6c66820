import { stat } from "node:fs/promises";
import { MAX_LINE_BYTES } from "../../bytes/lines.ts";
import { ioError, MementoMapError, quote } from "../../errors.ts";
import { recognizeCompression } from "../../bytes/bytes.ts";
import type { Canonicalization, MapDescription } from "./map-rows.ts";
import type { Damage, DamageLog } from "../../bytes/damage.ts";
import type { IndexCounts } from "./index-counts.ts";
import {
  type DetectedFormat,
  type InputFormat,
  keyedByUri,
  type KeyTrust,
} from "../../input/detect.ts";
import {
  FileProgress,
  type IndexInput,
  type OpenOptions,
  type Split,
} from "../../input/index-input.ts";
import { openInputs, readHead } from "../../input/open-inputs.ts";
import type { CaptureFilter } from "../../input/filter.ts";
import type { InputStreams } from "../../files/input-file.ts";
import type { Interrupt } from "../../interruption.ts";
import { mapHeadOf, refuseCut, refuseEmpty, wholeMapHeaders } from "../lookup/map-head.ts";
import type { UkvsHeaders } from "../../ukvs/header.ts";
import {
  compressedInput,
  decompressedHead,
  plainInput,
  wholeLinesOf,
} from "../../input/file-inputs.ts";

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
  /** Keep queries: a row for each URI, in a map with queries. */
  readonly queries?: boolean | undefined;
  /** Digits of the datetime to split rows by, 0 (the default) to 14. */
  readonly datetimeDigits?: number | undefined;
  /** Count and leave out lines and stretches that cannot be read, instead of failing. */
  readonly skipBad?: boolean | undefined;
  /** Read only this part of the one input. */
  readonly split?: Split | undefined;
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
  /** Captures that were read before; known only with deduplication. */
  readonly duplicates: number;
  /** Inputs whose key column is not the SURT of the URI, so that keys were made from URIs. */
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

/** What is to be done, found out before any work is. */
export interface GeneratePlan {
  readonly inputs: readonly IndexInput[];
  /** Whether each capture is to be counted once. */
  readonly isDistinct: boolean;
  readonly description: MapDescription;
  /** How keys are made, as far as is known before all rows are read. */
  readonly canonicalization: Canonicalization;
  /** Files of records that are not read, because an index of them is. */
  readonly indexed: readonly string[];
  readonly progress: FileProgress;
  /** Whether all inputs can be read a second time. */
  readonly canReread: boolean;
}

/**
 * Detects the formats of all inputs, and how they go together.
 *
 * @param damage where to note what this thread passes over, if that is allowed.
 * @throws MM_USAGE for inputs whose counts cannot be added up, and what opening inputs throws.
 */
export async function planGenerate(
  paths: readonly string[],
  options: GenerateOptions,
  untrusted: ReadonlySet<string>,
  damage?: DamageLog,
): Promise<GeneratePlan> {
  const progress = new FileProgress();
  const indexed: string[] = [];
  const open: OpenOptions = {
    format: options.format ?? "auto",
    keys: options.keys ?? "auto",
    queries: options.queries,
    untrusted,
    maxLineBytes: options.maxLineBytes ?? MAX_LINE_BYTES,
    archive: options.archive,
    streams: options.streams,
    signal: options.interrupt?.signal,
    damage,
    indexed,
    split: options.split,
    progress,
  };
  const indexes = await openInputs(paths, open);
  const isDistinct =
    options.distinct === true || indexes.some((input) => input.format.repeats === true);
  checkSamples(indexes);
  const added = options.add ?? [];
  if (added.length > 0) checkAdding(indexes, isDistinct, options);
  const maps: AddedMap[] = [];
  for (const path of added) {
    const whole = { ...open, damage: undefined, split: undefined };
    maps.push(await openAddedMap(path, options, whole));
  }
  return {
    inputs: largestFirst([...indexes, ...maps.map((map) => map.input)]),
    isDistinct,
    description: describe(maps, options),
    canonicalization: keysOf(indexes, maps, options),
    indexed,
    progress,
    canReread: indexes.every((input) => input.source !== "stdin" && input.size !== undefined),
  };
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

function checkAdding(
  inputs: readonly IndexInput[],
  isDistinct: boolean,
  options: GenerateOptions,
): void {
  const why =
    options.originals === true
      ? "a map does not say which originals it counted; leave out --originals"
      : isDistinct
        ? "a map does not say which captures it counted, so duplicates cannot be told"
        : inputs.some((input) => input.format.isSample === true)
          ? "a sample tells of captures that the map has too"
          : undefined;
  if (why !== undefined) throw new MementoMapError("MM_USAGE", `cannot add to a map: ${why}`);
}

/** Files that one thread has to read alone should not be begun last. */
function largestFirst(inputs: readonly IndexInput[]): IndexInput[] {
  return inputs.toSorted((a, b) => (b.size ?? 0) - (a.size ?? 0));
}

function describe(maps: readonly AddedMap[], options: GenerateOptions): MapDescription {
  const given = options.description ?? {};
  const metas = maps.map(({ headers }) => headers.meta);
  const textOf = (name: string): string[] =>
    metas.map((meta) => meta[name]).filter((value) => typeof value === "string");
  const ids = maps.map(({ headers }) => headers.id).filter((id) => id !== undefined);
  const updatedAt = [given.updatedAt ?? "", ...textOf("updated_at")].reduce((a, b) =>
    a > b ? a : b,
  );
  return {
    ...given,
    id: given.id ?? ids[0],
    name: given.name ?? textOf("name")[0],
    updatedAt: updatedAt === "" ? undefined : updatedAt,
  };
}

function keysOf(
  indexes: readonly IndexInput[],
  maps: readonly AddedMap[],
  options: GenerateOptions,
): Canonicalization {
  const areOurs =
    indexes.every((input) => hasOurKeys(input, options)) &&
    maps.every(({ headers }) => headers.meta["canonicalization"] === "surt");
  return areOurs ? "surt" : "index";
}

/** Whether keys are made from URIs, or were compared with them. */
function hasOurKeys({ format }: IndexInput, { keys }: GenerateOptions): boolean {
  if (format.name === "surts" || format.name === "map") return false;
  if (format.isRekeyed === true || keyedByUri(format) === undefined) {
    if (format.name === "captures") return format.lacks !== "uris";
    return format.name !== "cdx" || format.columns.key === -1;
  }
  return (format.name === "captures" && format.container !== "parquet") || keys !== "column";
}

/** A map that an index is added to. */
interface AddedMap {
  readonly input: IndexInput;
  readonly headers: UkvsHeaders;
}

/**
 * Opens a map to add to it. Its rows are read like those of an index.
 *
 * @throws MM_USAGE where its keys are not those that are asked for; MM_BAD_INPUT, MM_BAD_LINE and
 *   MM_BAD_FREQUENCY when it is not a map; MM_PAGE for one page of several; MM_BAD_HEADER;
 *   MM_CUT, MM_EMPTY; MM_IO
 */
async function openAddedMap(
  path: string,
  { datetimeDigits = 0, queries = false }: GenerateOptions,
  options: OpenOptions,
): Promise<AddedMap> {
  const stats = await stat(path).catch((error: unknown) => {
    throw ioError(error, path);
  });
  const stored = await readHead(path);
  const isCompressed = recognizeCompression(stored) !== undefined;
  const head = isCompressed ? await decompressedHead(path, { damage: options.damage }) : stored;
  const mapHead = mapHeadOf(wholeLinesOf(head), path);
  const { headers, bodyOffset } = mapHead;
  // How long a compressed map is will be known when it has been read.
  if (isCompressed) refuseEmpty(mapHead, head.length, path);
  else refuseCut(mapHead, stats.size, path);
  checkKeys(headers, datetimeDigits, path);
  checkQueries(headers, queries, path);
  const format: DetectedFormat = { name: "map", datetimeDigits, queries };
  const expected = headers.size === undefined ? undefined : { stated: headers.size, bodyOffset };
  const file = { path, source: path, size: stats.size, expected };
  const input = isCompressed
    ? compressedInput(file, format, options)
    : plainInput(path, stats.size, format);
  return { input, headers: wholeMapHeaders(headers, path) };
}

function checkKeys({ fields }: UkvsHeaders, datetimeDigits: number, path: string): void {
  const wanted = datetimeDigits > 0 ? "surt datetime" : "surt";
  if (fields.keys.join(" ") === wanted && fields.values.join(" ") === "frequency") return;
  throw new MementoMapError(
    "MM_USAGE",
    `cannot be added to: it has the columns ${[...fields.keys, ...fields.values].join(", ")}, and ` +
      `${wanted.replace(" ", ", ")}, frequency are made; give the --by it was made with, or use merge`,
    { position: { source: path } },
  );
}

function checkQueries({ fields }: UkvsHeaders, queries: boolean, path: string): void {
  if ((fields.queries === true) === queries) return;
  throw new MementoMapError(
    "MM_USAGE",
    `cannot be added to: its keys have ${queries ? "no " : ""}queries; ` +
      `${queries ? "leave --queries out" : "give --queries"}, or use merge`,
    { position: { source: path } },
  );
}
