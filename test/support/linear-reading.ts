import JSON5 from "json5";
import type { Answer } from "../../src/lookup/map-lookup.ts";
import { addFrequencies, formatFrequency, parseFrequency } from "../../src/ukvs/frequency.ts";

/** The result of a linear scan of a map for one SURT. */
export interface Reading {
  readonly present: boolean;
  readonly key?: string;
  readonly frequency?: string;
}

/** The same from a lookup of this package. */
export function reading({ distance: _distance, ...said }: Answer): Reading {
  return said;
}

/** A period: its first and last second, 14 digits each. */
type Period = readonly [string, string];

interface Statement {
  readonly period: Period;
  /** 0 for a period, 1 for a row that its block subdivides, 2 for all time. */
  readonly width: number;
  readonly frequency: string;
  /** Part of a row that is itself present. */
  readonly isPartOfPresent: boolean;
}

interface Fields {
  readonly keys: readonly string[];
  readonly values: readonly string[];
  readonly queries?: boolean;
}

interface KeyRows {
  readonly key: string;
  readonly statements: Statement[];
}

const ALL: Period = ["0".repeat(14), "9".repeat(14)];

/**
 * Reference lookup after docs/format.md: every lookup scans all lines, compares every key with the SURT,
 * and checks the covering keys in order. It is slow, and shares no code with the lookups of this package.
 */
export class LinearReading {
  readonly #keys: readonly KeyRows[];
  readonly #queries: boolean;

  constructor(map: Uint8Array) {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(map);
    const keys = new Map<string, KeyRows>();
    let fields: Fields = { keys: ["surt"], values: ["frequency"] };
    for (const line of text.split("\n").map((ended) => ended.replace(/\r$/, ""))) {
      const header = /^[!@](\S+)\s+(.*)$/.exec(line);
      if (/^[ \t]*$/.test(line)) continue;
      if (header === null) addRow(keys, line, fields);
      else if (header[1] === "fields") fields = JSON5.parse(header[2] ?? "");
    }
    this.#keys = [...keys.values()];
    this.#queries = fields.queries === true;
  }

  /** Looks a SURT up, at a time of 4 to 14 digits or for all time. */
  lookup(surt: string, at?: string): Reading {
    const requested: Period = at === undefined ? ALL : [at.padEnd(14, "0"), at.padEnd(14, "9")];
    const covering = this.#keys.flatMap((rows) => {
      const rank = this.#queries ? rankWithQueries(rows.key, surt) : rankOf(rows.key, surt);
      return rank === undefined ? [] : [{ rank, rows }];
    });
    covering.sort((a, b) => compareRanks(a.rank, b.rank));
    for (const { rows } of covering) {
      const reading = readingOf(rows, requested, at === undefined);
      if (reading !== undefined) return reading;
    }
    return { present: false };
  }
}

function addRow(keys: Map<string, KeyRows>, line: string, fields: Fields): void {
  const columns: string[] = [];
  let rest = line;
  for (let i = 0; i < fields.keys.length + fields.values.length; i++) {
    const [column = ""] = /^(?:"(?:[^"\\]|\\.)*"|[^ \t]+)/.exec(rest) ?? [];
    columns.push(column.startsWith('"') ? (JSON.parse(column) as string) : column);
    rest = rest.slice(column.length).replace(/^[ \t]+/, "");
  }
  const key = spelledHere(columns[0] ?? "", fields.queries === true);
  const cell = columns[fields.keys.length + fields.values.indexOf("frequency")] ?? "";
  const frequency = cell === "-" ? "/" : cell;
  const datetime = columns[fields.keys.indexOf("datetime")] ?? ":";
  const rows = keys.get(key) ?? { key, statements: [] };
  keys.set(key, rows);
  const period = periodOf(datetime === "-" ? ":" : datetime);
  const block: { datetime?: Record<string, string | number> } =
    rest === "" ? {} : JSON5.parse(rest);
  const parts = block.datetime;
  for (const [part, value] of Object.entries(parts ?? {})) {
    rows.statements.push({
      period: periodOf(part),
      width: part === ":" ? 2 : 0,
      frequency: String(value),
      isPartOfPresent: isHeld(frequency),
    });
  }
  const isAll = period[0] === ALL[0] && period[1] === ALL[1];
  const width = isAll ? 2 : parts === undefined ? 0 : 1;
  rows.statements.push({ period, width, frequency, isPartOfPresent: false });
}

function periodOf(datetime: string): Period {
  const [from = "", until = from] = datetime.split(":");
  return [from.padEnd(14, "0"), until.padEnd(14, "9")];
}

/** The result of the rows of a key for a period; undefined if broader keys decide. */
function readingOf(
  { key, statements }: KeyRows,
  requested: Period,
  isOfAllTime: boolean,
): Reading | undefined {
  for (const width of [0, 1, 2]) {
    const matching = statements.filter(
      (statement) =>
        statement.width === width &&
        statement.period[0] <= requested[1] &&
        requested[0] <= statement.period[1],
    );
    if (matching.some(({ frequency }) => isHeld(frequency))) {
      const counted = isOfAllTime ? countedForAllTime(statements) : matching;
      return { present: true, key, frequency: sumOf(counted) };
    }
    const isContained = matching.some(
      ({ period }) => period[0] <= requested[0] && requested[1] <= period[1],
    );
    if (isContained) return { present: false, key, frequency: sumOf(matching) };
  }
  return undefined;
}

