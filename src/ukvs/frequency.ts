import { MementoMapError, quote } from "../errors.ts";
import { isDigit, SLASH, writeDecimal, ZERO } from "../bytes/bytes.ts";

/** How a count relates to the true number: no suffix, `+`, `-`, `~`. */
export type Bound = "exact" | "atLeast" | "atMost" | "about";

/** A count with its bound. `value` is an integer from 0 to 2^53-1. */
export interface Count {
  readonly value: number;
  readonly bound: Bound;
}

/** The frequency of a key. A missing member means unknown, not zero. */
export interface Frequency {
  readonly mementos?: Count;
  readonly originals?: Count;
}

/** Bounds and their suffixes. The indexes are the bits defined below. */
const BOUNDS: readonly Bound[] = ["exact", "atLeast", "atMost", "about"];
const SUFFIXES: readonly string[] = ["", "+", "-", "~"];

const GRAMMAR = /^(?:(\d+)([+\-~]?))?(?:\/(?:(\d+)([+\-~]?))?)?$/;

/**
 * Parses `[mementos][/[originals]]`, each count with an optional `+`, `-` or `~`.
 *
 * `200/` equals `200`; `/` means present with both counts unknown.
 *
 * @throws MementoMapError `MM_BAD_FREQUENCY` for any other text, and for counts above 2^53-1.
 *
 * @example
 * ```ts
 * import { parseFrequency } from "mementomap";
 *
 * console.log(parseFrequency("200+/12").mementos);
 * ```
 * ```
 * { value: 200, bound: 'atLeast' }
 * ```
 */
export function parseFrequency(text: string): Frequency {
  const match = GRAMMAR.exec(text);
  if (match === null || text === "") {
    throw new MementoMapError(
      "MM_BAD_FREQUENCY",
      `frequency ${quote(text)} is not of the form [mementos][/[originals]], each count an integer with an optional "+", "-" or "~"`,
    );
  }
  const [, mementoDigits, mementoSuffix, originalDigits, originalSuffix] = match;
  const mementos = readCount(mementoDigits, mementoSuffix);
  const originals = readCount(originalDigits, originalSuffix);
  return frequencyOf(mementos, originals);
}

/** Like `parseFrequency`, but returns `undefined` for invalid text. */
export function tryParseFrequency(text: string): Frequency | undefined {
  try {
    return parseFrequency(text);
  } catch (error) {
    if (error instanceof MementoMapError) return undefined;
    throw error;
  }
}

/**
 * Formats a frequency as the shortest text that parses to the same frequency.
 *
 * @throws MementoMapError `MM_BAD_FREQUENCY` if a count is not an integer from 0 to 2^53-1.
 */
export function formatFrequency(frequency: Frequency): string {
  const { mementos, originals } = frequency;
  if (originals === undefined) return mementos === undefined ? "/" : formatCount(mementos);
  return `${mementos === undefined ? "" : formatCount(mementos)}/${formatCount(originals)}`;
}

/**
 * Adds the frequencies of two rows, without overstating the sum.
 *
 * Commutative and associative. Unknown plus known is "at least" the known part, or unknown if that is 0, because
 * `0+` would
 * mean absent. A sum above 2^53-1 is "at least" that.
 */
export function addFrequencies(a: Frequency, b: Frequency): Frequency {
  const sum = new FrequencySum();
  sum.add(a);
  sum.add(b);
  return sum.toFrequency();
}

function frequencyOf(mementos: Count | undefined, originals: Count | undefined): Frequency {
  return {
    ...(mementos === undefined ? {} : { mementos }),
    ...(originals === undefined ? {} : { originals }),
  };
}

/** Whether the memento count is not 0. Unknown counts are present. */
export function isPresent(frequency: Frequency): boolean {
  return frequency.mementos === undefined || frequency.mementos.value !== 0;
}

function readCount(digits: string | undefined, suffix: string | undefined): Count | undefined {
  if (digits === undefined) return undefined;
  const value = Number(digits);
  if (value > Number.MAX_SAFE_INTEGER) {
    throw new MementoMapError(
      "MM_BAD_FREQUENCY",
      `count ${quote(digits)} exceeds ${Number.MAX_SAFE_INTEGER}, the largest exact integer`,
    );
  }
  return { value, bound: BOUNDS[SUFFIXES.indexOf(suffix ?? "")] };
}

