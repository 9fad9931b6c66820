import type { Aggregation } from "../aggregator.ts";
import { isWhole, type Outcome } from "../outcome.ts";

/** An archive whose answer is missing from an aggregation, or a part of it. */
export interface MissingArchive {
  readonly archive: string;
  readonly name: string;
  /** A stable word: `late`, `status-503`, or one of `FAILURE_REASONS`. */
  readonly reason: string;
  /** What happened, for people. */
  readonly detail: string;
}

/** The archives whose answer is missing: those that failed or were late, and those left alone. */
export function missingArchives({ decisions, outcomes }: Aggregation): MissingArchive[] {
  const failed = outcomes.filter((outcome) => !isWhole(outcome)).map(missingOutcome);
  const dormant = decisions
    .filter(({ reason }) => reason === "dormant")
    .map(({ archive }) => ({
      archive: archive.id,
      name: archive.name,
      reason: "dormant",
      detail: "it failed too often and is left alone for a while",
    }));
  return [...failed, ...dormant];
}

/** Whether one archive at least said what it has, so that the answer means something. */
export function hasAnswer({ outcomes }: Aggregation): boolean {
  return outcomes.some(({ result }) => result === "hit" || result === "miss");
}

/** Whether archives are missing only because they took too long. */
export function areAllLate(missing: readonly MissingArchive[]): boolean {
  return missing.every(({ reason }) => LATE.has(reason));
}

const LATE: ReadonlySet<string> = new Set(["late", "timeout", "connect-timeout", "queue-timeout"]);

function missingOutcome({ archive, result, failure, status, fault }: Outcome): MissingArchive {
  const reason = result === "late" ? "late" : (failure ?? `status-${status ?? 0}`);
  const detail = fault ?? `it answered with status ${status ?? 0}`;
  return { archive: archive.id, name: archive.name, reason, detail };
}
