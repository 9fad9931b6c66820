import { ANY_QUERY, isSpreadKey, type KeyOptions } from "../surt/key.ts";
import { lookupKeys } from "../surt/covering-keys.ts";
import type { KeyAnswer } from "../lookup/decide.ts";
import {
  addFrequencies,
  type Bound,
  type Count,
  type Frequency,
  parseFrequency,
} from "../ukvs/frequency.ts";
import type { DatetimeRange } from "../ukvs/record.ts";
import type { LogicalMap } from "./logical-map.ts";

/**
 * Coverage of a key: one page, a page with a query, a page with any query, everything below a path,
 * everything below a host, or one page (or one with any query) on a host and all hosts below it.
 * `inert` keys decide about no URI: the total `*`, and keys that no lookup queries, such as one with
 * a trailing slash.
 */
type KeyKind = "page" | "anyQuery" | "pathWildcard" | "hostWildcard" | "spread" | "inert";

/** A key, and the keys that decide for it in a map that lacks it. */
export interface CoveringKeys {
  readonly kind: KeyKind;
  /**
   * The key itself, then every key that covers all of it, most specific first: the first one in a
   * map decides about the whole key. Just the key itself for inert ones.
   */
  readonly chain: readonly string[];
}

/** The keys that decide about a key as a whole. The home page is `com,cnn)/` here. */
function coveringKeys(key: string, options: KeyOptions = {}): CoveringKeys {
  const kind = kindOf(key, options);
  const chain = chainOf(key, kind, options);
  return chain[0] === key ? { kind, chain } : { kind: "inert", chain: [key] };
}

function kindOf(key: string, { queries }: KeyOptions): KeyKind {
  if (key === "*") return "inert";
  if (key.endsWith(",*")) return "hostWildcard";
  if (isSpreadKey(key)) return "spread";
  if (queries === true && key.endsWith(ANY_QUERY)) return "anyQuery";
  return key.endsWith("/*") ? "pathWildcard" : "page";
}

function chainOf(key: string, kind: KeyKind, options: KeyOptions): string[] {
  const keysFor = (surt: string): string[] => lookupKeys(surt, options).map((found) => found.key);
  const isOfAny = options.queries === true && key.endsWith(ANY_QUERY);
  const page = isOfAny ? key.slice(0, -ANY_QUERY.length) : key;
  switch (kind) {
    case "inert":
      return [key];
    case "page":
      return keysFor(key);
    case "anyQuery":
      return keysFor(page).filter((wide) => wide.endsWith("*"));
    case "pathWildcard":
      // A spread key covers one path, never everything below one.
      return keysFor(key.slice(0, -2)).filter((wide) => /[,/]\*$/.test(wide));
    case "hostWildcard":
      return keysFor(`${key.slice(0, -2)})/`).filter((wide) => wide.endsWith(",*"));
    case "spread":
      return keysFor(page.replace(",*)", ")")).filter(
        (wide) =>
          wide.endsWith(",*") || (isSpreadKey(wide) && (!isOfAny || wide.endsWith(ANY_QUERY))),
      );
  }
}

/** The host and path of a spread key or a page, the host and top path of a wildcard. */
interface KeyParts {
  readonly host: string;
  /** `/` for the root; empty for a host wildcard; with the query, or `?*`, where the key has one. */
  readonly path: string;
}

/** Splits a key that is not inert. */
function keyParts(key: string, kind: KeyKind): KeyParts {
  if (kind === "hostWildcard") return { host: key.slice(0, -2), path: "" };
  const text = kind === "spread" ? key.replace(",*)", ")") : key;
  const end = text.indexOf(")/");
  const path = text.slice(end + 1);
  return {
    host: text.slice(0, end),
    path: kind === "pathWildcard" ? path.slice(0, -2) || "/" : path,
  };
}

/** Answers cached per map; dropped all at once when full, because lookups run in key order. */
const MAX_CACHED = 16_384;

