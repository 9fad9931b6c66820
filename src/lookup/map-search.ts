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

/** Most lines that begin in a segment end within this many bytes behind it. */
const OVERLAP_BYTES = 512;
const MAX_LINE_BYTES = 2 ** 20;
/** More than the segments of any source. */
const SEGMENT_NUMBERS = 2 ** 32;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** How a map is opened to be searched. */
export interface MapSearchOptions {
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

/** A segment that was read before: the keys of its first and last row. */
interface KnownSegment {
  readonly number: number;
  readonly first: Uint8Array;
  readonly last: Uint8Array;
}

/**
 * A sorted map of text that stays where it is: a file, a `Blob`, a server that answers ranges.
 *
 * It is read in segments: the lines that begin in so many bytes of it. The first key of each that was read
 * is kept, so that searches come to know the map. Segments that were used last are kept too, up to a number of
 * bytes, and lookups at the same time share reads.
 *
 * Refuses a map whose rows are not in order as soon as that is seen in the segments read.
 */
export class MapSearch extends SourceLookup implements KeyFinder {
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
  /** Where the numbers of segments begin among those that a lookup holds, which may be of several sources. */
  readonly #base = SEGMENT_NUMBERS * MapSearch.#sources++;
  readonly #firstSegment: number;
  readonly #endSegment: number;
  /** In the order of the map, those that have rows. */
  readonly #known: KnownSegment[] = [];
  /** Segments in which no line begins. */
  readonly #empty = new Set<number>();
  /** In order of use. */
  readonly #kept = new Map<number, Segment>();
  #keptBytes = 0;
  readonly #reads = new Map<number, SharedRead<Segment>>();
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
   * Reads the headers of a map and makes it ready to search.
   *
   * @throws MM_BAD_HEADER; MM_BAD_INPUT when it is another kind of UKVS file; MM_CUT, MM_EMPTY; MM_IO.
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

  /** How many bytes a key has in common with the rows before and behind it, and so with any. */
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

  /** The segment from which on rows of a key may be; NONE where there are no rows at all, or MISSING. */
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
    return lowerBound(this.#known.length, (i) => this.#known[i].number < segment);
  }

  /** A segment, if it is at hand. */
  #segment(segment: number): Segment | undefined {
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
    const segment = this.#checked(number, lines);
    this.#keptBytes += lines.length - (this.#kept.get(number)?.lines.length ?? 0);
    this.#kept.set(number, segment);
    for (const [oldest, { lines: last }] of this.#kept) {
      if (this.#keptBytes <= this.#maxBytes) break;
      this.#kept.delete(oldest);
      this.#keptBytes -= last.length;
    }
    return segment;
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
  #checked(number: number, lines: Uint8Array): Segment {
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

/** The first row of a segment whose key is not below `key`. */
function firstRow({ lines, starts }: Segment, key: Uint8Array, length: number): number {
  return lowerBound(starts.length, (i) => {
    const start = starts[i];
    const keyEnd = columnEnd(lines, start, lineEnd(lines, start));
    return compareRanges(lines, start, keyEnd, key, 0, length) < 0;
  });
}

/** The first of `count` things that is not before another; those that are come first. */
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
