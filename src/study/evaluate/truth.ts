import { closeSync, createReadStream, openSync, writeSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { yearMonthOf } from "../analyze/capture-faults.ts";
import { monthCode, originalLength } from "../analyze/original-key.ts";
import { CLOSE_PAREN, isPacked, QUESTION, QUOTE, SPACE, STAR } from "../../bytes/bytes.ts";
import { lineBatches } from "../../bytes/lines.ts";
import { ioError, isMementoMapError, MementoMapError, type Position, quote } from "../../errors.ts";
import type { AskedLookups, MonthCaptures } from "./evaluation.ts";
import { detectFormat } from "../../input/detect.ts";
import type { InputFormat } from "../../input/formats.ts";
import { type CaptureFilter, isEmptyFilter } from "../../input/filter.ts";
import { mapHeadOf, wholeMapHeaders } from "../../ukvs/head.ts";
import type { Fields, UkvsHeaders } from "../../ukvs/header.ts";
import { surtKeyOf } from "./predictor.ts";
import { frequencyIsZero, FrequencySum } from "../../ukvs/frequency.ts";
import { readUkvs } from "../../ukvs/reader.ts";
import { mergeStored } from "../../generate/stored-runs.ts";
import { withCaptures } from "../analyze/analyze-files.ts";
import { generateFiles } from "../../generate/generate.ts";
import { decompressedHead, wholeLinesOf } from "../../input/file-inputs.ts";
import { openInput } from "../../files/input-file.ts";
import type { MapStreams } from "../../lookup/map-sources.ts";
import { withMapOutput } from "../../maps/map-output.ts";
import { isOlderKey } from "../../pack/older-keys.ts";
import { askedKey } from "../../surt/spelling.ts";

const FLUSH_LINES = 4096;

interface TruthOptions {
  /** A map that lists all keys, or an index of any format that `generate` reads. */
  readonly path: string;
  /** The folder for scratch files. */
  readonly scratch: string;
  readonly format?: InputFormat | undefined;
  readonly filter?: CaptureFilter | undefined;
  /** 4 to 14 digits; only captures up to and including then are held. */
  readonly asOf?: string | undefined;
  /** Whether to make a map with queries of an index. */
  readonly queries?: boolean | undefined;
  readonly memoryBytes?: number | undefined;
  readonly threads?: number | undefined;
  readonly streams: MapStreams;
}

/** What is held, and what maps are measured by. */
export interface Truth {
  readonly kind: "map" | "index";
  readonly map: string;
  readonly keys: number;
  readonly hosts: ReadonlySet<string>;
  /** Distinct originals; undefined if not known. */
  readonly originals: number | undefined;
  /** Whether that is a map with queries. */
  readonly queries: boolean;
  /** For each key asked for, 1 if it is held, with any query; undefined if the map is to be asked. */
  readonly keyIsHeld: Uint8Array | undefined;
  /** For each URI asked for, 1 if it is held; undefined if only keys are known. */
  readonly uriIsHeld: Uint8Array | undefined;
  /** The path of what was captured after the date, for `forEachLater`; undefined without a date. */
  readonly later: string | undefined;
}

/**
 * Finds out what is held. Of an index it makes a map in the scratch folder, and looks for the URIs
 * asked for; reads it twice, in bounded memory. Holds the names of all hosts.
 *
 * @throws MM_BAD_INPUT for what does not list all that is held: a compacted map, a log, a TimeMap, an
 *   empty file; MM_PAGE for one page of a map; MM_USAGE for a date or a filter with a map; and what is wrong with the map or index
 */
export async function openTruth(asked: AskedLookups, options: TruthOptions): Promise<Truth> {
  const { path, filter = {}, asOf } = options;
  if (path === "-") {
    throw new MementoMapError("MM_USAGE", "the truth is read more than once; name a file");
  }
  if (await isPackedFile(path)) {
    throw new MementoMapError(
      "MM_BAD_INPUT",
      "a packed map does not list what it holds; give the map or the index that it was made from",
      { position: { source: path } },
    );
  }
  const headers = await mapHeaders(path);
  if (headers !== undefined) {
    wholeMapHeaders(headers, path);
    if (asOf !== undefined || !isEmptyFilter(filter)) {
      throw new MementoMapError(
        "MM_USAGE",
        `${quote(path)} is a map, and a map does not say when its pages were captured, or with which status; give an index with --truth`,
      );
    }
    const { hasOneKey, marks, ...survey } = await surveyMap(path, asked, options);
    const { queries } = survey;
    const originals = queries ? survey.keys : hasOneKey ? survey.originals : undefined;
    const uriIsHeld = queries ? marks.uriIsHeld : undefined;
    const keyIsHeld = queries ? marks.keyIsHeld : undefined;
    const found = { kind: "map", map: path, later: undefined } as const;
    return { ...survey, ...found, originals, keyIsHeld, uriIsHeld };
  }
  return truthOfIndex(asked, options);
}

/** Whether a file is a packed map. */
export async function isPackedFile(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined);
  return stats?.isFile() === true && isPacked(await decompressedHead(path));
}

