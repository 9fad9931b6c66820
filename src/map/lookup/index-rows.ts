import {
  AT,
  BANG,
  CLOSE_PAREN,
  COMMA,
  DELETE,
  isPlainText,
  LF,
  OPEN_BRACE,
  QUESTION,
  QUOTE,
  SPACE,
  STAR,
  TAB,
} from "../../bytes/bytes.ts";
import { EMPTY_HASH, extendHash, RowTable } from "./row-table.ts";
import { isMementoMapError, MementoMapError, type Position, quote } from "../../errors.ts";
import { currentSpelling, type KeyOptions } from "../../surt/key.ts";
import {
  columnEnd,
  columnsEnd,
  compareColumns,
  duplicateKey,
  parseColumn,
  skipBlanks,
} from "../../ukvs/record.ts";
import { parseFrequency } from "../../ukvs/frequency.ts";
import { checkSize } from "../../ukvs/header.ts";
import {
  checkRowStart,
  columnStart,
  isKeyEnd,
  isNone,
  lineEnd,
  nextLine,
  type RowLayout,
} from "./map-row.ts";
import type { KeyKinds } from "./key-walk.ts";
import type { MapHead } from "./map-head.ts";

/**
 * Hashes the keys that start the rows of a map, one row after the other.
 *
 * Neighbours in a sorted map have most of their keys in common. So the hash up to each byte of the
 * last key is kept, and only what a key does not share with the last one is hashed.
 */
export class PrefixHash {
  /** Behind the key. */
  end = 0;
  hash = EMPTY_HASH;
  hasStar = false;
  /** How the key compares with the last one, by bytes: negative, 0 or positive. */
  order = 0;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #start = 0;
  #length = 0;
  /** The hash of the first bytes of the last key, by their number. */
  #hashes: Int32Array = Int32Array.of(EMPTY_HASH, 0, 0, 0);
  /** Where the first `*` of the last key is, from its start. */
  #star = Number.POSITIVE_INFINITY;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Takes the key that starts at `start`; false, with nothing done but `end`, if it is empty. */
  take(start: number): boolean {
    const bytes = this.#bytes;
    const shared = this.#sharedWithLast(start);
    let star = this.#star < shared ? this.#star : Number.POSITIVE_INFINITY;
    let hashes = this.#hashes;
    let hash = hashes[shared];
    let length = shared;
    for (let byte = bytes[start + length]; byte > SPACE; byte = bytes[start + length]) {
      if (byte === STAR && star > length) star = length;
      hash = extendHash(hash, byte);
      if (++length === hashes.length) hashes = this.#grow();
      hashes[length] = hash;
      if (start + length >= bytes.length) break;
    }
    this.end = start + length;
    if (length === 0) return false;
    this.order = this.#compare(start, shared, length);
    this.hash = hash;
    this.hasStar = star < length;
    this.#star = star;
    this.#start = start;
    this.#length = length;
    return true;
  }

  #sharedWithLast(start: number): number {
    const view = this.#view;
    const last = this.#start;
    const left = view.byteLength - start;
    const limit = this.#length < left ? this.#length : left;
    let i = 0;
    while (i + 4 <= limit && view.getInt32(start + i, true) === view.getInt32(last + i, true)) {
      i += 4;
    }
    while (i < limit && view.getUint8(start + i) === view.getUint8(last + i)) i++;
    return i;
  }

  #compare(start: number, shared: number, length: number): number {
    if (shared === length || shared === this.#length) return length - this.#length;
    return this.#bytes[start + shared] - this.#bytes[this.#start + shared];
  }

  #grow(): Int32Array {
    const larger = new Int32Array(this.#hashes.length * 2);
    larger.set(this.#hashes);
    this.#hashes = larger;
    return larger;
  }
}

