import { mix, scale } from "./ribbon.ts";

/*
 * Names of a packed map are keys as a map in text has them: `com,cnn)/a`, `com,cnn)/a/*`; and hosts up
 * to their parenthesis, `com,cnn)`. They are known by a hash of 64 bits that is made byte by byte, so
 * that one pass over a key gives the hashes of all names that cover it.
 */

export const START_A = 0x811c9dc5 | 0;
export const START_B = 0x2c1b3c6d | 0;
const MULTIPLIER_A = 0x01000193;
const MULTIPLIER_B = 0x85ebca6b | 0;
const FINISH = 0x9e3779b1 | 0;

/** Goes on with a byte, in both halves of the state. */
export function extendA(a: number, byte: number): number {
  return Math.imul(a ^ byte, MULTIPLIER_A);
}

export function extendB(b: number, byte: number): number {
  return Math.imul(b ^ byte, MULTIPLIER_B);
}

/** Mixes the bits of a state, the low half first; no two states give the same hash. */
export function finishLow(a: number, b: number): number {
  return mix(a + Math.imul(b, FINISH));
}

export function finishHigh(b: number, low: number): number {
  return mix(b ^ low);
}

/** The hash of a name that is being read: go on with `extend`, and take `low` and `high` after `finish`. */
export class NameHash {
  a: number = START_A;
  b: number = START_B;
  low = 0;
  high = 0;

  reset(): this {
    this.a = START_A;
    this.b = START_B;
    return this;
  }

  /** Goes on from a state that was read earlier. */
  resume({ a, b }: NameHash): this {
    this.a = a;
    this.b = b;
    return this;
  }

  extend(bytes: Uint8Array, start: number, end: number): this {
    let { a, b } = this;
    for (let i = start; i < end; i++) {
      const byte = bytes[i];
      a = extendA(a, byte);
      b = extendB(b, byte);
    }
    this.a = a;
    this.b = b;
    return this;
  }

  extendByte(byte: number): this {
    this.a = extendA(this.a, byte);
    this.b = extendB(this.b, byte);
    return this;
  }

  finish(): this {
    this.low = finishLow(this.a, this.b) >>> 0;
    this.high = finishHigh(this.b, this.low) >>> 0;
    return this;
  }
}

/** The bits by which a name is told from others, as a number of 32 bits with a sign. */
export function fingerprint(low: number, high: number): number {
  return mix(low + Math.imul(high, 0x27d4eb2f));
}

/** A number below 8 for a name, by which names share out fractions of a bit. */
export function eighth(high: number): number {
  return mix(high ^ 0x165667b1) >>> 29;
}

/** The bits of a name where rows have a width in eighths of a bit. */
export function bitsOf(width: number, high: number): number {
  return (width >>> 3) + (eighth(high) < (width & 7) ? 1 : 0);
}

/** The shard of a name among those of its filter. */
export function shardOf(low: number, shards: number): number {
  return scale(mix(low ^ 0x3c6ef372), shards);
}
