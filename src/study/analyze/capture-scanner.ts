import {
  BACKSLASH,
  commonPrefixWithin,
  CR,
  equalWithin,
  hashRange,
  isDigit,
  LF,
  MINUS,
  SLASH,
} from "../../bytes/bytes.ts";
import { MementoMapError } from "../../errors.ts";
import type { KeyTable } from "../../map/generate/key-table.ts";
import type { RowReader } from "../../input/index-input.ts";
import { Capture, CaptureSurt, ROW, type RowKind, type RowParser } from "../../input/capture.ts";
import { type CaptureBatch, readCapture, rowEnd, rowStart } from "../../input/capture-batch.ts";
import type { DetectedFormat } from "../../input/detect.ts";
import { rowParser } from "../../input/detect.ts";
import type { CaptureFilter } from "../../input/filter.ts";
import { CaptureSieve, isEmptyFilter } from "../../input/filter.ts";
import { unescapeJson } from "../../bytes/json-members.ts";
import { CaptureTally, GRID_SIZE, NO_STATUS, OTHER_STATUS } from "./capture-tally.ts";
import { OriginalKey } from "./original-key.ts";
import { hostFault, uriFault } from "./capture-faults.ts";

/** How to read rows; all of it can be sent to another thread. */
export interface ScannerOptions {
  readonly filter: CaptureFilter;
  readonly maxLineBytes: number;
  readonly samples: number;
  /** 4 to 14 digits; captures up to and including then are counted without their month. */
  readonly asOf?: string | undefined;
}

const NONE = -1;
const SHOWN_BYTES = 120;
const AMPERSAND = 0x26;
const HTML = new TextEncoder().encode("text/html");
const ROBOTS = new TextEncoder().encode("/robots.txt");
const NEEDS = { uri: true, status: true, mime: true };

/**
 * Reads the lines of indexes, tallies each capture, and counts captures by original and month in a
 * table, which `drain` must empty when it is full.
 *
 * Lines that cannot be read are a finding, not a failure: they are counted, with examples.
 */
export class CaptureScanner implements RowReader {
  readonly tally: CaptureTally;
  readonly #options: ScannerOptions;
  readonly #table: KeyTable;
  readonly #drain: () => void;
  readonly #sieve: CaptureSieve | undefined;
  readonly #capture = new Capture();
  readonly #surt = new CaptureSurt();
  readonly #key = new OriginalKey();
  /** Undefined where rows are not lines. */
  #parser: RowParser | undefined;
  #isKeyedByUri = false;
  #linesBeforePart = 0;
  /** The key column of the capture before, in the bytes that are being read. */
  #lastStart = 0;
  #lastLength = NONE;
  #lastMonth = NONE;
  /** Over the bytes that are being read. */
  #view: DataView = new DataView(new ArrayBuffer(0));
  /** The last URI that stands in them as it is, its fault, and its hash once that is needed. */
  #uriStart = NONE;
  #uriEnd = NONE;
  #uriFault = NONE;
  #uriHash = NONE;
  #hostFault = NONE;
  /** Where the path of the last key begins. */
  #hostLength = 0;
  #cell = 0;
  readonly #decoder = new TextDecoder();

  constructor(options: ScannerOptions, table: KeyTable, drain: () => void) {
    this.#options = options;
    this.#table = table;
    this.#drain = drain;
    this.tally = new CaptureTally(options.samples);
    this.#sieve = isEmptyFilter(options.filter) ? undefined : new CaptureSieve(options.filter);
  }

  /** Call it before another file, or another part of it. */
  startPart(format: DetectedFormat): void {
    this.#parser = format.name === "captures" ? undefined : rowParser(format, NEEDS);
    this.#isKeyedByUri = format.name === "captures" && format.keyedByUri === true;
    this.#capture.reset();
    this.#table.startRun();
    this.#linesBeforePart = this.tally.lines.lines;
  }

  get partLines(): number {
    return this.tally.lines.lines - this.#linesBeforePart;
  }

