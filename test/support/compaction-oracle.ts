import {
  addFrequencies,
  formatFrequency,
  isPresent,
  parseFrequency,
} from "../../src/ukvs/frequency.ts";
import type { Frequency } from "../../src/ukvs/frequency.ts";

/**
 * Reference implementation of the compaction in the paper, as simple as possible: everything in memory,
 * strings, sets and recursion, no streaming. It shares only the arithmetic of frequencies with the
 * production code.
 */

export interface OracleOptions {
  readonly hostWeight: number;
  readonly pathWeight: number;
  readonly hostPower?: { a: number; k: number };
  readonly pathPower?: { a: number; k: number };
  readonly maxHostDepth?: number;
  readonly maxPathDepth?: number;
}

export interface OracleRow {
  readonly line: string;
  readonly key: string;
  readonly frequency: Frequency;
  /** All nodes above the key, shallowest first. */
  readonly chain: readonly string[];
}

/** Compacts rows (`key frequency`), sorted or not; returns sorted rows. */
export function compactByOracle(lines: readonly string[], options: OracleOptions): string[] {
  return compactRows(parseRows(lines), options);
}

/** Parses rows, to compact them several times. */
export function parseRows(lines: readonly string[]): readonly OracleRow[] {
  return lines.map(parseRow);
}

/** Like {@link compactByOracle}, for parsed rows. */
export function compactRows(rows: readonly OracleRow[], options: OracleOptions): string[] {
  const held = rows.filter((row) => isPresent(row.frequency));
  const voids = rows.filter((row) => !isPresent(row.frequency));
  const rolledUp = nodesOverCutoff(held, options);

  const groups = new Groups();
  const remaining: OracleRow[] = [];
  for (const row of held) {
    const node = row.chain.find((text) => rolledUp.has(text));
    if (node === undefined) remaining.push(row);
    else groups.add(node, row);
  }
  const heldNodes = new Set(voids.length === 0 ? [] : held.flatMap((row) => row.chain));
  // The exclusion of a page is looked up after its queries.
  const queriedPages = new Set(
    held.filter((row) => row.key.includes("?")).map((row) => row.key.replace(/\?.*$/, "")),
  );
  for (const row of voids) {
    const isBelow = row.chain.some((text) => rolledUp.has(text));
    const isSpread = /,\*\)/.test(row.key);
    const coversHeld = isWildcard(row.key)
      ? heldNodes.has(base(row.key)) || queriedPages.has(base(row.key))
      : queriedPages.has(row.key);
    if (!isBelow || (!isSpread && !coversHeld)) remaining.push(row);
  }
  const wildcards = [...groups.rows].map(([node, members]) => {
    const key = node.includes(")") ? `${node}/*` : `${node},*`;
    return `${key} ${formatFrequency(total(node, members))}`;
  });
  return sortedByBytes([...remaining.map((row) => row.line), ...wildcards]);
}

class Groups {
  readonly rows = new Map<string, OracleRow[]>();

  add(node: string, row: OracleRow): void {
    const rows = this.rows.get(node);
    if (rows === undefined) this.rows.set(node, [row]);
    else rows.push(row);
  }
}

function sortedByBytes(lines: readonly string[]): string[] {
  return lines
    .map((line) => Buffer.from(line))
    .sort((a, b) => Buffer.compare(a, b))
    .map((bytes) => bytes.toString());
}

export function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function parseRow(line: string): OracleRow {
  const [written = "", frequency = ""] = line.split(" ");
  const key = /^[^)]*\)$/.test(written) ? `${written}/` : written;
  return {
    line: `${key} ${frequency}`,
    key,
    frequency: parseFrequency(frequency),
    chain: ancestors(key),
  };
}

function isTreeKey(key: string): boolean {
  return key.includes(")") || /.,\*$/.test(key);
}

function isWildcard(key: string): boolean {
  return /\/\*$|^[^)]*,\*$/.test(key);
}

/** `com,x)/a/*` → `com,x)/a`, `com,x,*` → `com,x`. */
function base(wildcard: string): string {
  return wildcard.slice(0, -2);
}

