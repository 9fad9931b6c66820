import { MementoMapError } from "../errors.ts";
import { FLAG } from "../packed/packed-file.ts";
import type { BudgetCompaction } from "../compact/budget-compaction.ts";
import type { MissList } from "../compact/misses.ts";
import type { MapOutlook } from "../compact/roll-up-plan.ts";
import type { HostProfiles } from "./host-profiles.ts";
import { filterBytes } from "./write-packed.ts";

/** Lookups of hosts that are not held, for each of one that is, as aggregators send them. */
const LOOKUPS_ELSEWHERE = 10;
/**
 * One lookup elsewhere is planned for each so many rows of a host, at most as above: an archive of many hosts is asked
 * for those more often, and a table of few hosts costs little.
 */
const ROWS_ELSEWHERE = 36;
/** The share of lookups that may go to any row, whatever the prior says. */
const UNEXPLAINED = 0.1;
/** Names that a lookup asks for and that are not there, where folders are rolled up. */
const FOLDER_PROBES = 1.5;
/** Where folders are rolled up, more bits of a row answer more than more rows do, up to this. */
const LEAST_FOLDER_BITS = 7;
/** Bytes of the header and the descriptors, about; and of a header with one descriptor. */
const HEAD_BYTES = 700;
const FLAT_HEAD_BYTES = 600;
/** Bits of the number of a descriptor, about. */
const DESCRIPTOR_BITS = 4;
/** The most that is expected to be wrong; of nothing right, there is no logarithm. */
const SURE = 0.999_999;
/** Bits of a row, and of the fingerprint of a host, that are tried; 0 for no table. */
const TRIED_BITS: readonly number[] = Array.from({ length: 100 }, (_, i) =>
  i < 80 ? (i + 1) / 8 : i - 69,
);
const TRIED_FINGERPRINTS: readonly number[] = Array.from({ length: 17 }, (_, i) => i);
/** A size is large enough when twice the bytes would answer less than this share better. */
const KNEE = 0.02;
/** The sizes that are compared for it. */
const LEAST_BYTES = 512;
const STEP = 1.5;
/** Below this, a file is hardly more than its header. */
const SMALLEST_DEFAULT = 4096;

/** What can be expected of a packed map. */
export interface Prospect {
  readonly bytes: number;
  /** Rows of the map that is packed. */
  readonly rows: number;
  /** Bits of a row. */
  readonly bits: number;
  /** Bits by which the table tells hosts apart; 0 without a table. */
  readonly fingerprintBits: number;
  /** Whether it tells which rows hosts have. */
  readonly hasDescriptors: boolean;
}

/** What a plan is made from. */
export interface PackDemand {
  /** Lookups of held hosts that miss, in the unit of `sizes`. */
  readonly misses: number;
  /** Lookups of hosts that are not held, in that unit. */
  readonly elsewhere: number;
  /** Maps of all sizes, the smallest first. */
  readonly sizes: readonly MapOutlook[];
  readonly hosts: number;
  /** Bytes that voids take. */
  readonly voidBytes: number;
  /** The share of lookups that are of home pages, and whether all hosts have one. */
  readonly homes: number;
  readonly haveAllHomes: boolean;
  /** The share of hosts that are held as a whole: any lookup that is taken for one of theirs finds something. */
  readonly wholes: number;
}

/** What a map, and the misses where there are any, say of the lookups to come. */
export function packDemand(
  compaction: BudgetCompaction,
  profiles: HostProfiles,
  missList: MissList | undefined,
  voidBytes: number,
): PackDemand {
  const misses = compaction.missesOfHosts;
  const { depths, count, flags } = profiles;
  const pages = depths.reduce((sum, some) => sum + some, 0);
  let [homes, wholes] = [0, 0];
  for (let host = 0; host < count; host++) {
    homes += flags[host] & FLAG.home;
    if ((flags[host] & FLAG.all) !== 0) wholes++;
  }
  const held = Math.max(1, count);
  const sizes = compaction.sizes();
  const all = sizes[sizes.length - 1].rows;
  return {
    misses,
    elsewhere:
      missList === undefined
        ? misses * Math.min(LOOKUPS_ELSEWHERE, all / held / ROWS_ELSEWHERE)
        : Math.max(0, missList.count - compaction.prior.misses),
    sizes,
    hosts: count,
    voidBytes,
    homes: pages === 0 ? 0 : (depths[0] / pages) * (homes / held),
    haveAllHomes: homes === count,
    wholes: wholes / held,
  };
}

