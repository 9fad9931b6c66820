import { FLAG } from "../../packed/packed-file.ts";
import type { BudgetCompaction } from "../compact/budget/budget-compaction.ts";
import type { MissList } from "../compact/budget/misses.ts";
import {
  chanceOfNewHost,
  expectedLookups,
  type HostMisses,
  missesOfHosts,
  supposedLookups,
} from "./host-lookups.ts";
import type { HostProfiles } from "./host-profiles.ts";
import { LOOKUPS_ELSEWHERE, type PackDemand } from "./pack-plan.ts";
import { filterBytes, VOID_BITS } from "./packing.ts";
import { expectedProbes, Probes } from "./probes.ts";
import { HostNeeds, type RowWidths } from "./row-widths.ts";

/** The share of lookups that may go to any row, where no log tells how many do. */
const UNEXPLAINED = 0.1;

/** What a map, and the misses where there are any, say of the lookups to come. */
export function packDemand(
  compaction: BudgetCompaction,
  profiles: HostProfiles,
  missList: MissList | undefined,
  { countBits, periodBits }: Pick<PackDemand, "countBits" | "periodBits">,
): PackDemand {
  const { lookups, misses } = compaction.hostDemand;
  const isTrained = missList !== undefined;
  const hostMisses = missList === undefined ? undefined : missesOfHosts(profiles, missList);
  const strength = hostMisses === undefined ? 0 : bestStrength(profiles, hostMisses);
  const hostLookups = expectedLookups(profiles, hostMisses?.all, strength);
  const onHeldHosts = hostMisses?.all.reduce((sum, count) => sum + count, 0) ?? 0;
  return {
    lookups,
    misses,
    hostLookups,
    elsewhere: isTrained ? missList.count - onHeldHosts : LOOKUPS_ELSEWHERE * lookups,
    hosts: profiles.count,
    isTrained,
    countBits,
    periodBits,
    voidBytes: filterBytes(profiles.voidCount, VOID_BITS),
    sizes: compaction.sizes(),
    newHosts: chanceOfNewHost(profiles),
    homes: new Probes(profiles).homes * shareWith(FLAG.home, profiles),
    haveAllHomes: shareWith(FLAG.home, profiles) === 1,
    wholes: shareWith(FLAG.all, profiles),
    probes: expectedProbes(profiles, hostLookups),
    unexplained: isTrained ? strength / Math.max(1, strength + onHeldHosts) : UNEXPLAINED,
    ...(isTrained
      ? { widths: memoized(new HostNeeds(profiles.rows, hostLookups)), widthLookups: hostLookups }
      : supposedWidths(profiles, compaction.prior.heapsExponent)),
  };
}

/** Widths that suit both assumptions about where lookups go. */
function supposedWidths(
  profiles: HostProfiles,
  heapsExponent: number,
): Pick<PackDemand, "widths" | "widthLookups"> {
  const { mixed, byPrior, byRows } = supposedLookups(profiles, heapsExponent);
  const needs = new HostNeeds(profiles.rows, mixed, [byPrior, byRows]);
  return { widths: memoized(needs), widthLookups: mixed };
}

/** The share of hosts that have a flag. */
function shareWith(flag: number, { count, flags }: HostProfiles): number {
  let hosts = 0;
  for (let host = 0; host < count; host++) if ((flags[host] & flag) !== 0) hosts++;
  return hosts / Math.max(1, count);
}

/**
 * How many lookups of any row a log leaves open: with what number the earlier half of it would have
 * chosen the bits of rows that serve the later half best.
 */
function bestStrength(profiles: HostProfiles, { all, late }: HostMisses): number {
  const early = all.map((count, host) => count - late[host]);
  const sum = early.reduce((a, b) => a + b, 0);
  let [best, least] = [sum, Number.POSITIVE_INFINITY];
  for (const share of TRIED_SHARES) {
    const expected = expectedLookups(profiles, early, share * sum);
    const needs = new HostNeeds(profiles.rows, expected, [late]);
    const [wrong] = needs.widths(TYPICAL_BITS).wrong;
    if (wrong < least) [best, least] = [2 * share * sum, wrong];
  }
  return best;
}

/** Shares of lookups that may go to any row. */
const TRIED_SHARES: readonly number[] = Array.from({ length: 10 }, (_, i) => 2 ** (i - 9));
const TYPICAL_BITS = 6;

/** Sizes are planned with the same bits again and again. */
function memoized(needs: HostNeeds): (bits: number) => RowWidths {
  const known = new Map<number, RowWidths>();
  return (bits) => {
    const found = known.get(bits) ?? needs.widths(bits);
    known.set(bits, found);
    return found;
  };
}
