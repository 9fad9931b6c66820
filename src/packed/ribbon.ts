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

/** Linear equations over bits, one for each name, in echelon form: at most one begins at each slot. */
class Equations {
  readonly #low: Uint32Array;
  readonly #high: Uint32Array;
  readonly #values: Uint32Array;

  constructor(slots: number) {
    this.#low = new Uint32Array(slots);
    this.#high = new Uint32Array(slots);
    this.#values = new Uint32Array(slots);
  }

  /** Adds the equations of all names; false if one contradicts the others. */
  addAll({ count, low, high, values }: RibbonEntries, seed: number): boolean {
    const slots = this.#low.length;
    for (let i = 0; i < count; i++) {
      const [a, b] = [low[i], high[i]];
      const start = startOf(a, b, seed, slots);
      const isAdded = this.#add(
        start,
        lowCoefficients(a, b, seed),
        highCoefficients(a, b, seed),
        values[i],
      );
      if (!isAdded) return false;
    }
    return true;
  }

  #add(start: number, lowBits: number, highBits: number, value: number): boolean {
    let [at, low, high, rest] = [start, lowBits, highBits, value];
    for (;;) {
      // The first coefficient is always 1.
      if (this.#low[at] === 0) {
        this.#low[at] = low;
        this.#high[at] = high;
        this.#values[at] = rest;
        return true;
      }
      low ^= this.#low[at];
      high ^= this.#high[at];
      rest ^= this.#values[at];
      if (low === 0) {
        if (high === 0) return rest === 0;
        const shift = Math.clz32(high & -high) ^ 31;
        low = high >>> shift;
        high = 0;
        at += 32 + shift;
      } else {
        const shift = Math.clz32(low & -low) ^ 31;
        if (shift > 0) {
          low = (low >>> shift) | (high << (32 - shift));
          high >>>= shift;
        }
        at += shift;
      }
    }
  }

  /** The slots that satisfy all equations, in blocks; a slot that nothing determines is 0. */
  solve(bits: number): Uint32Array {
    const slots = this.#low.length;
    const words = new Uint32Array(ribbonWords(slots, bits));
    // For each bit, the slots behind the current one that its coefficients can reach.
    const low = new Uint32Array(bits);
    const high = new Uint32Array(bits);
    for (let at = slots - 1; at >= 0; at--) {
      const block = (at >>> 5) * bits;
      const mask = 1 << (at & 31);
      const [a, b, value] = [this.#low[at], this.#high[at], this.#values[at]];
      for (let bit = 0; bit < bits; bit++) {
        const h = (high[bit] << 1) | (low[bit] >>> 31);
        const l = low[bit] << 1;
        const own = parity((l & a) ^ (h & b)) ^ ((value >>> bit) & 1);
        const isSet = a === 0 ? 0 : own;
        high[bit] = h;
        low[bit] = l | isSet;
        if (isSet === 1) words[block + bit] |= mask;
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
