import { CLOSE_PAREN, compareRanges } from "../../bytes/bytes.ts";
import { NameHash } from "../../packed/name-hash.ts";
import { FLAG } from "../../packed/packed-file.ts";
import type { MissList } from "../compact/budget/misses.ts";
import type { HostProfiles } from "./host-profiles.ts";

/**
 * The lookups that are expected of each host, by its number; in no unit.
 *
 * From misses where there are any, and `strength` lookups more, which go to all rows alike. Else every row
 * attracts as many: small hosts may get more than that, but to count on it costs more than it saves.
 */
export function expectedLookups(
  { count, rows, rowCount }: HostProfiles,
  misses: Float64Array | undefined,
  strength: number,
): Float64Array {
  const perRow = misses === undefined ? 1 : strength / (rowCount + count);
  const known = misses ?? new Float64Array(count);
  return known.map((found, host) => found + (rows[host] + 1) * perRow);
}

/**
 * The lookups of each host, by its number, where nobody knows whether every row attracts as many, or a host of n
 * rows as many as n^β, as Heaps' law says: `mixed` takes both to be as likely as each other.
 */
export function supposedLookups(
  { count, rows }: HostProfiles,
  heapsExponent: number,
): { readonly mixed: Float64Array; readonly byPrior: Float64Array; readonly byRows: Float64Array } {
  const byRows = shares(Float64Array.from(rows.subarray(0, count)));
  const byPrior = shares(byRows.map((_, host) => rows[host] ** heapsExponent));
  return { mixed: byRows.map((share, host) => (share + byPrior[host]) / 2), byPrior, byRows };
}

function shares(counts: Float64Array): Float64Array {
  const all = counts.reduce((sum, count) => sum + count, 0);
  return counts.map((count) => count / Math.max(1, all));
}

/** Misses of each host, by its number: all, and those of the later half of the log. */
export interface HostMisses {
  readonly all: Float64Array;
  readonly late: Float64Array;
}

export function missesOfHosts(profiles: HostProfiles, misses: MissList): HostMisses {
  const { bytes, starts, count, isLate } = misses;
  const hash = new NameHash();
  const counts = new Map<number, Counted[]>();
  let [last, lastEnd] = [0, -1];
  let current: Counted | undefined;
  for (let i = 0; i < count; i++) {
    const [start, end] = [starts[i], starts[i + 1]];
    const close = bytes.subarray(start, end).indexOf(CLOSE_PAREN);
    if (close === -1) continue;
    const hostEnd = start + close + 1;
    // The keys are sorted, so those of a host follow each other.
    if (current === undefined || compareRanges(bytes, start, hostEnd, bytes, last, lastEnd) !== 0) {
      const { low, high } = hash.reset().extend(bytes, start, hostEnd).finish();
      current = { high, all: 0, late: 0 };
      const others = counts.get(low);
      if (others === undefined) counts.set(low, [current]);
      else others.push(current);
      [last, lastEnd] = [start, hostEnd];
    }
    current.all++;
    current.late += isLate[i];
  }
  const [all, late] = [new Float64Array(profiles.count), new Float64Array(profiles.count)];
  for (let host = 0; host < profiles.count; host++) {
    const same = counts.get(profiles.low[host]);
    const found = same?.find(({ high }) => high === profiles.high[host]);
    all[host] = found?.all ?? 0;
    late[host] = found?.late ?? 0;
  }
  return { all, late };
}

interface Counted {
  readonly high: number;
  all: number;
  late: number;
}

/** What is expected of the hosts of the whole map, for those that are left when rows are rolled up. */
export function lookupsOfSome(
  profiles: HostProfiles,
  whole: HostProfiles,
  lookups: Float64Array,
): Float64Array {
  if (profiles === whole) return lookups;
  const places = new Map<number, number>();
  for (let host = 0; host < whole.count; host++) places.set(whole.low[host], host);
  return Float64Array.from({ length: profiles.count }, (_, host) => {
    const place = places.get(profiles.low[host]);
    return place !== undefined && whole.high[place] === profiles.high[host] ? lookups[place] : 0;
  });
}

/**
 * The chance that what comes next is of a new host, by Good and Turing: as often as what is held is the
 * only page of its host.
 */
export function chanceOfNewHost({ count, rows, flags, rowCount }: HostProfiles): number {
  let [alone, homes] = [0, 0];
  for (let host = 0; host < count; host++) {
    const home = flags[host] & FLAG.home;
    homes += home;
    if (rows[host] + home === 1) alone++;
  }
  return rowCount + homes === 0 ? 0 : alone / (rowCount + homes);
}
