import { CR, LF } from "../bytes/ascii.ts";
import { Capture, ROW } from "../input/capture.ts";
import type { RowParser } from "../input/capture.ts";
import type { DetectedFormat } from "../input/detect.ts";
import { rowParser } from "../input/detect.ts";
import type { CaptureFilter } from "../input/filter.ts";
import { CaptureSieve, filterNeeds } from "../input/filter.ts";
import { surtBytes } from "../surt/surt-bytes.ts";
import type { IndexCounts } from "./index-counts.ts";
import { newIndexCounts } from "./index-counts.ts";
import type { KeyTable } from "./key-table.ts";
import type { RowKeyOptions } from "./row-key.ts";
import { RowKey } from "./row-key.ts";

/** How to read rows; all of it can be sent to another thread. */
export interface IndexReaderOptions extends RowKeyOptions {
  readonly filter: CaptureFilter;
  readonly skipBad: boolean;
  readonly maxLineBytes: number;
}

/** A line that cannot be read. */
export interface RowFault {
  /** Lines before it in the same part. */
  readonly linesBefore: number;
  readonly code: "MM_BAD_LINE" | "MM_LIMIT";
  readonly message: string;
  /** The beginning of the line. */
  readonly line: string;
}

/** Bytes of a bad line that are shown. */
const SHOWN_BYTES = 120;
/** No percent-encoded SURT is longer than this many times its URI. */
const SURT_GROWTH = 3;

/**
 * Reads lines of index files and counts their keys in a table.
 *
 * The hot loop of `generate`: one pass over the bytes, no string made unless a filter needs one.
 * When the table is full, `drain` must empty it.
 */
export class IndexReader {
  readonly counts: IndexCounts = newIndexCounts();
  readonly #options: IndexReaderOptions;
  readonly #table: KeyTable;
  readonly #drain: () => void;
  readonly #sieve: CaptureSieve | undefined;
  readonly #capture = new Capture();
  readonly #rowKey: RowKey;
  #parser: RowParser;
  #linesBeforePart = 0;
  #surt = new Uint8Array(4096);
  /** The SURT column of the row before, to count repeats without looking them up. */
  #previous = new Uint8Array(1024);
  #previousLength = -1;

  constructor(options: IndexReaderOptions, table: KeyTable, drain: () => void) {
    this.#options = options;
    this.#table = table;
    this.#drain = drain;
    this.#rowKey = new RowKey(options);
    this.#sieve = isEmptyFilter(options.filter) ? undefined : new CaptureSieve(options.filter);
    this.#parser = rowParser({ name: "surts" }, filterNeeds(options.filter));
  }

  /** Says that other bytes follow: another file, or another part of it. */
  startPart(format: DetectedFormat): void {
    this.#parser = rowParser(format, filterNeeds(this.#options.filter));
    this.#table.startRun();
    this.#previousLength = -1;
    this.#linesBeforePart = this.counts.lines;
  }

  /** Lines read of the current part. */
  get partLines(): number {
    return this.counts.lines - this.#linesBeforePart;
  }

  /**
   * Reads the lines of `bytes[start, end)`, which must be whole ones; the last may lack its end.
   * Returns the first line that cannot be read, unless those are to be skipped.
   */
  readLines(bytes: Uint8Array, start: number, end: number): RowFault | undefined {
    const { counts } = this;
    const capture = this.#capture;
    const parser = this.#parser;
    const sieve = this.#sieve;
    let at = start;
    while (at < end) {
      let lineEnd = bytes.indexOf(LF, at);
      if (lineEnd === -1 || lineEnd > end) lineEnd = end;
      const next = lineEnd + 1;
      if (lineEnd > at && bytes[lineEnd - 1] === CR) lineEnd--;
      counts.lines++;
      if (lineEnd === at) {
        counts.blank++;
        at = next;
        continue;
      }
      if (lineEnd - at > this.#options.maxLineBytes) {
        return this.#fault(bytes, at, lineEnd);
      }
      const kind = parser.parse(bytes, at, lineEnd, capture);
      if (kind === ROW.capture) {
        const reason = sieve?.reject(bytes, capture);
        if (reason === undefined) {
          counts.captures++;
          this.#count(bytes);
        } else {
          counts.filtered[reason]++;
        }
      } else if (kind === ROW.header) {
        counts.headers++;
      } else if (kind === ROW.nonWeb) {
        counts.nonWeb++;
      } else {
        counts.bad++;
        if (!this.#options.skipBad) return this.#fault(bytes, at, lineEnd);
      }
      at = next;
    }
    return undefined;
  }

  #count(bytes: Uint8Array): void {
    const capture = this.#capture;
    if (capture.keyStart === -1) {
      this.#countUri(bytes);
      return;
    }
    const { keyStart, keyEnd } = capture;
    const length = keyEnd - keyStart;
    const previous = this.#previous;
    if (length === this.#previousLength && this.#options.datetimeDigits === 0) {
      let i = 0;
      while (i < length && bytes[keyStart + i] === previous[i]) i++;
      if (i === length) {
        this.#table.repeat(1);
        return;
      }
    }
    this.#rowKey.set(bytes, keyStart, keyEnd, bytes, capture);
    this.#add();
    this.#remember(bytes, keyStart, length);
  }

  #countUri(bytes: Uint8Array): void {
    const capture = this.#capture;
    const room = (capture.uriEnd - capture.uriStart) * SURT_GROWTH + 64;
    if (room > this.#surt.length) this.#surt = new Uint8Array(room);
    const surt = this.#surt;
    const end = surtBytes(bytes, capture.uriStart, capture.uriEnd, surt, 0);
    this.#rowKey.set(surt, 0, end, bytes, capture);
    this.#add();
    this.#previousLength = -1;
  }

  #add(): void {
    const { bytes, start, end } = this.#rowKey;
    if (this.#table.add(bytes, start, end, 1)) return;
    this.#drain();
    this.#table.add(bytes, start, end, 1);
  }

  #remember(bytes: Uint8Array, start: number, length: number): void {
    if (length > this.#previous.length) this.#previous = new Uint8Array(length * 2);
    const previous = this.#previous;
    for (let i = 0; i < length; i++) previous[i] = bytes[start + i];
    this.#previousLength = length;
  }

  #fault(bytes: Uint8Array, start: number, end: number): RowFault {
    const tooLong = end - start > this.#options.maxLineBytes;
    const shown = bytes.subarray(start, Math.min(end, start + SHOWN_BYTES));
    return {
      linesBefore: this.counts.lines - this.#linesBeforePart - 1,
      code: tooLong ? "MM_LIMIT" : "MM_BAD_LINE",
      message: tooLong
        ? `the line is longer than ${this.#options.maxLineBytes} bytes`
        : this.#capture.fault,
      line: new TextDecoder().decode(shown),
    };
  }
}

function isEmptyFilter(filter: CaptureFilter): boolean {
  const { status, mime, from, to, exclude } = filter;
  return (
    status === undefined &&
    mime === undefined &&
    from === undefined &&
    to === undefined &&
    (exclude ?? []).length === 0
  );
}
