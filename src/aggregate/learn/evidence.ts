import { PrefixTable, type SlotOwner } from "./prefix-table.ts";

/** Counts are kept in sixteenths, up to this. */
export const UNIT = 16;
const MOST = 65_535;

/** The steps in which a half-life is forgotten. */
export const EPOCHS_PER_HALF_LIFE = 4;

/**
 * What archives answered below prefixes: for each prefix and archive how often it was asked and how
 * often it had something, and for all archives together how many hits there were and how many one
 * would expect of archives of their rates.
 *
 * Four bytes for each prefix and archive, and 22 more for the prefix. Old answers count for
 * less: half after a half-life. A prefix that is seldom asked for goes when there is no room.
 */
export class Evidence implements SlotOwner {
  readonly table: PrefixTable;
  readonly archives: number;
  /** Twice the archives for each slot: asked and hits, in sixteenths. */
  readonly counts: Uint16Array;
  /** For each slot the hits of all archives, and those to be expected. */
  readonly totals: Float32Array;
  /** How often something below a prefix was looked up, whether an archive was asked or not. */
  readonly lookups: Float32Array;
  readonly epochs: Uint16Array;
  /** The number of the current part of a half-life. */
  epoch = 0;

  constructor(archives: number, bytes: number) {
    this.archives = archives;
    this.table = new PrefixTable(bytes / Evidence.slotBytes(archives), this);
    const { capacity } = this.table;
    this.counts = new Uint16Array(capacity * archives * 2);
    this.totals = new Float32Array(capacity * 2);
    this.lookups = new Float32Array(capacity);
    this.epochs = new Uint16Array(capacity);
  }

  static slotBytes(archives: number): number {
    return 8 + 4 * archives + 12 + 2;
  }

  /** How often an archive was asked below a prefix, older times counting less. */
  asked(slot: number, archive: number): number {
    return this.counts[(slot * this.archives + archive) * 2] / UNIT;
  }

  hits(slot: number, archive: number): number {
    return this.counts[(slot * this.archives + archive) * 2 + 1] / UNIT;
  }

  /** What counts of a slot are worth now, from 0 to 1: they are made smaller when the next one is added. */
  keptOf(slot: number): number {
    return 2 ** (-Math.max(0, this.epoch - this.epochs[slot]) / EPOCHS_PER_HALF_LIFE);
  }

  /** An archive answered; `expected` is the share of hits it has in general. */
  add(slot: number, archive: number, isHit: boolean, weight: number, expected: number): void {
    this.#age(slot);
    const { counts, totals } = this;
    const at = (slot * this.archives + archive) * 2;
    const units = Math.round(weight * UNIT);
    if (counts[at] + units > MOST) {
      counts[at] >>>= 1;
      counts[at + 1] >>>= 1;
    }
    counts[at] += units;
    if (isHit) counts[at + 1] += units;
    if (isHit) totals[slot * 2] += weight;
    totals[slot * 2 + 1] += weight * expected;
  }

  #age(slot: number): void {
    if (this.epoch <= this.epochs[slot]) return;
    const kept = this.keptOf(slot);
    this.epochs[slot] = this.epoch;
    const { counts, totals, archives } = this;
    const start = slot * archives * 2;
    for (let at = start; at < start + archives * 2; at++)
      counts[at] = Math.round(counts[at] * kept);
    totals[slot * 2] *= kept;
    totals[slot * 2 + 1] *= kept;
    this.lookups[slot] *= kept;
  }

  clear(slot: number): void {
    const width = this.archives * 2;
    this.counts.fill(0, slot * width, (slot + 1) * width);
    this.totals.fill(0, slot * 2, slot * 2 + 2);
    this.lookups[slot] = 0;
    this.epochs[slot] = this.epoch;
  }

  move(from: number, to: number): void {
    const width = this.archives * 2;
    this.counts.copyWithin(to * width, from * width, (from + 1) * width);
    this.totals.copyWithin(to * 2, from * 2, from * 2 + 2);
    this.lookups[to] = this.lookups[from];
    this.epochs[to] = this.epochs[from];
  }

  worth(slot: number): number {
    const passed = this.epoch - this.epochs[slot];
    return (this.totals[slot * 2 + 1] + this.totals[slot * 2] + this.lookups[slot]) * 2 ** -passed;
  }
}

/** What an archive last answered for an original. */
export const KNOWN = { nothing: 0, miss: 1, hit: 2 } as const;

const PER_WORD = 16;

/**
 * What each archive last answered for originals: two bits for each archive, and eleven bytes for the
 * original. Those that were answered longest ago go when there is no room.
 */
export class Answers implements SlotOwner {
  readonly table: PrefixTable;
  readonly words: Uint32Array;
  readonly wordsPerSlot: number;
  readonly epochs: Uint16Array;
  /** How often an original was looked up, up to 255. */
  readonly lookups: Uint8Array;
  epoch = 0;

  constructor(archives: number, bytes: number) {
    this.wordsPerSlot = Math.ceil(archives / PER_WORD);
    this.table = new PrefixTable(bytes / (11 + 4 * this.wordsPerSlot), this);
    this.words = new Uint32Array(this.table.capacity * this.wordsPerSlot);
    this.epochs = new Uint16Array(this.table.capacity);
    this.lookups = new Uint8Array(this.table.capacity);
  }

  /** One of {@link KNOWN}. */
  of(slot: number, archive: number): number {
    const word = this.words[slot * this.wordsPerSlot + (archive >> 4)];
    return (word >>> ((archive & 15) * 2)) & 3;
  }

  note(slot: number, archive: number, isHit: boolean): void {
    const at = slot * this.wordsPerSlot + (archive >> 4);
    const shift = (archive & 15) * 2;
    const state = isHit ? KNOWN.hit : KNOWN.miss;
    this.words[at] = (this.words[at] & ~(3 << shift)) | (state << shift);
    this.epochs[slot] = this.epoch;
  }

  clear(slot: number): void {
    this.words.fill(0, slot * this.wordsPerSlot, (slot + 1) * this.wordsPerSlot);
    this.epochs[slot] = this.epoch;
    this.lookups[slot] = 0;
  }

  move(from: number, to: number): void {
    const width = this.wordsPerSlot;
    this.words.copyWithin(to * width, from * width, (from + 1) * width);
    this.epochs[to] = this.epochs[from];
    this.lookups[to] = this.lookups[from];
  }

  worth(slot: number): number {
    return this.epochs[slot];
  }
}
