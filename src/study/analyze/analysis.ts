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

/** The profile of an archive: the data of the paper's tables and figures. */
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
  /** The method: passes, memory, and any inexact numbers. */
  readonly method: Method;
}

interface IndexStatistics {
  readonly files: number;
  /** The stored (possibly compressed) size; null for pipes. */
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
  /** 0.3: the 30 % of originals with the most mementos have 70 % of all mementos. */
  readonly paretoShare: number;
  /** Share of originals, most archived first, and the share of mementos they have. */
  readonly concentration: readonly CurvePoint[];
  /** Share of originals, least archived first, and the share of mementos they have. */
  readonly lorenz: readonly CurvePoint[];
}

/** A sub-tree, and its deviation from the mean. */
export interface SubTreeRow extends Omit<SubTree, "rank"> {
  readonly gamma: number;
  /** The share of its most archived original in its mementos. */
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
  /** The most disproportionately captured hosts, often crawler traps. */
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
  /** Most frequent first. */
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
  /** `2014-03`, or `2014` if the month is unknown. */
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
  /** One row per group of MIME types; columns as in `STATUS_CLASSES`. */
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
  /** Passes over the input. */
  readonly passes: number;
  /** Sorted runs that were written to disk and merged. */
  readonly runs: number;
  readonly exact: boolean;
  readonly notes: readonly string[];
}
