import { MementoMapError } from "../errors.ts";

/*
 * A ribbon is a table of m slots of r bits. A name maps to 64 adjacent slots and selects some of them by
 * its coefficients, which are bits; its value is the exclusive or of the selected slots. The slots are
 * solved so that every inserted name gets its value; any other name gets a value that looks random.
 * (Dillinger, Hübschle-Schneider, Sanders, Walzer: "Fast Succinct Retrieval and Approximate Membership
 * using Ribbon", 2022.)
 *
 * Slots lie in blocks of 32: r words of 32 bits, word j with bit j of each slot of the block.
 */

/** Coefficients of a name: the number of adjacent slots it maps to. */
export const BAND = 64;
/** Slots per block. */
export const BLOCK_SLOTS = 32;
/** Maximum bits of a value. */
export const MAX_BITS = 32;

/** Initial fraction of slots in excess of names; more are added until the system can be solved. */
const FIRST_SLACK = 0.025;
const SEEDS_TO_GROWTH = 2;

/** The names to insert, as 64-bit hashes in two halves, and their values. */
export interface RibbonEntries {
  readonly count: number;
  readonly low: Uint32Array;
  readonly high: Uint32Array;
  readonly values: Uint32Array;
}

/** A ribbon, ready to be written. */
export interface Ribbon {
  readonly seed: number;
  readonly slots: number;
  readonly words: Uint32Array;
}

/** Murmur3's finalizer: every bit of the result depends on every bit of the input. */
export function mix(value: number): number {
  let x = value;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return x ^ (x >>> 16);
}

/** `value · size / 2^32`: maps uniform 32-bit values to 0 … `size - 1`. */
export function scale(value: number, size: number): number {
  return (((value >>> 0) * size) / 2 ** 32) >>> 0;
}

/** The first slot of the band of a name. */
function startOf(low: number, high: number, seed: number, slots: number): number {
  return scale(mix(low ^ Math.imul(seed + 1, 0x9e3779b1)) ^ high, slots - BAND + 1);
}

function lowCoefficients(low: number, high: number, seed: number): number {
  return mix(Math.imul(high, 0x9e3779b1) + low + seed) | 1;
}

function highCoefficients(low: number, high: number, seed: number): number {
  return mix(Math.imul(low, 0x85ebca77) ^ (high + Math.imul(seed, 0xc2b2ae3d)));
}

/** The number of words of a ribbon. */
export function ribbonWords(slots: number, bits: number): number {
  return (slots / BLOCK_SLOTS) * bits;
}

/**
 * Builds a ribbon; the result depends only on the entries. Tries other seeds, then more slots, until the
 * system can be solved.
 *
 * @throws MM_LIMIT if two names have the same hash but different values
 */
export function buildRibbon(entries: RibbonEntries, bits: number): Ribbon {
  const { count } = entries;
  let slots = slotsFor(count * (1 + FIRST_SLACK));
  for (let attempt = 0; slots < 2 * count + 64 * BAND; attempt++) {
    const system = new Equations(slots);
    const seed = attempt % SEEDS_TO_GROWTH;
    if (system.addAll(entries, seed)) return { seed, slots, words: system.solve(bits) };
    if (seed === SEEDS_TO_GROWTH - 1) slots += BLOCK_SLOTS * Math.ceil(slots / 3200);
  }
  throw new MementoMapError("MM_LIMIT", "two keys have the same 64-bit hash");
}

function slotsFor(count: number): number {
  return Math.max(BAND, BLOCK_SLOTS * Math.ceil(count / BLOCK_SLOTS)) + BLOCK_SLOTS;
}

/** Words of an equation: both halves of its coefficients, and its value. */
const EQUATION = 3;

/** Linear equations over GF(2), one per name, in echelon form: at most one begins at each slot. */
class Equations {
  readonly #slots: number;
  /** For each slot the equation that begins there, or zeros. */
  readonly #rows: Int32Array;

  constructor(slots: number) {
    this.#slots = slots;
    this.#rows = new Int32Array(EQUATION * slots);
  }

