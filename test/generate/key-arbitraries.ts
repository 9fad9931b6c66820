import fc from "fast-check";

/** The bytes of a string that has one code unit a byte. */
export function bytesOf(text: string): Uint8Array {
  return Buffer.from(text, "latin1");
}

/** The string of one code unit a byte: compares as the bytes do. */
export function textOf(bytes: Uint8Array, start: number = 0, end: number = bytes.length): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("latin1");
}

/** Compares strings of one code unit a byte in byte order. */
export function byUnits(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Keys that begin alike, are each other's beginnings, and have bytes of all sizes. */
export const key: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom("com,a)/", "com,a)/aa", "com,ab)/longer/than/four", "o", ""),
    fc.string({ unit: fc.constantFrom("a", "b", "/", "-", "\u0001", "\u00ff", "?"), maxLength: 9 }),
  )
  .map((parts) => parts.join(""));

export const keyCounts: fc.Arbitrary<[string, number][]> = fc.array(
  fc.tuple(key, fc.integer({ min: 1, max: 300 })),
  { maxLength: 120 },
);

/** The same counts, the plain way. */
export function naiveCounts(entries: Iterable<readonly [string, number]>): [string, number][] {
  const counts = new Map<string, number>();
  for (const [text, count] of entries) counts.set(text, (counts.get(text) ?? 0) + count);
  return [...counts].sort(([a], [b]) => byUnits(a, b));
}
