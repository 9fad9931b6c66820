import type { ErrorCode } from "../errors.ts";
import type { FailureReason } from "../http/failure-reason.ts";
import type { Archive } from "./route/archive.ts";
import type { Decision } from "./route/decision.ts";
import type { UpstreamAnswer } from "./upstream.ts";

/** What became of asking one archive. */
export type Result =
  /** It has mementos. */
  | "hit"
  /** It answered that it has none. */
  | "miss"
  /** It could not be asked, or its answer is of no use. */
  | "error"
  /** It did not answer in time. */
  | "late";

/** What one archive answered, when and how. */
export interface Outcome {
  readonly archive: Archive;
  /** Why it was asked. */
  readonly decision: Decision;
  readonly result: Result;
  /** How many mementos it named. */
  readonly mementos: number;
  /** Of the answer, if there was one. */
  readonly status: number | undefined;
  /** Where the answer came from, if there was one. */
  readonly origin: UpstreamAnswer["origin"] | undefined;
  /** How old a cached answer was. */
  readonly ageSeconds: number;
  /** What went wrong; also set with a hit when a later page of a TimeMap could not be had. */
  readonly code: ErrorCode | undefined;
  /** The same in a stable word that says more. */
  readonly failure: FailureReason | undefined;
  readonly fault: string | undefined;
  /** Milliseconds since 1970, with fractions. */
  readonly startedAt: number;
  readonly endedAt: number;
}

/** Whether an outcome leaves nothing to be wished for: what the archive has is known. */
export function isWhole(outcome: Outcome): boolean {
  return outcome.fault === undefined && (outcome.result === "hit" || outcome.result === "miss");
}