/** The headers of a map; undefined for anything else, which is found out by reading it. */
export async function mapHeaders(path: string): Promise<UkvsHeaders | undefined> {
  const stats = await stat(path).catch(() => undefined);
  if (stats?.isFile() !== true) return undefined;
  const head = wholeLinesOf(await decompressedHead(path));
  try {
    const { headers } = mapHeadOf(head, path);
    return head.length > 0 ? headers : undefined;
  } catch (error) {
    if (isMementoMapError(error)) return undefined;
    throw error;
  }
}

async function truthOfIndex(asked: AskedLookups, options: TruthOptions): Promise<Truth> {
  const { path, scratch, asOf, streams } = options;
  await refuseSamples(options);
  const work = { ...options, interrupt: streams.interrupt };
  const filter = { ...options.filter };
  const map = join(scratch, "truth.ukvs");
  await withMapOutput(map, { stdout: process.stdout, interrupt: streams.interrupt }, (output) =>
    generateFiles([path], output, { ...work, filter: { ...filter, to: earlier(filter.to, asOf) } }),
  );
  const { keys, hosts, queries, marks: found } = await surveyMap(map, asked, options);
  const keyIsHeld = queries ? found.keyIsHeld : undefined;
  // Captures without a date are neither before nor after one.
  const dated = asOf === undefined ? filter : { ...filter, from: filter.from ?? "0000" };
  const later = asOf === undefined ? undefined : join(scratch, "later");
  const marks = new OriginalMarks(asked, later, queries);
  try {
    await withCaptures([path], { ...work, filter: dated, samples: 0 }, ({ runs }) =>
      mergeStored(runs, { ...work, scratch }, (key, length, count) => {
        marks.add(key, length, count);
      }),
    );
    marks.end();
    const { held: originals, isHeld: uriIsHeld } = marks;
    const facts = { kind: "index", map, keys, hosts, originals, queries } as const;
    return { ...facts, keyIsHeld, uriIsHeld, later };
  } finally {
    marks.close();
  }
}

/** The earlier of two ends of time; either may be missing. */
function earlier(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const length = Math.min(a.length, b.length);
  const [headOfA, headOfB] = [a.slice(0, length), b.slice(0, length)];
  if (headOfA !== headOfB) return headOfA < headOfB ? a : b;
  return a.length > b.length ? a : b;
}

/** Rejects samples, which list only some captures: logs, TimeMaps, indexes marked as such. */
async function refuseSamples({ path, format = "auto" }: TruthOptions): Promise<void> {
  const stats = await stat(path).catch(() => undefined);
  if (stats?.isFile() !== true) return;
  const head = await decompressedHead(path);
  let isSample: boolean | undefined = false;
  try {
    ({ isSample } = detectFormat(head, format, path));
  } catch (error) {
    if (!isMementoMapError(error)) throw error; // reading it says what is wrong
  }
  if (isSample !== true) return;
  throw new MementoMapError(
    "MM_BAD_INPUT",
    "this lists only what was requested, not everything that is held; give the index of the archive, or its map before compaction",
    { position: { source: path } },
  );
}