/**
 * Decides which rows a merged map needs to be present exactly where one of its maps is.
 *
 * Let K be the keys of all maps. If K is closed (where two keys of K overlap without one covering
 * the other, the key of the overlap is in K too), then the most specific key of K for a URI decides
 * about the URI: each map decides about that key as a whole. So the merged map must state, for each
 * key of K, whether any map is present there. A row may be left out if the next broader row of the
 * merged map states the same: for a present key, if a map is present at the next broader key of K.
 *
 * Only spread keys overlap in that way: `Y,*)/q` with `X)/p/*` in `X)/q`, and with `X,*` in
 * `X,*)/q`, for X at or below Y and q at or below p; with queries, so do `Y,*)/q?x` and `X)/q?*` in
 * `X)/q?x`, and `Y,*)/q?x` and `X,*)/q?*` in `X,*)/q?x`.
 */
export class Union {
  /** Whether rows have times: a row for all time then implies nothing about each time. */
  readonly isTimed: boolean;
  readonly #maps: readonly LogicalMap[];
  readonly #answers: Map<string, KeyAnswer | undefined>[];
  /** Host to paths of all spread keys. */
  readonly #spreads = new Map<string, Set<string>>();
  readonly #options: KeyOptions;

  /** @param options whether the maps have queries: all of them, or none. */
  constructor(maps: readonly LogicalMap[], options: KeyOptions, isTimed: boolean) {
    this.isTimed = isTimed;
    this.#maps = maps;
    this.#options = options;
    this.#answers = maps.map(() => new Map());
  }

  get maps(): number {
    return this.#maps.length;
  }

