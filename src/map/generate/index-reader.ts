import {
  type CaptureFilter,
  CaptureSieve,
  filterNeeds,
  isEmptyFilter,
} from "../../input/filter.ts";
import { CLOSE_PAREN, COLON, commonPrefixWithin, CR, equalWithin, LF } from "../../bytes/bytes.ts";
import {
  Capture,
  CaptureSurt,
  hasRevisitType,
  isRevisit,
  ROW,
  type RowKind,
  type RowParser,
} from "../../input/capture.ts";
import { type CaptureBatch, readCapture, rowEnd, rowStart } from "../../input/capture-batch.ts";
import { type DetectedFormat, KeyCheck, keyedByUri, rowParser } from "../../input/detect.ts";
import type { RowFault } from "../../input/index-input.ts";
import { MementoMapError } from "../../errors.ts";
import { type IndexCounts, newIndexCounts } from "./index-counts.ts";
import {
  type KeyRunScanner,
  SCANNER_REASONS,
  scannerFilter,
  TaughtScanner,
} from "./key-run-scanner.ts";
import type { KeyTable } from "./key-table.ts";
import { RowKey, type RowKeyOptions } from "./map-rows.ts";

/**
 * Whether faults of a format may be skipped. Those of a map that is added to may not: what its row
 * holds would be called absent.
 */
export function skipsFaults({ name }: DetectedFormat): boolean {
  return name !== "map";
}

/** How to read rows; all of it can be sent to another thread. */
export interface IndexReaderOptions extends RowKeyOptions {
  readonly filter: CaptureFilter;
  /** Count lines that cannot be read, and go on; see {@link skipsFaults}. */
  readonly skipBad: boolean;
  readonly maxLineBytes: number;
  /** Compare one key column in a thousand with the SURT of its URI. */
  readonly checkKeys?: boolean | undefined;
}

