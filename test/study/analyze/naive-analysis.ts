import type { Row } from "./index-rows.ts";

/** The plainest way to each number: all rows in memory, sets and loops. */
export function naive(rows: readonly Row[]) {
  const perOriginal = countBy(rows, originalOf);
  const counts = [...perOriginal.values()].sort((a, b) => a - b);
  const keys = [...new Set(rows.map(keyOf))];
  const hosts = [...new Set(rows.map(hostOf))];
  return {
    mementos: rows.length,
    originals: perOriginal.size,
    keys: keys.length,
    hosts: hosts.length,
    ips: hosts.filter((host) => /^\d+,\d+,\d+,\d+$/.test(host)).length,
    perOriginal,
    counts,
    median: median(counts),
    gini: gini(counts),
    years: years(rows),
    hostDepths: depthTable(keys, hostPrefixes),
    pathDepths: depthTable(keys, pathPrefixes),
    hostsByDepth: countBy(hosts, (host) => host.split(",").length),
    keysByPathDepth: countBy(keys, (key) => pathPrefixes(key).length - 1),
    tlds: tlds(rows),
  };
}

export function originalOf({ surt }: Row): string {
  const [path = "", ...query] = surt.split("?");
  return [trimmed(path), ...query].join("?");
}

export function keyOf({ surt }: Row): string {
  return trimmed(surt.split("?")[0] ?? "");
}

function hostOf({ surt }: Row): string {
  return surt.split(")")[0] ?? "";
}

function trimmed(path: string): string {
  return path.replace(/(?<!\))\/+$/, "");
}

export function countBy<T, K>(list: readonly T[], of: (item: T) => K): Map<K, number> {
  const counts = new Map<K, number>();
  for (const item of list) counts.set(of(item), (counts.get(of(item)) ?? 0) + 1);
  return counts;
}

function median(sorted: readonly number[]): number {
  const middle = sorted.length / 2;
  if (sorted.length === 0) return 0;
  const upper = sorted[Math.floor(middle)] ?? 0;
  const lower = sorted[Math.ceil(middle) - 1] ?? 0;
  return (lower + upper) / 2;
}

/** By its definition: the mean difference of all pairs. */
function gini(list: readonly number[]): number {
  const sum = list.reduce((a, b) => a + b, 0);
  let differences = 0;
  for (const a of list) for (const b of list) differences += Math.abs(a - b);
  return list.length === 0 ? 0 : differences / (2 * list.length * sum);
}

function years(rows: readonly Row[]) {
  const seen = new Set<string>();
  const all = [...new Set(rows.map((row) => row.datetime.slice(0, 4)))].sort((a, b) =>
    a < b ? -1 : 1,
  );
  let mementos = 0;
  return all.map((year) => {
    const own = rows.filter((row) => row.datetime.startsWith(year));
    const originals = new Set(own.map(originalOf));
    const old = [...originals].filter((original) => seen.has(original)).length;
    for (const original of originals) seen.add(original);
    mementos += own.length;
    return {
      year: Number(year),
      originals: originals.size,
      cumulativeOriginals: seen.size,
      mementos: own.length,
      cumulativeMementos: mementos,
      duplicateShare: old / originals.size,
      ok: own.filter((row) => /^2\d\d$/.test(row.status)).length / own.length,
    };
  });
}

function hostPrefixes(key: string): string[] {
  const labels = (key.split(")")[0] ?? "").split(",");
  return labels.map((_, i) => labels.slice(0, i + 1).join(","));
}

/** P0 is the host itself. */
function pathPrefixes(key: string): string[] {
  const [host = "", path = ""] = key.split(")/");
  const segments = path === "" ? [] : path.split("/");
  return [`${host})`, ...segments.map((_, i) => `${host})/${segments.slice(0, i + 1).join("/")}`)];
}

function depthTable(keys: readonly string[], prefixes: (key: string) => string[]) {
  const deepest = Math.max(0, ...keys.map((key) => prefixes(key).length));
  return Array.from({ length: deepest }, (_, level) => {
    const cut = keys.map((key) => prefixes(key)).filter((list) => list.length > level);
    const sizes = countBy(cut, (list) => list[level]);
    const families = new Map<string, Set<string>>();
    for (const list of cut) {
      const parent = list[level - 1] ?? "";
      families.set(parent, (families.get(parent) ?? new Set()).add(list[level] ?? ""));
    }
    const values = [...sizes.values()].sort((a, b) => a - b);
    const mean = cut.length / values.length;
    const variance = values.reduce((sum, n) => sum + (n - mean) ** 2, 0) / values.length;
    return {
      count: sizes.size,
      sum: cut.length,
      max: values.at(-1) ?? 0,
      mean,
      median: median(values),
      standardDeviation: Math.sqrt(variance),
      reductionQuotient: (cut.length - sizes.size) / keys.length,
      parents: families.size,
      families: [...families.values()].map((family) => family.size),
      sizes: values,
    };
  });
}

function tlds(rows: readonly Row[]) {
  const names = rows.filter((row) => !/^\d/.test(row.surt));
  const tldOf = (surt: string): string => hostOf({ surt } as Row).split(",")[0] ?? ""; // only the SURT is looked at
  const mementos = countBy(names, (row) => tldOf(row.surt));
  const originals = countBy([...new Set(names.map(originalOf))], tldOf);
  return new Map([...mementos].map(([tld, count]) => [tld, [originals.get(tld), count]]));
}
