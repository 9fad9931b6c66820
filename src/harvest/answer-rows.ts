import type { KnownTimes, TimeWindow } from "./time-window.ts";
import { isWithin } from "./time-window.ts";

/** A row of an index as far as its place among the others goes. */
export interface RowPlace {
  readonly key: string;
  /** Fourteen digits. */
  readonly datetime: string;
  /** The row itself, which tells captures of the same second apart. */
  readonly line: string;
}

/** Of more datetimes than this the median is an estimate. */
const MAX_TIMES = 4096;

/** What is known of the rows of an answer. Holds up to 8,192 datetimes. */
export class AnswerRows {
  /** Rows, without headers and blank lines. */
  count = 0;
  first: RowPlace | undefined;
  last: RowPlace | undefined;
  /** Rows outside of the window that was asked for. */
  outside = 0;
  /** Rows whose key or datetime could not be found. */
  unplaced = 0;
  readonly #window: TimeWindow;
  #earliest = "";
  #latest = "";
  #times: string[] = [];
  #stride = 1;

  constructor(window: TimeWindow) {
    this.#window = window;
  }

  add(line: string): void {
    if (isNoRow(line)) return;
    this.count++;
    const place = placeOf(line);
    if (place === undefined) {
      this.unplaced++;
      return;
    }
    const { datetime } = place;
    this.first ??= place;
    this.last = place;
    if (!isWithin(datetime, this.#window)) this.outside++;
    if (this.#earliest === "" || datetime < this.#earliest) this.#earliest = datetime;
    if (datetime > this.#latest) this.#latest = datetime;
    if (this.count % this.#stride === 0) this.#times.push(datetime);
    if (this.#times.length < 2 * MAX_TIMES) return;
    this.#times = this.#times.filter((_, i) => i % 2 === 1);
    this.#stride *= 2;
  }

  /** Undefined where there is no row, or one without a datetime. */
  get times(): KnownTimes | undefined {
    if (this.last === undefined || this.unplaced > 0) return undefined;
    const sorted = this.#times.toSorted();
    const median = sorted[sorted.length >> 1] ?? this.#latest;
    return { earliest: this.#earliest, median, latest: this.#latest };
  }
}

/**
 * The key and the datetime of a row of CDX, CDXJ, or JSON with their names; undefined where it has
 * none.
 */
export function placeOf(line: string): RowPlace | undefined {
  const [, key, datetime] =
    /^(\S+)[ \t]+(\d{14})\d{0,3}(?:[ \t]|$)/.exec(line) ??
    /^\s*\{(?=.*"urlkey":\s*"((?:[^"\\]|\\.)*)").*"timestamp":\s*"?(\d{14})/.exec(line) ??
    [];
  return key === undefined || datetime === undefined ? undefined : { key, datetime, line };
}

/** The order of an index. */
export function comparePlaces(a: RowPlace, b: RowPlace): number {
  if (a.key !== b.key) return a.key < b.key ? -1 : 1;
  return a.datetime < b.datetime ? -1 : a.datetime > b.datetime ? 1 : 0;
}

/** Whether these are the same row; an array may have a comma or bracket around it, and one may be cut. */
export function isSameRow(a: RowPlace, b: RowPlace): boolean {
  const [one, other] = [a, b].map(({ line }) => line.replace(/^\s*\[?\s*|[\s,\]]*$/g, ""));
  return one.startsWith(other) || other.startsWith(one);
}

function isNoRow(line: string): boolean {
  return line.trim() === "" || /^(?:[!@]| CDX )/.test(line);
}