function formatCount(count: Count): string {
  if (!Number.isSafeInteger(count.value) || count.value < 0) {
    throw new MementoMapError(
      "MM_BAD_FREQUENCY",
      `count ${count.value} is not an integer from 0 to ${Number.MAX_SAFE_INTEGER}`,
    );
  }
  return `${count.value}${SUFFIXES[BOUNDS.indexOf(count.bound)]}`;
}

/** The memento count of a frequency, without its bound; 0 if there is none. */
export function frequencyCount(bytes: Uint8Array, start: number, end: number): number {
  let count = 0;
  for (let at = start; at < end && isDigit(bytes[at]); at++) count = count * 10 + bytes[at] - 0x30;
  return count;
}

/** The longest text of a frequency: two counts of 16 digits, their suffixes, and the slash. */
export const MAX_FREQUENCY_BYTES = 35;

// Bounds as bits, so that the bound of a sum is the bitwise OR of its parts: `+` | `-` is `~`.
const EXACT = 0;
const AT_LEAST = 1;
const AT_MOST = 2;
const ABOUT = AT_LEAST | AT_MOST;
/** An unknown count: it adds 0 and makes the known part a lower bound. */
const UNKNOWN = 4 | AT_LEAST;

const SUFFIX_BYTES: Readonly<Uint8Array> = Uint8Array.of(0, 0x2b, 0x2d, 0x7e);

const DECODER = new TextDecoder();

/**
 * A running sum of frequencies, for loops over many rows: reads and writes bytes without allocation. Bounds are
 * combined,
 * unknown counts make "at least", and a sum above 2^53-1 is "at least" that.
 */
export class FrequencySum {
  #isEmpty = true;
  #mementos = 0;
  #mementoBits = EXACT;
  #originals = 0;
  #originalBits = UNKNOWN;

  /** Whether nothing was added since creation or the last reset. An empty sum is `0`. */
  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  /** Whether the memento count is not 0. Unknown counts are present. */
  get isPresent(): boolean {
    return this.#mementos !== 0 || (this.#mementoBits & UNKNOWN) === UNKNOWN;
  }

  reset(): void {
    this.#set(0, EXACT, 0, UNKNOWN);
    this.#isEmpty = true;
  }

  /**
   * Adds the frequency in `bytes[start, end)`.
   *
   * @throws MementoMapError `MM_BAD_FREQUENCY` like `parseFrequency`.
   */
  addBytes(bytes: Uint8Array, start: number, end: number): void {
    const value = readDigits(bytes, start, end);
    if (value >= 0) this.#addState(value, EXACT, 0, UNKNOWN);
    else this.#addGeneral(bytes, start, end);
  }

  /** Adds an exact memento count with an unknown count of originals. */
  addInteger(mementos: number): void {
    this.#addState(mementos, EXACT, 0, UNKNOWN);
  }

