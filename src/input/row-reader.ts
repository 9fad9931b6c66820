import { CR, LF } from "../bytes/bytes.ts";
import { Capture, type LineReader, ROW, type RowKind } from "./capture.ts";
import { type CaptureFilter, CaptureSieve, type FilterReason, isEmptyFilter } from "./filter.ts";
import { type DetectedFormat, lineReader } from "./formats.ts";

/** Line counts by outcome; every line is counted. */
export interface LineCounts {
  lines: number;
  blank: number;
  headers: number;
  /** Records such as `dns:`. */
  nonWeb: number;
  /** Lines without evidence of a capture, such as failed requests in an access log. */
  unproven: number;
  bad: number;
  readonly filtered: Record<FilterReason, number>;
}

export function newLineCounts(): LineCounts {
  return {
    lines: 0,
    blank: 0,
    headers: 0,
    nonWeb: 0,
    unproven: 0,
    bad: 0,
    filtered: { status: 0, mime: 0, date: 0, exclude: 0, revisit: 0 },
  };
}

/** Adds `part` to `total`. */
export function addLineCounts(total: LineCounts, part: LineCounts): void {
  for (const kind of ["lines", "blank", "headers", "nonWeb", "unproven", "bad"] as const) {
    total[kind] += part[kind];
  }
  for (const reason of Object.keys(total.filtered) as FilterReason[]) {
    total.filtered[reason] += part.filtered[reason];
  }
}

/** Receives captures. */
export interface CaptureSink {
  readonly counts: LineCounts;
  /** Called before another file, or another part of a file. */
  startPart(format: DetectedFormat): void;
  /** Sets the bytes of the captures that follow. */
  take(bytes: Uint8Array): void;
  /** Adds a capture that passed the filter; returns its kind, which may turn out to be another. */
  add(bytes: Uint8Array, capture: Capture): RowKind;
  /** Adds an invalid line; without this method, reading stops at such a line. */
  addBad?(fault: string, bytes: Uint8Array, start: number, end: number): void;
}

/** An invalid line. */
export interface RowFault {
  /** Lines before it in the same part. */
  readonly linesBefore: number;
  readonly code: "MM_BAD_LINE" | "MM_LIMIT";
  readonly message: string;
  /** The beginning of the line. */
  readonly line: string;
}

export interface RowReaderOptions {
  readonly filter: CaptureFilter;
  readonly maxLineBytes: number;
  /** Count invalid lines and continue. */
  readonly skipBad?: boolean | undefined;
}

/** Bytes of a bad line to show. */
export const SHOWN_BYTES = 120;

/**
 * Reads index lines of any format, and passes the captures that match a filter to a sink: one pass
 * over the bytes, without creating strings unless a filter needs them.
 */
export class RowReader {
  readonly #sink: CaptureSink;
  readonly #options: RowReaderOptions;
  readonly #sieve: CaptureSieve | undefined;
  readonly #capture = new Capture();
  #reader: LineReader | undefined;
  #linesBeforePart = 0;

  constructor(sink: CaptureSink, options: RowReaderOptions) {
    this.#sink = sink;
    this.#options = options;
    this.#sieve = isEmptyFilter(options.filter) ? undefined : new CaptureSieve(options.filter);
  }

  /** Call it before another file, or another part of a file. */
  startPart(format: DetectedFormat): void {
    this.#reader = lineReader(format);
    this.#sink.startPart(format);
    this.#linesBeforePart = this.#sink.counts.lines;
  }

  /**
   * Reads blocks of whole lines. Returns the first invalid line, if it stops the reading.
   */
  async readBlocks(
    blocks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  ): Promise<RowFault | undefined> {
    for await (const lines of blocks) {
      const fault = this.readLines(lines, 0, lines.length);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }

  /** Lines read of the current part. */
  get partLines(): number {
    return this.#sink.counts.lines - this.#linesBeforePart;
  }

  /**
   * Reads the whole lines in `input[start, end)`; the last may lack its terminator. Returns the first
   * invalid line, if it stops the reading.
   */
  readLines(input: Uint8Array, start: number, end: number): RowFault | undefined {
    const sink = this.#sink;
    const { counts } = sink;
    const reader = this.#reader;
    if (reader === undefined) throw new TypeError("no part was started");
    const sieve = this.#sieve;
    const capture = this.#capture;
    const { maxLineBytes } = this.#options;
    const bytes = asBuffer(input);
    reader.take?.(bytes);
    sink.take(bytes);
    let at = start;
    while (at < end) {
      let lineEnd = bytes.indexOf(LF, at);
      if (lineEnd === -1 || lineEnd > end) lineEnd = end;
      const next = lineEnd + 1;
      if (lineEnd > at && bytes[lineEnd - 1] === CR) lineEnd--;
      counts.lines++;
      let kind: RowKind =
        lineEnd === at
          ? ROW.blank
          : lineEnd - at > maxLineBytes
            ? capture.reject(`the line is longer than ${maxLineBytes} bytes`)
            : reader.read(bytes, at, lineEnd, capture);
      if (kind === ROW.capture) {
        const reason = sieve?.reject(bytes, capture);
        if (reason === undefined) kind = sink.add(bytes, capture);
        else counts.filtered[reason]++;
      }
      if (kind !== ROW.capture && !this.#countOther(kind, lineEnd - at)) {
        if (sink.addBad === undefined) return this.#fault(bytes, at, lineEnd);
        sink.addBad(capture.fault, bytes, at, lineEnd);
      }
      at = next;
    }
    return undefined;
  }

  /** Counts a line that is not a capture; false if it is invalid and must not be skipped, or is too long. */
  #countOther(kind: Exclude<RowKind, typeof ROW.capture>, length: number): boolean {
    const { counts } = this.#sink;
    if (kind === ROW.header) counts.headers++;
    else if (kind === ROW.nonWeb) counts.nonWeb++;
    else if (kind === ROW.unproven) counts.unproven++;
    else if (kind === ROW.blank) counts.blank++;
    else counts.bad++;
    const { skipBad, maxLineBytes } = this.#options;
    return kind !== ROW.bad || (skipBad === true && length <= maxLineBytes);
  }

  #fault(bytes: Uint8Array, start: number, end: number): RowFault {
    const tooLong = end - start > this.#options.maxLineBytes;
    return {
      linesBefore: this.partLines - 1,
      code: tooLong ? "MM_LIMIT" : "MM_BAD_LINE",
      message: this.#capture.fault,
      line: new TextDecoder().decode(bytes.subarray(start, Math.min(end, start + SHOWN_BYTES))),
    };
  }
}

/** In Node, `indexOf` is seven times as fast on a `Buffer`. */
function asBuffer(bytes: Uint8Array): Uint8Array {
  if (typeof Buffer === "undefined" || bytes instanceof Buffer) return bytes;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