/** Bytes of a bad line that are shown. */
const SHOWN_BYTES = 120;
const NONE = -1;
/** One row in this many is checked closely; a power of two. */
const ROWS_PER_CHECK = 1024;

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
  readonly #surt = new CaptureSurt();
  readonly #rowKey: RowKey;
  readonly #taught: TaughtScanner | undefined;
  #canScan = false;
  /** Whether rows may be of revisits, and parsing them does not tell. */
  #looksForRevisits = false;
  /** Undefined where rows are not lines. */
  #parser: RowParser | undefined;
  #keyCheck: KeyCheck | undefined;
  #isSample = false;
  /** Whether keys of captures are made from their URIs. */
  #isKeyedByUri = false;
  /** Rows of a map passed the filters when it was made, and have nothing left to filter by. */
  #isFiltered = true;
  #skipsBad = false;
  #linesBeforePart = 0;
  /** Over the bytes that are being read. */
  #view: DataView = new DataView(new ArrayBuffer(0));
  /**
   * The key column of the row counted last, in the bytes that are being read, and how much of it
   * is the key of its row; NONE if there is none or the key stands elsewhere. Rows that repeat it
   * are counted without looking them up.
   */
  #lastStart = NONE;
  #lastLength = NONE;
  #lastRowLength = NONE;
  /** The URI that the row counted last was keyed by, in the same bytes; NONE if it was not. */
  #lastUriStart = NONE;
  #lastUriEnd = NONE;

  /** @param scanner makes CDXJ faster, where nothing but keys without queries goes into the map. */
  constructor(
    options: IndexReaderOptions,
    table: KeyTable,
    drain: () => void,
    scanner?: KeyRunScanner,
  ) {
    this.#options = options;
    this.#table = table;
    this.#drain = drain;
    const { originals, distinct, datetimeDigits, queries } = options;
    const needsKeysOnly =
      !originals && distinct !== true && datetimeDigits === 0 && queries !== true;
    this.#rowKey = new RowKey(options);
    this.#sieve = isEmptyFilter(options.filter) ? undefined : new CaptureSieve(options.filter);
    const toScan = needsKeysOnly ? scannerFilter(options.filter) : undefined;
    this.#taught = scanner && toScan && new TaughtScanner(scanner, toScan, this.#sieve);
  }

  /** Says that other bytes follow: another file, or another part of it. */
  startPart(format: DetectedFormat): void {
    const filterNeeded = filterNeeds(this.#options.filter);
    const isCdxj = format.name === "cdxj";
    // Where the JSON block of a row is opened anyhow, the type is at hand.
    const opensJson = isCdxj && (filterNeeded.uri || filterNeeded.status || isKeyedByUri(format));
    const needs = opensJson ? { ...filterNeeded, mime: true } : filterNeeded;
    this.#parser = format.name === "captures" ? undefined : rowParser(format, needs);
    this.#looksForRevisits = isCdxj && !needs.mime;
    const hasKeys = this.#options.checkKeys === true && keyedByUri(format) !== undefined;
    this.#keyCheck = hasKeys ? new KeyCheck(format, this.#options) : undefined;
    this.#isSample = format.isSample ?? false;
    this.#isKeyedByUri = isKeyedByUri(format);
    this.#isFiltered = format.name !== "map";
    this.#skipsBad = this.#options.skipBad && skipsFaults(format);
    this.#canScan = isCdxj && !this.#isKeyedByUri && !this.#isSample;
    if (this.#canScan) this.#taught?.startPart();
    this.#capture.reset();
    this.#table.startRun();
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
    if (parser === undefined) throw new TypeError("the part has no lines");
    const sieve = this.#isFiltered ? this.#sieve : undefined;
    const taught = this.#canScan ? this.#taught : undefined;
    const scanner = taught?.scanner;
    const { maxLineBytes } = this.#options;
    const canRepeat = sieve === undefined && this.#rowKey.isPartOfSurt && !this.#isSample;
    this.#take(bytes);
    scanner?.take(bytes, end);
    let at = start;
    while (at < end) {
      if (scanner?.isReady === true) {
        at = this.#scanRuns(scanner, bytes, at);
        if (at >= end) break;
      }
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
      if (lineEnd - at > maxLineBytes) return this.#fault(bytes, at, lineEnd);
      const shared = parser.leadsWithKey ? this.#sharedWithLast(at, lineEnd) : 0;
      if (
        canRepeat &&
        shared === this.#lastLength &&
        parser.repeats?.(bytes, at + shared, lineEnd) === true
      ) {
        counts.counted++;
        counts.captures++;
        this.#table.repeat(1);
        if (this.#looksForRevisits && hasRevisitType(bytes, at, lineEnd)) counts.revisits++;
        at = next;
        continue;
      }
      capture.knownKeyBytes = shared;
      const kind = this.#checked(parser.parse(bytes, at, lineEnd, capture));
      if (kind === ROW.capture) {
        const reason = sieve?.reject(bytes, capture);
        if (reason === undefined) {
          this.#count(bytes, shared);
          if (this.#looksForRevisits && hasRevisitType(bytes, at, lineEnd)) counts.revisits++;
          if (counts.lines % ROWS_PER_CHECK === 0) {
            this.#noteCheck(this.#keyCheck?.agrees(bytes, at, lineEnd));
          }
        } else {
          counts.filtered[reason]++;
        }
        if (parser.layout !== undefined) taught?.teach(parser.layout, bytes, capture);
      } else if (!this.#countOther(kind)) {
        return this.#fault(bytes, at, lineEnd);
      }
      at = next;
    }
    return undefined;
  }

  /**
   * Reads captures of an input without lines. Returns the first row that cannot be read, unless
   * those are to be skipped.
   */
  readCaptures(batch: CaptureBatch): RowFault | undefined {
    const { counts } = this;
    const { bytes } = batch;
    const capture = this.#capture;
    this.#take(bytes);
    for (let i = 0; i < batch.length; i++) {
      const start = rowStart(batch, i);
      const end = rowEnd(batch, i);
      counts.lines++;
      if (end - start > this.#options.maxLineBytes) return this.#fault(bytes, start, end);
      const kind = this.#checked(readCapture(batch, i, capture, this.#isKeyedByUri));
      if (kind === ROW.capture) {
        const reason = this.#sieve?.reject(bytes, capture);
        if (reason === undefined) {
          const { keyStart, keyEnd } = capture;
          this.#count(bytes, keyStart === NONE ? 0 : this.#sharedWithLast(keyStart, keyEnd));
          if (counts.lines % ROWS_PER_CHECK === 0) {
            this.#noteCheck(this.#keyCheck?.captureAgrees(bytes, capture));
          }
        } else {
          counts.filtered[reason]++;
        }
      } else if (!this.#countOther(kind)) {
        return this.#fault(bytes, start, end);
      }
    }
    return undefined;
  }

  /** Counts a row that is not a capture; false if it is a reason to stop. */
  #countOther(kind: Exclude<RowKind, typeof ROW.capture>): boolean {
    const { counts } = this;
    if (kind === ROW.header) counts.headers++;
    else if (kind === ROW.nonWeb) counts.nonWeb++;
    else if (kind === ROW.unproven) counts.unproven++;
    else if (kind === ROW.blank) counts.blank++;
    else counts.bad++;
    return kind !== ROW.bad || this.#skipsBad;
  }

  /** Counts plain rows run by run, up to one that needs a closer look; returns where that is. */
  #scanRuns(scanner: KeyRunScanner, bytes: Uint8Array, start: number): number {
    const { counts } = this;
    const beforeCheck = ROWS_PER_CHECK - 1 - (counts.lines % ROWS_PER_CHECK);
    const stop = scanner.scan(start, beforeCheck);
    const { table, runs, lines } = scanner;
    if (lines === 0) return stop;
    for (let i = 0; i < runs * 4; i += 4) {
      const key = start + table[i];
      this.#addKey(bytes, key, key + table[i + 1], table[i + 2], table[i + 3]);
    }
    counts.lines += lines;
    let counted = lines;
    for (const [i, reason] of SCANNER_REASONS.entries()) {
      counts.filtered[reason] += scanner.rejected[i];
      counted -= scanner.rejected[i];
    }
    counts.counted += counted;
    counts.captures += counted;
    counts.revisits += scanner.revisits;
    this.#forgetLast();
    return stop;
  }

  /** A row to be split by datetime must have one. */
  #checked(kind: RowKind): RowKind {
    if (kind !== ROW.capture || this.#options.datetimeDigits === 0) return kind;
    if (this.#capture.dateStart !== NONE) return kind;
    return this.#capture.reject("there is no datetime to split by; leave --by out");
  }

  /** Says that these bytes are read next. */
  #take(bytes: Uint8Array): void {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#forgetLast();
  }

  #forgetLast(): void {
    this.#lastLength = NONE;
    this.#lastUriStart = NONE;
  }

  /** How many bytes a line has in common with the key column counted last. */
  #sharedWithLast(start: number, end: number): number {
    const last = this.#lastStart;
    return commonPrefixWithin(this.#view, start, end, last, last + this.#lastLength);
  }

  #noteCheck(agrees: boolean | undefined): void {
    if (agrees === undefined) return;
    this.counts.keysChecked++;
    if (!agrees) this.counts.keysDifferent++;
  }

  #count(bytes: Uint8Array, shared: number): void {
    const { counts } = this;
    const capture = this.#capture;
    if (capture.keyStart !== NONE) {
      this.#countKey(bytes, shared);
    } else if (this.#countUri(bytes)) {
      counts.keyedByUri++;
    } else {
      counts.nonWeb++;
      return;
    }
    counts.counted++;
    counts.captures += capture.count;
    if (capture.mimeStart !== NONE && isRevisit(bytes, capture)) counts.revisits++;
    if (this.#isSample || capture.isSample) counts.samples++;
  }

  #countKey(bytes: Uint8Array, shared: number): void {
    const capture = this.#capture;
    const { keyStart, keyEnd } = capture;
    const length = keyEnd - keyStart;
    if (shared === length && length === this.#lastLength && this.#rowKey.isPartOfSurt) {
      this.#table.repeat(capture.count);
      return;
    }
    const rowKey = this.#rowKey;
    rowKey.set(bytes, keyStart, keyEnd, bytes, capture, shared);
    const isPart = rowKey.bytes === bytes;
    const rowLength = isPart ? rowKey.end - keyStart : NONE;
    const lastRowLength = this.#lastLength === NONE ? NONE : this.#lastRowLength;
    if (isPart && rowLength === lastRowLength && shared >= rowLength) {
      this.#table.repeat(capture.count);
    } else {
      this.#add(Math.max(0, Math.min(shared, rowLength, lastRowLength)));
    }
    this.#lastStart = keyStart;
    this.#lastLength = length;
    this.#lastRowLength = rowLength;
    this.#lastUriStart = NONE;
  }

  /** Counts a row by its URI; false where that names neither a host nor a scheme. */
  #countUri(bytes: Uint8Array): boolean {
    const capture = this.#capture;
    if (this.#repeatsUri()) {
      this.#table.repeat(capture.count);
      return true;
    }
    const surt = this.#surt;
    const end = surt.make(bytes, capture);
    if (!hasHostOrScheme(surt.bytes, end)) return false;
    this.#rowKey.set(surt.bytes, 0, end, bytes, capture, 0);
    this.#add(0);
    this.#lastLength = NONE;
    this.#lastUriStart = capture.uriStart;
    this.#lastUriEnd = capture.uriEnd;
    return true;
  }

  /** Whether a row has the URI, and so the key, of the one counted last. */
  #repeatsUri(): boolean {
    const last = this.#lastUriStart;
    if (last === NONE || !this.#rowKey.isPartOfSurt) return false;
    const { uriStart, uriEnd } = this.#capture;
    return equalWithin(this.#view, uriStart, uriEnd, last, this.#lastUriEnd);
  }

  #add(shared: number): void {
    const { bytes, start, end } = this.#rowKey;
    this.#addKey(bytes, start, end, this.#capture.count, shared);
  }

  #addKey(bytes: Uint8Array, start: number, end: number, count: number, shared: number): void {
    if (this.#table.add(bytes, start, end, count, shared)) return;
    this.#drain();
    if (this.#table.add(bytes, start, end, count)) return;
    throw new MementoMapError(
      "MM_LIMIT",
      `a key of ${end - start} bytes does not fit into memory; give more with --memory`,
    );
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

function isKeyedByUri(format: DetectedFormat): boolean {
  return "keyedByUri" in format && format.keyedByUri === true;
}

function hasHostOrScheme(surt: Uint8Array, end: number): boolean {
  for (let i = 0; i < end; i++) if (surt[i] === CLOSE_PAREN || surt[i] === COLON) return true;
  return false;
}
