import type { Answer } from "../../src/lookup/lookup.ts";
import {
  addFrequencies,
  formatFrequency,
  isPresent,
  parseFrequency,
} from "../../src/ukvs/frequency.ts";
import { surtKey } from "../../src/surt/key.ts";
import type { Row } from "./map-arbitraries.ts";

/**
 * The rules of lookup once more, as a scan over all rows: what covers the URI, which of it is the
 * most specific, what its rows say. Knows nothing of lookup keys, hashes and searches.
 */
export function linearLookup(
  rows: readonly Row[],
  surt: string,
  at?: string,
): Omit<Answer, "distance"> {
  let best: { rank: number[]; key: string } | undefined;
  for (const { key } of rows) {
    const rank = rankOf(key, surt);
    if (rank !== undefined && (best === undefined || compareRanks(rank, best.rank) < 0))
      best = { rank, key };
  }
  if (best === undefined) return { present: false };
  const { key } = best;
  const own = rows.filter((row) => row.key === key);
  const totals = own.filter((row) => row.datetime === ":").flatMap((row) => statedAt(row, at));
  const parts = own.filter((row) => row.datetime !== ":").flatMap((row) => statedAt(row, at));
  // Without a time a total stands for all parts, unless it says 0 and they do not.
  const totalHolds = at === undefined && (totals.some(saysPresent) || !parts.some(saysPresent));
  const [first, second] = totalHolds ? [totals, parts] : [parts, totals];
  const stated = first.length > 0 ? first : second;
  const [only] = stated;
  if (only === undefined) return { present: false, key };
  const present = stated.some(saysPresent);
  if (stated.length === 1) return { present, key, frequency: only };
  const sum = stated.map(parseFrequency).reduce(addFrequencies);
  return { present, key, frequency: formatFrequency(sum) };
}

function saysPresent(frequency: string): boolean {
  return isPresent(parseFrequency(frequency));
}

/** How specific a key is for a SURT, smallest first; undefined when it does not cover it. */
function rankOf(key: string, surt: string): number[] | undefined {
  const uri = surtKey(surt);
  if (key === surt && surt.includes("?")) return [0];
  if (key === uri) return [1];
  const paren = uri.indexOf(")/");
  if (paren < 1) return undefined;
  const host = uri.slice(0, paren);
  const path = uri.slice(paren + 1);
  if (path === "/" && key === `${host})`) return [2];

  const spread = /^(.*),\*\)(.*)$/.exec(key);
  if (spread !== null) {
    const [, above = "", spreadPath] = spread;
    return isBelow(host, above, ",") && spreadPath === path ? [4, -labels(above), 0] : undefined;
  }
  if (key.endsWith("/*") && !key.includes("?")) {
    const above = key.slice(0, -2);
    const tree = path === "/" ? `${host})` : uri;
    return isBelow(tree, above, "/") ? [3, -above.length] : undefined;
  }
  if (key.endsWith(",*")) {
    const above = key.slice(0, -2);
    return isBelow(host, above, ",") ? [4, -labels(above), 1] : undefined;
  }
  return undefined;
}

function isBelow(text: string, above: string, separator: string): boolean {
  return text === above || text.startsWith(above + separator);
}

function labels(host: string): number {
  return host.split(",").length;
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function statedAt(row: Row, at: string | undefined): string[] {
  const frequency = row.frequency === "-" ? "/" : row.frequency;
  if (at === undefined) return [frequency];
  if (row.datetime !== undefined && !overlap(row.datetime, at)) return [];
  const split = /datetime"?: \{(.*?)\}/.exec(row.json ?? "")?.[1];
  if (split === undefined) return [frequency];
  return Array.from(split.matchAll(/"(\d+)": "?([^",]+)"?/g)).flatMap(
    ([, datetime = "", part = ""]) => (overlap(datetime, at) ? [part] : []),
  );
}

/** Whether two periods share a second, by writing both out as first and last second. */
function overlap(datetime: string, at: string): boolean {
  const [from = "", until = from] = datetime.split(":");
  return first(from) <= last(at) && first(at) <= last(until);
}

function first(prefix: string): string {
  return prefix.padEnd(14, "0");
}

function last(prefix: string): string {
  return prefix.padEnd(14, "9");
}
