import {
  addLineCounts,
  type LineCounts as RowCounts,
  newLineCounts,
} from "../../input/row-reader.ts";
import { DATETIME_FAULTS, DatetimeCheck, MONTHS_PER_YEAR } from "./capture-faults.ts";
import {
  HashSample,
  joinValueCounts,
  type SampledText,
  ValueCounts,
  type ValueCountsData,
} from "./bounded.ts";

/** Classes of status codes; `none` is a `-` or no column, `other` everything else. */
export const STATUS_CLASSES = ["2xx", "3xx", "4xx", "5xx", "none", "other"] as const;
export const NO_STATUS = 4;
export const OTHER_STATUS = 5;

/** Depths of paths and queries told apart in the grid: 0 to 4, and all beyond. */
export const GRID_SIZE = 6;

const EXAMPLES = 5;

/** What became of the lines read; nothing is dropped without a count. */
export interface LineCounts extends RowCounts {
  captures: number;
}

/** A kind of fault, how often it was met, and a few cases of it. */
export interface FaultTally {
  readonly fault: string;
  readonly count: number;
  readonly examples: readonly SampledText[];
}

/** What one year has, by status class and by month (0 for no month). */
interface YearTally {
  readonly year: number;
  readonly statuses: readonly number[];
  readonly months: readonly number[];
}

/** What {@link CaptureTally} holds, in a form that can be sent to another thread. */
export interface TallyData {
  readonly lines: LineCounts;
  readonly mementos: number;
  readonly first: string;
  readonly last: string;
  readonly years: readonly YearTally[];
  readonly undated: readonly number[];
  readonly statusCodes: readonly number[];
  readonly mimes: ValueCountsData;
  readonly badStatuses: ValueCountsData;
  readonly pathQuery: readonly number[];
  readonly datetimeFaults: readonly FaultTally[];
  readonly lineFaults: readonly FaultTally[];
  readonly samples: readonly SampledText[];
}

/** Counts a fault and keeps examples; drawn by hash, so that threads do not matter. */
class FaultCounter {
  readonly #faults = new Map<string, { count: number; examples: HashSample }>();

  add(fault: string, count: number, example: Uint8Array): void {
    this.#counted(fault, count).add(example, 0, example.length);
  }

  join(others: readonly FaultTally[]): void {
    for (const { fault, count, examples } of others) this.#counted(fault, count).join(examples);
  }

  /** Counts a fault; returns its examples. */
  #counted(fault: string, count: number): HashSample {
    const entry = this.#faults.get(fault) ?? { count: 0, examples: new HashSample(EXAMPLES) };
    this.#faults.set(fault, entry);
    entry.count += count;
    return entry.examples;
  }

  data(): FaultTally[] {
    const list = [...this.#faults].map(([fault, { count, examples }]) => ({
      fault,
      count,
      examples: examples.data(),
    }));
    return list.sort((a, b) => b.count - a.count || (a.fault < b.fault ? -1 : 1));
  }
}

/**
 * Adds up what can be told from each capture by itself; what needs all captures of an original is
 * for `HoldingsTree`.
 *
 * Holds a few tables of fixed size, and MIME types (see {@link ValueCounts}).
 */
export class CaptureTally {
  readonly lines: LineCounts = { ...newLineCounts(), captures: 0 };
  readonly datetime: DatetimeCheck = new DatetimeCheck();
  readonly mimes: ValueCounts = new ValueCounts(STATUS_CLASSES.length);
  readonly badStatuses: ValueCounts = new ValueCounts(1);
  readonly pathQuery: Float64Array = new Float64Array(GRID_SIZE * GRID_SIZE);
  readonly statusCodes: Float64Array = new Float64Array(1000);
  readonly samples: HashSample;
  mementos = 0;
  readonly #years = new Map<number, { statuses: Float64Array; months: Float64Array }>();
  readonly #undated = new Float64Array(STATUS_CLASSES.length);
  readonly #datetimeFaults = new FaultCounter();
  readonly #lineFaults = new FaultCounter();
  #first: Uint8Array = new Uint8Array(0);
  #last: Uint8Array = new Uint8Array(0);

  constructor(samples: number) {
    this.samples = new HashSample(samples);
  }

