import type { ChildrenFit } from "../../compact/children-fit.ts";
import type { LineCounts } from "./capture-tally.ts";
import type {
  CurvePoint,
  DepthRow,
  DistributionSummary,
  HeapsFit,
  ReductionCurve,
} from "./histogram.ts";
import type { SubTree } from "./holdings-tree.ts";

/** The portrait of an archive: what the tables and figures of the paper show, as data. */
export interface Analysis {
  readonly index: IndexStatistics;
  readonly tlds: TldTable;
  readonly distribution: MementoDistribution;
  readonly top: TopTables;
  readonly malformed: MalformedTables;
  readonly years: readonly YearRow[];
  /** Cumulative, by month. */
  readonly growth: readonly GrowthPoint[];
  readonly exactDepths: readonly ExactDepthRow[];
  readonly depths: readonly DepthRow[];
  readonly reduction: Reduction;
  readonly fits: Fits;
  readonly captures: CaptureTables;
  /** How the numbers came about: passes, memory, and whether anything is not exact. */
  readonly method: Method;
}

interface IndexStatistics {
  readonly files: number;
  /** As stored, so compressed where the files are; null for pipes. */
  readonly storedBytes: number | null;
  readonly lines: LineCounts;
  readonly mementos: number;
  readonly originals: number;
  readonly keys: number;
  readonly hosts: number;
  readonly ipAddresses: number;
  /** YYYYMMDDhhmmss of the first and last well-formed datetime; empty if there is none. */
  readonly first: string;
  readonly last: string;
}

export interface TldRow {
  readonly tld: string;
  readonly originals: number;
  readonly mementos: number;
  readonly originalShare: number;
  readonly mementoShare: number;
}

export interface TldTable {
  readonly rows: readonly TldRow[];
  readonly ipAddresses: TldRow;
  readonly other: TldRow;
}

interface MementoDistribution extends DistributionSummary {
  readonly gini: number;
  /** 0.3: the 30 % of originals with the most mementos have 70 % of all. */
  readonly paretoShare: number;
  /** Share of originals, most archived first, and the share of mementos they have. */
  readonly concentration: readonly CurvePoint[];
  /** Share of originals, least archived first, and the share of mementos they have. */
  readonly lorenz: readonly CurvePoint[];
}

/** A sub-tree, and how far it is out of proportion. */
export interface SubTreeRow extends Omit<SubTree, "rank"> {
  readonly gamma: number;
  /** The share of its mementos that its most archived original has. */
  readonly largestShare: number;
  /** Mementos beyond what its originals would have at the archive's mean. */
  readonly excess: number;
}

export interface TopTables {
  readonly originals: readonly { readonly surt: string; readonly mementos: number }[];
  readonly hosts: readonly SubTreeRow[];
  /** Domains with more than one host. */
  readonly domains: readonly SubTreeRow[];
  /** Paths with more than one key. */
  readonly paths: readonly SubTreeRow[];
  /** Hosts captured most beyond proportion: what a crawler did not mean to do. */
  readonly biases: readonly SubTreeRow[];
}

export interface Fault {
  readonly fault: string;
  readonly count: number;
  readonly examples: readonly string[];
}

export interface MalformedValues {
  readonly count: number;
  readonly distinct: number;
  /** Commonest first. */
  readonly examples: readonly { readonly value: string; readonly count: number }[];
}

export interface MalformedTables {
  readonly mimeTypes: MalformedValues;
  readonly statusCodes: MalformedValues;
  readonly datetimes: readonly Fault[];
  readonly lines: readonly Fault[];
}

export interface YearRow {
  readonly year: number;
  readonly originals: number;
  readonly cumulativeOriginals: number;
  readonly mementos: number;
  readonly cumulativeMementos: number;
  /** The share of this year's originals that were captured in an earlier year. */
  readonly duplicateShare: number;
  readonly gamma: number;
  readonly cumulativeGamma: number;
  /** Shares of this year's mementos by class, in the order of `STATUS_CLASSES`. */
  readonly statusShares: readonly number[];
}

export interface GrowthPoint {
  /** `2014-03`, or `2014` where the month is not known. */
  readonly month: string;
  readonly mementos: number;
  readonly originals: number;
}

export interface ExactDepthRow {
  readonly depth: number;
  readonly hosts: number;
  readonly keysByHost: number;
  readonly keysByPath: number;
}

interface Reduction {
  readonly hostGlobal: readonly ReductionCurve[];
  readonly pathGlobal: readonly ReductionCurve[];
  readonly hostIncremental: readonly ReductionCurve[];
  readonly pathIncremental: readonly ReductionCurve[];
}

interface Fits extends ChildrenFit {
  /** Originals by mementos, month by month. */
  readonly heaps: HeapsFit | undefined;
}

export interface CaptureTables {
  /** A row for each group of MIME types; columns as `STATUS_CLASSES`. */
  readonly mimeStatus: readonly { readonly group: string; readonly counts: readonly number[] }[];
  readonly mimeTypes: readonly { readonly mime: string; readonly count: number }[];
  readonly statusCodes: readonly { readonly status: number; readonly count: number }[];
  /** Path depth 0 to 4 and beyond, by query parameters 0 to 4 and beyond. */
  readonly pathQuery: readonly (readonly number[])[];
  /** Twelve months, and first those without a month. */
  readonly yearMonth: readonly { readonly year: number; readonly months: readonly number[] }[];
  readonly samples: readonly { readonly datetime: string; readonly uri: string }[];
}

export interface Method {
  /** Readings of the input. */
  readonly passes: number;
  /** Sorted runs that went through the disk and were merged. */
  readonly runs: number;
  readonly exact: boolean;
  readonly notes: readonly string[];
}
