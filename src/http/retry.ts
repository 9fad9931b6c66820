import type { FailureReason } from "./failure-reason.ts";

/** When a request is sent again. */
export interface RetryOptions {
  /** Tries after the first. */
  readonly retries: number;
  /** The first pause; doubled each time. */
  readonly firstMs: number;
}

/** Whether the same request may go better soon: too many requests, or a gateway in trouble. */
export function isWorthRetrying(status: number): boolean {
  return status === 429 || status === 502 || status === 503 || status === 504;
}

/** Whether an answer tells that an archive is asked too much. */
export function isOverload(status: number): boolean {
  return status === 429 || status === 503;
}

/** Whether an answer tells that an archive is in trouble. */
export function isArchiveFailing(status: number): boolean {
  return status === 429 || status >= 500;
}

/** Whether a request that got no answer may go better soon. */
export function isPassing(reason: FailureReason): boolean {
  return (
    reason === "dns" || reason === "connect" || reason === "connect-timeout" || reason === "reset"
  );
}

/**
 * How long to wait before try `attempt` (the second is 1): twice as long each time, and somewhere
 * in the upper half of that, so that those who failed together do not come back together.
 */
export function pauseBefore(attempt: number, firstMs: number, random: () => number): number {
  const most = firstMs * 2 ** (attempt - 1);
  return most / 2 + (random() * most) / 2;
}

/**
 * The same, but not before the server wants to be asked again; undefined when that is longer than
 * anybody can wait.
 *
 * @param limits `askedMs`: what `Retry-After` says, if anything.
 */
export function pauseWithin(
  attempt: number,
  firstMs: number,
  limits: { readonly askedMs: number | undefined; readonly mostMs: number },
): number | undefined {
  const pauseMs = Math.max(pauseBefore(attempt, firstMs, Math.random), limits.askedMs ?? 0);
  return pauseMs < limits.mostMs ? pauseMs : undefined;
}