  /** Adds the equations of all names; false if one contradicts the others. */
  addAll({ count, low: lows, high: highs, values }: RibbonEntries, seed: number): boolean {
    const rows = this.#rows;
    for (let i = 0; i < count; i++) {
      const name = lows[i] | 0;
      const more = highs[i] | 0;
      let at = EQUATION * startOf(name, more, seed, this.#slots);
      let low = lowCoefficients(name, more, seed);
      let high = highCoefficients(name, more, seed);
      let rest = values[i] | 0;
      // The first coefficient is always 1.
      while (rows[at] !== 0) {
        low ^= rows[at];
        high ^= rows[at + 1];
        rest ^= rows[at + 2];
        if (low === 0) {
          if (high === 0) break;
          low = high;
          high = 0;
          at += 32 * EQUATION;
        }
        const shift = 31 - Math.clz32(low & -low);
        // In two steps, because a shift by 32 is one by 0.
        low = (low >>> shift) | ((high << 1) << (31 - shift));
        high >>>= shift;
        at += EQUATION * shift;
      }
      if (low === 0) {
        if (rest !== 0) return false;
        continue;
      }
      rows[at] = low;
      rows[at + 1] = high;
      rows[at + 2] = rest;
    }
    return true;
  }

  /** The slots that satisfy all equations, in blocks; undetermined slots are 0. */
  solve(bits: number): Uint32Array {
    const rows = this.#rows;
    const words = new Uint32Array(ribbonWords(this.#slots, bits));
    // For each bit, the slots after the current one that its coefficients can reach.
    const low = new Int32Array(bits);
    const high = new Int32Array(bits);
    for (let at = this.#slots - 1; at >= 0; at--) {
      const block = (at >>> 5) * bits;
      const shift = at & 31;
      const a = rows[EQUATION * at];
      const b = rows[EQUATION * at + 1];
      const value = rows[EQUATION * at + 2];
      for (let bit = 0; bit < bits; bit++) {
        const l = low[bit] << 1;
        const h = (high[bit] << 1) | (low[bit] >>> 31);
        high[bit] = h;
        const own = parity((l & a) ^ (h & b)) ^ ((value >>> bit) & 1);
        const slot = a === 0 ? 0 : own;
        low[bit] = l | slot;
        words[block + bit] |= slot << shift;
      }
    }
    return words;
  }
}

/** 1 if an odd number of bits is set. */
function parity(value: number): number {
  let x = value;
  x ^= x >>> 16;
  x ^= x >>> 8;
  x ^= x >>> 4;
  return (0x6996 >>> (x & 15)) & 1;
}

/**
 * The value of a name without its lowest `checkedBits`, if these equal those of `check`; else -1. An
 * inserted name always gets its value.
 *
 * @param ribbon index in `ribbons` of the ribbon's first word, followed by its slots and its seed.
 */
export function ribbonValue(
  words: Uint32Array,
  ribbons: Int32Array,
  ribbon: number,
  bits: number,
  low: number,
  high: number,
  checkedBits: number,
  check: number,
): number {
  const seed = ribbons[ribbon + 2];
  const start = startOf(low, high, seed, ribbons[ribbon + 1]);
  const a = lowCoefficients(low, high, seed);
  const b = highCoefficients(low, high, seed);
  const shift = start & 31;
  const first = a << shift;
  // In two steps, because a shift by 32 is one by 0.
  const second = (b << shift) | ((a >>> 1) >>> (31 - shift));
  const third = (b >>> 1) >>> (31 - shift);
  // No block follows the last one of a ribbon.
  const thirdBlock = third === 0 ? 0 : 2 * bits;
  let at = (ribbons[ribbon] >>> 0) + (start >>> 5) * bits;
  let value = 0;
  for (let bit = 0; bit < bits; bit++, at++) {
    const x = (words[at] & first) ^ (words[at + bits] & second) ^ (words[at + thirdBlock] & third);
    const found = parity(x);
    if (bit >= checkedBits) value |= found << (bit - checkedBits);
    else if (found !== ((check >>> bit) & 1)) return -1;
  }
  return value;
}