/** The keys of a map with the offsets of their first rows, and what kinds of keys there are. */
export interface IndexedRows extends KeyKinds {
  /** Keys without `*`. */
  readonly pages: RowTable;
  /** Keys with `*`. There are few, so their table stays in the cache, and they are asked for most. */
  readonly wildcards: RowTable;
  /** Some key has more than one row. */
  readonly hasSeveralRows: boolean;
  readonly records: number;
  /** Rows may be of a time, so that the rows of a key need not decide. */
  readonly hasTimes: boolean;
}

/** Enough lines to estimate how many there are: how many bytes, in how many places. */
const SAMPLE_BYTES = 4096;
const SAMPLES = 16;
/** Bytes that no key begins with. */
const STARTS_NO_KEY: Readonly<Uint8Array> = Uint8Array.from({ length: 256 }, (_, byte) =>
  [BANG, AT, QUOTE, OPEN_BRACE].includes(byte) ? 1 : 0,
);
const decoder = new TextDecoder();

/** A map whose rows are to be indexed. */
export interface RowsToIndex {
  readonly bytes: Uint8Array;
  readonly head: MapHead;
  readonly layout: RowLayout;
  readonly source: string;
}

/**
 * Enters every key of a map in memory into tables, in one pass over its bytes.
 *
 * The pass can be made a part at a time, by programs that have other things to do in between.
 */
export class RowIndexer {
  readonly #rows: RowsToIndex;
  readonly #pages: RowTable;
  readonly #wildcards = new RowTable(0);
  readonly #key: PrefixHash;
  #row: number;
  #line: number;
  #records = 0;
  // While keys come in order, none can be in the tables already.
  #isInOrder = true;
  #hasSpreadKeys = false;
  #hasQueryKeys = false;
  #hasBareHomes = false;
  #hasRawStars = false;
  #hasRawCharacters = false;
  #hasSeveralRows = false;
  #hasTimes: boolean;
  /** Where the row before begins. */
  #previousRow = 0;

  constructor(rows: RowsToIndex) {
    const { bytes, head } = rows;
    this.#rows = rows;
    this.#pages = new RowTable(estimateRows(bytes, head.recordsOffset));
    this.#key = new PrefixHash(bytes);
    this.#row = head.recordsOffset;
    this.#line = head.recordsLine;
    this.#hasTimes = rows.layout.datetimeColumn >= 0;
  }