function countedForAllTime(statements: readonly Statement[]): Statement[] {
  const totals = statements.filter(({ width }) => width === 2);
  if (totals.some(({ frequency }) => isHeld(frequency))) return totals;
  return statements.filter(({ width, isPartOfPresent }) => width < 2 && !isPartOfPresent);
}

function sumOf(statements: readonly Statement[]): string {
  const texts = statements.map(({ frequency }) => frequency);
  const [only = ""] = texts;
  if (texts.length === 1) return only;
  return formatFrequency(texts.map(parseFrequency).reduce(addFrequencies));
}

function isHeld(frequency: string): boolean {
  return !/^0+[-+~]?(?:\/|$)/.test(frequency);
}

/** The rank of a key for a SURT, most specific first; undefined if it does not cover it. */
function rankOf(key: string, surt: string): number[] | undefined {
  const query = queryStart(surt);
  const page = pageOf(surt.slice(0, query));
  const whole = page + percentEncoded(surt.slice(query));
  if (query + 1 < surt.length && key === whole) return [0];
  if (key === page) return [1];
  const paren = page.indexOf(")/");
  if (paren < 1) return undefined;
  const host = page.slice(0, paren);
  const path = page.slice(paren + 1);
  const spread = /^([^)]*),\*\)(.*)$/.exec(key);
  if (spread !== null) {
    const [, above = "", spreadPath] = spread;
    return isBelow(host, above, ",") && spreadPath === path ? [3, -labels(above), 0] : undefined;
  }
  if (key.endsWith("/*") && !key.includes("?")) {
    const above = key.slice(0, -2);
    const tree = path === "/" ? `${host})` : page;
    return isBelow(tree, above, "/") ? [2, -above.length] : undefined;
  }
  if (key.endsWith(",*")) {
    const above = key.slice(0, -2);
    return isBelow(host, above, ",") ? [3, -labels(above), 1] : undefined;
  }
  return undefined;
}

/** The same in a map with queries, where a page does not cover its queries. */
function rankWithQueries(written: string, surt: string): number[] | undefined {
  const isAny = written.endsWith("?*");
  const key = isAny ? written.slice(0, -2) : written;
  const query = queryStart(surt);
  const page = pageOf(surt.slice(0, query));
  const whole = query + 1 < surt.length ? page + percentEncoded(surt.slice(query)) : page;
  if (key === (isAny ? page : whole)) return [isAny ? 1 : 0];
  const spread = /^([^)]*),\*\)(.*)$/.exec(key);
  if (spread === null) return isAny || key === page ? undefined : rankOf(written, page);
  const paren = page.indexOf(")/");
  const [, above = "", spreadPath] = spread;
  const path = (isAny ? page : whole).slice(paren + 1);
  return paren > 0 && isBelow(page.slice(0, paren), above, ",") && spreadPath === path
    ? [3, -labels(above), isAny ? 0.5 : 0]
    : undefined;
}

/** The authors' tool writes `com,a)` for `com,a)/`, and a `*` within a label or segment unchanged. */
function spelledHere(written: string, queries: boolean): string {
  if (queries && written.endsWith("?*")) return `${spelledHere(written.slice(0, -2), false)}?*`;
  const parts = written.split(/([,/)?])/);
  const starred = parts.map((part) => (part === "*" ? part : part.replaceAll("*", "%2a"))).join("");
  const key = starred.replace(/[\u0080-\u{10ffff}]/gu, (one) =>
    encodeURIComponent(one).toLowerCase(),
  );
  return /^[^)]+\)$/.test(key) && !key.endsWith(",*)") ? `${key}/` : key;
}

/** Where the query of a SURT begins: after the host, or after a scheme. */
function queryStart(surt: string): number {
  const paren = surt.indexOf(")/");
  const first = surt.indexOf("?");
  const from = paren > first && !surt.slice(0, first).includes(":") ? paren : 0;
  const at = surt.indexOf("?", from);
  return at === -1 ? surt.length : at;
}

function pageOf(surt: string): string {
  const text = escaped(surt).replace(/\/+$/, "");
  return /^[^)]*\)$/.test(text) || (text.endsWith(")") && text.indexOf(")/") === -1)
    ? `${text}/`
    : text;
}

function escaped(text: string): string {
  return percentEncoded(text).replace(/^[!@"{]/, percent);
}

function percentEncoded(text: string): string {
  return text.replace(/[^!-)+-~]/gu, percent);
}

function percent(character: string): string {
  return Array.from(
    new TextEncoder().encode(character),
    (byte) => `%${byte.toString(16).padStart(2, "0")}`,
  ).join("");
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
