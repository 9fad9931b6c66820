import { mix, scale } from "./ribbon.ts";

/*
 * The names in a packed map are the keys of a text map, `com,cnn)/a` and `com,cnn)/a/*`, and hosts with
 * their parenthesis, `com,cnn)`. They are identified by a 64-bit hash that is computed byte by byte, so that
 * one pass over a key yields the hashes of all names that cover it.
 */

export const START_A = 0x811c9dc5 | 0;
export const START_B = 0x2c1b3c6d | 0;
const MULTIPLIER_A = 0x01000193;
const MULTIPLIER_B = 0x85ebca6b | 0;
const FINISH = 0x9e3779b1 | 0;

/** Adds a byte to one half of the state. */
export function extendA(a: number, byte: number): number {
  return Math.imul(a ^ byte, MULTIPLIER_A);
}

export function extendB(b: number, byte: number): number {
  return Math.imul(b ^ byte, MULTIPLIER_B);
}

/** Mixes the bits of a state, the low half first. Distinct states have distinct hashes. */
export function finishLow(a: number, b: number): number {
  return mix(a + Math.imul(b, FINISH));
}

export function finishHigh(b: number, low: number): number {
  return mix(b ^ low);
}

/** An incremental hash of a name: call `extend`, then `finish`, and read `low` and `high`. */
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

  /** Continues from an earlier state. */
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

/** The fingerprint of a name, as a signed 32-bit number. */
export function fingerprint(low: number, high: number): number {
  return mix(low + Math.imul(high, 0x27d4eb2f));
}

/** A number from 0 to 7 for a name; see `bitsOf`. */
export function eighth(high: number): number {
  return mix(high ^ 0x165667b1) >>> 29;
}

/** The bits stored for a name, if the average row width is `width` eighths of a bit. */
export function bitsOf(width: number, high: number): number {
  return (width >>> 3) + (eighth(high) < (width & 7) ? 1 : 0);
}

/** The index of a name's shard within its filter. */
export function shardOf(low: number, shards: number): number {
  return scale(mix(low ^ 0x3c6ef372), shards);
}
