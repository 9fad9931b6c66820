import { type ByteSource, readWhole, SharedRead, SourceLines } from "../bytes/byte-source.ts";
import {
  byteString,
  commonPrefix,
  compareRanges,
  copyRange,
  CR,
  LF,
  SPACE,
} from "../bytes/bytes.ts";
import { isMementoMapError, MementoMapError } from "../errors.ts";
import { checkSignal } from "../interruption.ts";
import { coveringKey, FORM, type Form, MISSING, NONE } from "../surt/covering-keys.ts";
import type { Key } from "../surt/lookup-key.ts";
import { foreignSpellings } from "../surt/spelling.ts";
import type { UkvsHeaders } from "../ukvs/header.ts";
import { PageRange, readMapHead, refuseCut } from "../ukvs/head.ts";
import { columnEnd, type DatetimeRange, unsortedMap } from "../ukvs/record.ts";
import { readRow, Row, type RowLayout, rowLayout, type RowRange } from "../ukvs/row.ts";
import { decide, type KeyAnswer, verdictOf } from "./decide.ts";
import type { Held, KeySource, Verdict } from "./source.ts";

/** Below this many bytes, reading on line by line is as quick as halving. */
const SCAN_BYTES = 256;
/** Most lines that begin in a segment end within this many bytes behind it. */
const OVERLAP_BYTES = 512;
const MAX_LINE_BYTES = 2 ** 20;
/** More than the segments of any source. */
const SEGMENT_NUMBERS = 2 ** 32;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * A key for every few kilobytes of a sorted map, and where its rows start: some megabytes for a map
 * of a gigabyte. Rows of one key are never on both sides of a sample.
 */
export class KeySamples {
  readonly #segmentBytes: number;
  readonly #offsets: number[] = [];
  /** Where each key ends in `#bytes`; it starts where the one before ends. */
  readonly #ends: number[] = [];
  #bytes: Uint8Array = new Uint8Array(4096);

  /** @param options.segmentBytes how far apart samples are; default 8 KiB. */
  constructor(options: { readonly segmentBytes?: number } = {}) {
    this.#segmentBytes = options.segmentBytes ?? 8192;
  }

  get count(): number {
    return this.#offsets.length;
  }

