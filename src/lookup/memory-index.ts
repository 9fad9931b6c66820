import { COMMA, SLASH, STAR } from "../bytes/ascii.ts";
import { MementoMapError } from "../errors.ts";
import { lookupKeys } from "../surt/lookup-keys.ts";
import { surt as surtOf } from "../surt/surt.ts";
import { columnEnd } from "../ukvs/columns.ts";
import { frequencyIsZero, FrequencySum, MAX_FREQUENCY_BYTES } from "../ukvs/frequency-sum.ts";
import type { UkvsHeaders } from "../ukvs/header.ts";
import { type IndexedRows, indexRows } from "./index-rows.ts";
import { EMPTY_HASH, extendHash, extendHashRange } from "./key-hash.ts";
import { KeyScan } from "./key-scan.ts";
import { isKeyEnd, keyEnd, lineEnd, nextLine } from "./line-bounds.ts";
import type { Answer, KeyAnswer, LookupOptions, MapLookup } from "./lookup.ts";
import { mapHeadOf } from "./map-head.ts";
import {
  bareHome,
  columnStart,
  isNone,
  type RowLayout,
  rowLayout,
  type RowRange,
} from "./map-row.ts";
import { answerFromRows } from "./row-answer.ts";
import type { RowTable } from "./row-table.ts";

/** The largest map an index takes: row offsets and typed arrays are safe below it everywhere. */
export const MAX_INDEX_BYTES: number = 2 ** 31 - 1;

