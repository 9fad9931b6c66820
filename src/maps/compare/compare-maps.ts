import { MementoMapError } from "../../errors.ts";
import { checkSignal } from "../../interruption.ts";
import { RowSums } from "../explore/row-sums.ts";
import { readableName } from "../explore/key-node.ts";
import {
  combinationsOf,
  type ComparedDomain,
  domainOf,
  type MapComparison,
  type OnlyDomain,
  sumsOf,
} from "./comparison.ts";
import type { NamedChunks } from "../diff-maps.ts";
import { Largest } from "../largest.ts";
import { KeyGroups, lowestKeys } from "./key-groups.ts";
import { MAX_COMPARED } from "./overlap.ts";
import { type OverlapNode, OverlapTree } from "./overlap-tree.ts";
import { loadSuffixLabels } from "./suffix-labels.ts";

/** A map to be compared. */
export interface ComparedSource extends NamedChunks {
  /** What the comparison calls it. */
  readonly id: string;
}

export interface CompareOptions {
  /** Domains of each list at most; default 100, at most 1,000. */
  readonly limit?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

const DEFAULT_LIMIT = 100;
export const MAX_LIMIT = 1000;
const MOST_WILDCARDS = 10_000;
/** Keys between two looks at the signal. */
const KEYS_AT_A_TIME = 65_536;

/**
 * Compares the holdings of two to eight sorted maps: what they have in common, what only one has, and how much
 * they hold of each top-level and registered domain.
 *
 * Keys of pages are compared. A map that has no row for a page, but a wildcard that covers it, may hold it. Rows
 * such as `com,*)/robots.txt` are counted, but do not decide about pages. Reads all maps once, at the same
 * time; holds a batch of rows of each and lists of fixed length.
 *
 * @throws MM_USAGE for too few or too many maps; MM_BAD_INPUT for what is not a map of text; MM_NOT_SORTED and
 *   what else reading throws; MM_INTERRUPTED.
 */
export async function compareMaps(
  sources: readonly ComparedSource[],
  options: CompareOptions = {},
): Promise<MapComparison> {
  const { limit = DEFAULT_LIMIT, signal } = options;
  checkArguments(sources, limit);
  const suffixLabels = await loadSuffixLabels();
  const groups: KeyGroups[] = [];
  try {
    for (const source of sources) groups.push(await KeyGroups.open(source, { signal }));
    const lists = new ComparedLists(sources.length, limit);
    const withoutQueries = groups.reduce(
      (bits, { headers }, index) => (headers.fields.queries === true ? bits : bits | (1 << index)),
      0,
    );
    const tree = new OverlapTree(groups.length, { withoutQueries, suffixLabels, visitor: lists });
    for (const group of groups) await group.next();
    let sinceLook = 0;
    for (let having = lowestKeys(groups); having !== 0; having = lowestKeys(groups)) {
      tree.add(groups, having);
      for (let index = 0; index < groups.length; index++) {
        if ((having & (1 << index)) === 0) continue;
        const waiting = groups[index].next();
        if (waiting !== undefined) await waiting;
      }
      sinceLook += 1;
      if (sinceLook % KEYS_AT_A_TIME === 0) checkSignal(signal);
    }
    tree.end();
    return lists.finish(sources, groups, tree.root);
  } finally {
    await Promise.all(groups.map((group) => group.close()));
  }
}

function checkArguments(sources: readonly ComparedSource[], limit: number): void {
  if (sources.length < 2 || sources.length > MAX_COMPARED) {
    throw new MementoMapError("MM_USAGE", `give 2 to ${MAX_COMPARED} maps to compare`);
  }
  if (new Set(sources.map(({ id }) => id)).size < sources.length) {
    throw new MementoMapError("MM_USAGE", "two maps to compare have the same name");
  }
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT) return;
  throw new MementoMapError("MM_USAGE", `limit takes 1 to ${MAX_LIMIT}, not ${limit}`);
}