/** All nodes above a key, shallowest first: `com`, `com,x`, `com,x)`, `com,x)/a`, `com,x)/a/b`. */
function ancestors(key: string): string[] {
  if (!isTreeKey(key)) return [];
  const paren = key.indexOf(")");
  const hostText = paren === -1 ? base(key) : key.slice(0, paren);
  const labels = hostText.split(",");
  const hosts = labels.map((_, i) => labels.slice(0, i + 1).join(","));
  if (paren === -1 || hostText.endsWith(",*")) return hosts;
  const root = key.slice(0, paren + 1);
  const [page = "", query] = key.split("?");
  const path = page.slice(root.length + 1);
  const segments = path === "" ? [] : path.split("/");
  // A page with a query belongs to the folder; a wildcard to the node that it covers.
  if (query !== undefined || segments.at(-1) === "*") segments.pop();
  return [
    ...hosts,
    root,
    ...segments.map((_, i) => `${root}/${segments.slice(0, i + 1).join("/")}`),
  ];
}

/** Splits into at most `limit` parts; the last holds the rest. */
function splitAtMost(text: string, separator: string, limit: number): string[] {
  const parts = text.split(separator);
  return parts.length <= limit
    ? parts
    : [...parts.slice(0, limit - 1), parts.slice(limit - 1).join(separator)];
}

function nodesOverCutoff(held: readonly OracleRow[], options: OracleOptions): Set<string> {
  const { a: ha, k: hk } = options.hostPower ?? { a: 16.329, k: 0.714 };
  const { a: pa, k: pk } = options.pathPower ?? { a: 24.546, k: 1.429 };
  const maxHost = options.maxHostDepth ?? 8;
  const maxPath = options.maxPathDepth ?? 9;
  const children = new Map<string, { depth: number; isHost: boolean; tokens: Set<string> }>();
  const note = (node: string, depth: number, isHost: boolean, token: string): void => {
    const known = children.get(node) ?? { depth, isHost, tokens: new Set<string>() };
    known.tokens.add(token);
    children.set(node, known);
  };
  for (const { key } of held) {
    if (!isTreeKey(key)) continue;
    const [host = ""] = key.split(")");
    const labels = splitAtMost(host, ",", maxHost);
    for (let i = 1; i < labels.length; i++) {
      note(labels.slice(0, i).join(","), i, true, labels[i] ?? "");
    }
    if (!key.includes(")") || host.endsWith(",*")) continue;
    // A page with a query is not a child itself, but the folders above it are.
    const [page = "", query] = key.split("?");
    const isQuery = query !== undefined;
    const path = isQuery ? page.replace(/\/[^/]*$/, "") : page.replace(/^([^)]*\))\/$/, "$1");
    const segments = splitAtMost(path, "/", isQuery ? Number.POSITIVE_INFINITY : maxPath);
    for (let i = 1; i < segments.length && !(isQuery && i + 1 >= maxPath); i++) {
      note(segments.slice(0, i).join("/"), i, false, segments[i] ?? "");
    }
  }
  const over = new Set<string>();
  for (const [node, { depth, isHost, tokens }] of children) {
    if (isHost && depth === 1) continue;
    const weight = isHost ? options.hostWeight : options.pathWeight;
    const mean = isHost ? ha * depth ** -hk : pa * depth ** -pk;
    if (tokens.size > weight * mean) over.add(node);
  }
  return over;
}

/** The sum of a subtree; a wildcard row includes the rows below it. */
function total(node: string, members: readonly OracleRow[]): Frequency {
  const wildcard = members.find((row) => isWildcard(row.key) && base(row.key) === node);
  if (wildcard !== undefined) return wildcard.frequency;
  const parts: Frequency[] = [];
  const below = new Groups();
  for (const row of members) {
    const next = row.chain[row.chain.indexOf(node) + 1];
    if (next === undefined)
      parts.push(/,\*\)/.test(row.key) ? asBound(row.frequency) : row.frequency);
    else below.add(next, row);
  }
  for (const [child, rows] of below.rows) parts.push(total(child, rows));
  return parts.reduce(addFrequencies);
}

/** `X,*)/p` overlaps with rows that are already counted. */
function asBound(frequency: Frequency): Frequency {
  const text = formatFrequency(frequency);
  return parseFrequency(
    text.replaceAll(/(\d+)([+~-]?)/g, (_, digits: string, bound: string) => {
      const loose = { "": "-", "-": "-", "+": "~", "~": "~" }[bound] ?? "~";
      return `${digits}${loose}`;
    }),
  );
}