const UNKNOWN_FREQUENCY: Uint8Array = Uint8Array.of(SLASH);
const NOTHING: Uint8Array = new Uint8Array(0);
const JUST_STAR: Uint8Array = Uint8Array.of(STAR);
const SLASH_STAR: Uint8Array = Uint8Array.of(SLASH, STAR);
const COMMA_STAR: Uint8Array = Uint8Array.of(COMMA, STAR);
const encoder = new TextEncoder();
const decoder = new TextDecoder();

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
  readonly #layout: RowLayout;
  readonly #table: RowTable;
  /** What the map has none of is not asked for. */
  readonly #hasSpreadKeys: boolean;
  readonly #hasBareHomes: boolean;
  readonly #hasSeveralRows: boolean;
  readonly #scan: KeyScan = new KeyScan();
  readonly #sum: FrequencySum = new FrequencySum();

  private constructor(
    bytes: Uint8Array,
    headers: UkvsHeaders,
    layout: RowLayout,
    rows: IndexedRows,
  ) {
    this.bytes = bytes;
    this.headers = headers;
    this.#layout = layout;
    this.#table = rows.table;
    this.#hasSpreadKeys = rows.hasSpreadKeys;
    this.#hasBareHomes = rows.hasBareHomes;
    this.#hasSeveralRows = rows.hasSeveralRows;
  }

  /**
   * Indexes a whole map, headers included. The rows of a key must stand together, as they do in a
   * sorted map; nothing else depends on their order. The bytes must not change afterwards.
   *
   * @throws MM_LIMIT from 2 GiB on; MM_BAD_HEADER, MM_BAD_LINE and MM_BAD_FREQUENCY for a fault in
   *   the map; MM_BAD_INPUT when it is another kind of UKVS file; MM_NOT_SORTED when the rows of a
   *   key are apart.
   */
  static build(bytes: Uint8Array, options: { readonly source?: string } = {}): MemoryIndex {
    const source = options.source ?? "memory";
    if (bytes.length > MAX_INDEX_BYTES) {
      throw new MementoMapError(
        "MM_LIMIT",
        `a map of ${bytes.length} bytes is too large to index in memory; search the file instead`,
        { position: { source } },
      );
    }
    const head = mapHeadOf(bytes, source);
    const layout = rowLayout(head.headers.fields, source);
    return new MemoryIndex(bytes, head.headers, layout, indexRows(bytes, head, layout, source));
  }

  /** The number of distinct keys. */
  get keyCount(): number {
    return this.#table.count;
  }

  /**
   * Looks up a SURT given as bytes, the fast way: nothing is allocated.
   *
   * Returns whether the map says present; `match` tells which key decided.
   */
  lookupKeyBytes(bytes: Uint8Array, start: number, end: number, match: Match): boolean {
    const row = this.#decidingRow(bytes, start, end, match);
    if (row < 0) {
      match.distance = -1;
      match.present = false;
      return false;
    }
    match.keyStart = row;
    match.keyEnd = keyEnd(this.bytes, row);
    return this.#fillFrequency(row, match);
  }

  /** Looks a URI up at once. */
  lookupSync(uri: string, options: LookupOptions = {}): Answer {
    return this.lookupSurtSync(surtOf(uri), options);
  }

  /** Looks a SURT up at once. */
  lookupSurtSync(surt: string, options: LookupOptions = {}): Answer {
    const match = new Match();
    const key = encoder.encode(surt);
    const row = this.#decidingRow(key, 0, key.length, match);
    if (row < 0) return { present: false };
    return {
      ...answerFromRows(this.#rowsAt(row), this.#layout, options.at),
      distance: match.distance,
    };
  }

  lookup(uri: string, options: LookupOptions = {}): Promise<Answer> {
    return promised(() => this.lookupSync(uri, options));
  }

  lookupSurt(surt: string, options: LookupOptions = {}): Promise<Answer> {
    return promised(() => this.lookupSurtSync(surt, options));
  }

  find(key: string, options: LookupOptions = {}): Promise<KeyAnswer | undefined> {
    return promised(() => this.findSync(key, options));
  }

  /** What the map says about exactly this key, at once. */
  findSync(key: string, options: LookupOptions = {}): KeyAnswer | undefined {
    const row = this.#rowOf(key);
    return row < 0 ? undefined : answerFromRows(this.#rowsAt(row), this.#layout, options.at);
  }

  /** The first row of a key, or -1. */
  #rowOf(key: string): number {
    const row = this.#exactRowOf(key);
    const bare = row < 0 ? bareHome(key) : undefined;
    return bare === undefined ? row : this.#exactRowOf(bare);
  }

  #exactRowOf(key: string): number {
    const bytes = encoder.encode(key);
    const hash = extendHashRange(EMPTY_HASH, bytes, 0, bytes.length);
    return this.#find(hash, bytes, 0, bytes.length, NOTHING);
  }

  /** The first row of the most specific key, or -1; tells `match` the distance. */
  #decidingRow(bytes: Uint8Array, start: number, end: number, match: Match): number {
    const scan = this.#scan;
    if (!scan.scan(bytes, start, end)) {
      return this.#decidingRowOf(decoder.decode(bytes.subarray(start, end)), match);
    }
    match.distance = 0;
    if (hasQuery(bytes, scan.pathEnd, end)) {
      const row = this.#find(scan.fullHash, bytes, start, end, NOTHING);
      if (row >= 0) return row;
    }
    let row = this.#find(scan.pathHash, bytes, start, scan.pathEnd, NOTHING);
    if (row >= 0) return row;
    const isRoot = scan.pathEnd === scan.hostEnd + 2;
    if (isRoot && this.#hasBareHomes) {
      row = this.#find(scan.hostHash, bytes, start, scan.hostEnd + 1, NOTHING);
      if (row >= 0) return row;
    }
    if (!isRoot) {
      match.distance++;
      const hash = extendHash(extendHash(scan.pathHash, SLASH), STAR);
      row = this.#find(hash, bytes, start, scan.pathEnd, SLASH_STAR);
      if (row >= 0) return row;
    }
    for (let i = scan.slashCount - 1; i >= 0; i--) {
      match.distance++;
      const hash = extendHash(scan.slashHashes[i], STAR);
      row = this.#find(hash, bytes, start, scan.slashEnds[i], JUST_STAR);
      if (row >= 0) return row;
    }
    return this.#decidingHostRow(bytes, start, match);
  }

  /** The same for any text, by its lookup keys one after the other. */
  #decidingRowOf(surt: string, match: Match): number {
    for (const { key, distance } of lookupKeys(surt)) {
      const row = this.#rowOf(key);
      match.distance = distance;
      if (row >= 0) return row;
    }
    return -1;
  }

  #decidingHostRow(bytes: Uint8Array, start: number, match: Match): number {
    const scan = this.#scan;
    for (let i = scan.labelCount - 1; i >= 0; i--) {
      const labelEnd = scan.labelEnds[i];
      const hash = extendHash(extendHash(scan.labelHashes[i], COMMA), STAR);
      match.distance++;
      if (this.#hasSpreadKeys) {
        const spread = extendHashRange(hash, bytes, scan.hostEnd, scan.pathEnd);
        const row = this.#find(
          spread,
          bytes,
          start,
          labelEnd,
          COMMA_STAR,
          scan.hostEnd,
          scan.pathEnd,
        );
        if (row >= 0) return row;
      }
      if (i > 0) match.distance++;
      const row = this.#find(hash, bytes, start, labelEnd, COMMA_STAR);
      if (row >= 0) return row;
    }
    return -1;
  }

  /** The first row whose key is `bytes[start, end) + middle + bytes[tailStart, tailEnd)`, or -1. */
  #find(
    hash: number,
    bytes: Uint8Array,
    start: number,
    end: number,
    middle: Uint8Array,
    tailStart: number = 0,
    tailEnd: number = 0,
  ): number {
    const map = this.bytes;
    const table = this.#table;
    for (let place = table.first(hash); place >= 0; place = table.next(place)) {
      const row = table.offset(place);
      let at = sharedEnd(map, row, bytes, start, end);
      if (at >= 0) at = sharedEnd(map, at, middle, 0, middle.length);
      if (at >= 0) at = sharedEnd(map, at, bytes, tailStart, tailEnd);
      if (at >= 0 && isKeyEnd(map, at)) return row;
    }
    return -1;
  }

  #fillFrequency(row: number, match: Match): boolean {
    const bytes = this.bytes;
    if (this.#hasSeveralRows) {
      const rows = this.#rowsAt(row);
      if (rows.length > 1) return this.#fillSum(rows, match);
    }
    const end = lineEnd(bytes, match.keyEnd);
    const start = columnStart(bytes, row, end, this.#layout.frequencyColumn);
    match.frequencyEnd = columnEnd(bytes, start, end);
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
    const sum = this.#sum;
    sum.reset();
    for (const { bytes, start, end } of rows) {
      const at = columnStart(bytes, start, end, this.#layout.frequencyColumn);
      const stop = columnEnd(bytes, at, end);
      if (isNone(bytes, at, stop)) sum.addBytes(UNKNOWN_FREQUENCY, 0, 1);
      else sum.addBytes(bytes, at, stop);
    }
    match.frequencyBytes = new Uint8Array(MAX_FREQUENCY_BYTES);
    match.frequencyStart = 0;
    match.frequencyEnd = sum.writeTo(match.frequencyBytes, 0);
    match.present = sum.isPresent;
    return match.present;
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
    } while (
      this.#hasSeveralRows &&
      start < bytes.length &&
      sharedEnd(bytes, start, bytes, row, row + length) >= 0 &&
      isKeyEnd(bytes, start + length)
    );
    return rows;
  }
}

/** `?` within the path region means a query: the path itself ends before its trailing slashes. */
function hasQuery(bytes: Uint8Array, pathEnd: number, end: number): boolean {
  let at = pathEnd;
  while (at < end && bytes[at] === SLASH) at++;
  return at < end;
}

/** The end of `bytes[start, end)` within the map at `at` if it stands there, else -1. */
function sharedEnd(
  map: Uint8Array,
  at: number,
  bytes: Uint8Array,
  start: number,
  end: number,
): number {
  const shift = at - start;
  for (let i = start; i < end; i++) if (map[i + shift] !== bytes[i]) return -1;
  return at + end - start;
}

function promised<T>(compute: () => T): Promise<T> {
  return new Promise((resolve) => {
    resolve(compute());
  });
}