interface Wildcards {
  readonly prefix: string;
  readonly present: number;
}

/** Collects domains as they are closed. */
class ComparedLists {
  readonly #tlds: Largest<ComparedDomain>;
  readonly #largest: Largest<ComparedDomain>;
  readonly #differing: Largest<ComparedDomain>;
  readonly #only: readonly Largest<Omit<OnlyDomain, "may">>[];
  readonly #all: readonly RowSums[];
  readonly #tldCounts: number[];
  readonly #domainCounts: number[];
  /** Wildcards above registered domains: there are no more than public suffixes. */
  readonly #above: Wildcards[] = [];

  constructor(maps: number, limit: number) {
    this.#tlds = new Largest(limit);
    this.#largest = new Largest(limit);
    this.#differing = new Largest(limit);
    this.#only = Array.from({ length: maps }, () => new Largest<Omit<OnlyDomain, "may">>(limit));
    this.#all = Array.from({ length: maps }, () => new RowSums());
    this.#tldCounts = this.#all.map(() => 0);
    this.#domainCounts = this.#all.map(() => 0);
  }

  closeDomain({ sums, keys }: OverlapNode, text: string): void {
    let [all, least, most, having] = [0, Infinity, 0, 0];
    let last = -1;
    for (const [index, { captures, rows, voids }] of sums.entries()) {
      all += captures;
      least = Math.min(least, captures);
      most = Math.max(most, captures);
      if (rows === voids) continue;
      this.#domainCounts[index] += 1;
      having += 1;
      last = index;
    }
    const isLarge = this.#largest.takes(all);
    const isDifferent = most > least && this.#differing.takes(most - least);
    if (isLarge || isDifferent) {
      const domain = domainOf(text, sums, keys);
      if (isLarge) this.#largest.add(all, domain);
      if (isDifferent) this.#differing.add(most - least, domain);
    }
    const only = having === 1 ? this.#only[last] : undefined;
    if (only === undefined || !only.takes(all)) return;
    const prefix = `${text},`;
    const { captures, rows } = sums[last];
    only.add(all, { prefix, url: readableName(prefix), captures, rows });
  }

  closeTld({ sums, keys }: OverlapNode, text: string): void {
    let all = 0;
    for (const [index, one] of sums.entries()) {
      all += one.captures;
      this.#all[index].add(one);
      if (one.rows > one.voids) this.#tldCounts[index] += 1;
    }
    if (this.#tlds.takes(all)) this.#tlds.add(all, domainOf(text, sums, keys));
  }

  wildcard(text: string, present: number): void {
    if (this.#above.length < MOST_WILDCARDS) this.#above.push({ prefix: `${text},`, present });
  }

  finish(
    sources: readonly ComparedSource[],
    groups: readonly KeyGroups[],
    root: OverlapNode,
  ): MapComparison {
    const ids = sources.map(({ id }) => id);
    const maps = sources.map(({ id }, index) => {
      const { name } = groups[index].headers.meta;
      return {
        id,
        ...(typeof name === "string" ? { name } : {}),
        ...sumsOf(this.#all[index].add(root.sums[index])),
        tlds: this.#tldCounts[index],
        domains: this.#domainCounts[index],
      };
    });
    return {
      maps,
      keys: combinationsOf(root.keys, ids),
      domains: combinationsOf(root.domains, ids),
      tlds: this.#tlds.items,
      largest: this.#largest.items,
      differing: this.#differing.items,
      only: ids.map((map, index) => ({
        map,
        domains: this.#only[index].items.map((domain) => ({
          ...domain,
          may: this.#mayHold(domain.prefix, index, ids),
        })),
      })),
    };
  }

  #mayHold(prefix: string, own: number, ids: readonly string[]): string[] {
    const present = this.#above.reduce(
      (bits, above) => (prefix.startsWith(above.prefix) ? bits | above.present : bits),
      0,
    );
    return ids.filter((_, index) => index !== own && (present & (1 << index)) !== 0);
  }
}
