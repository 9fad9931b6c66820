import { MementoMapError } from "../errors.ts";

/*
 * A ribbon is a table of m slots of r bits. A name stands for 64 neighbouring slots, and picks some of
 * them by the bits of its coefficients; its value is the exclusive or of these slots. The slots are
 * chosen so that every name that was put in gets its value; any other name gets one that looks random. (Dillinger, Hübschle-Schneider, Sanders, Walzer: "Fast Succinct Retrieval and
 * Approximate Membership using Ribbon", 2022.)
 *
 * Slots lie in blocks of 32: r words of 32 bits, word j with bit j of each slot of the block.
 */

/** Coefficients of a name: it looks at this many neighbouring slots. */
export const BAND = 64;
/** Slots of a block. */
export const BLOCK_SLOTS = 32;
/** A value has at most this many bits. */
export const MAX_BITS = 32;

/** The share of slots more than names that is tried first; more are added until it works. */
const FIRST_SLACK = 0.025;
const SEEDS_TO_GROWTH = 2;

/** Names and values that are put into a ribbon: hashes of 64 bits in two halves, and values. */
export interface RibbonEntries {
  readonly count: number;
  readonly low: Uint32Array;
  readonly high: Uint32Array;
  readonly values: Uint32Array;
}

/** A ribbon as it is written. */
export interface Ribbon {
  readonly seed: number;
  readonly slots: number;
  readonly words: Uint32Array;
}

/** Murmur3's finalizer: every bit of the result depends on every bit given. */
export function mix(value: number): number {
  let x = value;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return x ^ (x >>> 16);
}

/** `value · size / 2^32`: a number below `size`, for values that are spread evenly. */
export function scale(value: number, size: number): number {
  return (((value >>> 0) * size) / 2 ** 32) >>> 0;
}

/** Where the band of a name begins. */
function startOf(low: number, high: number, seed: number, slots: number): number {
  return scale(mix(low ^ Math.imul(seed + 1, 0x9e3779b1)) ^ high, slots - BAND + 1);
}

function lowCoefficients(low: number, high: number, seed: number): number {
  return mix(Math.imul(high, 0x9e3779b1) + low + seed) | 1;
}

function highCoefficients(low: number, high: number, seed: number): number {
  return mix(Math.imul(low, 0x85ebca77) ^ (high + Math.imul(seed, 0xc2b2ae3d)));
}

/** The words of a ribbon. */
export function ribbonWords(slots: number, bits: number): number {
  return (slots / BLOCK_SLOTS) * bits;
}

/**
 * Makes a ribbon; the result depends on the entries only. Tries other seeds, then more slots, until
 * every name can get its value.
 *
 * @throws MM_LIMIT where two names have one hash and different values
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
  throw new MementoMapError("MM_LIMIT", "two keys have the same hash of 64 bits");
}

function slotsFor(count: number): number {
  return Math.max(BAND, BLOCK_SLOTS * Math.ceil(count / BLOCK_SLOTS)) + BLOCK_SLOTS;
}

/** Words of an equation: both halves of its coefficients, and its value. */
const EQUATION = 3;

/** Linear equations over bits, one for each name, in echelon form: at most one begins at each slot. */
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

  /** The slots that satisfy all equations, in blocks; a slot that nothing determines is 0. */
  solve(bits: number): Uint32Array {
    const rows = this.#rows;
    const words = new Uint32Array(ribbonWords(this.#slots, bits));
    // For each bit, the slots behind the current one that its coefficients can reach.
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
 * What a ribbon gives a name, if its lowest `checkedBits` are those of `check`: the bits above these;
 * else -1. A name that was put in always gets its value.
 *
 * @param ribbon where the words of the ribbon begin, its slots and its seed are in `ribbons`, in this order.
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
  // The last block of a ribbon has none behind it.
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
