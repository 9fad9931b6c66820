import { MementoMapError } from "../../errors.ts";
import type { HostDemand } from "../compact/budget/prior.ts";
import type { MapOutlook } from "../compact/budget/roll-up-plan.ts";
import { filterBytes } from "./packing.ts";
import { mistaken, type RowWidths } from "./row-widths.ts";

/** Lookups of hosts that are not held, for each of one that is, as aggregators send them. */
export const LOOKUPS_ELSEWHERE = 10;
/** Names that a lookup asks for and that are not there, where folders are rolled up. */
const FOLDER_PROBES = 1.5;
/** The same where no table tells which folders a host has. */
const FLAT_FOLDER_PROBES = 5;
/** Where folders are rolled up, more bits of a row, on average, answer more than more rows do, up to this. */
const LEAST_FOLDER_BITS = 7;
/** Bytes of the header and the descriptors, about; and of a header with one descriptor. */
const HEAD_BYTES = 1300;
const FLAT_HEAD_BYTES = 700;
/** Bits of the number of a descriptor, about. */
const DESCRIPTOR_BITS = 7;
/** The share of the bytes that counts of hosts may take. */
const COUNT_SHARE = 0.03;
/** Slots of a fuse filter for each key. */
const FUSE_SLOTS = 1.125;
/** Bits of a row, and of the fingerprint of a host, that are tried. */
const TRIED_BITS: readonly number[] = Array.from({ length: 100 }, (_, i) =>
  i < 80 ? (i + 1) / 8 : i - 69,
);
/** Which tables are tried, and whether with bits that differ between hosts. */
interface Tried {
  readonly fingerprints: readonly number[];
  readonly variants: readonly boolean[];
}
const TRIED: Tried = {
  fingerprints: Array.from({ length: 16 }, (_, i) => i + 1),
  variants: [false, true],
};
/** How many wrong answers there may be if a guess is wrong, for each without it. */
const MOST_FOR_A_GUESS = 1.125;
/** A size is large enough when twice the bytes would answer less than this share better. */
const KNEE = 0.02;
const KNEE_STEP = 1.25;
/** Where only the size is looked for, one table is tried. */
const TRIED_FOR_KNEE: Tried = { fingerprints: [10], variants: [false] };
/** Below this, a file is hardly more than its header. */
const SMALLEST_BYTES = 4096;

/** The table in front of the rows: none, one that knows hosts, or one that knows their rows too. */
type TableKind = "none" | "hosts" | "descriptors";

/** What can be expected of a packed map. */
export interface Prospect {
  readonly bytes: number;
  /** Rows of the map that is packed. */
  readonly rows: number;
  /** Bits of a row. */
  readonly bits: number;
  /** Bits by which the table tells hosts apart: 0 without a table, undefined to choose them later. */
  readonly fingerprintBits: number | undefined;
  readonly countBits: number;
  /** Whether hosts differ in bits. */
  readonly variesBits: boolean;
  /** The share of lookups of held hosts that miss and are answered wrongly. */
  readonly wrong: number;
}

/** What a plan is made from. */
export interface PackDemand extends HostDemand {
  /** Lookups of each host, by its number; in no unit. */
  readonly hostLookups: Float64Array;
  /** Lookups of hosts that are not held. */
  readonly elsewhere: number;
  readonly hosts: number;
  /** Whether a log of misses says what will be asked. */
  readonly isTrained: boolean;
  readonly countBits: number;
  /** Bits of a host for its years. */
  readonly periodBits: number;
  /** Bytes that voids take. */
  readonly voidBytes: number;
  /** Maps of all sizes, the smallest first. */
  readonly sizes: readonly MapOutlook[];
  /** The chance that a lookup is of a host that is not held, if lookups are like what is held. */
  readonly newHosts: number;
  /** The share of lookups that are of home pages, and of hosts that have one. */
  readonly homes: number;
  /** Whether all hosts have one. */
  readonly haveAllHomes: boolean;
  /** The share of hosts that are held as a whole: any lookup that is taken for one of theirs finds something. */
  readonly wholes: number;
  /** Rows that a lookup of a page asks for, where a table knows the rows of its host. */
  readonly probes: number;
  /** The share of lookups that neither the log nor the prior explain. */
  readonly unexplained: number;
  /**
   * What comes of bits that differ between hosts. Without a log it is judged by where the prior says that lookups
   * go, and by the rows.
   */
  readonly widths: (bits: number) => Pick<RowWidths, "classes" | "wrong" | "wrongElsewhere">;
  /** The lookups of each host that these bits are chosen by. */
  readonly widthLookups: Float64Array;
}