  /**
   * Indexes the next lines, about this many bytes; false when there are no more.
   *
   * @throws MM_BAD_LINE, MM_BAD_KEY, MM_BAD_FREQUENCY, or MM_NOT_SORTED when a key comes twice or its
   *   rows are apart.
   */
  advance(byteCount: number): boolean {
    const { bytes, layout, source } = this.#rows;
    const key = this.#key;
    const first = this.#row;
    const until = Math.min(bytes.length, first + byteCount);
    let line = this.#line;
    let row = first;
    for (; row < until; line++) {
      const isRow = key.take(row);
      const at = key.end;
      const end = lineEnd(bytes, at);
      if (isRow) {
        if (STARTS_NO_KEY[bytes[row]] === 1) checkRowStart(bytes, row, { source, line });
        const rest = checkFrequency(bytes, at, end, { layout, source, line });
        if (rest < end) this.#hasTimes = true;
        this.#add(row, line);
        this.#records++;
      } else if (skipBlanks(bytes, row, end) < end) {
        throw new MementoMapError("MM_BAD_LINE", "the line starts with a blank, not with a key", {
          position: { source, line },
        });
      }
      row = nextLine(bytes, end);
    }
    // A `?` in a JSON block costs a needless question per lookup, no more.
    this.#hasQueryKeys ||= bytes.subarray(first, row).includes(QUESTION);
    this.#hasBareHomes ||= layout.fields.queries === true && hasBareHome(bytes, first, row);
    if (!isPlainText(bytes, first, Math.min(row, bytes.length))) {
      // In a JSON block they make lookups slower, no more.
      this.#hasRawCharacters = true;
      checkText(bytes, first, Math.min(row, bytes.length), { source, line: this.#line });
    }
    this.#line = line;
    this.#row = row;
    return row < bytes.length;
  }

  /**
   * What was indexed. Call it once, after the last `advance`.
   *
   * @throws MM_CUT when the map states another number of records.
   */
  finish(): IndexedRows {
    const { bytes, head, source } = this.#rows;
    const found = { bytes: bytes.length - head.bodyOffset, records: this.#records };
    checkSize(head.headers.size, found, source);
    this.#pages.settle();
    this.#wildcards.settle();
    return {
      pages: this.#pages,
      wildcards: this.#wildcards,
      queries: this.#rows.layout.fields.queries === true,
      hasSpreadKeys: this.#hasSpreadKeys,
      hasQueryKeys: this.#hasQueryKeys,
      hasBareHomes: this.#hasBareHomes,
      hasRawStars: this.#hasRawStars,
      hasRawCharacters: this.#hasRawCharacters,
      hasSeveralRows: this.#hasSeveralRows,
      records: this.#records,
      hasTimes: this.#hasTimes,
    };
  }

  /** Enters the key that was taken last. */
  #add(row: number, line: number): void {
    const { bytes, source } = this.#rows;
    const { end: at, hash, hasStar, order } = this.#key;
    const table = hasStar ? this.#wildcards : this.#pages;
    if (order < 0) this.#isInOrder = false;
    const isRepeated = order === 0 || (!this.#isInOrder && isKnown(table, hash, bytes, row, at));
    if (!isRepeated) {
      table.add(hash, row);
    } else if (order === 0) {
      if (this.#repeatsAllKeys(row, at))
        throw duplicateKey(decoder.decode(bytes.subarray(row, at)), { source, line });
      this.#hasSeveralRows = true;
    } else {
      throw apart(bytes, row, at, { source, line });
    }
    if (bytes[at - 1] === CLOSE_PAREN) this.#hasBareHomes = true;
    if (hasStar) {
      const { fields } = this.#rows.layout;
      this.#hasSpreadKeys ||= isSpreadKey(bytes, row, at);
      this.#hasRawStars ||= hasRawStar(bytes, row, at, fields);
      this.#hasBareHomes ||= fields.queries === true && bytes[at - 3] === CLOSE_PAREN;
    }
    this.#previousRow = row;
  }

  /** Whether a row with the key of the row before has its further keys too. */
  #repeatsAllKeys(row: number, keyEnd: number): boolean {
    const { bytes, layout } = this.#rows;
    const keyCount = layout.fields.keys.length;
    if (keyCount === 1) return true;
    const previous = this.#previousRow;
    const previousEnd = columnsEnd(bytes, previous, lineEnd(bytes, previous), keyCount);
    const end = columnsEnd(bytes, row, lineEnd(bytes, keyEnd), keyCount);
    return compareColumns(bytes, previous, previousEnd, bytes, row, end) === 0;
  }
}

/** Keys are longer in some parts of a map than in others, so all parts are looked at. */
function estimateRows(bytes: Uint8Array, from: number): number {
  const size = bytes.length - from;
  if (size === 0) return 0;
  const step = Math.max(SAMPLE_BYTES, Math.floor(size / SAMPLES));
  let lines = 0;
  let sampled = 0;
  for (let start = from; start < bytes.length; start += step) {
    const end = Math.min(start + SAMPLE_BYTES, bytes.length);
    for (let at = start; at < end; at++) if (bytes[at] === LF) lines++;
    sampled += end - start;
  }
  return Math.ceil((lines / sampled) * size);
}

function isKnown(
  table: RowTable,
  hash: number,
  bytes: Uint8Array,
  start: number,
  end: number,
): boolean {
  table.settle();
  for (let place = table.first(hash); place >= 0; place = table.next(place)) {
    const row = table.offset(place);
    let i = 0;
    while (i < end - start && bytes[row + i] === bytes[start + i]) i++;
    if (i === end - start && isKeyEnd(bytes, row + i)) return true;
  }
  return false;
}

function isSpreadKey(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end - 2; at++) {
    if (bytes[at] === CLOSE_PAREN) return false;
    if (bytes[at] === COMMA && bytes[at + 1] === STAR && bytes[at + 2] === CLOSE_PAREN) return true;
  }
  return false;
}

/** Whether some key of these lines is that of a home page without its slash, with a query: `com,cnn)?x=1`. */
function hasBareHome(bytes: Uint8Array, start: number, end: number): boolean {
  for (let mark = bytes.indexOf(QUESTION, start); mark >= 0 && mark < end;) {
    if (bytes[mark - 1] === CLOSE_PAREN) {
      let at = mark - 1;
      while (at > start && bytes[at - 1] > SPACE && bytes[at - 1] !== CLOSE_PAREN) at--;
      if (at === start || bytes[at - 1] === LF) return true;
    }
    mark = bytes.indexOf(QUESTION, mark + 1);
  }
  return false;
}

function hasRawStar(bytes: Uint8Array, start: number, end: number, options: KeyOptions): boolean {
  const key = decoder.decode(bytes.subarray(start, end));
  return currentSpelling(key, options) !== key;
}

interface RowContext {
  readonly layout: RowLayout;
  readonly source: string;
  readonly line: number;
}

/** Returns where what follows the frequency begins. */
function checkFrequency(
  bytes: Uint8Array,
  keyEnd: number,
  end: number,
  { layout, source, line }: RowContext,
): number {
  const second = skipBlanks(bytes, keyEnd, end);
  const start = columnStart(bytes, second, end, layout.frequencyColumn - 1);
  const stop = columnEnd(bytes, start, end);
  if (stop > start && stop - start < 16 && areDigits(bytes, start, stop)) {
    return skipBlanks(bytes, stop, end);
  }
  if (start === end) {
    throw new MementoMapError("MM_BAD_LINE", "the row has no frequency", {
      position: { source, line },
    });
  }
  if (!isNone(bytes, start, stop)) {
    try {
      parseFrequency(parseColumn(decoder.decode(bytes.subarray(start, stop))));
    } catch (error) {
      throw isMementoMapError(error) ? error.at({ source, line }) : error;
    }
  }
  return skipBlanks(bytes, stop, end);
}

function areDigits(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] < 0x30 || bytes[at] > 0x39) return false;
  return true;
}

