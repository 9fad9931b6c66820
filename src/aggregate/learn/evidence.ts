import { EPOCH, OWN_WORDS, PrefixTable } from "./prefix-table.ts";

/** Counts are kept in sixteenths, up to this. */
export const UNIT = 16;
const MOST = 65_535;

/** The steps in which a half-life is forgotten. */
export const EPOCHS_PER_HALF_LIFE = 4;

/** Where in a record the hits of all archives are, those to be expected, and lookups, as floats; then counts. */
export const HITS = OWN_WORDS;
const EXPECTED = HITS + 1;
export const LOOKUPS = HITS + 2;
export const COUNTS = HITS + 3;

/**
 * What archives answered below prefixes: for each prefix and archive how often it was asked and how
 * often it had something, and for all archives together how many hits there were and how many one
 * would expect of archives of their rates.
 *
 * Four bytes for each prefix and archive, and 24 more for the prefix. Old answers count for
 * less: half after a half-life. A prefix that is seldom asked for goes when there is no room.
 */
export class Evidence {
  readonly table: PrefixTable;
  readonly archives: number;

  constructor(archives: number, bytes: number) {
    this.archives = archives;
    const words = COUNTS - OWN_WORDS + archives;
    this.table = new PrefixTable(bytes, words, (slot) => this.worth(slot));
  }

  /** The number of the current part of a half-life. */
  set epoch(epoch: number) {
    this.table.epoch = epoch;
  }

  /** Where in the halves of the table the counts of a slot begin: asked and hits of each archive, in sixteenths. */
  countsOf(slot: number): number {
    return (slot * this.table.width + COUNTS) * 2;
  }

  /** How often an archive was asked below a prefix, older times counting less. */
  asked(slot: number, archive: number): number {
    return this.table.halves[this.countsOf(slot) + archive * 2] / UNIT;
  }

  hits(slot: number, archive: number): number {
    return this.table.halves[this.countsOf(slot) + archive * 2 + 1] / UNIT;
  }

  /** How often something below a prefix was looked up, whether an archive was asked or not. */
  lookups(slot: number): number {
    return this.table.floats[slot * this.table.width + LOOKUPS];
  }

  /** Counts a lookup; gives how many there are now. */
  countLookup(slot: number): number {
    return ++this.table.floats[slot * this.table.width + LOOKUPS];
  }

  /** How many times as many hits all archives had as was to be expected. */
  popularity(slot: number): number {
    const { floats, width } = this.table;
    const at = slot * width;
    return (floats[at + HITS] + 0.5) / (floats[at + EXPECTED] + 0.5);
  }

  /** What counts of a slot are worth now, from 0 to 1: they are made smaller when the next one is added. */
  keptOf(slot: number): number {
    return 2 ** (-Math.max(0, this.#age(slot)) / EPOCHS_PER_HALF_LIFE);
  }

  #age(slot: number): number {
    const { table } = this;
    return table.epoch - table.halves[slot * table.width * 2 + EPOCH];
  }

  /** An archive answered; `expected` is the share of hits it has in general. */
  add(slot: number, archive: number, isHit: boolean, weight: number, expected: number): void {
    if (this.#age(slot) > 0) this.#forget(slot);
    const { halves, floats, width } = this.table;
    const at = this.countsOf(slot) + archive * 2;
    const units = Math.round(weight * UNIT);
    if (halves[at] + units > MOST) {
      halves[at] >>>= 1;
      halves[at + 1] >>>= 1;
    }
    halves[at] += units;
    if (isHit) halves[at + 1] += units;
    if (isHit) floats[slot * width + HITS] += weight;
    floats[slot * width + EXPECTED] += weight * expected;
  }

  #forget(slot: number): void {
    const { halves, floats, width, epoch } = this.table;
    const kept = this.keptOf(slot);
    const start = slot * width;
    halves[start * 2 + EPOCH] = epoch;
    for (let at = (start + COUNTS) * 2; at < (start + width) * 2; at++) {
      halves[at] = Math.round(halves[at] * kept);
    }
    for (let at = start + HITS; at < start + COUNTS; at++) floats[at] *= kept;
  }

  worth(slot: number): number {
    const { floats, width } = this.table;
    const at = slot * width;
    const sum = floats[at + EXPECTED] + floats[at + HITS] + floats[at + LOOKUPS];
    const age = this.#age(slot);
    return age === 0 ? sum : sum * 2 ** -age;
  }
}

/** What an archive last answered for an original. */
export const KNOWN = { nothing: 0, miss: 1, hit: 2 } as const;

/** Where in the bytes of a record the count of lookups is, and states of archives begin: four a byte. */
export const REPEATS = OWN_WORDS * 4 - 2;
export const STATES = REPEATS + 1;
export const PER_BYTE = 4;

/**
 * What each archive last answered for originals: two bits for each archive, and eleven bytes for the
 * original. Those that were answered longest ago go when there is no room.
 */
export class Answers {
  readonly table: PrefixTable;
  readonly #recordBytes: number;

  constructor(archives: number, bytes: number) {
    const words = Math.ceil((STATES + archives / PER_BYTE) / 4) - OWN_WORDS;
    this.table = new PrefixTable(bytes, Math.max(0, words), (slot) => this.day(slot));
    this.#recordBytes = this.table.width * 4;
  }

  /** The number of the current day. */
  set epoch(epoch: number) {
    this.table.epoch = epoch;
  }

  /** One of {@link KNOWN}. */
  of(slot: number, archive: number): number {
    const states = this.table.bytes[slot * this.#recordBytes + STATES + (archive >> 2)];
    return (states >>> ((archive & 3) * 2)) & 3;
  }

  note(slot: number, archive: number, isHit: boolean): void {
    const { bytes, halves, epoch } = this.table;
    const at = slot * this.#recordBytes + STATES + (archive >> 2);
    const shift = (archive & 3) * 2;
    const state = isHit ? KNOWN.hit : KNOWN.miss;
    bytes[at] = (bytes[at] & ~(3 << shift)) | (state << shift);
    halves[slot * this.table.width * 2 + EPOCH] = epoch;
  }

  /** The day of the last answer. */
  day(slot: number): number {
    return this.table.halves[slot * this.table.width * 2 + EPOCH];
  }

  /** How many days ago the last answer was. */
  daysSince(slot: number): number {
    return Math.max(0, this.table.epoch - this.day(slot));
  }

  /** How often an original was looked up, up to 255. */
  lookups(slot: number): number {
    return this.table.bytes[slot * this.#recordBytes + REPEATS];
  }

  /** Counts a lookup; gives how many there were before. */
  countLookup(slot: number): number {
    const before = this.lookups(slot);
    if (before < 255) this.table.bytes[slot * this.#recordBytes + REPEATS]++;
    return before;
  }
}
