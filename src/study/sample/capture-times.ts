import { YEARS } from "./archive-shape.ts";
import type { YearRow } from "./archive-shape.ts";
import type { Random } from "../../bytes/random.ts";

const DAY_MS = 86_400_000;
const DAY_SECONDS = 86_400;

/**
 * When pages were captured: as many in each year as in the paper.
 *
 * Times are seconds since the start of the first year. Holds 8 bytes a day.
 */
export class CaptureTimes {
  readonly #years: readonly YearRow[];
  /** The share of mementos before the end of each year. */
  readonly #upTo: Float64Array;
  /** The second at which each year starts; one more for the end. */
  readonly #start: Float64Array;
  /** `YYYYMMDD` of each day. */
  readonly #days: Uint8Array;

  constructor(startYear: number, endYear: number) {
    this.#years = YEARS.filter(({ year }) => year >= startYear && year <= endYear);
    const total = this.#years.reduce((sum, { mementos }) => sum + mementos, 0);
    let seen = 0;
    this.#upTo = Float64Array.from(this.#years, ({ mementos }) => (seen += mementos) / total);
    const first = this.#years[0]?.year ?? startYear;
    const origin = Date.UTC(first, 0, 1);
    const secondsTo = (year: number): number => (Date.UTC(year, 0, 1) - origin) / 1000;
    this.#start = Float64Array.from({ length: this.#years.length + 1 }, (_, i) =>
      secondsTo(first + i),
    );
    // A year more than needed: captures in a row at the very end may run over it.
    const days = secondsTo(first + this.#years.length + 1) / DAY_SECONDS;
    this.#days = new Uint8Array(days * 8);
    for (let day = 0; day < days; day++) {
      const text = new Date(origin + day * DAY_MS).toISOString();
      const digits = text.slice(0, 10).replaceAll("-", "");
      for (let i = 0; i < 8; i++) this.#days[day * 8 + i] = digits.charCodeAt(i);
    }
  }

  /** The time below which the given share of all captures lies. Rises with the share. */
  at(share: number): number {
    const year = this.#yearIndex(share);
    const before = year === 0 ? 0 : this.#upTo[year - 1];
    const within = (share - before) / (this.#upTo[year] - before);
    const start = this.#start[year];
    return Math.floor(start + within * (this.#start[year + 1] - start));
  }

  #yearIndex(share: number): number {
    const last = this.#upTo.length - 1;
    let year = last;
    while (year > 0 && share < this.#upTo[year - 1]) year--;
    return year;
  }

  /** The statistics of the year in which {@link at} lies. */
  year(share: number): YearRow {
    return this.#years[this.#yearIndex(share)];
  }

  /** Writes the 14 digits of a time and returns the offset behind them. */
  write(target: Uint8Array, offset: number, seconds: number): number {
    const day = Math.floor(seconds / DAY_SECONDS);
    const days = this.#days;
    for (let i = 0; i < 8; i++) target[offset + i] = days[day * 8 + i];
    const second = seconds - day * DAY_SECONDS;
    const minute = Math.floor(second / 60);
    const hour = Math.floor(minute / 60);
    writePair(target, offset + 8, hour);
    writePair(target, offset + 10, minute - hour * 60);
    writePair(target, offset + 12, second - minute * 60);
    return offset + 14;
  }
}

function writePair(target: Uint8Array, offset: number, value: number): void {
  const tens = Math.floor(value / 10);
  target[offset] = 0x30 + tens;
  target[offset + 1] = 0x30 + value - tens * 10;
}

/** The next of `left` sorted uniform draws in (0, 1), given the one before it. */
export function nextOrdered(random: Random, before: number, left: number): number {
  const u = 1 - random.real();
  return 1 - (1 - before) * (left === 1 ? u : u ** (1 / left));
}
