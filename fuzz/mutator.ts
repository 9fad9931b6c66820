import type { Random } from "../src/bytes/random.ts";
import { bytesOf } from "./check.ts";

/** No input is longer. */
export const MAX_INPUT_BYTES: number = 1 << 16;
const LF = 10;

/** Bytes that mean something in one of the formats. */
const BYTES: readonly number[] = [
  ...Buffer.from(" \t\r\n\0\"\\'{}[](),:;=<>/*!@#%&?+-~_.|09aZ"),
  0x1f,
  0x7f,
  0x80,
  0xbf,
  0xc3,
  0xef,
  0xff,
];

/** What is hard to read wherever it stands. */
const WORDS: readonly string[] = [
  "0",
  "-1",
  "1",
  "255",
  "65536",
  "2147483648",
  "4294967296",
  "9007199254740991",
  "9007199254740992",
  "18446744073709551616",
  "1e308",
  "-0",
  "NaN",
  "20161131235960",
  "00000000000000",
  "99991231235959",
  "http://",
  "https://user:p@[::1]:80/",
  "%00",
  "%2f",
  "%zz",
  "%2A",
  "*",
  "..",
  "//",
  "\\u0000",
  "\\ud800",
  "\u2028",
  "\uFEFF",
  "ß",
  "漢",
  "😀",
  "\u0301",
  "xn--",
  "null",
  "__proto__",
  "constructor",
  "toString",
  "\r\n",
  "\r\n\r\n",
  "\n\n",
  '""',
];

/**
 * Makes inputs out of others: changes, removes, repeats and moves bytes, numbers and lines, inserts
 * words, and joins parts of two inputs.
 */
export class Mutator {
  readonly #random: Random;
  readonly #words: readonly Uint8Array[];

  constructor(random: Random, words: readonly (string | Uint8Array)[] = []) {
    this.#random = random;
    // Those of the format come up as often as all others.
    const own = words.length === 0 ? 0 : Math.ceil(WORDS.length / words.length);
    const all = [...WORDS, ...Array.from({ length: own }, () => words).flat()];
    this.#words = all.map(bytesOf);
  }

  /** A mutation of one of the inputs, which must not be empty. */
  next(pool: readonly Uint8Array[]): Uint8Array {
    const random = this.#random;
    let input: Uint8Array = random.pick(pool);
    do input = this.#change(input, random.pick(pool));
    while (random.chance(0.6));
    return input.length > MAX_INPUT_BYTES ? input.subarray(0, MAX_INPUT_BYTES) : input;
  }

  #change(input: Uint8Array, other: Uint8Array): Uint8Array {
    const random = this.#random;
    const at = random.below(input.length + 1);
    switch (random.below(13)) {
      case 0:
        return replaced(input, at, at + 1, Uint8Array.of(random.pick(BYTES)));
      case 1:
        return replaced(input, at, at + 1, Uint8Array.of(random.below(256)));
      case 2: {
        const flipped = input.slice();
        if (at < flipped.length) flipped[at] ^= 1 << random.below(8);
        return flipped;
      }
      case 3:
        return replaced(input, at, at, Uint8Array.of(random.pick(BYTES)));
      case 4:
        return replaced(input, at, at, random.pick(this.#words));
      case 5:
        return replaced(input, at, at + 1 + random.below(8), random.pick(this.#words));
      case 6:
        return replaced(input, at, at + this.#length(input), EMPTY);
      case 7: {
        const from = random.below(input.length + 1);
        return replaced(input, at, at, input.subarray(from, from + this.#length(input)));
      }
      case 8: {
        const from = random.below(other.length + 1);
        return replaced(input, at, at, other.subarray(from, from + this.#length(other)));
      }
      case 9: {
        const from = random.below(other.length + 1);
        return replaced(input, at, input.length, other.subarray(from));
      }
      case 10:
        return this.#changeNumber(input, at);
      case 11:
        return this.#changeLines(input, at);
      default:
        return random.chance(0.1) ? this.#repeat(input, at) : input.slice(0, at);
    }
  }

  /** Mostly a few bytes, sometimes a good part of the input. */
  #length(input: Uint8Array): number {
    const random = this.#random;
    return 1 + random.below(random.chance(0.7) ? 8 : Math.max(1, input.length));
  }

  /** Replaces the number at or behind an offset. */
  #changeNumber(input: Uint8Array, from: number): Uint8Array {
    let start = from;
    while (start < input.length && !isDigit(input[start])) start++;
    let end = start;
    while (end < input.length && isDigit(input[end])) end++;
    if (start === end) return input;
    const random = this.#random;
    const value = Number(Buffer.from(input.subarray(start, end)).toString("latin1"));
    const number = random.pick([value + 1, value - 1, value * 2, -value, random.uint32()]);
    const text = random.chance(0.5) ? String(number) : random.pick(NUMBERS);
    return replaced(input, start, end, new Uint8Array(Buffer.from(text)));
  }

  /** Repeats, removes or moves the line at an offset. */
  #changeLines(input: Uint8Array, at: number): Uint8Array {
    const random = this.#random;
    const start = at === 0 ? 0 : input.lastIndexOf(LF, at - 1) + 1;
    const end = (input.indexOf(LF, at) + 1 || input.length + 1) - 1 + 1;
    const line = input.slice(start, end);
    switch (random.below(3)) {
      case 0:
        return replaced(input, start, start, line);
      case 1:
        return replaced(input, start, end, EMPTY);
      default: {
        const rest = replaced(input, start, end, EMPTY);
        const place = rest.lastIndexOf(LF, random.below(rest.length + 1)) + 1;
        return replaced(rest, place, place, line);
      }
    }
  }

  /** Makes a long input: part of this one many times over. */
  #repeat(input: Uint8Array, at: number): Uint8Array {
    const part = input.subarray(at, at + this.#length(input));
    const times = this.#random.pick([10, 100, 1000]);
    const room = Math.floor(MAX_INPUT_BYTES / Math.max(1, part.length));
    const run = new Uint8Array(part.length * Math.min(times, room));
    for (let i = 0; i < run.length; i += part.length) run.set(part, i);
    return replaced(input, at, at, run);
  }
}

const EMPTY = new Uint8Array(0);

const NUMBERS: readonly string[] = WORDS.filter((word) => /^-?\d/.test(word));

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

/** The input with `[start, end)` replaced; an end behind the input's is the input's. */
function replaced(input: Uint8Array, start: number, end: number, insert: Uint8Array): Uint8Array {
  const rest = input.subarray(Math.min(end, input.length));
  const result = new Uint8Array(start + insert.length + rest.length);
  result.set(input.subarray(0, start));
  result.set(insert, start);
  result.set(rest, start + insert.length);
  return result;
}
