import { CLOSE_PAREN, COMMA, LF, SPACE, STAR } from "../bytes/ascii.ts";
import { isMementoMapError, MementoMapError, quote } from "../errors.ts";
import { columnEnd } from "../ukvs/columns.ts";
import { parseFrequency } from "../ukvs/frequency.ts";
import { EMPTY_HASH, extendHash } from "./key-hash.ts";
import { isKeyEnd, lineEnd, nextLine } from "./line-bounds.ts";
import type { MapHead } from "./map-head.ts";
import { columnStart, isNone, type RowLayout } from "./map-row.ts";
import { RowTable } from "./row-table.ts";

/** The keys of a map with the offsets of their first rows, and what kinds of keys there are. */
export interface IndexedRows {
  readonly table: RowTable;
  readonly hasSpreadKeys: boolean;
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
  const table = new RowTable(estimateRows(bytes, head.recordsOffset));
  let hasSpreadKeys = false;
  let hasBareHomes = false;
  let hasSeveralRows = false;
  let previous = -1;
  let line = head.recordsLine;
  for (let row = head.recordsOffset; row < bytes.length; line++) {
    let hash = EMPTY_HASH;
    let at = row;
    let byte = bytes[at];
    // Beyond the end a byte reads as undefined, which is not above a blank either.
    while (byte > SPACE) {
      hash = extendHash(hash, byte);
      byte = bytes[++at];
    }
    const end = lineEnd(bytes, at);
    if (at > row) {
      checkFrequency(bytes, row, end, { layout, source, line });
      const first = findRow(table, hash, bytes, row, at);
      if (first < 0) {
        table.add(hash, row);
        previous = row;
      } else if (first === previous) {
        hasSeveralRows = true;
      } else {
        throw apart(bytes, row, at, { source, line });
      }
      if (bytes[at - 1] === CLOSE_PAREN) hasBareHomes = true;
      hasSpreadKeys ||= isSpreadKey(bytes, row, at);
    } else if (end > row) {
      throw new MementoMapError("MM_BAD_LINE", "the line starts with a blank, not with a key", {
        position: { source, line },
      });
    }
    row = nextLine(bytes, end);
  }
  return { table, hasSpreadKeys, hasBareHomes, hasSeveralRows };
}

function estimateRows(bytes: Uint8Array, from: number): number {
  const sampled = Math.min(SAMPLE_BYTES, bytes.length - from);
  let lines = 1;
  for (let at = from; at < from + sampled; at++) if (bytes[at] === LF) lines++;
  return sampled === 0 ? 0 : Math.ceil((lines / sampled) * (bytes.length - from));
}

function findRow(
  table: RowTable,
  hash: number,
  bytes: Uint8Array,
  start: number,
  end: number,
): number {
  for (let place = table.first(hash); place >= 0; place = table.next(place)) {
    const row = table.offset(place);
    let i = 0;
    while (i < end - start && bytes[row + i] === bytes[start + i]) i++;
    if (i === end - start && isKeyEnd(bytes, row + i)) return row;
  }
  return -1;
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
  row: number,
  end: number,
  { layout, source, line }: RowContext,
): void {
  const start = columnStart(bytes, row, end, layout.frequencyColumn);
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
