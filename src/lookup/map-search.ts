import { type ByteSource, readWhole, SharedRead, SourceLines } from "../bytes/byte-source.ts";
import { byteString, commonPrefix, compareRanges, LF } from "../bytes/bytes.ts";
import { located, MementoMapError } from "../errors.ts";
import { checkSignal } from "../interruption.ts";
import { coveringKey, FORM, type Form, MISSING, NONE } from "../surt/covering-keys.ts";
import type { Key } from "../surt/lookup-key.ts";
import { foreignSpellings } from "../surt/spelling.ts";
import type { UkvsHeaders } from "../ukvs/header.ts";
import { PageRange, readMapHead, refuseCut } from "../ukvs/head.ts";
import { columnEnd, type DatetimeRange, notSorted } from "../ukvs/record.ts";
import { lineEnd, readRow, Row, type RowLayout, rowLayout, type RowRange } from "../ukvs/row.ts";
import { decide, type KeyAnswer, verdictOf } from "./decide.ts";
import { type KeyFinder, type LookupOptions, lookupPeriod, SourceLookup } from "./map-lookup.ts";
import type { Held, Segment, Verdict } from "./source.ts";

/** Most lines that begin in a segment end at most this many bytes after it. */
const OVERLAP_BYTES = 512;
const MAX_LINE_BYTES = 2 ** 20;
/** Exceeds the number of segments of any source. */
const SEGMENT_NUMBERS = 2 ** 32;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Options for searching a map. */
export interface MapSearchOptions {
  /** Bytes per read; default 8 KiB, which suits local files. Use more for remote sources. */
  readonly blockBytes?: number | undefined;
  /** Cache size in bytes; default 256 blocks. */
  readonly maxBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Whether to reject a map that is shorter than its header states. Default true. */
  readonly checkSize?: boolean | undefined;
  /**
   * Treats one page of a map as a whole map; default false. For callers that know which page a key is on.
   */
  readonly isOnePageOfAll?: boolean | undefined;
}

/** The keys of the first and last row of a segment that was read before. */
interface KnownSegment {
  readonly number: number;
  readonly first: Uint8Array;
  readonly last: Uint8Array;
}

/**
 * Searches a sorted text map in place: in a file, a `Blob`, or on a server that supports ranges.
 *
 * The map is read in segments: the lines that begin within one block of bytes. The first and last keys of
 * every segment read are remembered, so later searches need fewer reads. Recently used segments are cached up
 * to `maxBytes`; concurrent lookups share reads.
 *
 * Rejects an unsorted map as soon as the segments read show it.
 */
export class MapSearch extends SourceLookup implements KeyFinder {
  static #sources = 0;
  readonly headers: UkvsHeaders;
  /** Any map may have rows with queries; only reading all of it would tell. */
  readonly readsQueries = true;
  readonly #source: ByteSource;
  readonly #layout: RowLayout;
  readonly #page: PageRange | undefined;
  readonly #blockBytes: number;
  readonly #overlap: number;
  readonly #maxBytes: number;
  readonly #recordsOffset: number;
  /** Offset of this source's segment numbers in `Held`, which may contain segments of several sources. */
  readonly #base = SEGMENT_NUMBERS * MapSearch.#sources++;
  readonly #firstSegment: number;
  readonly #endSegment: number;
  /** Segments with rows, in map order. */
  readonly #known: KnownSegment[] = [];
  /** Segments without rows. */
  readonly #empty = new Set<number>();
  /** Least recently used first. */
  readonly #cache = new Map<number, Segment>();
  #cachedBytes = 0;
  readonly #reads = new Map<number, SharedRead<Segment>>();
  // State of the lookup opened last.
  #period: DatetimeRange | undefined;
  #held: Held | undefined;
  #hasSpellings = false;
  /** Length of the longest prefix that the key shares with any row. */
  #shared = 0;
  #missing = 0;
  #decided: KeyAnswer | undefined;
  /** Rows of the key queried last. */
  #rows: readonly RowRange[] = [];

  private constructor(
    source: ByteSource,
    headers: UkvsHeaders,
    recordsOffset: number,
    { blockBytes = 8192, maxBytes = 256 * blockBytes, isOnePageOfAll }: MapSearchOptions,
  ) {
    super();
    this.headers = headers;
    this.#source = source;
    this.#layout = rowLayout(headers.fields, source.name);
    this.#page = isOnePageOfAll === true ? undefined : PageRange.of(headers, source.name);
    this.#blockBytes = blockBytes;
    this.#overlap = Math.min(OVERLAP_BYTES, blockBytes >>> 2);
    this.#maxBytes = maxBytes;
    this.#recordsOffset = recordsOffset;
    this.#firstSegment = Math.floor((recordsOffset + this.#overlap) / blockBytes);
    this.#endSegment = Math.ceil((source.size + this.#overlap) / blockBytes);
  }

