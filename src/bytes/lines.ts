import { MementoMapError } from "../errors.ts";
import { CR, joinBytes, LF } from "./bytes.ts";

/** The longest line read unless told otherwise. */
export const DEFAULT_MAX_LINE_BYTES: number = 1024 * 1024;

export interface LineOptions {
  /** Bytes of a line, without its end. Default `DEFAULT_MAX_LINE_BYTES`. */
  readonly maxLineBytes?: number;
  /** The name of the input, for errors. Default `input`. */
  readonly source?: string;
}

/**
 * Whole lines, as offsets into `bytes`. Valid until the next batch is asked for.
 *
 * Line `i` is `bytes` from `starts[i]` to `ends[i]`, without LF or CRLF. Where it ended in CRLF,
 * `bytes[ends[i]]` is the CR.
 */
export interface LineBatch {
  readonly bytes: Uint8Array;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  readonly count: number;
  /** The number of the first line of the batch, counted from 1. */
  readonly firstLine: number;
  /** False for the last line of an input that does not end in a newline, which is alone. */
  readonly isTerminated: boolean;
}

/** How many bytes line `i` of a batch takes, its end included. */
export function lineBytes({ bytes, starts, ends, isTerminated }: LineBatch, i: number): number {
  const length = ends[i] - starts[i];
  const carriageReturn = bytes[ends[i]] === CR ? 1 : 0;
  return length + carriageReturn + (isTerminated ? 1 : 0);
}

const INITIAL_LINES = 1024;
const INITIAL_CARRY_BYTES = 4096;

/**
 * Cuts chunks into lines, without copying except for lines that span chunks.
 *
 * A chunk gives at most two batches: the line begun in the chunks before, and the lines within.
 * Holds one line and the offsets of one chunk; reads its input once.
 *
 * @throws MementoMapError `MM_LIMIT` for a line longer than `maxLineBytes`.
 */
export async function* lineBatches(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  options: LineOptions = {},
): AsyncGenerator<LineBatch, void, undefined> {
  const { maxLineBytes = DEFAULT_MAX_LINE_BYTES, source = "input" } = options;
  const offsets: Offsets = {
    starts: new Uint32Array(INITIAL_LINES),
    ends: new Uint32Array(INITIAL_LINES),
  };
  const carry = new Carry();
  let line = 1;

  const spanning = (isTerminated: boolean): LineBatch => {
    const bytes = carry.take();
    const end = endOfLine(bytes, 0, bytes.length);
    if (end > maxLineBytes) throw lineTooLong(maxLineBytes, source, line);
    return {
      bytes,
      starts: Uint32Array.of(0),
      ends: Uint32Array.of(end),
      count: 1,
      firstLine: line,
      isTerminated,
    };
  };

  for await (const chunk of chunks) {
    let start = 0;
    if (carry.length > 0) {
      const newline = chunk.indexOf(LF);
      carry.append(newline === -1 ? chunk : chunk.subarray(0, newline));
      // One byte more than the limit may be the CR of a line end still to come.
      if (carry.length > maxLineBytes + 1) throw lineTooLong(maxLineBytes, source, line);
      if (newline === -1) continue;
      yield spanning(true);
      line++;
      start = newline + 1;
    }
    const count = scan(chunk, start, offsets);
    const { starts, ends } = offsets;
    for (let i = 0; i < count; i++) {
      if (ends[i] - starts[i] > maxLineBytes) {
        throw lineTooLong(maxLineBytes, source, line + i);
      }
    }
    if (count > 0) {
      yield { bytes: chunk, starts, ends, count, firstLine: line, isTerminated: true };
      line += count;
    }
    carry.append(chunk.subarray(chunk.lastIndexOf(LF) + 1));
    if (carry.length > maxLineBytes + 1) throw lineTooLong(maxLineBytes, source, line);
  }
  if (carry.length > 0) yield spanning(false);
}

interface Offsets {
  starts: Uint32Array;
  ends: Uint32Array;
}

/** Finds the lines that end in `bytes` after `from`; returns how many. */
function scan(bytes: Uint8Array, from: number, offsets: Offsets): number {
  let { starts, ends } = offsets;
  let count = 0;
  let start = from;
  for (;;) {
    const newline = bytes.indexOf(LF, start);
    if (newline === -1) return count;
    if (count === starts.length) {
      offsets.starts = starts = doubled(starts);
      offsets.ends = ends = doubled(ends);
    }
    starts[count] = start;
    ends[count] = endOfLine(bytes, start, newline);
    count++;
    start = newline + 1;
  }
}

function endOfLine(bytes: Uint8Array, start: number, newline: number): number {
  return newline > start && bytes[newline - 1] === CR ? newline - 1 : newline;
}

function doubled(array: Uint32Array): Uint32Array {
  const larger = new Uint32Array(array.length * 2);
  larger.set(array);
  return larger;
}

/** The beginning of a line whose end has not arrived. */
class Carry {
  #bytes = new Uint8Array(INITIAL_CARRY_BYTES);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  append(part: Uint8Array): void {
    const length = this.#length + part.length;
    if (length > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(length, this.#bytes.length * 2));
      larger.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = larger;
    }
    this.#bytes.set(part, this.#length);
    this.#length = length;
  }

  /** What was held, valid until the next `append`. */
  take(): Uint8Array {
    const bytes = this.#bytes.subarray(0, this.#length);
    this.#length = 0;
    return bytes;
  }
}

function lineTooLong(maxLineBytes: number, source: string, line: number): MementoMapError {
  return new MementoMapError("MM_LIMIT", `the line is longer than ${maxLineBytes} bytes`, {
    position: { source, line },
  });
}

/** A line longer than this is an error, not a reason to use more memory. */
export const MAX_LINE_BYTES: number = 2 ** 20;

/**
 * Regroups chunks so that each holds whole lines, with their ends; only the last line of all may
 * lack its end.
 *
 * A chunk is mostly a part of the one it came from, and valid until the next is asked for. Holds
 * one chunk and the longest line.
 *
 * @param linesRead says how many lines the consumer has taken, to name the line that is too long.
 * @throws MM_LIMIT for a line longer than `maxLineBytes`.
 */
export async function* wholeLines(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  source: string,
  maxLineBytes: number = MAX_LINE_BYTES,
  linesRead?: () => number,
): AsyncGenerator<Uint8Array, void, undefined> {
  let held: Uint8Array = new Uint8Array(0);
  const checkLength = (length: number): void => {
    if (length <= maxLineBytes) return;
    const line = linesRead === undefined ? undefined : linesRead() + 1;
    throw new MementoMapError("MM_LIMIT", `the line is longer than ${maxLineBytes} bytes`, {
      position: { source, line },
    });
  };
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(LF) + 1;
    if (end === 0) {
      held = joinBytes([held, chunk]);
      checkLength(held.length);
      continue;
    }
    let start = 0;
    if (held.length > 0) {
      start = chunk.indexOf(LF) + 1;
      const first = joinBytes([held, chunk.subarray(0, start)]);
      checkLength(first.length - 1);
      yield first;
    }
    if (start < end) yield chunk.subarray(start, end);
    held = chunk.slice(end);
  }
  if (held.length > 0) yield held;
}
