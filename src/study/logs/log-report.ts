import type { LogOverlap } from "./log-overlap.ts";
import { MAGNITUDES } from "./log-overlap.ts";
import type { ArchiveAnswers, LogCounts } from "./log-tally.ts";

export interface ArchiveRow extends ArchiveAnswers {
  readonly hitShare: number;
  readonly missShare: number;
  readonly errorShare: number;
}

/** What the logs of an aggregator tell about archives and about what people look for. */
export interface LogReport {
  readonly counts: LogCounts;
  readonly archives: readonly ArchiveRow[];
  readonly all: ArchiveRow;
  /** Distinct originals asked for of which it is known whether they are held, and those that are. */
  readonly asked: number;
  readonly askedAndHeld: number;
  /** Distinct originals asked for of which it is not known, and their share of all asked for. */
  readonly unknown: number;
  readonly unknownShare: number;
  readonly overlap: Overlap;
  /** What was asked for most often and is not held: candidates for seeds. */
  readonly missing: readonly MissingRow[];
}

export interface Overlap {
  /** Where the mementos are counted: in an index, or in the answers of archives. */
  readonly source: "index" | "answers";
  readonly magnitudes: readonly string[];
  /**
   * Originals by magnitude of mementos (rows) and of requests (columns). Null where it cannot be
   * known: neither archived nor accessed; and, without an index, archived but not accessed.
   */
  readonly cells: readonly (readonly (number | null)[])[];
}

export interface MissingRow {
  readonly uri: string;
  readonly surt: string;
  readonly requests: number;
}

/** Puts the counts of logs together. */
export function logReport(
  counts: LogCounts,
  archives: readonly ArchiveAnswers[],
  overlap: LogOverlap,
  source: Overlap["source"],
): LogReport {
  const sum = (of: "requests" | "hits" | "misses" | "errors" | "sleeps"): number =>
    archives.reduce((total, row) => total + row[of], 0);
  const all: ArchiveAnswers = {
    archive: "All",
    requests: sum("requests"),
    hits: sum("hits"),
    misses: sum("misses"),
    errors: sum("errors"),
    sleeps: sum("sleeps"),
  };
  return {
    counts,
    archives: archives.map((row) => withShares(row)),
    all: withShares(all),
    asked: overlap.asked,
    askedAndHeld: overlap.askedAndHeld,
    unknown: overlap.unknown,
    unknownShare: overlap.unknown / Math.max(1, overlap.asked + overlap.unknown),
    overlap: {
      source,
      magnitudes: MAGNITUDES,
      cells: overlap.cells.map((row, archived) =>
        row.map((cell, accessed) => {
          const isUnknown = accessed === 0 && (archived === 0 || source === "answers");
          return isUnknown ? null : cell;
        }),
      ),
    },
    missing: overlap.missing
      .best()
      .map(({ name, surt, rank }) => ({ uri: name, surt, requests: rank })),
  };
}

function withShares(row: ArchiveAnswers): ArchiveRow {
  const { requests, hits, misses, errors } = row;
  const share = (part: number): number => (requests === 0 ? 0 : part / requests);
  return { ...row, hitShare: share(hits), missShare: share(misses), errorShare: share(errors) };
}