  /** Reads the lines of `bytes[start, end)`, which must be whole ones; the last may lack its end. */
  readLines(bytes: Uint8Array, start: number, end: number): undefined {
    const { lines } = this.tally;
    const parser = this.#parser;
    if (parser === undefined) throw new TypeError("the part has no lines");
    this.#startBytes(bytes);
    let at = start;
    while (at < end) {
      let lineEnd = bytes.indexOf(LF, at);
      if (lineEnd === -1 || lineEnd > end) lineEnd = end;
      const next = lineEnd + 1;
      if (lineEnd > at && bytes[lineEnd - 1] === CR) lineEnd--;
      lines.lines++;
      if (lineEnd === at) lines.blank++;
      else this.#readLine(parser, bytes, at, lineEnd);
      at = next;
    }
  }

  readCaptures(batch: CaptureBatch): undefined {
    const { bytes } = batch;
    const capture = this.#capture;
    this.#startBytes(bytes);
    for (let i = 0; i < batch.length; i++) {
      const start = rowStart(batch, i);
      const end = rowEnd(batch, i);
      this.tally.lines.lines++;
      if (this.#isTooLong(bytes, start, end)) continue;
      const kind = readCapture(batch, i, capture, this.#isKeyedByUri);
      const { keyStart, keyEnd } = capture;
      const shared = keyStart === NONE ? 0 : this.#sharedWithLast(keyStart, keyEnd);
      this.#take(kind, bytes, start, end, shared);
    }
  }

  /** Call it before other bytes are read. */
  #startBytes(bytes: Uint8Array): void {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#lastLength = NONE;
    this.#uriStart = NONE;
  }

  #readLine(parser: RowParser, bytes: Uint8Array, start: number, end: number): void {
    if (this.#isTooLong(bytes, start, end)) return;
    const shared = parser.leadsWithKey ? this.#sharedWithLast(start, end) : 0;
    this.#capture.knownKeyBytes = shared;
    this.#take(parser.parse(bytes, start, end, this.#capture), bytes, start, end, shared);
  }

  #isTooLong(bytes: Uint8Array, start: number, end: number): boolean {
    const { maxLineBytes } = this.#options;
    if (end - start <= maxLineBytes) return false;
    this.#reject(`longer than ${maxLineBytes} bytes`, bytes, start, end);
    return true;
  }