/** Marks what was asked for and is held, by rows of a map with queries. */
class HeldMarks {
  readonly keyIsHeld: Uint8Array;
  readonly uriIsHeld: Uint8Array;
  readonly #keys: ReadonlyMap<string, number>;
  readonly #uris: ReadonlyMap<string, number>;

  constructor({ keys, uris }: AskedLookups) {
    this.keyIsHeld = new Uint8Array(keys.texts.length);
    this.uriIsHeld = new Uint8Array(uris.texts.length);
    this.#keys = new Map(keys.texts.map((text, i) => [text, i]));
    this.#uris = new Map(
      uris.texts.map((text, i) => [latin1(surtKeyOf(Buffer.from(text, "latin1"))), i]),
    );
  }

  add(key: Uint8Array): void {
    const uri = this.#uris.get(latin1(key));
    if (uri !== undefined) this.uriIsHeld[uri] = 1;
    const query = key.indexOf(QUESTION, key.indexOf(CLOSE_PAREN) + 1);
    const page = this.#keys.get(latin1(query === -1 ? key : key.subarray(0, query)));
    if (page !== undefined) this.keyIsHeld[page] = 1;
  }
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}

async function surveyMap(
  path: string,
  asked: AskedLookups,
  { path: given, streams }: TruthOptions,
): Promise<{
  queries: boolean;
  /** Of use where the map is with queries. */
  marks: HeldMarks;
  keys: number;
  hosts: Set<string>;
  originals: number | undefined;
  hasOneKey: boolean;
}> {
  const hosts = new Set<string>();
  const decoder = new TextDecoder();
  const sum = new FrequencySum();
  let keys = 0;
  let last = "";
  const marks = new HeldMarks(asked);
  const fields = await forEachHeld(path, streams, (key, bytes, start, end) => {
    keys++;
    marks.add(key);
    sum.addBytes(bytes, start, end);
    const host = decoder.decode(key.subarray(0, key.indexOf(CLOSE_PAREN)));
    if (host !== last) hosts.add(host);
    last = host;
  });
  if (keys === 0) {
    throw new MementoMapError("MM_BAD_INPUT", "it holds nothing to compare with", {
      position: { source: given },
    });
  }
  const { originals } = sum.toFrequency();
  return {
    keys,
    hosts,
    originals: originals?.bound === "exact" ? originals.value : undefined,
    hasOneKey: fields.keys.length === 1,
    queries: fields.queries === true,
    marks,
  };
}

/**
 * Visits the keys of a map that are held, each once, with the frequency of its first row.
 *
 * @returns its columns
 * @throws MM_BAD_INPUT for a wildcard that is not void: it does not say which keys are held
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
    const { bytes, count, keyStarts, keyEnds, tupleEnds } = batch;
    for (let i = 0; i < count; i++) {
      let start = tupleEnds[i];
      while (start < bytes.length && bytes[start] <= SPACE) start++;
      let end = start;
      while (end < bytes.length && bytes[end] > SPACE) end++;
      if (bytes[start] === QUOTE && bytes[end - 1] === QUOTE) [start, end] = [start + 1, end - 1];
      if (frequencyIsZero(bytes, start, end)) continue;
      const key = bytes.subarray(keyStarts[i], keyEnds[i]);
      if (key[key.length - 1] === STAR) {
        throw compacted(key, { source: input.name, line: batch.lines[i] });
      }
      if (isSame(key, last)) continue;
      last = key.slice();
      for (const held of keysOf(key, reader.headers.fields)) visit(held, bytes, start, end);
    }
  }
  return reader.headers.fields;
}

/** The keys by which lookups find a row. */
function keysOf(key: Uint8Array, fields: Fields): Uint8Array[] {
  if (!isOlderKey(key, 0, key.length, fields)) return [key];
  return [new TextEncoder().encode(askedKey(new TextDecoder().decode(key), fields))];
}

function compacted(key: Uint8Array, position: Position): MementoMapError {
  return new MementoMapError(
    "MM_BAD_INPUT",
    `the key ${quote(new TextDecoder().decode(key))} is a wildcard: a compacted map does not say which pages are held; give the map before compaction, or the index it was made from`,
    { position },
  );
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = a.length - 1; i >= 0; i--) if (a[i] !== b[i]) return false;
  return true;
}