/** Where lookups go. */
interface Assumption {
  /** Lookups of hosts that are not held, for each that misses on one that is. */
  readonly elsewhere: number;
  /** The share of misses on held hosts that a map of so many rows answers wrongly. */
  readonly rolledUp: (rows: number) => number;
}

interface Candidate extends Prospect {
  /** The share of all lookups that miss and are answered wrongly, under each assumption. */
  readonly wrongIf: readonly number[];
  /** The same of lookups of held hosts alone. */
  readonly wrongOnHeldIf: readonly number[];
}

/**
 * The rows, the bits of a row and the table with which a packed map of at most so many bytes answers best:
 * few rows of many bits roll up much, many rows of few bits mistake much, and a table that tells hosts apart
 * answers lookups of other hosts at the cost of those of held ones.
 *
 * Without a log nobody knows where lookups go, and with one, how much it leaves open. So what is chosen is no worse
 * than a filter of all keys, and has the least regret under all {@link assumptions}.
 *
 * @param rowBits bits of a row, where they are given.
 * @throws MM_BUDGET where no map is so small
 */
export function planPack(demand: PackDemand, maxBytes: number, rowBits?: number): Prospect {
  const all = candidates(demand, maxBytes, rowBits);
  if (all.length === 0) throw tooSmall(maxBytes);
  const alike = all.filter(({ variesBits }) => demand.isTrained || !variesBits);
  const fair = alike.filter((one) => isFair(one, demand));
  const choice = fair.length > 0 ? fair : alike;
  const least = choice[0].wrongIf.map((_, i) =>
    Math.min(...choice.map(({ wrongIf }) => wrongIf[i])),
  );
  // Roots, because 1 % and 2 % differ more than 51 % and 52 %, but not as much as 10 % and 20 %.
  const regret = ({ wrongIf }: Candidate): number =>
    wrongIf.reduce((sum, wrong, i) => sum + (Math.sqrt(wrong) - Math.sqrt(least[i])) ** 2, 0);
  let [best] = choice;
  let lowest = regret(best);
  for (const one of choice) {
    const own = regret(one);
    if (own < lowest) [best, lowest] = [one, own];
  }
  return demand.isTrained ? best : withVariedBits(best, all, demand);
}

/**
 * The same with bits that differ between hosts, where that costs little if the prior is wrong about them, and is
 * still as good as a filter of all keys: nobody knows which hosts are asked for, but a table of few hosts has room
 * for a guess.
 */
function withVariedBits(
  best: Candidate,
  all: readonly Candidate[],
  { sizes }: PackDemand,
): Candidate {
  const filter = plainFilterMistakes(best.bytes, sizes[sizes.length - 1].rows);
  const sum = ({ wrongIf }: Candidate): number => wrongIf.reduce((a, b) => a + b, 0);
  return all
    .filter(({ variesBits, rows }) => variesBits && rows === best.rows)
    .filter(
      ({ wrongIf, wrongOnHeldIf }) =>
        wrongIf.every((wrong, i) => wrong <= MOST_FOR_A_GUESS * best.wrongIf[i]) &&
        [...wrongIf, ...wrongOnHeldIf].every((wrong) => wrong <= filter),
    )
    .reduce((found, one) => (sum(one) < sum(found) ? one : found), best);
}

/**
 * Whether a candidate is as good as a filter of all keys of the same size, for lookups of an aggregator as for those
 * of held hosts alone: what a table gains on other hosts must not be lost there. On held ones the prior and the rows
 * are taken to be right as often as each other; where nothing tells hosts apart, it must be as good by both.
 */