  /** The keys that decide about a key as a whole; see `coveringKeys`. */
  covering(key: string): CoveringKeys {
    return coveringKeys(key, this.#options);
  }

  /** Adds a spread key of some map; must precede all queries. */
  addSpread(key: string): void {
    const { host, path } = keyParts(key, "spread");
    const paths = this.#spreads.get(host);
    if (paths === undefined) this.#spreads.set(host, new Set([path]));
    else paths.add(path);
  }

  get hasSpreads(): boolean {
    return this.#spreads.size > 0;
  }

  /**
   * Whether a map other than `own` may be present for a key as a whole in a period, default all time;
   * -1 includes all maps.
   */
  async isPresentElsewhere(key: string, own: number, period: DatetimeRange = {}): Promise<boolean> {
    const { chain } = this.covering(key);
    for (let map = 0; map < this.#maps.length; map++) {
      if (map === own) continue;
      for (const wider of chain) {
        const answer = await this.#find(map, wider, period);
        if (answer?.present === true) return true;
        if (answer?.decides === true) break;
      }
    }
    return false;
  }

  /**
   * The frequency for an additional row where maps other than `own` are present but no row of the key
   * says so; undefined if the rows of broader keys do.
   */
  async presentRow(key: string, own: number): Promise<Frequency | undefined> {
    if (!this.hasSpreads || (!this.isTimed && (await this.#isNextPresent(key)))) return undefined;
    const deciding = await this.#deciding(key, own);
    return deciding.some(({ present }) => present) ? partOf(deciding) : {};
  }

  /** The frequency for a key where a wildcard and a spread key overlap; undefined if it needs no row. */
  async overlapRow(key: string): Promise<Frequency | undefined> {
    // If rows have times, the rows of a map for the key itself may leave some times open.
    if (!this.isTimed && (await this.#found(key)).length > 0) return undefined;
    if (await this.isPresentElsewhere(key, -1)) return this.presentRow(key, -1);
    // A row of the merged map for a broader key may be present, even where maps have a void.
    for (const wider of this.covering(key).chain.slice(1)) {
      if ((await this.#found(wider)).some(({ present }) => present)) return ABSENT;
    }
    return undefined;
  }

  /** The overlaps of a wildcard with the spread keys; these need not be keys of any map. */
  overlaps(key: string): string[] {
    const { kind } = this.covering(key);
    const isOfAny = this.#options.queries === true && key.endsWith(ANY_QUERY);
    if (kind !== "pathWildcard" && kind !== "hostWildcard" && !isOfAny) return [];
    const isSpread = kind === "hostWildcard" || kind === "spread";
    const { host, path } = keyParts(isOfAny ? key.slice(0, -ANY_QUERY.length) : key, kind);
    const found: string[] = [];
    for (const above of hostsFrom(host)) {
      if (isSpread && above === host) continue;
      for (const spreadPath of this.#spreads.get(above) ?? []) {
        const meets = isOfAny
          ? isOfPage(spreadPath, path) && spreadPath !== path + ANY_QUERY
          : kind === "hostWildcard" || isBelow(spreadPath, path);
        if (meets) found.push(isSpread ? `${host},*)${spreadPath}` : `${host})${spreadPath}`);
      }
    }
    return found;
  }

  /** Whether some map is present at the next broader key that any map has. */
  async #isNextPresent(key: string): Promise<boolean> {
    for (const wider of this.covering(key).chain.slice(1)) {
      const found = await this.#found(wider);
      if (found.length > 0) return found.some(({ present }) => present);
    }
    return false;
  }

  /** The answers of maps about a key as a whole. */
  async #deciding(key: string, own: number): Promise<KeyAnswer[]> {
    const { chain } = this.covering(key);
    const deciding: KeyAnswer[] = [];
    for (let map = 0; map < this.#maps.length; map++) {
      if (map === own) continue;
      for (const wider of chain) {
        const answer = await this.#find(map, wider);
        if (answer?.decides !== true) continue;
        deciding.push(answer);
        break;
      }
    }
    return deciding;
  }

  /** The answers of the maps that have rows for exactly this key. */
  async #found(key: string): Promise<KeyAnswer[]> {
    const answers = await Promise.all(this.#maps.map((_, map) => this.#find(map, key)));
    return answers.filter((answer) => answer !== undefined);
  }

  async #find(map: number, key: string, period?: DatetimeRange): Promise<KeyAnswer | undefined> {
    const cached = this.#answers[map];
    const name = `${key} ${period?.from ?? ""}-${period?.until ?? ""}`;
    if (cached.has(name)) return cached.get(name);
    const answer = await this.#maps[map].find(key, { at: period });
    if (cached.size >= MAX_CACHED) cached.clear();
    cached.set(name, answer);
    return answer;
  }
}

const ABSENT: Frequency = { mementos: { value: 0, bound: "exact" } };

/**
 * The frequency of a part of the range that the deciding rows cover: at most theirs, if they are
 * exact or upper bounds.
 */
function partOf(deciding: readonly KeyAnswer[]): Frequency {
  const sum = deciding
    .filter((answer) => answer.present)
    .map((answer) => parseFrequency(answer.frequency ?? "/"))
    .reduce(addFrequencies);
  return {
    ...(sum.mementos === undefined ? {} : { mementos: atMost(sum.mementos) }),
    ...(sum.originals === undefined ? {} : { originals: atMost(sum.originals) }),
  };
}

function atMost({ value, bound }: Count): Count {
  const weaker: Bound = bound === "exact" || bound === "atMost" ? "atMost" : "about";
  return { value, bound: weaker };
}

/** A host and all hosts above it: `com,a,b`, `com,a`, `com`. */
function hostsFrom(host: string): string[] {
  const labels = host.split(",");
  return labels.map((_, i) => labels.slice(0, labels.length - i).join(","));
}

function isBelow(path: string, above: string): boolean {
  return above === "/" || isOfPage(path, above) || path.startsWith(`${above}/`);
}

/** Whether a path is that of a page, with or without a query. */
function isOfPage(path: string, page: string): boolean {
  return path === page || path.startsWith(`${page}?`);
}
