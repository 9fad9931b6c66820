import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { compareRanges, countLines, LF, SPACE } from "../../bytes/bytes.ts";
import { ioError } from "../../errors.ts";
import { becameShorter } from "../../files/input-file.ts";
import { MAX_LINE_BYTES, wholeLines } from "../../bytes/lines.ts";
import { checkSignal } from "../../interruption.ts";

/** Sorted rows in a file, whole lines. */
export interface RowsStretch {
  readonly path: string;
  readonly start: number;
  readonly end: number;
  /** How many there are, where that is known. */
  readonly records?: number | undefined;
}

const WINDOW_BYTES = 1 << 16;
const COPY_BYTES = 1 << 20;

function reading<T>(path: string, use: (file: number) => T): T {
  try {
    const file = openSync(path, "r");
    try {
      return use(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw ioError(error, path);
  }
}

/** The rows whose keys begin with a text; found by a binary search. */
export function rowsWithPrefix(rows: RowsStretch, prefix: Uint8Array): RowsStretch {
  return reading(rows.path, (file) => {
    const start = firstRow(file, rows, (line) => order(line, prefix) >= 0);
    const end = firstRow(file, { ...rows, start }, (line) => order(line, prefix) > 0);
    return { path: rows.path, start, end };
  });
}

/** How a line compares with a prefix: 0 if it begins with it. */
function order(line: Uint8Array, prefix: Uint8Array): number {
  return compareRanges(line, 0, Math.min(line.length, prefix.length), prefix, 0, prefix.length);
}

/** Where the first line begins that `isBehind` holds for, as it does for all that follow. */
function firstRow(
  file: number,
  { start, end }: RowsStretch,
  isBehind: (line: Uint8Array) => boolean,
): number {
  // The line sought begins in [low, high]; both are beginnings of lines.
  let [low, high] = [start, end];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const at = lineStart(file, low, middle);
    const line = lineAt(file, at, end);
    if (isBehind(line)) high = at;
    else low = at + line.length;
  }
  return low;
}

/** The beginning of the line that `offset` is in; `low` is the beginning of that or an earlier one. */
function lineStart(file: number, low: number, offset: number): number {
  for (let size = WINDOW_BYTES; ; size *= 4) {
    const from = Math.max(low, offset - size);
    const feed = readAt(file, from, offset - from).lastIndexOf(LF);
    if (feed !== -1) return from + feed + 1;
    if (from === low) return low;
  }
}

/** The line that begins at `at`, with its end. */
function lineAt(file: number, at: number, end: number): Uint8Array {
  for (let size = WINDOW_BYTES; ; size *= 4) {
    const window = readAt(file, at, Math.min(size, end - at));
    const feed = window.indexOf(LF);
    if (feed !== -1) return window.subarray(0, feed + 1);
    if (window.length === end - at) return window;
  }
}

function readAt(file: number, offset: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length;) {
    const read = readSync(file, bytes, at, length - at, offset + at);
    if (read === 0) return bytes.subarray(0, at);
    at += read;
  }
  return bytes;
}

/** The keys of the first and the last row; undefined for none. */
export function keysOf(rows: RowsStretch): readonly [first: string, last: string] | undefined {
  if (rows.start >= rows.end) return undefined;
  return reading(rows.path, (file) => {
    const last = lineStart(file, rows.start, rows.end - 1);
    return [keyOf(lineAt(file, rows.start, rows.end)), keyOf(lineAt(file, last, rows.end))];
  });
}

function keyOf(line: Uint8Array): string {
  return new TextDecoder().decode(line.subarray(0, line.indexOf(SPACE)));
}

/** Writes rows to a new file, one stretch behind the other; returns how many bytes that are. */
export function concatenate(all: readonly RowsStretch[], target: string): number {
  try {
    const output = openSync(target, "wx");
    let size = 0;
    try {
      for (const rows of all) {
        for (const block of blocksOf(rows)) {
          for (let at = 0; at < block.length;) at += writeSync(output, block, at);
          size += block.length;
        }
      }
    } finally {
      closeSync(output);
    }
    return size;
  } catch (error) {
    throw ioError(error, target);
  }
}

/** The bytes of rows, in blocks that are valid until the next is asked for. */
function* blocksOf({ path, start, end }: RowsStretch): Generator<Uint8Array, void, undefined> {
  const file = openSync(path, "r");
  try {
    const buffer = Buffer.allocUnsafeSlow(Math.min(COPY_BYTES, end - start));
    for (let at = start; at < end;) {
      const read = readSync(file, buffer, 0, Math.min(buffer.length, end - at), at);
      if (read === 0) throw becameShorter(path);
      at += read;
      yield buffer.subarray(0, read);
    }
  } finally {
    closeSync(file);
  }
}

/** Takes rows; their number is counted where it is not known. */
interface RowsTaker {
  write(rows: Uint8Array, records?: number): Promise<void>;
}

/** Hands rows on to an output. */
export async function copyRows(
  rows: RowsStretch,
  output: RowsTaker,
  signal?: AbortSignal,
): Promise<void> {
  let left = rows.records;
  for (const block of blocksOf(rows)) {
    checkSignal(signal);
    await output.write(block, left);
    if (left !== undefined) left = 0;
  }
}

/** How many rows there are. */
export function countRows(rows: RowsStretch): number {
  if (rows.records !== undefined) return rows.records;
  let count = 0;
  for (const block of blocksOf(rows)) count += countLines(block);
  return count;
}

/** The bytes of rows, in blocks of whole lines. */
export function lineBlocks(
  rows: RowsStretch,
  source: string,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  const chunks = async function* read(): AsyncGenerator<Uint8Array, void, undefined> {
    for (const block of blocksOf(rows)) {
      checkSignal(signal);
      // The beginning of a line is kept until its end comes, and blocks share a buffer.
      yield new Uint8Array(block);
    }
  };
  return wholeLines(chunks(), source, MAX_LINE_BYTES);
}