function isFair(one: Candidate, { sizes, isTrained }: PackDemand): boolean {
  const { bytes, wrongIf, wrongOnHeldIf } = one;
  const filter = plainFilterMistakes(bytes, sizes[sizes.length - 1].rows);
  if (isTrained || one.fingerprintBits === 0) return wrongIf.every((wrong) => wrong <= filter);
  return [wrongIf, wrongOnHeldIf].every((wrongs) =>
    wrongs.every((wrong, i) => (wrong + wrongs[i ^ 1]) / 2 <= filter),
  );
}

/** What a Bloom filter or a fuse filter of all keys mistakes, whichever is better. */
function plainFilterMistakes(bytes: number, keys: number): number {
  const bits = (8 * bytes) / Math.max(1, keys);
  const hashes = Math.max(1, Math.round(bits * Math.LN2));
  const bloom = (1 - Math.exp(-hashes / bits)) ** hashes;
  return Math.min(bloom, 2 ** -Math.floor(bits / FUSE_SLOTS));
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
  // What the prior does not explain is about the same for all sizes.
  const explained = { ...demand, unexplained: 0 };
  const [first] = assumptions(explained);
  const wrong = (bytes: number): number =>
    Math.min(
      1,
      ...candidates(explained, bytes, undefined, TRIED_FOR_KNEE).map(
        ({ wrongIf }) => wrongIf[0] * (1 + first.elsewhere),
      ),
    );
  const all = demand.sizes[demand.sizes.length - 1].rows;
  let bytes = HEAD_BYTES + filterBytes(all + 2 * demand.hosts, 12);
  while (
    bytes / KNEE_STEP >= SMALLEST_BYTES &&
    wrong(bytes / KNEE_STEP) - wrong((2 * bytes) / KNEE_STEP) < KNEE
  ) {
    bytes /= KNEE_STEP;
  }
  return Math.ceil(Math.max(bytes, SMALLEST_BYTES));
}

/**
 * The prior tells where lookups go, and a log does better, except perhaps for a share that may go to any row: the widths
 * of rows show how large it is, but roll-ups go by a prior that allows for it already. Without a log they may go where
 * the prior says, or every row may attract as many; and they may be those of an aggregator, most of them of other
 * hosts, or be like what is held.
 */
function assumptions(demand: PackDemand): Assumption[] {
  const { sizes, misses, isTrained, newHosts, unexplained } = demand;
  const all = sizes[sizes.length - 1].rows;
  const byRows = (rows: number): number => 1 - rows / all;
  const explained = (rows: number): number => Math.min(1, expectedAt(sizes, rows) / misses);
  const byPrior = (rows: number): number =>
    (1 - unexplained) * explained(rows) + unexplained * byRows(rows);
  const elsewhere = demand.elsewhere / misses;
  if (isTrained) return [byPrior, explained].map((rolledUp) => ({ elsewhere, rolledUp }));
  const likeHeld = newHosts / Math.max(1e-9, 1 - newHosts);
  return [elsewhere, Math.min(elsewhere, likeHeld)].flatMap((elsewhere) =>
    [byPrior, byRows].map((rolledUp) => ({ elsewhere, rolledUp })),
  );
}

