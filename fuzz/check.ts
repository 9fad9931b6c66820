import { isDeepStrictEqual, inspect } from "node:util";
import { isMementoMapError } from "../src/errors.ts";
import type { Random } from "../src/bytes/random.ts";

/** What came of reading an input: a value, or the error it was refused with. */
export type Outcome<T> = { readonly value: T } | { readonly refused: string };

/** A property that does not hold for an input. */
export class Violation extends Error {
  override readonly name = "Violation";
}

/** Runs a function; the errors of this package are an outcome, all others are thrown. */
export function outcomeOf<T>(compute: () => T): Outcome<T> {
  try {
    return { value: compute() };
  } catch (error) {
    return refusal(error);
  }
}

/** As {@link outcomeOf}, for what takes its time. */
export async function outcomeOfAsync<T>(compute: () => Promise<T>): Promise<Outcome<T>> {
  try {
    return { value: await compute() };
  } catch (error) {
    return refusal(error);
  }
}

function refusal(error: unknown): { readonly refused: string } {
  if (!isMementoMapError(error)) throw error;
  return { refused: error.code };
}

/** @throws Violation unless the two are equal in every part. */
export function mustEqual(actual: unknown, expected: unknown, what: string): void {
  if (isDeepStrictEqual(actual, expected)) return;
  throw new Violation(`${what}: ${shown(actual)} is not ${shown(expected)}`);
}

/** @throws Violation unless the condition holds. */
export function must(holds: boolean, what: string, value?: unknown): void {
  if (holds) return;
  throw new Violation(value === undefined ? what : `${what}: ${shown(value)}`);
}

function shown(value: unknown): string {
  return inspect(value, { depth: 5, breakLength: Infinity, maxStringLength: 400 }).slice(0, 900);
}

/** Few enough that reading them takes no longer than the rest. */
const MAX_CHUNKS = 100;

/**
 * Cuts bytes at random places; those of a short input sometimes into single bytes. Every chunk is a
 * copy of its own.
 */
export function randomChunks(bytes: Uint8Array, random: Random): Uint8Array[] {
  const least = Math.ceil((2 * bytes.length) / MAX_CHUNKS);
  const longest = Math.max(least, random.pick([1, 3, 16, 64, 1024]));
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = Math.min(bytes.length, at + 1 + random.below(longest));
    chunks.push(bytes.slice(at, end));
    at = end;
  }
  return chunks;
}

/** One input in so many is made long. */
const RARELY = 50;

/** Mostly the bytes as they are; sometimes with a part of them repeated, up to `length`: time must stay linear. */
export function sometimesLong(bytes: Uint8Array, random: Random, length: number): Uint8Array {
  if (bytes.length === 0 || random.below(RARELY) > 0) return bytes;
  const start = random.below(bytes.length);
  const part = bytes.subarray(start, start + 1 + random.below(bytes.length - start));
  const long = new Uint8Array(length);
  long.set(bytes.subarray(0, start));
  for (let at = start; at < length; at += part.length) long.set(part.subarray(0, length - at), at);
  return long;
}

const LATIN1 = new TextDecoder("latin1");
const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** Bytes as the text of a header field, as Node gives it: one character for each byte. */
export function latin1(bytes: Uint8Array): string {
  return LATIN1.decode(bytes);
}

/** Bytes as text; those that are not UTF-8 become U+FFFD. */
export function utf8(bytes: Uint8Array): string {
  return UTF8.decode(bytes);
}

/** A text as bytes. */
export function bytesOf(text: string | Uint8Array): Uint8Array {
  return new Uint8Array(typeof text === "string" ? Buffer.from(text) : text);
}
