import { type KeyPath, LEVEL } from "./key-path.ts";
import { CLASSES } from "./recall-policy.ts";

/** What was decided about an archive, for others that learn the same. Plain data. */
interface ArchiveDecisions {
  readonly archive: string;
  /** Decisions, and requests that came of them. */
  readonly possible: number;
  readonly made: number;
  /** How often chances were of a class: its number, and how often. */
  readonly seen: readonly (readonly [number, number])[];
  /** Hits that were to be expected of requests that explore. */
  readonly expected: number;
  /** Hits in earlier answers that were given again, how many of them are aside, and the mementos of each. */
  readonly kept?: { readonly hits: number; readonly aside: number; readonly perHit: number };
}

/** What was decided lately. Plain data: it can be sent to other processes. */
export interface Decisions {
  readonly lookups: number;
  readonly archives: readonly ArchiveDecisions[];
  /**
   * What was looked up: for each lookup how many hashes follow, and these, two numbers each, of the host, of
   * folders and of the original.
   */
  readonly looked: Uint32Array;
}

/** Counts decisions until they are taken. */
export class DecisionCounts {
  lookups = 0;
  #looked: number[] = [];
  readonly #seen: Uint32Array;
  readonly #expected: Float64Array;
  readonly #possible: Uint32Array;
  readonly #made: Uint32Array;
  /** Hits in earlier answers, how many of them are aside, and their mementos: three numbers for each archive. */
  readonly #kept: Float64Array;

  constructor(archives: number) {
    this.#seen = new Uint32Array(archives * CLASSES);
    this.#expected = new Float64Array(archives);
    this.#possible = new Uint32Array(archives);
    this.#made = new Uint32Array(archives);
    this.#kept = new Float64Array(archives * 3);
  }

  /** A chance was of a class, which the cell says, and its archive. */
  add(cell: number, expected: number): void {
    this.#seen[cell]++;
    this.#expected[Math.floor(cell / CLASSES)] += expected;
  }

  look({ highs, lows, levels, length }: KeyPath): void {
    const place = this.#looked.push(0) - 1;
    for (let at = 1; at < length; at++) {
      if (levels[at] < LEVEL.host) continue;
      this.#looked.push(highs[at], lows[at]);
      this.#looked[place]++;
    }
  }

  decided(archive: number, isAsked: boolean): void {
    this.#possible[archive]++;
    if (isAsked) this.#made[archive]++;
  }

  /** A hit was in an earlier answer that was given again. */
  keep(archive: number, isAside: boolean, mementos: number): void {
    this.#kept[archive * 3]++;
    if (isAside) this.#kept[archive * 3 + 1]++;
    this.#kept[archive * 3 + 2] += mementos;
  }

  /** What was counted since the last time; undefined if there was no lookup. */
  take(ids: readonly string[]): Decisions | undefined {
    const { lookups } = this;
    const looked = Uint32Array.from(this.#looked);
    if (lookups === 0) return undefined;
    const archives = ids.map((archive, number) => {
      const classes = this.#seen.subarray(number * CLASSES, (number + 1) * CLASSES);
      const seen = [...classes.entries()].filter(([, times]) => times > 0);
      const [possible, made] = [this.#possible[number], this.#made[number]];
      const [hits, aside, mementos] = this.#kept.subarray(number * 3, number * 3 + 3);
      const kept = { hits, aside, perHit: hits === 0 ? 0 : mementos / hits };
      return { archive, possible, made, seen, expected: this.#expected[number], kept };
    });
    this.lookups = 0;
    this.#looked = [];
    for (const counts of [this.#seen, this.#possible, this.#made]) counts.fill(0);
    for (const sums of [this.#expected, this.#kept]) sums.fill(0);
    const counted = archives.filter(({ possible, kept }) => possible + kept.hits > 0);
    return { lookups, looked, archives: counted };
  }
}
