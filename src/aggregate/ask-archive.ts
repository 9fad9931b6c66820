import { type ErrorCode, isMementoMapError } from "../errors.ts";
import type { Archive } from "./route/archive.ts";
import type { MementoList } from "../memento/memento-list.ts";
import { type FailureReason, failureReasonOf } from "../http/failure-reason.ts";
import type { StopSignal } from "./stop-signal.ts";
import type { UpstreamAnswer } from "./upstream.ts";

/** How much of an archive's answer is taken. */
export interface AskLimits {
  /** Bytes of one TimeMap, or of one page of it; default 256 MiB. */
  readonly maxBytes: number;
  /** Pages of one TimeMap; default 100. */
  readonly maxPages: number;
  /** Mementos of one archive; default 5 million. */
  readonly maxMementos: number;
}

export const DEFAULT_ASK_LIMITS: AskLimits = {
  maxBytes: 256 * 2 ** 20,
  maxPages: 100,
  maxMementos: 5_000_000,
};

/** What one archive is asked. */
export interface Question {
  readonly archive: Archive;
  readonly uri: string;
  readonly cacheControl: string | undefined;
  readonly signal: StopSignal;
}

/** What an archive's answer holds. */
export interface Finding {
  /** Undefined where the answer was none that holds mementos. */
  readonly mementos: MementoList | undefined;
  readonly status: number | undefined;
  readonly origin: UpstreamAnswer["origin"] | undefined;
  readonly ageSeconds: number;
  readonly code: ErrorCode | undefined;
  readonly failure: FailureReason | undefined;
  readonly fault: string | undefined;
}

/** What went wrong. */
export type Fault = Pick<Finding, "code" | "failure" | "fault">;

export const NOTHING_FOUND: Finding = {
  mementos: undefined,
  status: undefined,
  origin: undefined,
  ageSeconds: 0,
  code: undefined,
  failure: undefined,
  fault: undefined,
};

/** What an answer says of itself, whatever is in it. */
export function findingOf(answer: UpstreamAnswer): Finding {
  const { status, origin, headers } = answer;
  const age = origin === "network" ? 0 : Number(headers.get("age") ?? 0);
  return { ...NOTHING_FOUND, status, origin, ageSeconds: age > 0 ? Math.floor(age) : 0 };
}

/** Whether it is known what the archive has. */
export function isAnswered({ mementos, code, status }: Finding): boolean {
  return mementos !== undefined || (code === undefined && status === 404);
}

/** What an error says. */
export function faultOf(error: unknown): Fault {
  return {
    code: isMementoMapError(error) ? error.code : "MM_HTTP",
    failure: failureReasonOf(error),
    fault: error instanceof Error ? error.message : String(error),
  };
}

/** What is sent with a question; undefined for nothing, which is the usual and costs nothing. */
export function headersOf(
  { cacheControl }: Question,
  more?: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> | undefined {
  return cacheControl === undefined ? more : { ...more, "cache-control": cacheControl };
}