  /** Counts the row `bytes[start, end)` by what it is. */
  #take(kind: RowKind, bytes: Uint8Array, start: number, end: number, shared: number): void {
    const { lines } = this.tally;
    const capture = this.#capture;
    switch (kind) {
      case ROW.capture: {
        const reason = this.#sieve?.reject(bytes, capture);
        if (reason === undefined) this.#count(bytes, shared);
        else lines.filtered[reason]++;
        break;
      }
      case ROW.blank:
        lines.blank++;
        break;
      case ROW.header:
        lines.headers++;
        break;
      case ROW.nonWeb:
        lines.nonWeb++;
        break;
      case ROW.unproven:
        lines.unproven++;
        break;
      case ROW.bad:
        this.#reject(capture.fault, bytes, start, end);
        break;
    }
  }

  #reject(fault: string, bytes: Uint8Array, start: number, end: number): void {
    this.tally.lines.bad++;
    this.tally.addBadLine(fault, bytes.subarray(start, Math.min(end, start + SHOWN_BYTES)));
  }

  #sharedWithLast(start: number, end: number): number {
    if (this.#lastLength === NONE) return 0;
    const last = this.#lastStart;
    return commonPrefixWithin(this.#view, start, end, last, last + this.#lastLength);
  }

  #count(bytes: Uint8Array, shared: number): void {
    const { tally } = this;
    const capture = this.#capture;
    const { count } = capture;
    if (count === 0) {
      // A void: the archive was asked, and had nothing.
      tally.lines.unproven++;
      return;
    }
    tally.lines.captures++;
    tally.mementos += count;
    const statusClass = this.#countStatus(bytes, count);
    tally.addDatetime(bytes, capture.dateStart, capture.dateEnd, statusClass, count);
    if (capture.mimeStart !== NONE) this.#countMime(bytes, statusClass, count);
    const month = this.#isEarlier(bytes) ? 0 : tally.datetime.code;
    const isSame = this.#setOriginal(bytes, shared);
    tally.pathQuery[this.#cell] += count;
    this.#checkUri(bytes, count);
    if (isSame === this.#key.sharedByMonths && month === this.#lastMonth) {
      this.#table.repeat(count);
      return;
    }
    this.#key.setMonth(month);
    this.#lastMonth = month;
    this.#add(count, isSame);
  }

  /** Whether the capture is not after the date that splits them. */
  #isEarlier(bytes: Uint8Array): boolean {
    const { asOf } = this.#options;
    if (asOf === undefined) return false;
    const { dateStart, dateEnd } = this.#capture;
    const length = Math.min(asOf.length, dateEnd - dateStart);
    for (let i = 0; i < length; i++) {
      const difference = bytes[dateStart + i] - asOf.charCodeAt(i);
      if (difference !== 0) return difference < 0;
    }
    return true;
  }

  /**
   * Takes the original of the capture; returns how many bytes its sort key is known to share with
   * that of the capture before: all before the month if it is the same.
   */
  #setOriginal(bytes: Uint8Array, shared: number): number {
    const { keyStart, keyEnd } = this.#capture;
    if (keyStart === NONE) {
      this.#lastLength = NONE;
      const end = this.#surt.make(bytes, this.#capture);
      this.#key.setOriginal(this.#surt.bytes, 0, end, 0);
      this.#describe(this.#surt.bytes, 0, end, 0);
      return 0;
    }
    const length = keyEnd - keyStart;
    const isSame = shared === length && length === this.#lastLength;
    const known = this.#lastLength === NONE ? 0 : shared;
    this.#lastStart = keyStart;
    this.#lastLength = length;
    if (isSame) return this.#key.sharedByMonths;
    const sharedKey = this.#key.setOriginal(bytes, keyStart, keyEnd, known);
    this.#describe(bytes, keyStart, keyEnd, sharedKey);
    return sharedKey;
  }

  /** What is the same for all captures of an original: the fault of its host, its grid cell. */
  #describe(surt: Uint8Array, start: number, end: number, shared: number): void {
    const { bytes, keyLength, sharedByMonths } = this.#key;
    if (shared <= this.#hostLength) {
      this.#hostFault = hostFault(surt, start, end);
      this.#hostLength = 0;
      while (this.#hostLength < keyLength && bytes[this.#hostLength] !== SLASH) this.#hostLength++;
    }
    const path = partCount(bytes, this.#hostLength, keyLength, SLASH);
    const parameters = partCount(bytes, keyLength + 1, sharedByMonths - 1, AMPERSAND);
    this.#cell = Math.min(path, GRID_SIZE - 1) * GRID_SIZE + Math.min(parameters, GRID_SIZE - 1);
  }

  #countStatus(bytes: Uint8Array, count: number): number {
    const { statusStart: at, statusEnd } = this.#capture;
    const length = statusEnd - at;
    if (at === NONE || length === 0 || (length === 1 && bytes[at] === MINUS)) return NO_STATUS;
    if (length === 3 && isDigit(bytes[at]) && isDigit(bytes[at + 1]) && isDigit(bytes[at + 2])) {
      const [hundreds, tens, ones] = [bytes[at] - 0x30, bytes[at + 1] - 0x30, bytes[at + 2] - 0x30];
      this.tally.statusCodes[hundreds * 100 + tens * 10 + ones] += count;
      if (hundreds >= 2 && hundreds <= 5) return hundreds - 2;
      if (hundreds === 1) return OTHER_STATUS;
    }
    this.tally.badStatuses.add(bytes, at, statusEnd, 0, count);
    return OTHER_STATUS;
  }

  #countMime(bytes: Uint8Array, statusClass: number, count: number): void {
    const { mimeStart, mimeEnd, hasEscapes } = this.#capture;
    if (hasEscapes && bytes.subarray(mimeStart, mimeEnd).includes(BACKSLASH)) {
      const mime = new TextEncoder().encode(unescapeJson(bytes, mimeStart, mimeEnd));
      this.tally.mimes.add(mime, 0, mime.length, statusClass, count);
    } else {
      this.tally.mimes.add(bytes, mimeStart, mimeEnd, statusClass, count);
    }
  }

  #checkUri(bytes: Uint8Array, count: number): void {
    const capture = this.#capture;
    let { uriStart: start, uriEnd: end } = capture;
    let uri = bytes;
    if (start === NONE) {
      start = capture.keyStart;
      end = capture.keyEnd;
    } else if (capture.hasEscapes && bytes.subarray(start, end).includes(BACKSLASH)) {
      uri = new TextEncoder().encode(unescapeJson(bytes, start, end));
      start = 0;
      end = uri.length;
    }
    if (uri !== bytes || !this.#repeatsUri(start, end)) {
      this.#uriStart = uri === bytes ? start : NONE;
      this.#uriEnd = end;
      this.#uriFault = uriFault(uri, start, end);
      this.#uriHash = NONE;
    }
    const fault = this.#hostFault === NONE ? this.#uriFault : this.#hostFault;
    if (fault !== NONE) {
      this.tally.addUriFault(fault, uri.subarray(start, Math.min(end, start + SHOWN_BYTES)), count);
    }
    if (this.#isPage(bytes)) this.#sample(uri, start, end, bytes);
  }

  /** Whether a URI is the one of the capture before, as captures of a page mostly follow each other. */
  #repeatsUri(start: number, end: number): boolean {
    const last = this.#uriStart;
    return last !== NONE && equalWithin(this.#view, start, end, last, this.#uriEnd);
  }

  /** Whether the capture is a page that can be shown as an example: 200, HTML, no robots.txt. */
  #isPage(bytes: Uint8Array): boolean {
    if (this.#options.samples === 0) return false;
    const { statusStart, statusEnd, mimeStart, mimeEnd, uriStart } = this.#capture;
    if (statusEnd - statusStart !== 3 || uriStart === NONE) return false;
    if (bytes[statusStart] !== 0x32 || bytes[statusStart + 1] !== 0x30) return false;
    if (bytes[statusStart + 2] !== 0x30 || !equals(bytes, mimeStart, mimeEnd, HTML)) return false;
    const { bytes: key, keyLength } = this.#key;
    return !equals(key, keyLength - ROBOTS.length, keyLength, ROBOTS);
  }

  #sample(uri: Uint8Array, start: number, end: number, bytes: Uint8Array): void {
    const { dateStart, dateEnd } = this.#capture;
    if (dateStart === NONE) return;
    const { samples } = this.tally;
    if (this.#uriHash === NONE) this.#uriHash = hashRange(uri, start, end);
    const hash = hashRange(bytes, dateStart, dateEnd) ^ this.#uriHash;
    if (!samples.accepts(hash >>> 0)) return;
    const date = this.#decoder.decode(bytes.subarray(dateStart, dateEnd));
    const text = `${date} ${this.#decoder.decode(uri.subarray(start, end))}`;
    samples.draw({ hash: hash >>> 0, text });
  }

  #add(count: number, shared: number): void {
    const { bytes, end } = this.#key;
    if (this.#table.add(bytes, 0, end, count, shared)) return;
    this.#drain();
    if (this.#table.add(bytes, 0, end, count)) return;
    throw new MementoMapError(
      "MM_LIMIT",
      `a key of ${end} bytes does not fit into memory; give more with --memory`,
    );
  }
}

/** How many parts a separator makes, those at the ends left out: `/a/b` and `a/b/` have two. */
function partCount(bytes: Uint8Array, from: number, to: number, separator: number): number {
  let start = from;
  let end = to;
  while (start < end && bytes[start] === separator) start++;
  while (end > start && bytes[end - 1] === separator) end--;
  if (start >= end) return 0;
  let parts = 1;
  for (let at = start; at < end; at++) if (bytes[at] === separator) parts++;
  return parts;
}

function equals(bytes: Uint8Array, start: number, end: number, other: Uint8Array): boolean {
  if (start < 0 || end - start !== other.length) return false;
  for (let i = 0; i < other.length; i++) if (bytes[start + i] !== other[i]) return false;
  return true;
}