  /** Counts the datetime `bytes[start, end)` of a capture; sets {@link datetime}. */
  addDatetime(bytes: Uint8Array, start: number, end: number, status: number, count: number): void {
    const { datetime } = this;
    datetime.set(bytes, start, end);
    if (datetime.fault !== -1) {
      const fault = DATETIME_FAULTS[datetime.fault] ?? "";
      this.#datetimeFaults.add(fault, count, bytes.subarray(start, end));
    } else if (start !== -1) {
      this.#cover(bytes, start, end);
    }
    if (datetime.year === -1) {
      this.#undated[status] += count;
      return;
    }
    let year = this.#years.get(datetime.year);
    if (year === undefined) {
      year = {
        statuses: new Float64Array(STATUS_CLASSES.length),
        months: new Float64Array(MONTHS_PER_YEAR),
      };
      this.#years.set(datetime.year, year);
    }
    year.statuses[status] += count;
    year.months[datetime.month] += count;
  }

  addBadLine(fault: string, line: Uint8Array): void {
    this.#lineFaults.add(fault, 1, line);
  }

  /** Copies what it keeps: `slice` of a Buffer would not. */
  #cover(bytes: Uint8Array, start: number, end: number): void {
    if (this.#first.length === 0 || isBefore(bytes, start, this.#first)) {
      this.#first = new Uint8Array(bytes.subarray(start, end));
    }
    if (this.#last.length === 0 || !isBefore(bytes, start, this.#last)) {
      this.#last = new Uint8Array(bytes.subarray(start, end));
    }
  }

  data(): TallyData {
    const decoder = new TextDecoder();
    return {
      lines: this.lines,
      mementos: this.mementos,
      first: decoder.decode(this.#first),
      last: decoder.decode(this.#last),
      years: [...this.#years].map(([year, { statuses, months }]) => ({
        year,
        statuses: Array.from(statuses),
        months: Array.from(months),
      })),
      undated: Array.from(this.#undated),
      statusCodes: Array.from(this.statusCodes),
      mimes: this.mimes.data(),
      badStatuses: this.badStatuses.data(),
      pathQuery: Array.from(this.pathQuery),
      datetimeFaults: this.#datetimeFaults.data(),
      lineFaults: this.#lineFaults.data(),
      samples: this.samples.data(),
    };
  }
}

/** Both are 14 digits. */
function isBefore(bytes: Uint8Array, start: number, other: Uint8Array): boolean {
  for (let i = 0; i < other.length; i++) {
    const difference = bytes[start + i] - other[i];
    if (difference !== 0) return difference < 0;
  }
  return false;
}

export function joinTallies(parts: readonly TallyData[], samples: number): TallyData {
  const lines = { ...newLineCounts(), captures: 0 };
  const joined = (of: "datetimeFaults" | "lineFaults"): FaultTally[] => {
    const faults = new FaultCounter();
    for (const part of parts) faults.join(part[of]);
    return faults.data();
  };
  const drawn = new HashSample(samples);
  const years = new Map<number, YearTally>();
  for (const part of parts) {
    addLineCounts(lines, part.lines);
    lines.captures += part.lines.captures;
    drawn.join(part.samples);
    for (const own of part.years) years.set(own.year, joinYears(years.get(own.year), own));
  }
  const firsts = parts.map(({ first }) => first).filter((date) => date !== "");
  const lasts = parts.map(({ last }) => last).filter((date) => date !== "");
  return {
    lines,
    mementos: parts.reduce((sum, part) => sum + part.mementos, 0),
    first: firsts.reduce((a, b) => (a < b ? a : b), firsts[0] ?? ""),
    last: lasts.reduce((a, b) => (a > b ? a : b), ""),
    years: [...years.values()].sort((a, b) => a.year - b.year),
    undated: sumColumns(parts.map((part) => part.undated)),
    statusCodes: sumColumns(parts.map((part) => part.statusCodes)),
    mimes: joinValueCounts(parts.map((part) => part.mimes)),
    badStatuses: joinValueCounts(parts.map((part) => part.badStatuses)),
    pathQuery: sumColumns(parts.map((part) => part.pathQuery)),
    datetimeFaults: joined("datetimeFaults"),
    lineFaults: joined("lineFaults"),
    samples: drawn.data(),
  };
}

function joinYears(a: YearTally | undefined, b: YearTally): YearTally {
  if (a === undefined) return b;
  return {
    year: b.year,
    statuses: sumColumns([a.statuses, b.statuses]),
    months: sumColumns([a.months, b.months]),
  };
}

function sumColumns(parts: readonly (readonly number[])[]): number[] {
  const [first = [], ...others] = parts;
  return others.reduce<number[]>((sum, own) => sum.map((n, i) => n + own[i]), [...first]);
}
