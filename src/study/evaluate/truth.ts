import { stat } from "node:fs/promises";
import { join } from "node:path";
import {
  CLOSE_PAREN,
  compareBytes,
  isPacked,
  isPlainText,
  QUESTION,
  QUOTE,
  STAR,
} from "../../bytes/bytes.ts";
import { isMementoMapError, MementoMapError, quote } from "../../errors.ts";
import { openInput } from "../../files/input-file.ts";
import { withTempDir } from "../../files/scratch.ts";
import { generateFiles } from "../../generate/generate.ts";
import { mergeStored, type VisitKey } from "../../generate/stored-runs.ts";
import { detectFormat } from "../../input/detect.ts";
import { decompressedHead, wholeLinesOf } from "../../input/file-inputs.ts";
import { type CaptureFilter, isEmptyFilter } from "../../input/filter.ts";
import type { InputFormat } from "../../input/formats.ts";
import type { MapStreams } from "../../lookup/map-sources.ts";
import { withMapOutput } from "../../maps/map-output.ts";
import { lastSecondOf } from "../../memento/datetime.ts";
import { askedKey } from "../../surt/spelling.ts";
import { frequencyIsZero, FrequencySum } from "../../ukvs/frequency.ts";
import { mapHeadOf, wholeMapHeaders } from "../../ukvs/head.ts";
import type { Fields, UkvsHeaders } from "../../ukvs/header.ts";
import { readUkvs } from "../../ukvs/reader.ts";
import { columnEnd } from "../../ukvs/record.ts";
import { withCaptures } from "../analyze/analyze-files.ts";
import { monthCode, originalLength } from "../analyze/original-key.ts";
import type { AskedLookups } from "./asked-lookups.ts";
import type { MonthCaptures } from "./evaluation.ts";
import { surtKeyOf } from "./predictor.ts";

interface TruthOptions {
  /** A map that lists all keys, or an index of any format that `generate` reads. */
  readonly path: string;
  /** The folder for scratch files. */
  readonly scratch: string;
  readonly format?: InputFormat | undefined;
  readonly filter?: CaptureFilter | undefined;
  /** 4 to 14 digits; only captures up to and including this time are held. */
  readonly asOf?: string | undefined;
  /** Whether the map has queries; for an index, whether to make a map with queries. */
  readonly queries: boolean;
  readonly memoryBytes: number;
  readonly threads?: number | undefined;
  readonly streams: MapStreams;
}

/** The holdings, by which maps are measured. */
export interface Truth {
  readonly kind: "map" | "index";
  readonly map: string;
  readonly keys: number;
  /** The number of distinct originals; undefined if unknown. */
  readonly originals: number | undefined;
  /** Whether that is a map with queries. */
  readonly queries: boolean;
  /** The held keys among the lookups, with any query. */
  readonly heldKeys: ReadonlySet<string>;
  /** The held hosts among the lookups. */
  readonly heldHosts: ReadonlySet<string>;
  /** The held URIs among the lookups; undefined if only keys are known. */
  readonly heldUris: ReadonlySet<string> | undefined;
  /** Visits the originals captured after the date; undefined without a date. */
  readonly forEachLater: ((visit: VisitLater) => Promise<void>) | undefined;
}

type VisitLater = (key: Uint8Array, isNew: boolean, months: readonly MonthCaptures[]) => void;

/**
 * Determines the holdings, and which lookups are held. Reads an index twice, in bounded memory, to make
 * a map in the scratch folder and to find the URIs of the lookups.
 *
 * @throws MM_BAD_INPUT for a truth that does not list all holdings: a compacted map, a log, a TimeMap,
 *   an empty file; MM_PAGE for one page of a map; MM_USAGE for a date or a filter with a map; errors in
 *   the map or index
 */
export async function withTruth<T>(
  lookups: readonly AskedLookups[],
  options: TruthOptions,
  use: (truth: Truth) => Promise<T>,
): Promise<T> {
  const { path, filter = {}, asOf } = options;
  if (path === "-") {
    throw new MementoMapError("MM_USAGE", "the truth is read more than once; it must be a file");
  }
  if (await isPackedFile(path)) {
    const hint = "give the map or the index that it was made from";
    throw badTruth(`a packed map does not list its keys; ${hint}`, path);
  }
  const headers = await mapHeaders(path);
  if (headers === undefined) return withIndex(lookups, options, use);
  wholeMapHeaders(headers, path);
  if (asOf !== undefined || !isEmptyFilter(filter)) {
    throw new MementoMapError(
      "MM_USAGE",
      `${quote(path)} is a map, which has neither capture dates nor status codes; give an index with --truth`,
    );
  }
  const survey = await surveyMap(path, lookups, options);
  return use({ ...survey, kind: "map", map: path, forEachLater: undefined });
}

