import { type ErrorCode, isMementoMapError } from "../../errors.ts";
import { type FailureReason, failureReasonOf } from "../../http/retry.ts";
import { MementoList } from "../../memento/memento-list.ts";

/**
 * Where an answer comes from: the archive; the cache; the cache although it is no longer fresh; or a request that was
 * in flight already.
 */
export type Origin = "network" | "cache" | "stale" | "coalesced";

/** What an archive has of an original. */
export interface ArchiveAnswer {
  /** `miss`: it says that it has none; `error`: it could not be asked, or its answer is of no use. */
  readonly result: "hit" | "miss" | "error";
  readonly mementos: MementoList;
  /** Of the response, if there was one. */
  readonly status: number | undefined;
  /** Undefined where there was no response. */
  readonly origin: Origin | undefined;
  /** How old a cached answer is. */
  readonly ageSeconds: number;
  /** What went wrong; also with a hit, when a later page of a TimeMap could not be had. */
  readonly code: ErrorCode | undefined;
  /** The same as a stable word. */
  readonly failure: FailureReason | undefined;
  readonly fault: string | undefined;
}

/** What went wrong. */
export type ArchiveFault = Pick<ArchiveAnswer, "code" | "failure" | "fault">;

const NO_MEMENTOS = new MementoList();
const NO_FAULT: ArchiveFault = { code: undefined, failure: undefined, fault: undefined };

/** An archive has these mementos; none is a miss. */
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

/** A response that cannot be read. */
export function unreadableAnswer(
  status: number,
  failure: "bad-timemap" | "no-memento",
  fault: string,
): ArchiveAnswer {
  return uselessAnswer(status, { code: "MM_BAD_INPUT", failure, fault });
}

/** No response, because of this. */
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
