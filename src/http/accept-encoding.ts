import type { Encoding } from "./representation.ts";

const ITEM = /^\s*([!#$%&'*+.^_`|~0-9a-z-]+)\s*(?:;\s*q\s*=\s*(\d(?:\.\d{0,3})?)\s*)?$/i;

/**
 * Which of the codings at hand to send, by `Accept-Encoding` (RFC 9110, section 12.5.3); undefined
 * for none.
 *
 * Of codings liked equally the first of `available` is taken. A client that says nothing gets the
 * plain bytes: it may be a script that would store whatever comes.
 */
export function chooseEncoding(
  header: string | undefined,
  available: readonly Encoding[],
): Encoding | undefined {
  if (header === undefined || available.length === 0) return undefined;
  const weights = new Map<string, number>();
  for (const item of header.split(",")) {
    const [, name, weight = "1"] = ITEM.exec(item) ?? [];
    if (name !== undefined) weights.set(name.toLowerCase(), Number(weight));
  }
  const other = weights.get("*");
  const weightOf = (coding: string): number =>
    weights.get(coding) ?? (coding === "gzip" ? weights.get("x-gzip") : undefined) ?? other ?? 0;
  let best: Encoding | undefined;
  let bestWeight = 0;
  for (const coding of available) {
    const weight = weightOf(coding);
    if (weight > bestWeight) {
      best = coding;
      bestWeight = weight;
    }
  }
  const plain = weights.get("identity");
  return plain !== undefined && plain > bestWeight ? undefined : best;
}