function candidates(
  demand: PackDemand,
  maxBytes: number,
  rowBits?: number,
  { fingerprints, variants }: Tried = TRIED,
): Candidate[] {
  const all = demand.sizes[demand.sizes.length - 1].rows;
  const assumed = assumptions(demand);
  const found: Candidate[] = [];
  const tryTable = (
    bits: number,
    kind: TableKind,
    fingerprintBits: number,
    variesBits: boolean,
  ): void => {
    const choice = { maxBytes, bits, kind, fingerprintBits, variesBits };
    // What is rolled up leaves few rows where lookups are not expected.
    const mustKeepAll = variesBits && !demand.isTrained;
    if (mustKeepAll && affordableRows(demand, { ...choice, variesBits: false }) < all) return;
    const rows = affordableRows(demand, choice);
    // Where folders are rolled up, a table has to tell which.
    const hasFolders = rows < all;
    if (rows < demand.sizes[0].rows || (hasFolders && kind === "hosts")) return;
    if (hasFolders && bits < (rowBits ?? LEAST_FOLDER_BITS)) return;
    if (hasFolders && mustKeepAll) return;
    found.push(candidate(demand, assumed, { ...choice, rows }));
  };
  // A log tells which hosts are asked for.
  const whichVary = demand.isTrained ? [true] : rowBits === undefined ? variants : [false];
  for (const bits of rowBits === undefined ? TRIED_BITS : [rowBits]) {
    tryTable(bits, "none", 0, false);
    for (const fingerprintBits of fingerprints) {
      for (const variesBits of whichVary) {
        tryTable(bits, "hosts", fingerprintBits, variesBits);
        tryTable(bits, "descriptors", fingerprintBits, variesBits);
      }
    }
  }
  // Only a table has a place for years.
  const withTable = found.filter(({ fingerprintBits }) => fingerprintBits !== 0);
  return demand.periodBits > 0 && withTable.length > 0 ? withTable : found;
}

function affordableRows(
  demand: PackDemand,
  { maxBytes, bits, kind, fingerprintBits, variesBits }: Omit<Choice, "rows">,
): number {
  const { sizes, hosts } = demand;
  const all = sizes[sizes.length - 1].rows;
  const classBits = variesBits ? Math.log2(demand.widths(bits).classes) : 0;
  const descriptorBits = classBits + (kind === "descriptors" ? DESCRIPTOR_BITS : 0);
  const noteBits = countBitsWithin(demand, maxBytes) + demand.periodBits;
  const tableBits = fingerprintBits + descriptorBits + noteBits;
  const table = kind === "none" ? 0 : filterBytes(hosts, tableBits);
  const head = kind === "descriptors" ? HEAD_BYTES : FLAT_HEAD_BYTES;
  const fixed = head + table + demand.voidBytes;
  return Math.min(all, Math.floor(((maxBytes - fixed) * all) / filterBytes(all, bits)));
}

interface Choice {
  readonly maxBytes: number;
  readonly rows: number;
  readonly bits: number;
  readonly kind: TableKind;
  readonly fingerprintBits: number;
  readonly variesBits: boolean;
}

function candidate(
  demand: PackDemand,
  assumed: readonly Assumption[],
  { maxBytes, rows, bits, kind, fingerprintBits, variesBits }: Choice,
): Candidate {
  const all = demand.sizes[demand.sizes.length - 1].rows;
  const widths = variesBits && rows === all ? demand.widths(bits) : undefined;
  const perName = kind === "descriptors" && rows === all ? demand.probes : 1;
  const same =
    rows < all
      ? mistaken(bits, kind === "descriptors" ? FOLDER_PROBES : FLAT_FOLDER_PROBES)
      : mistaken(bits, 1);
  // The judges of widths are the assumptions about held hosts, in their order.
  const mistakes = (widths?.wrong ?? [same]).map((wrong) => wrong * perName);
  const onHeldHosts = ({ rolledUp }: Assumption, i: number): number => {
    const share = rolledUp(rows);
    return share + (1 - share) * mistakes[i % mistakes.length];
  };
  const wrongOnHeldIf = assumed.map(onHeldHosts);
  const wrongIf = assumed.map((assumption, i) => {
    const { [i]: held } = wrongOnHeldIf;
    // A table says of home pages whether they are held, without a row; of hosts alone, if all have one.
    const homes = kind === "descriptors" || demand.haveAllHomes ? demand.homes : 0;
    const found = Math.max(held, widths?.wrongElsewhere ?? 0) + homes + demand.wholes;
    const other = kind === "none" ? same : Math.min(1, found) * 2 ** -fingerprintBits;
    return (held + assumption.elsewhere * other) / (1 + assumption.elsewhere);
  });
  const countBits = countBitsWithin(demand, maxBytes);
  return {
    bytes: maxBytes,
    rows,
    bits,
    fingerprintBits,
    countBits,
    variesBits,
    wrong: wrongOnHeldIf[0],
    wrongIf,
    wrongOnHeldIf,
  };
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
