import { compareRanges, QUOTE, SLASH, SPACE } from "../../bytes/bytes.ts";
import { MementoMapError } from "../../errors.ts";
import { asciiSurt } from "../../surt/key-bytes.ts";
import { lookupKeys } from "../../surt/key.ts";
import { surt as surtOf, surtBytes } from "../../surt/uri-to-surt.ts";
import { columnEnd, type DatetimeRange, skipBlanks } from "../../ukvs/record.ts";
import { frequencyIsZero } from "../../ukvs/frequency.ts";
import type { UkvsHeaders } from "../../ukvs/header.ts";
import { type IndexedRows, RowIndexer, type RowsToIndex } from "./index-rows.ts";
import {
  columnStart,
  isKeyEnd,
  isNone,
  keyEnd,
  lineEnd,
  nextLine,
  type RowLayout,
  rowLayout,
  type RowRange,
} from "./map-row.ts";
import {
  type Answer,
  answerAt,
  answerFromRows,
  type KeyAnswer,
  type LookupOptions,
  lookupPeriod,
  type MapLookup,
} from "./map-lookup.ts";
import { mapHeadOf, PageRange, refuseCut } from "./map-head.ts";
import { RowFinder } from "./row-finder.ts";
import { checkSignal } from "../../interruption.ts";

/** The largest map an index takes: row offsets and typed arrays are safe below it everywhere. */
export const MAX_INDEX_BYTES: number = 2 ** 31 - 1;

/** A few milliseconds of work: the first rows put into a table cost a page fault each. */
const SLICE_BYTES = 64 * 1024;
const UNKNOWN_FREQUENCY: Uint8Array = Uint8Array.of(SLASH);
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
/** Longer URIs are looked up by another way: nearly none are. */
const FAST_URI_LENGTH = 2048;

/**
 * Where `MemoryIndex.lookupKeyBytes` puts its findings; make one and use it for every lookup.
 *
 * The key is `index.bytes[keyStart, keyEnd)`. All but `distance` is meaningless while `distance` is
 * -1, which says that no key of the map covers the URI.
 */
export class Match {
  present = false;
  distance = -1;
  keyStart = 0;
  keyEnd = 0;
  /** The frequency is `frequencyBytes[frequencyStart, frequencyEnd)`. */
  frequencyBytes: Uint8Array = UNKNOWN_FREQUENCY;
  frequencyStart = 0;
  frequencyEnd = 0;
}

/**
 * A map in memory with a hash table over its keys, for servers and for batches of lookups.
 *
 * Holds the map's bytes as they are and 16 to 32 bytes a key; no string per row. Every lookup is
 * synchronous and takes one pass over the key; the promises of `MapLookup` are there for callers
 * that do not care which lookup they hold.
 */
export class MemoryIndex implements MapLookup {
  readonly headers: UkvsHeaders;
  /** The map, as given to `build`. */
  readonly bytes: Uint8Array;
  /** The keys by their hashes, for indexes over several maps. */
  readonly rows: IndexedRows;
  /** Finds rows by the pieces of their keys. */
  readonly finder: RowFinder;
  readonly #layout: RowLayout;
  readonly #match = new Match();
  readonly #uri = new Uint8Array(FAST_URI_LENGTH);
  readonly #surt = new Uint8Array(4 * FAST_URI_LENGTH + 1024);
  /** Of one page of a map; undefined for a map that is whole. */
  readonly #page: PageRange | undefined;

