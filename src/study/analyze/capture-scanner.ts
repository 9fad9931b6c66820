import { BACKSLASH, equalWithin, hashRange, isDigit, MINUS, SLASH } from "../../bytes/bytes.ts";
import { MementoMapError } from "../../errors.ts";
import type { KeyTable } from "../../generate/key-table.ts";
import type { KeySink, ScanKind } from "../../generate/scan-job.ts";
import { type Capture, CaptureSurt, ROW, type RowKind } from "../../input/capture.ts";
import { SHOWN_BYTES } from "../../input/row-reader.ts";
import { unescapedBytes } from "../../bytes/json-members.ts";
import {
  countFault,
  draw,
  drawBytes,
  GRID_SIZE,
  mayDraw,
  newTally,
  NO_STATUS,
  OTHER_STATUS,
  type Tally,
  ValueCounter,
  yearTally,
} from "./capture-tally.ts";
import { DATETIME_FAULTS, DatetimeCheck } from "./datetime-check.ts";
import { OriginalKey } from "./original-key.ts";

/** The options of a scanner; can be sent to another thread. */
export interface ScannerOptions {
  readonly samples: number;
  /** 4 to 14 digits; captures up to and including this time are counted without their month. */
  readonly asOf?: string | undefined;
}

/** Captures are tallied, and counted by original and month. */
export const ANALYZE: ScanKind<ScannerOptions, Tally> = {
  worker: "dist/study/analyze/analyze-worker.js",
  openSink: (options, table, drain) => new CaptureScanner(options, table, drain),
};

const NONE = -1;
const AMPERSAND = 0x26;
const HTML = new TextEncoder().encode("text/html");
const ROBOTS = new TextEncoder().encode("/robots.txt");

/**
 * Tallies each capture, and counts captures by original and month in a table, which `drain` must empty
 * when it is full.
 *
 * Unreadable lines are not an error: they are counted, with examples.
 */
class CaptureScanner implements KeySink<Tally> {
  readonly #options: ScannerOptions;
  readonly #table: KeyTable;
  readonly #drain: () => void;
  readonly #tally: Tally;
  readonly #mimes: ValueCounter;
  readonly #badStatuses: ValueCounter;
  readonly #datetime = new DatetimeCheck();
  readonly #surt = new CaptureSurt();
  readonly #key = new OriginalKey();
  readonly #decoder = new TextDecoder();
  #lastMonth = NONE;
  /** Views of the bytes being read. */
  #view: DataView = new DataView(new ArrayBuffer(0));
  /** The position there of the URI of the last original; NONE if it is elsewhere. */
  #originalStart = NONE;
  #originalEnd = NONE;
  /** The cell of the last original in the grid of paths and queries. */
  #cell = 0;
  /** The status of the last capture; NONE if it has none. */
  #status = NONE;

  constructor(options: ScannerOptions, table: KeyTable, drain: () => void) {
    this.#options = options;
    this.#table = table;
    this.#drain = drain;
    this.#tally = newTally(options.samples);
    this.#mimes = new ValueCounter(this.#tally.mimes);
    this.#badStatuses = new ValueCounter(this.#tally.badStatuses);
  }

  get counts(): Tally["lines"] {
    return this.#tally.lines;
  }

  found(): Tally {
    return this.#tally;
  }

  startPart(): void {
    this.#table.startRun();
  }

  take(bytes: Uint8Array): void {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#originalStart = NONE;
  }