  /** Takes the key `bytes[start, end)` if it is far enough from the last. Call it for each key. */
  add(offset: number, bytes: Uint8Array, start: number, end: number): void {
    const { count } = this;
    if (count > 0 && offset - this.#offsets[count - 1] < this.#segmentBytes) return;
    const from = count === 0 ? 0 : this.#ends[count - 1];
    const to = from + end - start;
    if (to > this.#bytes.length) {
      const larger = new Uint8Array(2 * to);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    copyRange(bytes, start, end, this.#bytes, from);
    this.#offsets.push(offset);
    this.#ends.push(to);
  }

  /** Where the rows of a sample start; undefined behind the last. */
  offset(sample: number): number | undefined {
    return this.#offsets[sample];
  }

  key(sample: number): Uint8Array {
    return this.#bytes.subarray(sample === 0 ? 0 : this.#ends[sample - 1], this.#ends[sample]);
  }

  /** The last sample whose key is not after `key`; -1 where there is none. */
  before(key: Uint8Array): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const start = middle === 0 ? 0 : this.#ends[middle - 1];
      const order = compareRanges(this.#bytes, start, this.#ends[middle], key, 0, key.length);
      if (order <= 0) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}

/** How a map is opened to be searched. */
export interface SortedSourceOptions {
  /** Bytes per read; default 8 KiB, which suits local files. Remote sources want more. */
  readonly blockBytes?: number | undefined;
  /** How many bytes of the map are kept; default 256 blocks. */
  readonly maxBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Whether to refuse a map that is shorter than it states. Default true. */
  readonly checkSize?: boolean | undefined;
  /**
   * Searches one page of a map as if there were no others; default false. For callers that know which
   * page a key is on.
   */
  readonly isOnePageOfAll?: boolean | undefined;
}

/** A part of the map that was read before: the keys of its first and last row. */
interface KnownSegment {
  readonly number: number;
  readonly first: Uint8Array;
  readonly last: Uint8Array;
}

/**
 * A sorted map of text that stays where it is: a file, a `Blob`, a server that answers ranges.
 *
 * It is read in segments: the lines that begin in so many bytes of it. The first key of each that was read
 * is kept, so that searches come to know the map; with samples they are known from the start. Segments that
 * were used last are kept too, up to a number of bytes, and lookups at the same time share reads.
 *
 * Refuses a map whose rows are not in order as soon as that is seen in the segments read.
 */
export class SortedSource implements KeySource {
  static #sources = 0;
  readonly headers: UkvsHeaders;
  /** Some row of any map may have a query. */
  readonly readsQueries = true;
  readonly #source: ByteSource;
  readonly #layout: RowLayout;
  readonly #page: PageRange | undefined;
  readonly #blockBytes: number;
  readonly #overlap: number;
  readonly #maxBytes: number;
  readonly #recordsOffset: number;
  readonly #samples: KeySamples | undefined;
  /** Where the numbers of segments begin among those that a lookup holds, which may be of several sources. */
  readonly #base = SEGMENT_NUMBERS * SortedSource.#sources++;
  readonly #firstSegment: number;
  readonly #endSegment: number;
  /** In the order of the map, those that have rows. */
  readonly #known: KnownSegment[] = [];
  /** Segments in which no line begins. */
  readonly #empty = new Set<number>();
  /** In order of use. */
  readonly #kept = new Map<number, Uint8Array>();
  #keptBytes = 0;
  readonly #reads = new Map<number, SharedRead>();
  // Of the lookup that was opened last.
  #period: DatetimeRange | undefined;
  #held: Held | undefined;
  #hasSpellings = false;
  /** How many bytes of the key some row has in common with it. */
  #shared = 0;
  #missing = 0;
  #decided: KeyAnswer | undefined;
  /** Of the key that was asked for last. */
  #rows: readonly RowRange[] = [];

  private constructor(
    source: ByteSource,
    headers: UkvsHeaders,
    recordsOffset: number,
    samples: KeySamples | undefined,
    { blockBytes = 8192, maxBytes = 256 * blockBytes, isOnePageOfAll }: SortedSourceOptions,
  ) {
    this.headers = headers;
    this.#source = source;
    this.#layout = rowLayout(headers.fields, source.name);
    this.#page = isOnePageOfAll === true ? undefined : PageRange.of(headers, source.name);
    this.#blockBytes = blockBytes;
    this.#overlap = Math.min(OVERLAP_BYTES, blockBytes >>> 2);
    this.#maxBytes = maxBytes;
    this.#recordsOffset = recordsOffset;
    this.#samples = samples;
    if (samples === undefined) {
      this.#firstSegment = Math.floor((recordsOffset + this.#overlap) / blockBytes);
      this.#endSegment = Math.ceil((source.size + this.#overlap) / blockBytes);
    } else {
      this.#firstSegment = 0;
      this.#endSegment = samples.count;
      for (let number = 0; number < samples.count; number++) {
        const first = samples.key(number);
        this.#known.push({ number, first, last: first });
      }
    }
  }

  /**
   * Reads the headers of a map and makes it ready to search.
   *
   * @throws MM_BAD_HEADER; MM_BAD_INPUT when it is another kind of UKVS file; MM_CUT, MM_EMPTY; MM_IO.
   */
  static async open(source: ByteSource, options: SortedSourceOptions = {}): Promise<SortedSource> {
    const { signal, blockBytes, checkSize } = options;
    checkSignal(signal);
    const lines = new SourceLines(source, blockBytes === undefined ? {} : { blockBytes });
    const head = await readMapHead(lines, signal);
    const opened = new SortedSource(source, head.headers, head.recordsOffset, undefined, options);
    if (checkSize !== false) refuseCut(head, source.size, source.name);
    return opened;
  }

  /** A map that was read before, with samples of its keys. `maxBytes` is how many bytes of it to keep. */
  static sampled(
    source: ByteSource,
    headers: UkvsHeaders,
    samples: KeySamples,
    options: { readonly maxBytes: number },
  ): SortedSource {
    return new SortedSource(source, headers, 0, samples, options);
  }

  open(key: Key, period?: DatetimeRange, held?: Held): number {
    this.#period = period;
    this.#held = held;
    key.readPath();
    const shared = this.#sharedWith(key.bytes, key.length);
    if (shared === MISSING) return MISSING;
    this.#shared = shared;
    // The page of a home page with a query lacks its slash.
    this.#hasSpellings = key.depth === 0;
    for (const spelling of this.#spellings(byteString(key.bytes, 0, key.length))) {
      this.#hasSpellings = true;
      const bytes = encoder.encode(spelling);
      const others = this.#sharedWith(bytes, bytes.length);
      if (others === MISSING) return MISSING;
      // A byte as it is takes three when it is escaped.
      this.#shared = Math.max(this.#shared, 3 * others);
    }
    return 0;
  }

  ask(key: Key, form: Form, index: number): number {
    if (this.#page === undefined && form >= FORM.below) {
      // A row of a folder or of labels has these in common with the key.
      const end = form === FORM.below ? key.folderEnds[index] : key.labelEnds[index];
      if (end > this.#shared) {
        this.#rows = [];
        return NONE;
      }
    }
    const found = this.#answerOf(coveringKey(key), this.#hasSpellings);
    if (found === MISSING) return MISSING;
    this.#decided = found;
    return found?.decides === true ? 0 : NONE;
  }

  answer(_key: Key, _hit: number, into: Verdict): void {
    if (this.#decided !== undefined) verdictOf(this.#decided, into);
  }

  lastRows(): string[] {
    return this.#rows.map(({ bytes, start, end }) => decoder.decode(bytes.subarray(start, end)));
  }

  /** What the map says of exactly this key, whether a lookup would ask for it or not. */
  async keyAnswer(
    key: string,
    {
      period,
      signal,
    }: {
      readonly period?: DatetimeRange | undefined;
      readonly signal?: AbortSignal | undefined;
    } = {},
  ): Promise<KeyAnswer | undefined> {
    const held: Held = new Map();
    const bytes = encoder.encode(key);
    for (;;) {
      checkSignal(signal);
      this.#period = period;
      this.#held = held;
      const found = this.#answerOf(bytes, true);
      if (found !== MISSING) return found;
      await this.load(held, signal);
    }
  }

  async load(held: Held, signal?: AbortSignal): Promise<void> {
    const segment = this.#missing;
    held.set(this.#base + segment, await this.#read(segment, signal));
  }

  #answerOf(key: Uint8Array, hasSpellings: boolean): KeyAnswer | undefined | typeof MISSING {
    this.#page?.require(key);
    const text = byteString(key, 0, key.length);
    const others = hasSpellings ? this.#spellings(text).map((one) => encoder.encode(one)) : [];
    const rows: RowRange[] = [];
    for (const spelling of [key, ...others]) {
      const more = this.#rowsOf(spelling);
      if (more === MISSING) return MISSING;
      rows.push(...more);
    }
    // All rows of a key are on one page, however they are spelled.
    if (rows.length === 0) for (const other of others) this.#page?.require(other);
    this.#rows = rows;
    return rows.length === 0 ? undefined : decide(text, rows, this.#layout, this.#period);
  }

  #spellings(key: string): string[] {
    return foreignSpellings(key, this.headers.fields);
  }

  /** The rows of a key as it is written. */
  #rowsOf(key: Uint8Array): RowRange[] | typeof MISSING {
    const rows: RowRange[] = [];
    for (let at = this.#place(key, key.length); at !== NONE;) {
      if (at === MISSING) return MISSING;
      const lines = this.#lines(at);
      if (lines === undefined) return MISSING;
      for (let start = narrow(lines, key, key.length); start < lines.length;) {
        const end = lineEnd(lines, start);
        const order = compareKey(lines, start, end, key, key.length);
        if (order > 0) return rows;
        if (order === 0) {
          rows.push({ bytes: lines, start, end: lines[end - 1] === CR ? end - 1 : end });
        }
        start = end + 1;
      }
      at = this.#after(at, key);
    }
    return rows;
  }

  /** How many bytes a key has in common with the rows before and behind it, and so with any. */
  #sharedWith(key: Uint8Array, length: number): number {
    const at = this.#place(key, length);
    if (at < 0) return at === NONE ? 0 : MISSING;
    const lines = this.#lines(at);
    if (lines === undefined) return MISSING;
    let shared = 0;
    for (let start = narrow(lines, key, length); start < lines.length;) {
      const end = lineEnd(lines, start);
      const keyEnd = columnEnd(lines, start, end);
      shared = Math.max(shared, commonPrefix(lines, start, keyEnd, key, 0, length));
      if (keyEnd > start && compareRanges(lines, start, keyEnd, key, 0, length) >= 0) return shared;
      start = end + 1;
    }
    const next = this.#known[this.#placeOf(at + 1)];
    if (next === undefined) return shared;
    return Math.max(shared, commonPrefix(next.first, 0, next.first.length, key, 0, length));
  }

  /** The segment from which on rows of a key may be; NONE where there are no rows at all, or MISSING. */
  #place(key: Uint8Array, length: number): number {
    const known = this.#known;
    let low = 0;
    let high = known.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const { first } = known[middle];
      if (compareRanges(first, 0, first.length, key, 0, length) < 0) low = middle + 1;
      else high = middle;
    }
    const before = low === 0 ? this.#firstSegment - 1 : known[low - 1].number;
    const behind = low === known.length ? this.#endSegment : known[low].number;
    const unknown = this.#unknownBetween(before, behind);
    if (unknown !== NONE) {
      this.#missing = unknown;
      return MISSING;
    }
    if (before >= this.#firstSegment) return before;
    return behind < this.#endSegment ? behind : NONE;
  }

  /** The middle one of the segments between two that were not read yet. */
  #unknownBetween(before: number, behind: number): number {
    const middle = (before + behind) >>> 1;
    for (let distance = 0; distance < behind - before; distance++) {
      for (const number of [middle + distance, middle - distance]) {
        if (number > before && number < behind && !this.#empty.has(number)) return number;
      }
    }
    return NONE;
  }

  /** The segment behind one at the end of which rows of a key may be. */
  #after(segment: number, key: Uint8Array): number {
    let next = segment + 1;
    while (this.#empty.has(next)) next++;
    if (next >= this.#endSegment) return NONE;
    const known = this.#known[this.#placeOf(next)];
    if (known?.number !== next) {
      this.#missing = next;
      return MISSING;
    }
    const { first } = known;
    return compareRanges(first, 0, first.length, key, 0, key.length) <= 0 ? next : NONE;
  }

  /** Where a segment is among the known ones, or the first behind it. */
  #placeOf(segment: number): number {
    const known = this.#known;
    let low = 0;
    let high = known.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (known[middle].number < segment) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The lines of a segment, if they are at hand. */
  #lines(segment: number): Uint8Array | undefined {
    this.#missing = segment;
    const held = this.#held?.get(this.#base + segment);
    if (held !== undefined) return held;
    const kept = this.#kept.get(segment);
    if (kept !== undefined) {
      this.#kept.delete(segment);
      this.#kept.set(segment, kept);
    }
    return kept;
  }

  /** Lookups at the same time share a read; the signal of one ends only its own wait. */
  #read(segment: number, signal: AbortSignal | undefined): Promise<Uint8Array> {
    let read = this.#reads.get(segment);
    if (read === undefined) {
      const forget = (): void => {
        if (this.#reads.get(segment) === read) this.#reads.delete(segment);
      };
      read = new SharedRead((ended) => this.#readSegment(segment, ended), forget);
      this.#reads.set(segment, read);
    }
    return read.wait(signal);
  }

  async #readSegment(segment: number, signal: AbortSignal): Promise<Uint8Array> {
    const lines = await (this.#samples === undefined
      ? this.#linesFrom(segment, signal)
      : this.#sampledLines(this.#samples, segment, signal));
    this.#know(segment, lines);
    this.#keptBytes += lines.length - (this.#kept.get(segment)?.length ?? 0);
    this.#kept.set(segment, lines);
    for (const [oldest, { length }] of this.#kept) {
      if (this.#keptBytes <= this.#maxBytes) break;
      this.#kept.delete(oldest);
      this.#keptBytes -= length;
    }
    return lines;
  }

  #sampledLines(samples: KeySamples, segment: number, signal: AbortSignal): Promise<Uint8Array> {
    const start = samples.offset(segment) ?? 0;
    const end = samples.offset(segment + 1) ?? this.#source.size;
    return readWhole(this.#source, start, end - start, signal);
  }

  /** Reads the lines that begin in a segment. */
  async #linesFrom(segment: number, signal: AbortSignal): Promise<Uint8Array> {
    const source = this.#source;
    const end = Math.min((segment + 1) * this.#blockBytes - this.#overlap, source.size);
    const begin = segment * this.#blockBytes - this.#overlap;
    // The byte before tells whether a line begins right here.
    const isFirst = begin <= this.#recordsOffset;
    const from = isFirst ? this.#recordsOffset : begin - 1;
    let length = Math.min(end + this.#overlap, source.size) - from;
    for (;;) {
      const bytes = await readWhole(source, from, length, signal);
      const first = isFirst ? 0 : bytes.indexOf(LF) + 1;
      const hasNone = (!isFirst && first === 0) || from + first >= end;
      if (hasNone && from + length >= end) return new Uint8Array(0);
      const last = bytes.indexOf(LF, end - from - 1);
      if (last !== -1) return bytes.subarray(first, last + 1);
      if (from + length === source.size) return bytes.subarray(first);
      if (length > MAX_LINE_BYTES + this.#blockBytes) {
        throw new MementoMapError(
          "MM_LIMIT",
          `a line behind byte ${from} is longer than ${MAX_LINE_BYTES} bytes; this does not look like a map`,
          { position: { source: source.name } },
        );
      }
      length = Math.min(2 * length, source.size - from);
    }
  }

  /** Checks the rows of a segment, and that it comes between those known. */
  #know(segment: number, lines: Uint8Array): void {
    const row = new Row();
    let first: Uint8Array | undefined;
    let last: Uint8Array | undefined;
    for (let at = 0; at < lines.length; at = row.next) {
      if (!this.#readRow(lines, at, row)) continue;
      const key = lines.subarray(at, row.keyEnd);
      this.#requireOrder(last, key);
      first ??= key;
      last = key;
    }
    if (this.#samples !== undefined || this.#empty.has(segment)) return;
    if (first === undefined || last === undefined) {
      this.#empty.add(segment);
      return;
    }
    const known = this.#known;
    const place = this.#placeOf(segment);
    if (known[place]?.number === segment) return;
    if (place > 0) this.#requireOrder(known[place - 1].last, first);
    if (place < known.length) this.#requireOrder(last, known[place].first);
    known.splice(place, 0, { number: segment, first: first.slice(), last: last.slice() });
  }

  #readRow(lines: Uint8Array, at: number, row: Row): boolean {
    try {
      return readRow(lines, at, lines.length, this.#layout.fields, row);
    } catch (error) {
      throw isMementoMapError(error) ? error.at({ source: this.#source.name }) : error;
    }
  }

  #requireOrder(before: Uint8Array | undefined, key: Uint8Array): void {
    if (before === undefined) return;
    if (compareRanges(before, 0, before.length, key, 0, key.length) <= 0) return;
    const [previous, text] = [before, key].map((one) => byteString(one, 0, one.length));
    throw unsortedMap(text, previous, { source: this.#source.name });
  }
}

/** The start of a line shortly before the first whose key is not below `key`. */
function narrow(lines: Uint8Array, key: Uint8Array, length: number): number {
  // Lines that start before `low` have keys below `key`; those that start after `high` do not.
  let low = 0;
  let high = lines.length;
  while (high - low > SCAN_BYTES) {
    const middle = (low + high) >>> 1;
    const start = recordAfter(lines, middle);
    const isBehind =
      start >= high || compareKey(lines, start, lineEnd(lines, start), key, length) >= 0;
    if (isBehind) high = middle;
    else low = start;
  }
  return low;
}

/** The start of the first line behind `offset` that is not blank. */
function recordAfter(lines: Uint8Array, offset: number): number {
  let start = lineEnd(lines, offset) + 1;
  while (start < lines.length && lines[start] <= SPACE) start = lineEnd(lines, start) + 1;
  return start;
}

/** A blank line is below every key. */
function compareKey(
  lines: Uint8Array,
  start: number,
  end: number,
  key: Uint8Array,
  length: number,
): number {
  return compareRanges(lines, start, columnEnd(lines, start, end), key, 0, length);
}

function lineEnd(lines: Uint8Array, from: number): number {
  const end = lines.indexOf(LF, from);
  return end === -1 ? lines.length : end;
}
