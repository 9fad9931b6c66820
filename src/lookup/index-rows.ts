import { CLOSE_PAREN, COMMA, LF, QUESTION, STAR } from "../bytes/ascii.ts";
import { isMementoMapError, MementoMapError, quote } from "../errors.ts";
import { columnEnd, skipBlanks } from "../ukvs/columns.ts";
import { parseFrequency } from "../ukvs/frequency.ts";
import { checkSize } from "../ukvs/map-size.ts";
import { isKeyEnd, lineEnd, nextLine } from "./line-bounds.ts";
import type { KeyKinds } from "./key-walk.ts";
import type { MapHead } from "./map-head.ts";
import { columnStart, isNone, type RowLayout } from "./map-row.ts";
import { PrefixHash } from "./prefix-hash.ts";
import { RowTable } from "./row-table.ts";

/** The keys of a map with the offsets of their first rows, and what kinds of keys there are. */
export interface IndexedRows extends KeyKinds {
  /** Keys without `*`. */
  readonly pages: RowTable;
  /** Keys with `*`. There are few, so their table stays in the cache, and they are asked for most. */
  readonly wildcards: RowTable;
  /** Some key has more than one row. */
  readonly hasSeveralRows: boolean;
  readonly records: number;
}

/** Enough lines to guess how many there are. */
const SAMPLE_BYTES = 65_536;
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
  #hasSeveralRows = false;

  constructor(rows: RowsToIndex) {
    const { bytes, head } = rows;
    this.#rows = rows;
    this.#pages = new RowTable(estimateRows(bytes, head.recordsOffset));
    this.#key = new PrefixHash(bytes);
    this.#row = head.recordsOffset;
    this.#line = head.recordsLine;
  }

  /**
   * Indexes the next lines, of about so many bytes; false when there are no more.
   *
   * @throws MM_BAD_LINE, MM_BAD_FREQUENCY, or MM_NOT_SORTED when the rows of one key are apart.
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
        checkFrequency(bytes, at, end, { layout, source, line });
        this.#add(row, line);
        this.#records++;
      } else if (end > row) {
        throw new MementoMapError("MM_BAD_LINE", "the line starts with a blank, not with a key", {
          position: { source, line },
        });
      }
      row = nextLine(bytes, end);
    }
    // A `?` in a JSON block costs a needless question per lookup, no more.
    this.#hasQueryKeys ||= bytes.subarray(first, row).includes(QUESTION);
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
      hasSpreadKeys: this.#hasSpreadKeys,
      hasQueryKeys: this.#hasQueryKeys,
      hasBareHomes: this.#hasBareHomes,
      hasSeveralRows: this.#hasSeveralRows,
      records: this.#records,
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
      this.#hasSeveralRows = true;
    } else {
      throw apart(bytes, row, at, { source, line });
    }
    if (bytes[at - 1] === CLOSE_PAREN) this.#hasBareHomes = true;
    if (hasStar) this.#hasSpreadKeys ||= isSpreadKey(bytes, row, at);
  }
}

function estimateRows(bytes: Uint8Array, from: number): number {
  const sampled = Math.min(SAMPLE_BYTES, bytes.length - from);
  let lines = 1;
  for (let at = from; at < from + sampled; at++) if (bytes[at] === LF) lines++;
  return sampled === 0 ? 0 : Math.ceil((lines / sampled) * (bytes.length - from));
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

interface RowContext {
  readonly layout: RowLayout;
  readonly source: string;
  readonly line: number;
}

function checkFrequency(
  bytes: Uint8Array,
  keyEnd: number,
  end: number,
  { layout, source, line }: RowContext,
): void {
  const second = skipBlanks(bytes, keyEnd, end);
  const start = columnStart(bytes, second, end, layout.frequencyColumn - 1);
  const stop = columnEnd(bytes, start, end);
  if (stop > start && stop - start < 16 && areDigits(bytes, start, stop)) return;
  if (start === end) {
    throw new MementoMapError("MM_BAD_LINE", "the row has no frequency", {
      position: { source, line },
    });
  }
  if (isNone(bytes, start, stop)) return;
  try {
    parseFrequency(decoder.decode(bytes.subarray(start, stop)));
  } catch (error) {
    throw isMementoMapError(error) ? error.at({ source, line }) : error;
  }
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
    `the rows of key ${key} do not stand together; sort the map by bytes`,
    { position },
  );
}
