import { CLOSE_PAREN, COMMA, LF, QUESTION, STAR } from "../bytes/ascii.ts";
import { isMementoMapError, MementoMapError, quote } from "../errors.ts";
import { columnEnd, skipBlanks } from "../ukvs/columns.ts";
import { parseFrequency } from "../ukvs/frequency.ts";
import { isKeyEnd, lineEnd, nextLine } from "./line-bounds.ts";
import type { MapHead } from "./map-head.ts";
import { columnStart, isNone, type RowLayout } from "./map-row.ts";
import { PrefixHash } from "./prefix-hash.ts";
import { RowTable } from "./row-table.ts";

/** The keys of a map with the offsets of their first rows, and what kinds of keys there are. */
export interface IndexedRows {
  /** Keys without `*`. */
  readonly pages: RowTable;
  /** Keys with `*`. There are few, so their table stays in the cache, and they are asked for most. */
  readonly wildcards: RowTable;
  readonly hasSpreadKeys: boolean;
  readonly hasQueryKeys: boolean;
  /** Home pages written `com,cnn)`. */
  readonly hasBareHomes: boolean;
  /** Some key has more than one row. */
  readonly hasSeveralRows: boolean;
}

/** Enough lines to guess how many there are. */
const SAMPLE_BYTES = 65_536;
const decoder = new TextDecoder();

/**
 * Enters every key of a map in memory into a table, in one pass over its bytes.
 *
 * @throws MM_BAD_LINE, MM_BAD_FREQUENCY, or MM_NOT_SORTED when the rows of one key are apart.
 */
export function indexRows(
  bytes: Uint8Array,
  head: MapHead,
  layout: RowLayout,
  source: string,
): IndexedRows {
  const pages = new RowTable(estimateRows(bytes, head.recordsOffset));
  const wildcards = new RowTable(0);
  const key = new PrefixHash(bytes);
  let hasSpreadKeys = false;
  // A `?` in a JSON block costs a needless question per lookup, no more.
  const hasQueryKeys = bytes.indexOf(QUESTION, head.recordsOffset) >= 0;
  let hasBareHomes = false;
  let hasSeveralRows = false;
  // While keys come in order, none can be in the tables already.
  let isInOrder = true;
  let line = head.recordsLine;
  const size = bytes.length;
  for (let row = head.recordsOffset; row < size; line++) {
    const isRow = key.take(row);
    const at = key.end;
    const end = lineEnd(bytes, at);
    if (isRow) {
      checkFrequency(bytes, at, end, { layout, source, line });
      const table = key.hasStar ? wildcards : pages;
      if (key.order < 0) isInOrder = false;
      const isRepeated =
        key.order === 0 || (!isInOrder && isKnown(table, key.hash, bytes, row, at));
      if (!isRepeated) {
        table.add(key.hash, row);
      } else if (key.order === 0) {
        hasSeveralRows = true;
      } else {
        throw apart(bytes, row, at, { source, line });
      }
      if (bytes[at - 1] === CLOSE_PAREN) hasBareHomes = true;
      if (key.hasStar) hasSpreadKeys ||= isSpreadKey(bytes, row, at);
    } else if (end > row) {
      throw new MementoMapError("MM_BAD_LINE", "the line starts with a blank, not with a key", {
        position: { source, line },
      });
    }
    row = nextLine(bytes, end);
  }
  pages.settle();
  wildcards.settle();
  return { pages, wildcards, hasSpreadKeys, hasQueryKeys, hasBareHomes, hasSeveralRows };
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
