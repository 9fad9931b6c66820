import { hashRange } from "../../bytes/bytes.ts";
import {
  addLineCounts,
  type LineCounts as RowCounts,
  newLineCounts,
} from "../../input/row-reader.ts";
import { MONTHS_PER_YEAR } from "./datetime-check.ts";

/** Classes of status codes; `none` is a `-` or no column, `other` any other value. */
export const STATUS_CLASSES = ["2xx", "3xx", "4xx", "5xx", "none", "other"] as const;
export const NO_STATUS = 4;
export const OTHER_STATUS = 5;

/** Depths of paths and queries in the grid: 0 to 4, and all deeper ones. */
export const GRID_SIZE = 6;

/** Counts of all lines read, including dropped ones. */
export interface LineCounts extends RowCounts {
  captures: number;
}

/** The captures of one year, by status class and by month (0 for no month). */
interface YearTally {
  readonly statuses: number[];
  readonly months: number[];
}

/**
 * Statistics of single captures; `HoldingsTree` has those that require all captures of an original.
 * Plain data, so that it can be sent to another thread.
 *
 * Holds a few tables of fixed size, and MIME types (see {@link ValueCounts}).
 */
export interface Tally {
  readonly lines: LineCounts;
  mementos: number;
  /** The 14 digits of the first and last well-formed datetime. */
  first: number;
  last: number;
  readonly years: Map<number, YearTally>;
  readonly undated: number[];
  readonly statusCodes: number[];
  readonly mimes: ValueCounts;
  readonly badStatuses: ValueCounts;
  readonly pathQuery: number[];
  readonly datetimeFaults: FaultCounts;
  readonly lineFaults: FaultCounts;
  readonly samples: Sample;
}

/** @param samples the number of page captures to draw at random */
export function newTally(samples: number): Tally {
  return {
    lines: { ...newLineCounts(), captures: 0 },
    mementos: 0,
    first: Number.POSITIVE_INFINITY,
    last: 0,
    years: new Map(),
    undated: zeros(STATUS_CLASSES.length),
    statusCodes: zeros(1000),
    mimes: { values: new Map(), rest: zeros(STATUS_CLASSES.length) },
    badStatuses: { values: new Map(), rest: zeros(1) },
    pathQuery: zeros(GRID_SIZE * GRID_SIZE),
    datetimeFaults: new Map(),
    lineFaults: new Map(),
    samples: { size: samples, drawn: [] },
  };
}

export function yearTally({ years }: Tally, year: number): YearTally {
  let tally = years.get(year);
  if (tally === undefined) {
    tally = { statuses: zeros(STATUS_CLASSES.length), months: zeros(MONTHS_PER_YEAR) };
    years.set(year, tally);
  }
  return tally;
}

export function joinTallies(parts: readonly Tally[], samples: number): Tally {
  const all = newTally(samples);
  for (const part of parts) {
    addLineCounts(all.lines, part.lines);
    all.lines.captures += part.lines.captures;
    all.mementos += part.mementos;
    all.first = Math.min(all.first, part.first);
    all.last = Math.max(all.last, part.last);
    for (const column of ["undated", "statusCodes", "pathQuery"] as const) {
      addTo(all[column], part[column]);
    }
    for (const [year, { statuses, months }] of part.years) {
      const own = yearTally(all, year);
      addTo(own.statuses, statuses);
      addTo(own.months, months);
    }
    for (const values of ["mimes", "badStatuses"] as const) {
      for (const [value, counts] of part[values].values) {
        addTo(countsOf(all[values], value, Number.POSITIVE_INFINITY), counts);
      }
      addTo(all[values].rest, part[values].rest);
    }
    for (const faults of ["datetimeFaults", "lineFaults"] as const) {
      for (const [fault, { count, examples }] of part[faults]) {
        const own = countFault(all[faults], fault, count);
        for (const example of examples.drawn) draw(own, example);
      }
    }
    for (const sample of part.samples.drawn) draw(all.samples, sample);
  }
  return all;
}

function zeros(length: number): number[] {
  return Array.from({ length }, () => 0);
}

function addTo(sums: number[], more: readonly number[]): void {
  for (const [i, count] of more.entries()) sums[i] += count;
}

/** Distinct short values, such as MIME types, with their counts in a few columns. */
export interface ValueCounts {
  readonly values: Map<string, number[]>;
  /** Counts of values beyond the maximum. */
  readonly rest: number[];
}

/** Enough for every MIME type of a real archive. */
const MAX_VALUES = 1 << 15;
/** Longer values are truncated. */
const MAX_VALUE_BYTES = 200;

/** The counts of a value; values beyond the first `most` are counted together. */
function countsOf({ values, rest }: ValueCounts, value: string, most: number): number[] {
  let counts = values.get(value);
  if (counts === undefined) {
    if (values.size >= most) return rest;
    counts = zeros(rest.length);
    values.set(value, counts);
  }
  return counts;
}

/** Counts values; reuses the string if a value repeats. */
export class ValueCounter {
  readonly #counts: ValueCounts;
  readonly #decoder = new TextDecoder();
  readonly #last = new Uint8Array(MAX_VALUE_BYTES);
  #lastLength = -1;
  #lastCounts: number[] = [];

  constructor(counts: ValueCounts) {
    this.#counts = counts;
  }

  add(bytes: Uint8Array, column: number, count: number): void {
    if (!this.#isLast(bytes)) {
      const value = bytes.subarray(0, MAX_VALUE_BYTES);
      this.#last.set(value);
      this.#lastLength = bytes.length;
      this.#lastCounts = countsOf(this.#counts, this.#decoder.decode(value), MAX_VALUES);
    }
    this.#lastCounts[column] += count;
  }

  #isLast(bytes: Uint8Array): boolean {
    const { length } = bytes;
    if (length !== this.#lastLength || length > MAX_VALUE_BYTES) return false;
    for (let i = 0; i < length; i++) if (bytes[i] !== this.#last[i]) return false;
    return true;
  }
}

/** A kind of error, with its count and a few examples. */
type FaultCounts = Map<string, { count: number; readonly examples: Sample }>;

const EXAMPLES = 5;

/** Counts an error; returns its sample of examples. */
export function countFault(faults: FaultCounts, fault: string, count: number): Sample {
  const entry = faults.get(fault) ?? { count: 0, examples: { size: EXAMPLES, drawn: [] } };
  faults.set(fault, entry);
  entry.count += count;
  return entry.examples;
}

/**
 * A uniform random sample of distinct texts.
 *
 * Keeps those with the smallest hashes, so the sample does not depend on the order of texts or on
 * their distribution over threads.
 */
export interface Sample {
  readonly size: number;
  readonly drawn: SampledText[];
}

/** A sampled text with its hash. */
interface SampledText {
  readonly hash: number;
  readonly text: string;
}

/** Whether a text with this hash would enter the sample: check before making one. */
export function mayDraw({ size, drawn }: Sample, hash: number): boolean {
  return drawn.length < size || hash <= (drawn.at(-1)?.hash ?? -1);
}

export function draw({ size, drawn }: Sample, { hash, text }: SampledText): void {
  if (drawn.some((other) => other.hash === hash && other.text === text)) return;
  drawn.push({ hash, text });
  drawn.sort((a, b) => a.hash - b.hash || (a.text < b.text ? -1 : 1));
  drawn.splice(size);
}

export function drawBytes(sample: Sample, bytes: Uint8Array): void {
  const hash = hashRange(bytes, 0, bytes.length);
  if (mayDraw(sample, hash)) draw(sample, { hash, text: new TextDecoder().decode(bytes) });
}
