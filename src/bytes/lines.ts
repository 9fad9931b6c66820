import { MementoMapError } from "../errors.ts";
import { CR, joinBytes, LF } from "./bytes.ts";
import { type DamageLog, isChunk, newDamageLog, type StreamPart } from "./damage.ts";
import { holdChunk } from "./hold-chunk.ts";

/** Default limit on the length of a line, which bounds memory. */
export const MAX_LINE_BYTES: number = 2 ** 20;

export interface LineOptions {
  /** Limit on the length of a line, without its terminator. Default `MAX_LINE_BYTES`. */
  readonly maxLineBytes?: number;
  /** The name of the input, for errors. Default `input`. */
  readonly source?: string;
}

/**
 * Whole lines, as offsets into `bytes`. Valid until the next batch is requested.
 *
 * Line `i` is `bytes` from `starts[i]` to `ends[i]`, without LF or CRLF. If it ended in CRLF,
 * `bytes[ends[i]]` is the CR.
 */
export interface LineBatch {
  readonly bytes: Uint8Array;
  /** Offset of `bytes` in the input. */
  readonly offset: number;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  readonly count: number;
  /** The number of the first line of the batch, counted from 1. */
  readonly firstLine: number;
  /** False for an unterminated last line, which is a batch of its own. */
  readonly isTerminated: boolean;
}

/** The length of line `i` of a batch, including its terminator. */
export function lineBytes({ bytes, starts, ends, isTerminated }: LineBatch, i: number): number {
  const length = ends[i] - starts[i];
  const carriageReturn = bytes[ends[i]] === CR ? 1 : 0;
  return length + carriageReturn + (isTerminated ? 1 : 0);
}

const INITIAL_LINES = 1024;

/**
 * Splits chunks into lines, without copying except for lines that span chunks.
 *
 * Holds one line and the offsets of one chunk; reads its input once.
 *
 * @throws MementoMapError `MM_LIMIT` for a line longer than `maxLineBytes`.
 */
export async function* lineBatches(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  options: LineOptions = {},
): AsyncGenerator<LineBatch, void, undefined> {
  const { maxLineBytes = MAX_LINE_BYTES, source = "input" } = options;
  let starts = new Uint32Array(INITIAL_LINES);
  let ends = new Uint32Array(INITIAL_LINES);
  let firstLine = 1;
  let offset = 0;
  for await (const bytes of cutLines(chunks, maxLineBytes)) {
    const isTerminated = bytes[bytes.length - 1] === LF;
    let count = 0;
    for (let start = 0; start < bytes.length; count++) {
      const newline = isTerminated ? bytes.indexOf(LF, start) : bytes.length;
      const end = endOfLine(bytes, start, newline);
      if (end - start > maxLineBytes) throw lineTooLong(maxLineBytes, source, firstLine + count);
      if (count === starts.length) {
        starts = doubled(starts);
        ends = doubled(ends);
      }
      starts[count] = start;
      ends[count] = end;
      start = newline + 1;
    }
    yield { bytes, offset, starts, ends, count, firstLine, isTerminated };
    firstLine += count;
    offset += bytes.length;
  }
}

function endOfLine(bytes: Uint8Array, start: number, newline: number): number {
  return newline > start && bytes[newline - 1] === CR ? newline - 1 : newline;
}

function doubled(array: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(array.length * 2);
  larger.set(array);
  return larger;
}

function lineTooLong(maxLineBytes: number, source: string, line?: number): MementoMapError {
  return new MementoMapError("MM_LIMIT", `the line is longer than ${maxLineBytes} bytes`, {
    position: { source, line },
  });
}

/**
 * Regroups chunks into whole lines, with their terminators; only the last line of the input may lack
 * one.
 *
 * A chunk is usually a view of its source chunk, and valid until the next one is requested. Holds one
 * chunk and the longest line.
 *
 * @param linesRead returns the number of lines consumed, to report the number of a too long line.
 * @throws MM_LIMIT for a line longer than `maxLineBytes` that spans chunks.
 */
export async function* wholeLines(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  source: string,
  maxLineBytes: number = MAX_LINE_BYTES,
  linesRead?: () => number,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const lines of cutLines(chunks, maxLineBytes)) {
    const newline = lines.indexOf(LF);
    const firstEnd = endOfLine(lines, 0, newline === -1 ? lines.length : newline);
    if (firstEnd > maxLineBytes) {
      throw lineTooLong(maxLineBytes, source, linesRead && linesRead() + 1);
    }
    yield lines;
  }
}

/**
 * As {@link wholeLines}, for readers that check line lengths themselves: output ends with the beginning
 * of a line that is longer than `maxLineBytes` and spans chunks.
 *
 * A line interrupted by a gap is counted as cut. The first line after a gap is treated as whole if all
 * members before the gap ended with a whole line, as in files written in blocks of lines; otherwise it
 * is the end of a lost line.
 */
export async function* cutLines(
  parts: AsyncIterable<StreamPart> | Iterable<Uint8Array>,
  maxLineBytes: number,
  damage: DamageLog = newDamageLog(),
): AsyncGenerator<Uint8Array, void, undefined> {
  /** The beginning of an incomplete line; copied, because chunks may be reused. */
  const held: Uint8Array[] = [];
  let heldBytes = 0;
  let areMembersLines = true;
  /** Whether the end of a lost line is next. */
  let isCut = false;
  for await (const part of parts) {
    if (!isChunk(part)) {
      if (part.kind === "member") {
        areMembersLines &&= heldBytes === 0;
      } else {
        if (heldBytes > 0) damage.cutLines++;
        held.length = heldBytes = 0;
        isCut = !areMembersLines;
      }
      continue;
    }
    let start = 0;
    if (heldBytes > 0 || isCut) {
      start = part.indexOf(LF) + 1;
      if (start === 0 && isCut) continue;
      if (isCut) damage.cutLines++;
      else if (start > 0) yield joinBytes([...held.splice(0), part.subarray(0, start)]);
      isCut = false;
      if (start > 0) heldBytes = 0;
    }
    const end = part.lastIndexOf(LF) + 1;
    if (start < end) yield part.subarray(start, end);
    const rest = part.subarray(Math.max(start, end));
    if (rest.length === 0) continue;
    holdChunk(held, joinBytes([rest]));
    heldBytes += rest.length;
    // One byte over the limit may be the CR of a pending line end.
    if (heldBytes > maxLineBytes + 1) break;
  }
  if (heldBytes > 0) yield joinBytes(held);
}