/** What is chosen among. */
export interface Plan extends Prospect {
  /** How much it is expected to answer wrongly, see {@link expectedWrong}; in no unit. */
  readonly wrong: number;
}

/**
 * The rows, the bits of a row and the table with which a packed map of at most so many bytes answers best:
 * few rows of many bits roll up much, many rows of few bits mistake much, and a table that tells hosts apart
 * answers lookups of other hosts at the cost of those of held ones.
 *
 * More bytes are never expected to give a worse map: the best of all that fit is chosen, and what fits into fewer bytes
 * fits into more.
 *
 * @param rowBits bits of a row, where they are given.
 * @throws MM_BUDGET where no map is so small
 */
export function planPack(demand: PackDemand, maxBytes: number, rowBits?: number): Plan {
  const found = bestPlan(demand, maxBytes, rowBits);
  if (found === undefined) throw tooSmall(maxBytes);
  return found;
}

/**
 * The bits of the fingerprint of hosts where every row has some bits: as many as pay for themselves among lookups of
 * hosts that are not held as the last bit of the rows does among those of held ones.
 */
export function fingerprintBitsFor(bits: number, profiles: HostProfiles): number {
  const { count, rowCount, depths, flags } = profiles;
  const pages = depths.reduce((sum, some) => sum + some, 0);
  const home = pages === 0 ? 0 : depths[0] / pages;
  let positive = 0;
  for (let host = 0; host < count; host++) {
    const most = Math.max(2 ** (1 - bits), (flags[host] & FLAG.home) === 0 ? 0 : home);
    positive += (flags[host] & FLAG.all) === 0 ? Math.min(1, most) : 1;
  }
  const worth = (LOOKUPS_ELSEWHERE * positive * (rowCount + 1)) / (Math.LN2 * (count + 1) ** 2);
  return Math.max(1, Math.min(16, Math.ceil(bits + Math.log2(worth)) - 1));
}

/** What to say where no map is as small as it has to be. */
export function tooSmall(maxBytes: number): MementoMapError {
  return new MementoMapError(
    "MM_BUDGET",
    `no packed map of this archive fits into ${maxBytes} bytes; allow more`,
  );
}

/** The smallest size from which on twice the bytes hardly answer better. */
export function kneeBytes(demand: PackDemand): number {
  const all = demand.sizes[demand.sizes.length - 1].rows;
  const most = HEAD_BYTES + demand.voidBytes + filterBytes(all + 2 * demand.hosts, 24);
  const least = SMALLEST_DEFAULT + demand.voidBytes;
  const curve: Plan[] = [];
  for (let bytes = LEAST_BYTES; bytes < most; bytes *= STEP) {
    const plan = bytes < least ? undefined : bestPlan(demand, bytes);
    if (plan !== undefined) curve.push(plan);
  }
  const wrong = ({ rows, bits }: Plan): number => {
    const share = Math.min(1, expectedAt(demand.sizes, rows) / demand.misses);
    return share + (1 - share) * mistaken(bits, 1);
  };
  // Where nearly all is rolled up, twice the bytes may still gain nothing, and four times the bytes much.
  const last = curve.findLastIndex((one) => {
    const twice = curve.findLast(({ bytes }) => bytes <= 2 * one.bytes) ?? one;
    return wrong(one) - wrong(twice) >= KNEE;
  });
  const enough = curve.at(last + 1);
  return Math.ceil(enough?.bytes ?? Math.max(least, most));
}

