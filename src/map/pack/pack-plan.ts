import { MementoMapError } from "../../errors.ts";
import type { HostDemand } from "../compact/budget/prior.ts";
import type { MapOutlook } from "../compact/budget/roll-up-plan.ts";
import { filterBytes } from "./packing.ts";

/** Lookups of hosts that are not held, for each of one that is, where no log tells. */
export const LOOKUPS_ELSEWHERE = 10;
/** Names that a lookup asks for and that are not there: of pages only, and of folders too. */
const PAGE_PROBES = 1;
const FOLDER_PROBES = 1.5;
/** The same where no table tells which folders a host has. */
const FLAT_FOLDER_PROBES = 5;
/** Where folders are rolled up, more bits of a row answer more than more rows do, up to this. */
const LEAST_FOLDER_BITS = 6;
/** Bytes of the header and the descriptors, about. */
const HEAD_BYTES = 1880;
const FLAT_HEAD_BYTES = 780;
/** Bits of the number of a descriptor, about. */
const DESCRIPTOR_BITS = 7;
/** The share of the bytes that counts of hosts may take. */
const COUNT_SHARE = 0.03;
/** Bits of a row that are tried. */
const TRIED_BITS: readonly number[] = Array.from({ length: 100 }, (_, i) =>
  i < 80 ? (i + 1) / 8 : i - 69,
);
/** A size is large enough when twice the bytes would answer less than this share better. */
const KNEE = 0.02;
const KNEE_STEP = 1.25;
const SMALLEST_BYTES = 1024;

/** What can be expected of a packed map. */
export interface Prospect {
  readonly bytes: number;
  /** Rows of the map that is packed. */
  readonly rows: number;
  /** Bits of a row. */
  readonly bits: number;
  readonly hasTable: boolean;
  readonly countBits: number;
  /** The share of lookups of held hosts that miss and are answered wrongly. */
  readonly wrong: number;
}

/** What a plan is made from. */
export interface PackDemand extends HostDemand {
  /** Lookups of hosts that are not held. */
  readonly elsewhere: number;
  readonly hosts: number;
  /** β of Heaps' law: n rows of a host are worth n^β lookups. */
  readonly heapsExponent: number;
  /** Whether a log of misses says what will be asked. */
  readonly isTrained: boolean;
  readonly countBits: number;
  /** Maps of all sizes, the smallest first. */
  readonly sizes: readonly MapOutlook[];
}

/** A prospect under two assumptions. */
interface Candidate extends Prospect {
  /** If lookups go where the prior says. */
  readonly wrongByPrior: number;
  /** If every row of the whole map attracts as many lookups that miss. */
  readonly wrongByRows: number;
}

/**
 * The rows and bits of a row with which a packed map of at most so many bytes answers best: few rows
 * of many bits roll up much, many rows of few bits mistake much.
 *
 * Without a log nobody knows where lookups go. So what is chosen has the least regret under two
 * assumptions: that they go where the prior says, and that every row attracts as many.
 *
 * @param rowBits bits of a row, where they are given.
 * @throws MM_USAGE where no map is so small
 */
export function planPack(demand: PackDemand, maxBytes: number, rowBits?: number): Prospect {
  const all = candidates(demand, maxBytes, rowBits);
  if (all.length === 0) {
    throw new MementoMapError(
      "MM_USAGE",
      `no packed map of this archive is as small as ${maxBytes} bytes; allow more`,
    );
  }
  const byPrior = Math.min(...all.map(({ wrongByPrior }) => wrongByPrior));
  const byRows = Math.min(...all.map(({ wrongByRows }) => wrongByRows));
  const regret = ({ wrongByPrior, wrongByRows }: Candidate): number =>
    demand.isTrained
      ? wrongByPrior - byPrior
      : Math.max(wrongByPrior - byPrior, wrongByRows - byRows);
  return all.reduce((best, one) => (regret(one) < regret(best) ? one : best));
}

/** The smallest size from which on twice the bytes hardly answer better. */
export function kneeBytes(demand: PackDemand): number {
  const wrong = (bytes: number): number =>
    Math.min(1, ...candidates(demand, bytes).map(({ wrongByPrior }) => wrongByPrior));
  const all = demand.sizes[demand.sizes.length - 1].rows;
  let bytes = HEAD_BYTES + filterBytes(all + 2 * demand.hosts, 12);
  while (
    bytes > SMALLEST_BYTES &&
    wrong(bytes / KNEE_STEP) - wrong((2 * bytes) / KNEE_STEP) < KNEE
  ) {
    bytes /= KNEE_STEP;
  }
  return Math.ceil(bytes);
}

function candidates(demand: PackDemand, maxBytes: number, rowBits?: number): Candidate[] {
  const all = demand.sizes[demand.sizes.length - 1].rows;
  return (rowBits === undefined ? TRIED_BITS : [rowBits])
    .flatMap((bits) =>
      [true, false].flatMap((hasTable) => candidate(demand, maxBytes, bits, hasTable) ?? []),
    )
    .filter(({ rows, bits }) => rows === all || bits >= (rowBits ?? LEAST_FOLDER_BITS));
}

function candidate(
  demand: PackDemand,
  maxBytes: number,
  bits: number,
  hasTable: boolean,
): Candidate | undefined {
  const { sizes, hosts, misses, elsewhere } = demand;
  const all = sizes[sizes.length - 1].rows;
  // The more rows a host has, the more its table pays for.
  const fingerprint = Math.min(16, Math.max(4, bits + Math.log2(all / hosts) + 1));
  const countBits = countBitsWithin(demand, maxBytes);
  const tableBits = Math.ceil(fingerprint) + DESCRIPTOR_BITS + countBits;
  const fixed = hasTable ? HEAD_BYTES + filterBytes(hosts, tableBits) : FLAT_HEAD_BYTES;
  const affordable = Math.floor(((maxBytes - fixed) * all) / filterBytes(all, bits));
  const rows = Math.min(all, affordable);
  const hasFolders = rows < all;
  if (rows < sizes[0].rows) return undefined;
  const probes = hasFolders ? (hasTable ? FOLDER_PROBES : FLAT_FOLDER_PROBES) : PAGE_PROBES;
  const mistake = 1 - (1 - 2 ** -bits) ** probes;
  const others = (elsewhere / misses) * mistake * (hasTable ? 2 ** -fingerprint : 1);
  const wrongIf = (rolledUp: number): number => rolledUp + (1 - rolledUp) * mistake + others;
  const wrongByPrior = wrongIf(Math.min(1, expectedAt(sizes, rows) / misses));
  const wrongByRows = wrongIf(1 - rows / all);
  const wrong = demand.isTrained ? wrongByPrior : Math.max(wrongByPrior, wrongByRows);
  return { bytes: maxBytes, rows, bits, hasTable, countBits, wrong, wrongByPrior, wrongByRows };
}

/** Counts of hosts only help to rank archives, so they get a small share of the bytes. */
function countBitsWithin({ hosts, countBits }: PackDemand, maxBytes: number): number {
  return (hosts * countBits) / 8 <= COUNT_SHARE * maxBytes ? countBits : 0;
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