  /**
   * Reads the headers of a map.
   *
   * @throws MM_BAD_HEADER; MM_BAD_INPUT for another kind of UKVS file; MM_CUT, MM_EMPTY; MM_IO.
   */
  static async open(source: ByteSource, options: MapSearchOptions = {}): Promise<MapSearch> {
    const { signal, blockBytes, checkSize } = options;
    checkSignal(signal);
    const lines = new SourceLines(source, blockBytes === undefined ? {} : { blockBytes });
    const head = await readMapHead(lines, signal);
    const opened = new MapSearch(source, head.headers, head.recordsOffset, options);
    if (checkSize !== false) refuseCut(head, source.size, source.name);
    return opened;
  }

  open(key: Key, period?: DatetimeRange, held?: Held): number {
    this.#period = period;
    this.#held = held;
    key.readPath();
    const shared = this.#sharedWith(key.bytes, key.length);
    if (shared === MISSING) return MISSING;
    this.#shared = shared;
    // A home page with a query may be spelled without the slash.
    this.#hasSpellings = key.depth === 0;
    for (const spelling of this.#spellings(byteString(key.bytes, 0, key.length))) {
      this.#hasSpellings = true;
      const bytes = encoder.encode(spelling);
      const others = this.#sharedWith(bytes, bytes.length);
      if (others === MISSING) return MISSING;
      // One byte of the other spelling may be three bytes, escaped, in the key.
      this.#shared = Math.max(this.#shared, 3 * others);
    }
    return 0;
  }

  ask(key: Key, form: Form, index: number): number {
    if (this.#page === undefined && form >= FORM.below) {
      // A row for a folder or for labels shares them with the key.
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

  /** The result for exactly this key, whether or not a lookup would try it. */
  async find(key: string, { at, signal }: LookupOptions = {}): Promise<KeyAnswer | undefined> {
    const period = lookupPeriod(at);
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
    // All spellings of a key are on one page.
    if (rows.length === 0) for (const other of others) this.#page?.require(other);
    this.#rows = rows;
    return rows.length === 0 ? undefined : decide(text, rows, this.#layout, this.#period);
  }

  #spellings(key: string): string[] {
    return foreignSpellings(key, this.headers.fields);
  }

  /** The rows of a key in this spelling. */
  #rowsOf(key: Uint8Array): RowRange[] | typeof MISSING {
    const rows: RowRange[] = [];
    for (let at = this.#place(key, key.length); at !== NONE;) {
      if (at === MISSING) return MISSING;
      const segment = this.#segment(at);
      if (segment === undefined) return MISSING;
      const { lines, starts } = segment;
      for (let i = firstRow(segment, key, key.length); i < starts.length; i++) {
        const start = starts[i];
        const end = lineEnd(lines, start);
        const order = compareRanges(lines, start, columnEnd(lines, start, end), key, 0, key.length);
        if (order > 0) return rows;
        rows.push({ bytes: lines, start, end });
      }
      at = this.#after(at, key);
    }
    return rows;
  }

  /** Length of the longest prefix that a key shares with the rows next to it, and so with any row. */
  #sharedWith(key: Uint8Array, length: number): number {
    const at = this.#place(key, length);
    if (at < 0) return at === NONE ? 0 : MISSING;
    const segment = this.#segment(at);
    if (segment === undefined) return MISSING;
    const { lines, starts } = segment;
    const behind = firstRow(segment, key, length);
    let shared = 0;
    for (const start of starts.slice(Math.max(0, behind - 1), behind + 1)) {
      const keyEnd = columnEnd(lines, start, lineEnd(lines, start));
      shared = Math.max(shared, commonPrefix(lines, start, keyEnd, key, 0, length));
    }
    if (behind < starts.length) return shared;
    const next = this.#known[this.#placeOf(at + 1)];
    if (next === undefined) return shared;
    return Math.max(shared, commonPrefix(next.first, 0, next.first.length, key, 0, length));
  }

  /** The first segment that may contain rows of a key; NONE if the map has no rows; or MISSING. */
  #place(key: Uint8Array, length: number): number {
    const known = this.#known;
    const low = lowerBound(known.length, (i) => {
      const { first } = known[i];
      return compareRanges(first, 0, first.length, key, 0, length) < 0;
    });
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

