import { MementoMapError } from "../errors.ts";
import { FLAG } from "../packed/packed-file.ts";
import type { BudgetCompaction } from "../compact/budget-compaction.ts";
import type { MissList } from "../compact/misses.ts";
import type { MapOutlook } from "../compact/roll-up-plan.ts";
import type { HostProfiles } from "./host-profiles.ts";
import { filterBytes } from "./write-packed.ts";

/** Lookups of unheld hosts per lookup of a held host, as sent by aggregators. */
const LOOKUPS_ELSEWHERE = 10;
/**
 * One lookup of an unheld host is assumed per this many rows of a host, up to the limit above: an archive of many
 * hosts receives more lookups of held hosts, and a table of few hosts costs little.
 */
const ROWS_ELSEWHERE = 36;
/** The fraction of lookups that may go to any row, regardless of the prior. */
const UNEXPLAINED = 0.1;
/** Absent names queried per lookup if folders are rolled up. */
const FOLDER_PROBES = 1.5;
/** If folders are rolled up, more bits per row help more than more rows, up to this. */
const LEAST_FOLDER_BITS = 7;
/** Approximate bytes of the header and the descriptors, and of a header with one descriptor. */
const HEAD_BYTES = 700;
const FLAT_HEAD_BYTES = 600;
/** Approximate bits of a descriptor number. */
const DESCRIPTOR_BITS = 4;
/** Maximum expected error rate: the logarithm of 0 right answers is undefined. */
const SURE = 0.999_999;
/** Bits per row, and bits of a host fingerprint, to try; 0 for no table. */
const TRIED_BITS: readonly number[] = Array.from({ length: 100 }, (_, i) =>
  i < 80 ? (i + 1) / 8 : i - 69,
);
const TRIED_FINGERPRINTS: readonly number[] = Array.from({ length: 17 }, (_, i) => i);
/** A size is large enough if doubling it improves accuracy by less than this fraction. */
const KNEE = 0.02;
/** The smallest size compared for it, and the factor between sizes. */
const LEAST_BYTES = 512;
const STEP = 1.5;
/** Below this, a file is hardly more than its header. */
const SMALLEST_DEFAULT = 4096;

/** The parameters of a planned packed map. */
export interface Prospect {
  readonly bytes: number;
  /** Rows to pack. */
  readonly rows: number;
  /** Bits per row. */
  readonly bits: number;
  /** Fingerprint bits in the table of hosts; 0 without a table. */
  readonly fingerprintBits: number;
  /** Whether the table has a descriptor of the rows of each host. */
  readonly hasDescriptors: boolean;
}

/** The input of a plan. */
export interface PackDemand {
  /** Lookups of held hosts that miss, in the unit of `sizes`. */
  readonly misses: number;
  /** Lookups of unheld hosts, in the same unit. */
  readonly elsewhere: number;
  /** Maps of all sizes, the smallest first. */
  readonly sizes: readonly MapOutlook[];
  readonly hosts: number;
  /** Bytes of voids. */
  readonly voidBytes: number;
  /** The fraction of lookups for home pages, and whether all hosts have one. */
  readonly homes: number;
  readonly haveAllHomes: boolean;
  /** The fraction of hosts held as a whole: any lookup mistaken for one of these hosts is a hit. */
  readonly wholes: number;
}

/** Predicts future lookups from a map and, if available, its misses. */
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

/** A candidate for the packed map. */
export interface Plan extends Prospect {
  /** The expected error, see {@link expectedWrong}; without a unit. */
  readonly wrong: number;
}

/**
 * Chooses the rows, bits per row and table for the most accurate packed map of at most `maxBytes`. Few rows of many
 * bits cause false positives by roll-ups, many rows of few bits by collisions; a table of hosts makes lookups of
 * unheld hosts more accurate at the expense of held ones.
 *
 * The expected error never grows with `maxBytes`: the best candidate that fits is chosen, and candidates that fit into
 * fewer bytes also fit into more.
 *
 * @param rowBits bits per row, if fixed.
 * @throws MM_BUDGET if no map is small enough
 */