  add(frequency: Frequency): void {
    const { mementos, originals } = frequency;
    this.#addState(
      mementos?.value ?? 0,
      bitsOf(mementos),
      originals?.value ?? 0,
      bitsOf(originals),
    );
  }

  addSum(other: FrequencySum): void {
    if (other.#isEmpty) return;
    this.#addState(other.#mementos, other.#mementoBits, other.#originals, other.#originalBits);
  }

  toFrequency(): Frequency {
    const mementos = countOf(this.#mementos, this.#mementoBits);
    const originals = countOf(this.#originals, this.#originalBits);
    return frequencyOf(mementos, originals);
  }

  /**
   * Writes the sum as text, like `formatFrequency`, and returns the offset after it.
   *
   * @throws MementoMapError `MM_LIMIT` unless `MAX_FREQUENCY_BYTES` are free at `at`.
   */
  writeTo(target: Uint8Array, at: number): number {
    if (target.length - at < MAX_FREQUENCY_BYTES) {
      throw new MementoMapError(
        "MM_LIMIT",
        `a frequency needs ${MAX_FREQUENCY_BYTES} free bytes and ${target.length - at} are left`,
      );
    }
    const hasOriginals = isKnown(this.#originals, this.#originalBits);
    let end = at;
    if (isKnown(this.#mementos, this.#mementoBits)) {
      end = writeCount(target, end, this.#mementos, this.#mementoBits);
      if (!hasOriginals) return end;
    }
    target[end++] = SLASH;
    return hasOriginals ? writeCount(target, end, this.#originals, this.#originalBits) : end;
  }

  #set(mementos: number, mementoBits: number, originals: number, originalBits: number): void {
    this.#isEmpty = false;
    this.#mementos = mementos;
    this.#mementoBits = mementoBits;
    this.#originals = originals;
    this.#originalBits = originalBits;
  }

  #addState(mementos: number, mementoBits: number, originals: number, originalBits: number): void {
    if (this.#isEmpty) {
      this.#set(mementos, mementoBits, originals, originalBits);
      return;
    }
    this.#mementoBits =
      addedBits(this.#mementos, this.#mementoBits) | addedBits(mementos, mementoBits);
    this.#originalBits =
      addedBits(this.#originals, this.#originalBits) | addedBits(originals, originalBits);
    this.#mementos += mementos;
    this.#originals += originals;
    if (this.#mementos > Number.MAX_SAFE_INTEGER) {
      this.#mementos = Number.MAX_SAFE_INTEGER;
      this.#mementoBits |= AT_LEAST;
    }
    if (this.#originals > Number.MAX_SAFE_INTEGER) {
      this.#originals = Number.MAX_SAFE_INTEGER;
      this.#originalBits |= AT_LEAST;
    }
  }

  #addGeneral(bytes: Uint8Array, start: number, end: number): void {
    let slash = start;
    while (slash < end && bytes[slash] !== SLASH) slash++;
    const mementoBits = bitsOfText(bytes, start, slash);
    const mementos = readCountBytes(bytes, start, slash, mementoBits);
    const originalsStart = Math.min(slash + 1, end);
    const originalBits = bitsOfText(bytes, originalsStart, end);
    const originals = readCountBytes(bytes, originalsStart, end, originalBits);
    if (mementos < 0 || originals < 0 || start >= end) {
      // The strict parser throws the specific error.
      this.add(parseFrequency(DECODER.decode(bytes.subarray(start, end))));
      return;
    }
    this.#addState(mementos, mementoBits, originals, originalBits);
  }
}

/**
 * Whether the frequency in `bytes[start, end)` means absent: its memento count is 0, with any bound and any count of
 * originals. Text that is not a frequency is not zero.
 */
export function frequencyIsZero(bytes: Uint8Array, start: number, end: number): boolean {
  let at = start;
  while (at < end && bytes[at] === ZERO) at++;
  if (at === start) return false;
  if (at < end && boundOfByte(bytes[at]) !== EXACT) at++;
  return at === end || bytes[at] === SLASH;
}

/** The integer in `bytes[start, end)`, or -1 if there is none or it is above 2^53-1. */
function readDigits(bytes: Uint8Array, start: number, end: number): number {
  if (start >= end) return -1;
  let value = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at];
    if (!isDigit(byte)) return -1;
    value = value * 10 + (byte - ZERO);
    if (value > Number.MAX_SAFE_INTEGER) return -1;
  }
  return value;
}

/** The value of a count with its suffix; 0 if unknown, -1 if invalid. */
function readCountBytes(bytes: Uint8Array, start: number, end: number, bits: number): number {
  if (bits === UNKNOWN) return 0;
  return readDigits(bytes, start, bits === EXACT ? end : end - 1);
}

function bitsOfText(bytes: Uint8Array, start: number, end: number): number {
  return start >= end ? UNKNOWN : boundOfByte(bytes[end - 1]);
}

function boundOfByte(byte: number): number {
  if (byte === SUFFIX_BYTES[AT_LEAST]) return AT_LEAST;
  if (byte === SUFFIX_BYTES[AT_MOST]) return AT_MOST;
  return byte === SUFFIX_BYTES[ABOUT] ? ABOUT : EXACT;
}

function bitsOf(count: Count | undefined): number {
  return count === undefined ? UNKNOWN : BOUNDS.indexOf(count.bound);
}

/** The bits that a count adds to a sum. No count is below 0, so "at most 0" is exactly 0. */
function addedBits(value: number, bits: number): number {
  return value === 0 ? bits & ~AT_MOST : bits;
}

function isKnown(value: number, bits: number): boolean {
  return value !== 0 || (bits & UNKNOWN) !== UNKNOWN;
}

function countOf(value: number, bits: number): Count | undefined {
  if (!isKnown(value, bits)) return undefined;
  return { value, bound: BOUNDS[bits & ABOUT] };
}

function writeCount(target: Uint8Array, at: number, value: number, bits: number): number {
  const end = writeDecimal(value, target, at);
  const bound = bits & ABOUT;
  if (bound === EXACT) return end;
  target[end] = SUFFIX_BYTES[bound];
  return end + 1;
}
