/** The years of a host for people: `1996`, `1996–2009`; undefined where they say nothing, because any is among them. */
export function yearWords(
  years: readonly [first: number, last: number] | undefined,
): string | undefined {
  if (years === undefined) return undefined;
  const [first, last] = years;
  if (first === 0 && last === 9999) return undefined;
  return first === last ? String(first) : `${first}–${last}`;
}