export function planPack(demand: PackDemand, maxBytes: number, rowBits?: number): Plan {
  const found = bestPlan(demand, maxBytes, rowBits);
  if (found === undefined) throw tooSmall(maxBytes);
  return found;
}

/**
 * The fingerprint bits of hosts for a number of bits per row: the last fingerprint bit should gain as much for lookups
 * of unheld hosts as the last row bit does for held ones.
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

/** The error if no map fits. */
export function tooSmall(maxBytes: number): MementoMapError {
  return new MementoMapError(
    "MM_BUDGET",
    `no packed map of this archive fits into ${maxBytes} bytes; allow more`,
  );
}

/** The smallest size from which on doubling the bytes hardly improves accuracy. */
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
  // If nearly all is rolled up, twice the bytes may gain nothing, yet four times the bytes much.
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
      // Without a table, all rows would need the bits of rows of hosts with voids.
      if (fingerprintBits === 0 && voidBytes > 0) continue;
      const tableBits = fingerprintBits + (hasDescriptors ? DESCRIPTOR_BITS : 0);
      const table = fingerprintBits === 0 ? 0 : filterBytes(hosts, tableBits);
      const fixed = (hasDescriptors ? HEAD_BYTES : FLAT_HEAD_BYTES) + table + voidBytes;
      for (const bits of rowBits === undefined ? TRIED_BITS : [rowBits]) {
        const affordable = Math.floor(((maxBytes - fixed) * all) / filterBytes(all, bits));
        const rows = Math.min(all, affordable);
        // If folders are rolled up, a table must tell which.
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
 * The expected error. Lookups of held hosts either follow the prior, except for a fraction that may go to any row, or
 * are uniform over rows. As it is unknown which, the product of both estimates is used. The weight of the prior grows
 * with the rows per host. More rows and more bits lower both estimates.
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
 * The negative logarithm of the fraction of right answers, of lookups of held and of unheld hosts, if roll-ups answer
 * the fraction `rolledUp` of lookups of held hosts wrongly.
 */
function wrongIf(rolledUp: number, demand: PackDemand, choice: Prospect): number {
  const { sizes, misses, elsewhere, homes, haveAllHomes, wholes } = demand;
  const { rows, bits, fingerprintBits, hasDescriptors } = choice;
  const hasFolders = rows < sizes[sizes.length - 1].rows;
  const mistakes = mistaken(bits, hasFolders ? FOLDER_PROBES : 1);
  // Roll-ups without a table are a last resort: they may cover unheld hosts.
  const isLastResort = hasFolders && fingerprintBits === 0;
  const held = isLastResort ? 1 : rolledUp + (1 - rolledUp) * mistakes;
  // Descriptors answer lookups of home pages without a row; so does a plain table if all hosts have one.
  const found = held + (hasDescriptors || haveAllHomes ? homes : 0) + wholes;
  const other = fingerprintBits === 0 ? held : Math.min(1, found) * 2 ** -fingerprintBits;
  const [heldWrong, otherWrong] = [held, other].map((one) => -Math.log1p(-Math.min(one, SURE)));
  return heldWrong + (elsewhere / misses) * otherWrong;
}

/** The probability that at least one of `probes` absent names matches a row; bits may be fractions. */
function mistaken(bits: number, probes: number): number {
  const whole = Math.floor(bits);
  const once = 2 ** -whole * (1 - (bits - whole) / 2);
  return probes <= 1 ? probes * once : 1 - (1 - once) ** probes;
}

/** The expected wrong answers for a number of rows, interpolated between known sizes. */
function expectedAt(sizes: readonly MapOutlook[], rows: number): number {
  const above = sizes.findIndex((size) => size.rows >= rows);
  if (above <= 0) return sizes[Math.max(0, above)].expectedFalsePositives;
  const [low, high] = [sizes[above - 1], sizes[above]];
  const share = (rows - low.rows) / (high.rows - low.rows);
  return (
    low.expectedFalsePositives + share * (high.expectedFalsePositives - low.expectedFalsePositives)
  );
}