function apart(
  bytes: Uint8Array,
  start: number,
  end: number,
  position: { source: string; line: number },
): MementoMapError {
  const key = quote(decoder.decode(bytes.subarray(start, end)));
  return new MementoMapError(
    "MM_NOT_SORTED",
    `the rows of key ${key} are not adjacent; sort the map by bytes`,
    { position },
  );
}

const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Checks that whole lines are text; `first` is the place of the first of them.
 *
 * @throws MM_BAD_LINE for control characters and bytes that are not UTF-8.
 */
function checkText(
  bytes: Uint8Array,
  start: number,
  end: number,
  first: Position & { readonly line: number },
): void {
  let { line } = first;
  for (let at = start; at < end; line++) {
    const stop = lineEnd(bytes, at);
    const fault = faultOf(bytes, at, stop);
    if (fault !== undefined) {
      throw new MementoMapError("MM_BAD_LINE", `the line looks binary: ${fault}`, {
        position: { source: first.source, line },
      });
    }
    at = nextLine(bytes, stop);
  }
}

function faultOf(bytes: Uint8Array, start: number, end: number): string | undefined {
  let isAscii = true;
  for (let at = start; at < end; at++) {
    const byte = bytes[at];
    if ((byte < SPACE && byte !== TAB) || byte === DELETE) return "it holds a control character";
    if (byte > DELETE) isAscii = false;
  }
  if (isAscii) return undefined;
  try {
    strictDecoder.decode(bytes.subarray(start, end));
    return undefined;
  } catch {
    return "it is not UTF-8";
  }
}