/** Whether a file is a packed map. */
export async function isPackedFile(path: string): Promise<boolean> {
  return isPacked(await headOf(path));
}

/** The headers of a map; undefined for any other file. */
export async function mapHeaders(path: string): Promise<UkvsHeaders | undefined> {
  const head = wholeLinesOf(await headOf(path));
  return head.length === 0 ? undefined : readable(() => mapHeadOf(head, path).headers);
}

/** The beginning of a file; empty if it is not a regular file. */
async function headOf(path: string): Promise<Uint8Array> {
  const stats = await stat(path).catch(() => undefined);
  return stats?.isFile() === true ? decompressedHead(path) : new Uint8Array(0);
}

/** Undefined if it cannot be read; the full read reports the error. */
function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (isMementoMapError(error)) return undefined;
    throw error;
  }
}

async function withIndex<T>(
  lookups: readonly AskedLookups[],
  options: TruthOptions,
  use: (truth: Truth) => Promise<T>,
): Promise<T> {
  const { path, scratch, asOf, filter = {}, memoryBytes, streams } = options;
  await refuseSamples(options);
  const work = { ...options, interrupt: streams.interrupt };
  const map = join(scratch, "truth.ukvs");
  await withMapOutput(map, { stdout: process.stdout, interrupt: streams.interrupt }, (output) =>
    generateFiles([path], output, { ...work, filter: { ...filter, to: earlier(filter.to, asOf) } }),
  );
  const survey = await surveyMap(map, lookups, options);
  // Captures without a date are neither before nor after the split.
  const dated = asOf === undefined ? filter : { ...filter, from: filter.from ?? "0000" };
  // Predictors use the other half.
  const half = { ...work, filter: dated, samples: 0, memoryBytes: memoryBytes / 2 };
  return withCaptures([path], half, async ({ results }) => {
    const runs = results.flatMap((result) => result.runs);
    // Each pass merges many runs into fewer, in its own folder.
    const forEachOriginal = (visit: VisitOriginal): Promise<void> =>
      withTempDir({ parent: scratch, interrupt: streams.interrupt }, (own) =>
        joinMonths((add) => mergeStored(runs, { ...work, scratch: own }, add), visit),
      );
    const heldUris = new Set<string>();
    let originals = 0;
    await forEachOriginal((original, [first]) => {
      if (asOf !== undefined && first.code !== 0) return;
      originals++;
      const uri = latin1(original);
      if (lookups.some(({ uris }) => uris.has(uri))) heldUris.add(uri);
    });
    const forEachLater = (visit: VisitLater): Promise<void> =>
      forEachOriginal((original, months) => {
        const later = months.filter(({ code }) => code !== 0);
        if (later.length > 0) visit(keyOf(original, survey), later.length === months.length, later);
      });
    return use({
      ...survey,
      kind: "index",
      map,
      originals,
      heldUris,
      forEachLater: asOf === undefined ? undefined : forEachLater,
    });
  });
}

/** Months are in order; 0 for those up to the date. */
type VisitOriginal = (original: Uint8Array, months: readonly MonthCaptures[]) => void;

/** Groups months by original: captures are sorted by original and month (see original-key.ts). */
async function joinMonths(
  merge: (add: VisitKey) => Promise<void>,
  visit: VisitOriginal,
): Promise<void> {
  let original = new Uint8Array(0);
  let months: MonthCaptures[] = [];
  await merge((key, length, captures) => {
    const own = key.subarray(0, originalLength(length));
    if (months.length > 0 && compareBytes(own, original) !== 0) {
      visit(original, months);
      months = [];
    }
    if (months.length === 0) original = own.slice();
    months.push({ code: monthCode(key, length), captures });
  });
  if (months.length > 0) visit(original, months);
}

/** The key of an original in maps of the truth's kind. */
function keyOf(original: Uint8Array, { queries }: Pick<Truth, "queries">): Uint8Array {
  if (queries) return surtKeyOf(original);
  const query = original.indexOf(QUESTION);
  return query === -1 ? original : original.subarray(0, query);
}

/** The earlier of two end times; either may be undefined. Of `2015` and `201503`, the second. */
function earlier(...ends: readonly (string | undefined)[]): string | undefined {
  const given = ends.filter((end) => end !== undefined);
  return given.toSorted((a, b) => lastSecondOf(a) - lastSecondOf(b)).at(0);
}