  addBad(fault: string, bytes: Uint8Array, start: number, end: number): void {
    const shown = bytes.subarray(start, Math.min(end, start + SHOWN_BYTES));
    drawBytes(countFault(this.#tally.lineFaults, fault, 1), shown);
  }

  add(bytes: Uint8Array, capture: Capture): RowKind {
    const tally = this.#tally;
    const { count } = capture;
    // A void: the archive was queried, and had nothing.
    if (count === 0) return ROW.unproven;
    tally.lines.captures++;
    tally.mementos += count;
    const statusClass = this.#countStatus(bytes, capture);
    this.#countDatetime(bytes, capture, statusClass);
    if (capture.mimeStart !== NONE) {
      const mime = unescaped(bytes, capture, capture.mimeStart, capture.mimeEnd);
      this.#mimes.add(mime, statusClass, count);
    }
    const month = this.#isEarlier(bytes, capture) ? 0 : this.#datetime.code;
    const isSame = this.#setOriginal(bytes, capture);
    tally.pathQuery[this.#cell] += count;
    if (this.#status === 200 && this.#isPage(bytes, capture)) this.#sample(bytes, capture);
    if (isSame && month === this.#lastMonth) {
      this.#table.repeat(count);
      return ROW.capture;
    }
    this.#key.setMonth(month);
    this.#lastMonth = month;
    this.#addKey(count);
    return ROW.capture;
  }

  #countDatetime(bytes: Uint8Array, capture: Capture, statusClass: number): void {
    const tally = this.#tally;
    const datetime = this.#datetime;
    const { dateStart, dateEnd, count } = capture;
    datetime.set(bytes, dateStart, dateEnd);
    if (datetime.fault !== NONE) {
      const fault = DATETIME_FAULTS[datetime.fault] ?? "";
      drawBytes(countFault(tally.datetimeFaults, fault, count), bytes.subarray(dateStart, dateEnd));
    } else if (dateStart !== NONE) {
      tally.first = Math.min(tally.first, datetime.value);
      tally.last = Math.max(tally.last, datetime.value);
    }
    if (datetime.year === NONE) {
      tally.undated[statusClass] += count;
      return;
    }
    const year = yearTally(tally, datetime.year);
    year.statuses[statusClass] += count;
    year.months[datetime.month] += count;
  }

  /** Whether the capture is at or before the splitting date. */
  #isEarlier(bytes: Uint8Array, { dateStart, dateEnd }: Capture): boolean {
    const { asOf } = this.#options;
    if (asOf === undefined) return false;
    const length = Math.min(asOf.length, dateEnd - dateStart);
    for (let i = 0; i < length; i++) {
      const difference = bytes[dateStart + i] - asOf.charCodeAt(i);
      if (difference !== 0) return difference < 0;
    }
    return true;
  }

  /** Sets the original of a capture; returns whether it is unchanged. */
  #setOriginal(bytes: Uint8Array, capture: Capture): boolean {
    const isOfUri = capture.uriStart !== NONE;
    const start = isOfUri ? capture.uriStart : capture.keyStart;
    const end = isOfUri ? capture.uriEnd : capture.keyEnd;
    const last = this.#originalStart;
    if (last !== NONE && equalWithin(this.#view, start, end, last, this.#originalEnd)) return true;
    this.#originalStart = start;
    this.#originalEnd = end;
    const key = this.#key;
    if (isOfUri) {
      const surtEnd = this.#surt.make(bytes, capture);
      key.setOriginal(this.#surt.bytes, 0, surtEnd);
    } else {
      key.setOriginal(bytes, start, end);
    }
    const { keyLength } = key;
    const slash = key.bytes.indexOf(SLASH);
    const hostLength = slash === NONE ? keyLength : Math.min(slash, keyLength);
    const path = partCount(key.bytes, hostLength, keyLength, SLASH);
    const parameters = partCount(key.bytes, keyLength + 1, key.originalEnd, AMPERSAND);
    this.#cell = Math.min(path, GRID_SIZE - 1) * GRID_SIZE + Math.min(parameters, GRID_SIZE - 1);
    return false;
  }

  /** Counts the status of a capture; returns its class. */
  #countStatus(bytes: Uint8Array, { statusStart: at, statusEnd, count }: Capture): number {
    this.#status = NONE;
    const length = statusEnd - at;
    if (at === NONE || length === 0 || (length === 1 && bytes[at] === MINUS)) return NO_STATUS;
    if (length === 3 && isDigit(bytes[at]) && isDigit(bytes[at + 1]) && isDigit(bytes[at + 2])) {
      const [hundreds, tens, ones] = [bytes[at] - 0x30, bytes[at + 1] - 0x30, bytes[at + 2] - 0x30];
      this.#status = hundreds * 100 + tens * 10 + ones;
      this.#tally.statusCodes[this.#status] += count;
      if (hundreds >= 2 && hundreds <= 5) return hundreds - 2;
      if (hundreds === 1) return OTHER_STATUS;
    }
    this.#badStatuses.add(bytes.subarray(at, statusEnd), 0, count);
    return OTHER_STATUS;
  }

  /** Whether a capture can be shown as an example: HTML, no robots.txt. */
  #isPage(bytes: Uint8Array, { mimeStart, mimeEnd, uriStart, dateStart }: Capture): boolean {
    if (this.#options.samples === 0 || uriStart === NONE || dateStart === NONE) return false;
    const { bytes: key, keyLength } = this.#key;
    return (
      equals(bytes, mimeStart, mimeEnd, HTML) &&
      !equals(key, keyLength - ROBOTS.length, keyLength, ROBOTS)
    );
  }

  #sample(bytes: Uint8Array, capture: Capture): void {
    const date = bytes.subarray(capture.dateStart, capture.dateEnd);
    const uri = unescaped(bytes, capture, capture.uriStart, capture.uriEnd);
    const { samples } = this.#tally;
    const hash = (hashRange(date, 0, date.length) ^ hashRange(uri, 0, uri.length)) >>> 0;
    if (!mayDraw(samples, hash)) return;
    draw(samples, { hash, text: `${this.#decoder.decode(date)} ${this.#decoder.decode(uri)}` });
  }

  #addKey(count: number): void {
    const { bytes, end } = this.#key;
    if (this.#table.add(bytes, 0, end, count)) return;
    this.#drain();
    if (this.#table.add(bytes, 0, end, count)) return;
    throw new MementoMapError(
      "MM_LIMIT",
      `a key of ${end} bytes does not fit into memory; increase --memory`,
    );
  }
}

/** A value of a capture, with JSON escapes decoded. */
function unescaped(
  bytes: Uint8Array,
  { hasEscapes }: Capture,
  start: number,
  end: number,
): Uint8Array {
  const value = bytes.subarray(start, end);
  return hasEscapes && value.includes(BACKSLASH) ? unescapedBytes(bytes, start, end) : value;
}

/** The number of separated parts, without empty ones at the ends: `/a/b` and `a/b/` have two. */
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