function bestPlan(demand: PackDemand, maxBytes: number, rowBits?: number): Plan | undefined {
  const { sizes, hosts, voidBytes } = demand;
  const all = sizes[sizes.length - 1].rows;
  let best: Plan | undefined;
  for (const fingerprintBits of TRIED_FINGERPRINTS) {
    for (const hasDescriptors of fingerprintBits === 0 ? [false] : [false, true]) {
      // Without a table, all rows would have the bits that rows of hosts with voids have.
      if (fingerprintBits === 0 && voidBytes > 0) continue;
      const tableBits = fingerprintBits + (hasDescriptors ? DESCRIPTOR_BITS : 0);
      const table = fingerprintBits === 0 ? 0 : filterBytes(hosts, tableBits);
      const fixed = (hasDescriptors ? HEAD_BYTES : FLAT_HEAD_BYTES) + table + voidBytes;
      for (const bits of rowBits === undefined ? TRIED_BITS : [rowBits]) {
        const affordable = Math.floor(((maxBytes - fixed) * all) / filterBytes(all, bits));
        const rows = Math.min(all, affordable);
        // Where folders are rolled up, a table has to tell which.
        const hasFolders = rows < all;
        if (rows < sizes[0].rows || (hasFolders && fingerprintBits > 0 && !hasDescriptors)) break;
        if (hasFolders && bits < (rowBits ?? LEAST_FOLDER_BITS)) continue;
        const choice = { bytes: maxBytes, rows, bits, fingerprintBits, hasDescriptors };
        const wrong = expectedWrong(demand, choice);
        if (best === undefined || wrong < best.wrong) best = { ...choice, wrong };
      }
    }
  }
  return best;
}

/**
 * Lookups of held hosts go where the prior says, except for a share that may go to any row, or every row attracts as
 * many. Nobody knows which, so what is expected of both is multiplied. The prior counts the more, the more rows hosts
 * have. More rows and more bits lower both.
 */
function expectedWrong(demand: PackDemand, choice: Prospect): number {
  const { sizes, misses, hosts } = demand;
  const all = sizes[sizes.length - 1].rows;
  const byRows = 1 - choice.rows / all;
  const explained = Math.min(1, expectedAt(sizes, choice.rows) / misses);
  const byPrior = (1 - UNEXPLAINED) * explained + UNEXPLAINED * byRows;
  const certainty = Math.log2(1 + all / Math.max(1, hosts)) / 2;
  return wrongIf(byPrior, demand, choice) ** certainty * wrongIf(byRows, demand, choice);
}

/**
 * The logarithm of the share of right answers, with its sign changed, of lookups of held hosts and of others, if
 * roll-ups answer such a share of those of held hosts wrongly.
 */
function wrongIf(rolledUp: number, demand: PackDemand, choice: Prospect): number {
  const { sizes, misses, elsewhere, homes, haveAllHomes, wholes } = demand;
  const { rows, bits, fingerprintBits, hasDescriptors } = choice;
  const hasFolders = rows < sizes[sizes.length - 1].rows;
  const mistakes = mistaken(bits, hasFolders ? FOLDER_PROBES : 1);
  // Roll-ups without a table are a last resort: they may cover hosts that nobody holds.
  const isLastResort = hasFolders && fingerprintBits === 0;
  const held = isLastResort ? 1 : rolledUp + (1 - rolledUp) * mistakes;
  // A table says of home pages whether they are held, without a row; of hosts alone, if all have one.
  const found = held + (hasDescriptors || haveAllHomes ? homes : 0) + wholes;
  const other = fingerprintBits === 0 ? held : Math.min(1, found) * 2 ** -fingerprintBits;
  const [heldWrong, otherWrong] = [held, other].map((one) => -Math.log1p(-Math.min(one, SURE)));
  return heldWrong + (elsewhere / misses) * otherWrong;
}

/** The chance that one of some names that are not there is taken for a row; bits may be fractions. */
function mistaken(bits: number, probes: number): number {
  const whole = Math.floor(bits);
  const once = 2 ** -whole * (1 - (bits - whole) / 2);
  return probes <= 1 ? probes * once : 1 - (1 - once) ** probes;
}

/** The wrong answers of the map of so many rows, between two that are known. */
function expectedAt(sizes: readonly MapOutlook[], rows: number): number {
  const above = sizes.findIndex((size) => size.rows >= rows);
  if (above <= 0) return sizes[Math.max(0, above)].expectedFalsePositives;
  const [low, high] = [sizes[above - 1], sizes[above]];
  const share = (rows - low.rows) / (high.rows - low.rows);
  return (
    low.expectedFalsePositives + share * (high.expectedFalsePositives - low.expectedFalsePositives)
  );
}