/** Rejects samples, which list only some captures: logs, TimeMaps, indexes marked as such. */
async function refuseSamples({ path, format = "auto" }: TruthOptions): Promise<void> {
  const head = await headOf(path);
  const isSample = readable(() => detectFormat(head, format, path).isSample);
  if (head.length === 0 || isSample !== true) return;
  throw badTruth(
    "this lists only requested URIs, not all holdings; give the index of the archive, or its map before compaction",
    path,
  );
}

function badTruth(message: string, source: string, line?: number): MementoMapError {
  const position = line === undefined ? { source } : { source, line };
  return new MementoMapError("MM_BAD_INPUT", message, { position });
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}

export function hostOf(key: string): string {
  return key.slice(0, key.indexOf(")"));
}

/** Counts the holdings in a map, and finds the lookups that are held. */
async function surveyMap(
  path: string,
  lookups: readonly AskedLookups[],
  { path: given, queries, streams }: TruthOptions,
): Promise<Omit<Truth, "kind" | "map" | "forEachLater">> {
  const pages = new Set(lookups.flatMap((asked) => [...asked.keys.keys()]));
  const hosts = new Set([...pages].map(hostOf));
  // In a map with queries, URIs that differ only in parts dropped by rules share one row.
  const urisOf = new Map<string, string[]>();
  for (const uri of queries ? lookups.flatMap((asked) => [...asked.uris.keys()]) : []) {
    const key = latin1(surtKeyOf(Buffer.from(uri, "latin1")));
    urisOf.set(key, [...(urisOf.get(key) ?? []), uri]);
  }
  const [heldKeys, heldHosts, heldUris] = [0, 1, 2].map(() => new Set<string>());
  const sum = new FrequencySum();
  let keys = 0;
  const fields = await forEachHeld(path, streams, (bytes, row, start, end) => {
    keys++;
    sum.addBytes(row, start, end);
    const key = latin1(bytes);
    const [page = ""] = key.split("?", 1);
    for (const uri of urisOf.get(key) ?? []) heldUris.add(uri);
    if (pages.has(page)) heldKeys.add(page);
    const host = hostOf(key);
    if (hosts.has(host)) heldHosts.add(host);
  });
  if (keys === 0) throw badTruth("it has no keys to compare with", given);
  const { originals } = sum.toFrequency();
  // A map with several key columns counts an original once per row.
  const isCounted = originals?.bound === "exact" && fields.keys.length === 1;
  return {
    queries,
    keys,
    heldKeys,
    heldHosts,
    heldUris: queries ? heldUris : undefined,
    originals: queries ? keys : isCounted ? originals.value : undefined,
  };
}

/**
 * Visits each held key of a map once, with the frequency of its first row.
 *
 * @returns the columns of the map
 * @throws MM_BAD_INPUT for a wildcard that is not void, because it does not name the held keys
 */
export async function forEachHeld(
  path: string,
  streams: MapStreams,
  visit: (key: Uint8Array, bytes: Uint8Array, start: number, end: number) => void,
): Promise<Fields> {
  const input = await openInput(path, streams, { signal: streams.interrupt?.signal });
  const reader = await readUkvs(input.chunks, { source: input.name });
  let last = new Uint8Array(0);
  for await (const batch of reader.batches()) {
    const { bytes, count, keyStarts, keyEnds, restStarts, restEnds } = batch;
    for (let i = 0; i < count; i++) {
      let start = restStarts[i];
      let end = columnEnd(bytes, start, restEnds[i]);
      if (bytes[start] === QUOTE && bytes[end - 1] === QUOTE) [start, end] = [start + 1, end - 1];
      if (frequencyIsZero(bytes, start, end)) continue;
      const key = bytes.subarray(keyStarts[i], keyEnds[i]);
      if (key[key.length - 1] === STAR) {
        const text = quote(new TextDecoder().decode(key));
        throw badTruth(
          `the key ${text} is a wildcard: a compacted map does not say which pages are held; give the map before compaction, or the index it was made from`,
          input.name,
          batch.lines[i],
        );
      }
      if (compareBytes(key, last) === 0) continue;
      last = key.slice();
      for (const held of keysOf(key, reader.headers.fields)) visit(held, bytes, start, end);
    }
  }
  return reader.headers.fields;
}

/** The keys by which lookups find a row. */
function keysOf(key: Uint8Array, fields: Fields): Uint8Array[] {
  const isAsked =
    isPlainText(key, 0, key.length) &&
    key[key.length - 1] !== CLOSE_PAREN &&
    !key.includes(STAR) &&
    (fields.queries === true || !key.includes(QUESTION));
  if (isAsked) return [key];
  return [new TextEncoder().encode(askedKey(new TextDecoder().decode(key), fields))];
}