/** Visits originals captured after a date, of a scratch file: `key isNew month:captures…`, a line each. */
export async function forEachLater(
  path: string,
  visit: (key: Uint8Array, isNew: boolean, months: readonly MonthCaptures[]) => void,
): Promise<void> {
  const decoder = new TextDecoder("latin1");
  const chunks = createReadStream(path) as AsyncIterable<Uint8Array>; // no encoding is set
  for await (const { bytes, starts, ends, count } of lineBatches(chunks)) {
    for (let i = 0; i < count; i++) {
      const line = bytes.subarray(starts[i], ends[i]);
      const keyEnd = line.indexOf(SPACE);
      const [isNew, ...texts] = decoder.decode(line.subarray(keyEnd + 1)).split(" ");
      const months = texts.map((text) => {
        const [month = "", captures] = text.split(":");
        return { month, captures: Number(captures) };
      });
      visit(line.subarray(0, keyEnd), isNew === "1", months);
    }
  }
}

/**
 * Takes the captures of an archive sorted by original and month (see original-key.ts), those up to a
 * date without a month. Marks the URIs asked for that are held, and writes down what came later.
 */
class OriginalMarks {
  held = 0;
  readonly isHeld: Uint8Array;
  readonly #asked: AskedLookups;
  readonly #laterPath: string | undefined;
  readonly #later: number | undefined;
  readonly #hasQueries: boolean;
  #pending: string[] = [];
  #original = new Uint8Array(0);
  #isNew = true;
  #months: MonthCaptures[] = [];

  /** @param laterPath where to write what came after the date; undefined without one. */
  constructor(asked: AskedLookups, laterPath: string | undefined, hasQueries: boolean) {
    this.#asked = asked;
    this.#hasQueries = hasQueries;
    this.isHeld = new Uint8Array(asked.uris.texts.length);
    this.#laterPath = laterPath;
    this.#later = laterPath === undefined ? undefined : openSync(laterPath, "wx");
  }

  add(key: Uint8Array, length: number, count: number): void {
    const end = originalLength(length);
    const original = key.subarray(0, end);
    if (!isSame(original, this.#original)) {
      this.#endOriginal();
      this.#original = original.slice();
    }
    const code = monthCode(key, length);
    if (this.#later === undefined || code === 0) {
      this.#isNew = false;
      return;
    }
    const { year, month } = yearMonthOf(code) ?? { year: 0, month: 0 };
    const name = month === 0 ? String(year) : `${year}-${String(month).padStart(2, "0")}`;
    this.#months.push({ month: name, captures: count });
  }

  end(): void {
    this.#endOriginal();
    if (this.#later !== undefined) this.#flush(this.#later);
  }

  close(): void {
    if (this.#later !== undefined) closeSync(this.#later);
  }

  #endOriginal(): void {
    const original = this.#original;
    if (original.length === 0) return;
    if (!this.#isNew) {
      this.held++;
      const place = this.#asked.placeOfOriginal(original, original.length);
      if (place !== undefined) this.isHeld[place] = 1;
    }
    if (this.#months.length > 0) this.#writeLater(original);
    this.#isNew = true;
    this.#months = [];
  }

  #writeLater(original: Uint8Array): void {
    const query = original.indexOf(QUESTION);
    const page = Buffer.from(original.subarray(0, query === -1 ? original.length : query));
    const key = this.#hasQueries ? Buffer.from(surtKeyOf(original)) : page;
    const months = this.#months.map(({ month, captures }) => `${month}:${captures}`);
    this.#pending.push(`${key.toString("latin1")} ${this.#isNew ? 1 : 0} ${months.join(" ")}\n`);
    if (this.#later !== undefined && this.#pending.length >= FLUSH_LINES) this.#flush(this.#later);
  }

  #flush(file: number): void {
    const bytes = Buffer.from(this.#pending.join(""), "latin1");
    try {
      for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
    } catch (error) {
      throw ioError(error, this.#laterPath ?? "");
    }
    this.#pending = [];
  }
}
