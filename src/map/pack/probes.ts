import { FLAG, MAX_DEPTH } from "../../packed/packed-file.ts";
import type { HostProfiles } from "./host-profiles.ts";

/** The share of lookups that have a query. */
const LIKELY_QUERY = 0.5;

/** Which names lookups ask for, as far as the rows of an archive tell. */
export class Probes {
  /** The share of lookups of each depth, and of those that are at least as deep. */
  readonly #exact: Float64Array;
  readonly #deeper: Float64Array;

  /** Takes lookups to be as deep as pages are. */
  constructor({ depths }: Pick<HostProfiles, "depths">) {
    const all = depths.reduce((sum, pages) => sum + pages, 0);
    this.#exact = depths.map((pages) => (all === 0 ? 1 / depths.length : pages / all));
    let rest = 1;
    this.#deeper = this.#exact.map((share) => {
      const deeper = rest;
      rest -= share;
      return deeper;
    });
  }

  /** The share of home pages. */
  get homes(): number {
    return this.#exact[0];
  }

  /** The names that a lookup asks for, if it knows nothing of the host. */
  ofAny({ masks, flags }: { readonly masks: number; readonly flags: number }): number {
    return this.#sum(masks & 0xff, this.#exact) + this.#others(masks, flags);
  }

  /**
   * The names that a lookup asks for in vain because a host has a descriptor with more than its own rows.
   *
   * @param stray the share of lookups of the host whose depth it has no rows of.
   */
  inVain(
    own: { readonly masks: number; readonly flags: number },
    described: { readonly masks: number; readonly flags: number },
    stray: number,
  ): number {
    const outside = this.#sum(~own.masks & 0xff, this.#exact);
    const covered = this.#sum(described.masks & ~own.masks & 0xff, this.#exact);
    const strays = outside <= 0 ? 0 : (stray * covered) / outside;
    return strays + this.#others(described.masks & ~own.masks, described.flags & ~own.flags);
  }

  #others(masks: number, flags: number): number {
    const queries = LIKELY_QUERY * bitCount(flags & (FLAG.query | FLAG.anyQuery));
    return queries + this.#sum((masks >>> 8) & 0xff, this.#deeper);
  }

  #sum(mask: number, shares: Float64Array): number {
    let sum = 0;
    for (let depth = 0; depth <= MAX_DEPTH; depth++) if ((mask >>> depth) & 1) sum += shares[depth];
    return sum;
  }
}

/**
 * The chance that a lookup of a host has a depth that its n rows do not have: θ / (n + θ), where D
 * depths in n rows make θ about D / ln(n + 1) (Ewens' sampling formula).
 */
export function chanceOfNewDepth({ masks, rows }: HostProfiles, host: number): number {
  const { [host]: n } = rows;
  if (n === 0) return 1;
  const theta = bitCount(masks[host] & 0xff) / Math.log(n + 1);
  return theta / (n + theta);
}

/** The rows that a lookup of a page asks for, where a descriptor tells exactly which a host has. */
export function expectedProbes(profiles: HostProfiles, lookups: Float64Array): number {
  let [asked, all] = [0, 0];
  lookups.forEach((count, host) => {
    asked += count * (1 - chanceOfNewDepth(profiles, host));
    all += count;
  });
  return all === 0 ? 1 : asked / all;
}

function bitCount(mask: number): number {
  let count = 0;
  for (let rest = mask; rest !== 0; rest &= rest - 1) count++;
  return count;
}