  /** The unread segment nearest the middle between two segments. */
  #unknownBetween(before: number, behind: number): number {
    const middle = (before + behind) >>> 1;
    for (let distance = 0; distance < behind - before; distance++) {
      for (const number of [middle + distance, middle - distance]) {
        if (number > before && number < behind && !this.#empty.has(number)) return number;
      }
    }
    return NONE;
  }

  /** The next segment, if rows of a key may continue there. */
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

  /** Index in `#known` of a segment, or of the first one after it. */
  #placeOf(segment: number): number {
    return lowerBound(this.#known.length, (i) => this.#known[i].number < segment);
  }

  /** A segment, if it is loaded. */
  #segment(segment: number): Segment | undefined {
    this.#missing = segment;
    const held = this.#held?.get(this.#base + segment);
    if (held !== undefined) return held;
    const cached = this.#cache.get(segment);
    if (cached !== undefined) {
      this.#cache.delete(segment);
      this.#cache.set(segment, cached);
    }
    return cached;
  }

  /** Concurrent lookups share a read; aborting one of them ends only its own wait. */
  #read(segment: number, signal: AbortSignal | undefined): Promise<Segment> {
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

  async #readSegment(number: number, signal: AbortSignal): Promise<Segment> {
    const lines = await this.#linesFrom(number, signal);
    const segment = this.#check(number, lines);
    this.#cachedBytes += lines.length - (this.#cache.get(number)?.lines.length ?? 0);
    this.#cache.set(number, segment);
    for (const [oldest, { lines: evicted }] of this.#cache) {
      if (this.#cachedBytes <= this.#maxBytes) break;
      this.#cache.delete(oldest);
      this.#cachedBytes -= evicted.length;
    }
    return segment;
  }

  /** Reads the lines that begin in a segment. */
  async #linesFrom(segment: number, signal: AbortSignal): Promise<Uint8Array> {
    const source = this.#source;
    const end = Math.min((segment + 1) * this.#blockBytes - this.#overlap, source.size);
    const begin = segment * this.#blockBytes - this.#overlap;
    // The byte before shows whether a line begins here.
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
          `a line after byte ${from} is longer than ${MAX_LINE_BYTES} bytes; this does not look like a map`,
          { position: { source: source.name } },
        );
      }
      length = Math.min(2 * length, source.size - from);
    }
  }

  /** Checks the rows of a segment and their order relative to known segments. */
  #check(number: number, lines: Uint8Array): Segment {
    const row = new Row();
    const starts: number[] = [];
    let first: Uint8Array | undefined;
    let last: Uint8Array | undefined;
    const { source, fields } = this.#layout;
    const read = (): boolean => readRow(lines, at, lines.length, fields, row);
    let at = 0;
    for (; at < lines.length; at = row.next) {
      if (!located({ source }, read)) continue;
      const key = lines.subarray(at, row.keyEnd);
      this.#requireOrder(last, key);
      first ??= key;
      last = key;
      starts.push(at);
    }
    this.#know(number, first, last);
    return { lines, starts };
  }

  #know(number: number, first: Uint8Array | undefined, last: Uint8Array | undefined): void {
    if (first === undefined || last === undefined) {
      this.#empty.add(number);
      return;
    }
    const known = this.#known;
    const place = this.#placeOf(number);
    if (known[place]?.number === number) return;
    this.#requireOrder(known[place - 1]?.last, first);
    if (place < known.length) this.#requireOrder(last, known[place].first);
    known.splice(place, 0, { number, first: first.slice(), last: last.slice() });
  }

  #requireOrder(before: Uint8Array | undefined, key: Uint8Array): void {
    if (before === undefined) return;
    if (compareRanges(before, 0, before.length, key, 0, key.length) <= 0) return;
    const [previous, text] = [before, key].map((one) => byteString(one, 0, one.length));
    throw notSorted(1, text, previous, { source: this.#source.name });
  }
}

/** Index of the first row of a segment whose key is not less than `key`. */
function firstRow({ lines, starts }: Segment, key: Uint8Array, length: number): number {
  return lowerBound(starts.length, (i) => {
    const start = starts[i];
    const keyEnd = columnEnd(lines, start, lineEnd(lines, start));
    return compareRanges(lines, start, keyEnd, key, 0, length) < 0;
  });
}

/** The lowest of `count` indexes for which `isBefore` is false; it must be true for all lower ones. */
function lowerBound(count: number, isBefore: (i: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
