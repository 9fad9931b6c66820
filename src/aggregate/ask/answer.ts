import { type ErrorCode, isMementoMapError } from "../../errors.ts";
import { type FailureReason, failureReasonOf } from "../../http/retry.ts";
import { MementoList } from "../../memento/memento-list.ts";

/** Source of an answer: the archive, the cache, a stale cache entry, or a request already in flight. */
export type Origin = "network" | "cache" | "stale" | "coalesced";

/** An archive's answer for an original. */
export interface ArchiveAnswer {
  /** `miss`: the archive reports no mementos; `error`: the request failed, or the response is unusable. */
  readonly result: "hit" | "miss" | "error";
  readonly mementos: MementoList;
  /** HTTP status of the response, if any. */
  readonly status: number | undefined;
  /** Undefined without a response. */
  readonly origin: Origin | undefined;
  /** Age of a cached answer. */
  readonly ageSeconds: number;
  /** Error code; also set with a hit if a later page of a TimeMap failed. */
  readonly code: ErrorCode | undefined;
  /** Reason of the error, as a stable word. */
  readonly failure: FailureReason | undefined;
  readonly fault: string | undefined;
}

/** Error of an answer. */
export type ArchiveFault = Pick<ArchiveAnswer, "code" | "failure" | "fault">;

const NO_MEMENTOS = new MementoList();
const NO_FAULT: ArchiveFault = { code: undefined, failure: undefined, fault: undefined };

/** The answer with these mementos; an empty list is a miss. */
export function answerOf(
  mementos: MementoList,
  {
    status,
    origin = "network",
    ageSeconds = 0,
    fault = NO_FAULT,
  }: {
    readonly status?: number | undefined;
    readonly origin?: Origin | undefined;
    readonly ageSeconds?: number | undefined;
    readonly fault?: ArchiveFault | undefined;
  } = {},
): ArchiveAnswer {
  const isHit = mementos.count > 0;
  const result = isHit ? "hit" : "miss";
  return { result, mementos, status: status ?? (isHit ? 200 : 404), origin, ageSeconds, ...fault };
}

function uselessAnswer(status: number, fault: ArchiveFault = NO_FAULT): ArchiveAnswer {
  return { ...failedAnswer(fault), status, origin: "network" };
}

/** A response without a usable body: 404 is a miss. */
export function answerOfStatus(status: number): ArchiveAnswer {
  return status === 404 ? answerOf(NO_MEMENTOS) : uselessAnswer(status);
}

/** The answer for a response that cannot be parsed. */
export function unreadableAnswer(
  status: number,
  failure: "bad-timemap" | "no-memento",
  fault: string,
): ArchiveAnswer {
  return uselessAnswer(status, { code: "MM_BAD_INPUT", failure, fault });
}

/** The answer for a request that failed. */
export function failedAnswer(fault: ArchiveFault): ArchiveAnswer {
  const nothing = { mementos: NO_MEMENTOS, status: undefined, origin: undefined, ageSeconds: 0 };
  return { result: "error", ...nothing, ...fault };
}

/** The code, reason and message of an error. */
export function faultOf(error: unknown): ArchiveFault {
  return {
    code: isMementoMapError(error) ? error.code : "MM_HTTP",
    failure: failureReasonOf(error),
    fault: error instanceof Error ? error.message : String(error),
  };
}