  private constructor({ bytes, head, layout, source }: RowsToIndex, rows: IndexedRows) {
    this.bytes = bytes;
    this.headers = head.headers;
    this.#layout = layout;
    this.#page = PageRange.of(head.headers, source);
    this.rows = rows;
    this.finder = new RowFinder(bytes, rows, (row, period) => this.#decides(row, period));
  }

  /**
   * Indexes a whole map, headers included. The rows of a key must stand together, as they do in a
   * sorted map; nothing else depends on their order. The bytes must not change afterwards.
   *
   * @throws MM_LIMIT from 2 GiB on; MM_BAD_HEADER, MM_BAD_LINE and MM_BAD_FREQUENCY for a fault in
   *   the map; MM_BAD_INPUT when it is another kind of UKVS file; MM_NOT_SORTED when the rows of a
   *   key are apart; MM_CUT and MM_EMPTY for a map that is not whole.
   */
  static build(bytes: Uint8Array, options: { readonly source?: string } = {}): MemoryIndex {
    const rows = rowsToIndex(bytes, options.source);
    const indexer = new RowIndexer(rows);
    indexer.advance(bytes.length);
    return new MemoryIndex(rows, indexer.finish());
  }

  /**
   * As `build`, for programs that may not stand still: `pause` is awaited every few milliseconds.
   *
   * @throws as `build`.
   */
  static async buildInSlices(
    bytes: Uint8Array,
    options: { readonly source?: string; readonly pause: () => Promise<void> },
  ): Promise<MemoryIndex> {
    const rows = rowsToIndex(bytes, options.source);
    const indexer = new RowIndexer(rows);
    while (indexer.advance(SLICE_BYTES)) await options.pause();
    return new MemoryIndex(rows, indexer.finish());
  }

  /** Bytes of the map. */
  get size(): number {
    return this.bytes.length;
  }

  /** The number of distinct keys. */
  get keyCount(): number {
    return this.rows.pages.count + this.rows.wildcards.count;
  }

  /**
   * Looks up a SURT given as bytes, the fast way: nothing is allocated unless the deciding key has
   * several rows.
   *
   * Returns whether the map says present; `match` tells which key decided.
   */
  lookupKeyBytes(bytes: Uint8Array, start: number, end: number, match: Match): boolean {
    const row = this.#decidingRow(bytes, start, end);
    match.distance = this.finder.distance;
    if (row < 0) {
      match.distance = -1;
      match.present = false;
      return false;
    }
    return this.matchRow(row, match);
  }

  /**
   * Fills in what a row and those after it with the same key say, all but the distance.
   *
   * Returns whether they say present.
   */
  matchRow(row: number, match: Match): boolean {
    match.keyStart = row;
    match.keyEnd = keyEnd(this.bytes, row);
    return this.#fillFrequency(row, match);
  }

  /** What a row and those after it with the same key say, of all time or of a period. */
  answerRow(row: number, period?: DatetimeRange): KeyAnswer {
    return answerFromRows(this.#rowsAt(row), this.#layout, period);
  }

  /** Whether a SURT is present in a period, as far as the rows here tell: a page knows no others. */
  isPresentDuring(surt: Uint8Array, period: DatetimeRange): boolean {
    const row = this.finder.decidingRow(surt, 0, surt.length, period);
    return row >= 0 && this.answerRow(row, period).present;
  }

  /** Looks a URI up at once. */
  lookupSync(uri: string, options: LookupOptions = {}): Answer {
    const end = options.at === undefined && this.#page === undefined ? this.#writeSurt(uri) : -1;
    if (end < 0) return this.lookupSurtSync(surtOf(uri), options);
    const match = this.#match;
    const present = this.lookupKeyBytes(this.#surt, 0, end, match);
    if (match.distance < 0) return { present };
    const {
      keyStart,
      keyEnd: stop,
      frequencyBytes,
      frequencyStart,
      frequencyEnd,
      distance,
    } = match;
    return {
      present,
      key: decoder.decode(this.bytes.subarray(keyStart, stop)),
      frequency: decoder.decode(frequencyBytes.subarray(frequencyStart, frequencyEnd)),
      distance,
    };
  }

  /** Writes the SURT of a URI to `#surt` and returns its end; -1 for one that is long, or not ASCII. */
  #writeSurt(uri: string): number {
    if (uri.length > FAST_URI_LENGTH) return -1;
    const { written } = encoder.encodeInto(uri, this.#uri);
    return written === uri.length ? surtBytes(this.#uri, 0, written, this.#surt, 0) : -1;
  }

  /** Looks a SURT up at once. */
  lookupSurtSync(surt: string, options: LookupOptions = {}): Answer {
    const key = encoder.encode(surt);
    const period = lookupPeriod(options.at);
    const row = this.#decidingRow(key, 0, key.length, period);
    if (row < 0) return { present: false };
    return answerAt(this.answerRow(row, period), this.finder.distance);
  }

  lookup(uri: string, options: LookupOptions = {}): Promise<Answer> {
    return promised(options, () => this.lookupSync(uri, options));
  }

  lookupSurt(surt: string, options: LookupOptions = {}): Promise<Answer> {
    return promised(options, () => this.lookupSurtSync(surt, options));
  }

  find(key: string, options: LookupOptions = {}): Promise<KeyAnswer | undefined> {
    return promised(options, () => this.findSync(key, options));
  }

  /** What the map says about exactly this key, at once. */
  findSync(key: string, options: LookupOptions = {}): KeyAnswer | undefined {
    this.finder.ask(lookupPeriod(options.at));
    const row = this.finder.rowOf(key, this.#page);
    return row < 0 ? undefined : this.answerRow(row, lookupPeriod(options.at));
  }

  /** @throws MM_PAGE where another page may decide. */
  #decidingRow(bytes: Uint8Array, start: number, end: number, period?: DatetimeRange): number {
    if (this.#page === undefined) return this.finder.decidingRow(bytes, start, end, period);
    this.finder.ask(period);
    for (const { key, distance } of lookupKeys(asciiSurt(bytes, start, end), this.rows)) {
      const row = this.finder.rowOf(key, this.#page);
      this.finder.distance = distance;
      if (row >= 0 && this.#decides(row, period)) return row;
    }
    return -1;
  }

  #decides(row: number, period: DatetimeRange | undefined): boolean {
    return this.answerRow(row, period).decides;
  }

  #fillFrequency(row: number, match: Match): boolean {
    const bytes = this.bytes;
    if (this.rows.hasSeveralRows) {
      const rows = this.#rowsAt(row);
      if (rows.length > 1) return this.#fillSum(rows, match);
    }
    const end = lineEnd(bytes, match.keyEnd);
    const second = skipBlanks(bytes, match.keyEnd, end);
    const start = columnStart(bytes, second, end, this.#layout.frequencyColumn - 1);
    match.frequencyEnd = columnEnd(bytes, start, end);
    // A quoted frequency, and one of 0 beside a JSON block, need a closer look.
    if (
      bytes[start] === QUOTE ||
      (this.rows.hasTimes && frequencyIsZero(bytes, start, match.frequencyEnd))
    ) {
      return this.#fillSum(this.#rowsAt(row), match);
    }
    if (isNone(bytes, start, match.frequencyEnd)) {
      match.frequencyBytes = UNKNOWN_FREQUENCY;
      match.frequencyStart = 0;
      match.frequencyEnd = 1;
      match.present = true;
    } else {
      match.frequencyBytes = bytes;
      match.frequencyStart = start;
      match.present = !frequencyIsZero(bytes, start, match.frequencyEnd);
    }
    return match.present;
  }

  #fillSum(rows: readonly RowRange[], match: Match): boolean {
    const { frequency = "", present } = answerFromRows(rows, this.#layout);
    match.frequencyBytes = encoder.encode(frequency);
    match.frequencyStart = 0;
    match.frequencyEnd = match.frequencyBytes.length;
    match.present = present;
    return present;
  }

  /** The row at an offset and those after it with the same key. */
  #rowsAt(row: number): RowRange[] {
    const { bytes } = this;
    const length = keyEnd(bytes, row) - row;
    const rows: RowRange[] = [];
    let start = row;
    do {
      const end = lineEnd(bytes, start);
      rows.push({ bytes, start, end });
      start = nextLine(bytes, end);
      while (start < bytes.length && bytes[start] <= SPACE) {
        start = nextLine(bytes, lineEnd(bytes, start));
      }
    } while (
      this.rows.hasSeveralRows &&
      start < bytes.length &&
      isKeyEnd(bytes, start + length) &&
      compareRanges(bytes, start, start + length, bytes, row, row + length) === 0
    );
    return rows;
  }
}

function rowsToIndex(bytes: Uint8Array, source = "memory"): RowsToIndex {
  if (bytes.length > MAX_INDEX_BYTES) {
    throw new MementoMapError(
      "MM_LIMIT",
      `a map of ${bytes.length} bytes is too large to index in memory; search the file instead`,
      { position: { source } },
    );
  }
  const head = mapHeadOf(bytes, source);
  const layout = rowLayout(head.headers.fields, source);
  refuseCut(head, bytes.length, source);
  return { bytes, head, layout, source };
}

function promised<T>({ signal }: LookupOptions, compute: () => T): Promise<T> {
  return new Promise((resolve) => {
    checkSignal(signal);
    resolve(compute());
  });
}
