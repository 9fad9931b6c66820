/** How often and how long to wait before a request is tried again. */
export interface BackOff {
  /** Tries after the first. */
  readonly retries: number;
  /** The first wait; doubled each time. */
  readonly firstMs: number;
  readonly longestMs: number;
}

/** A server that asks for more is not waited for. */
export const LONGEST_ASKED_MS: number = 3_600_000;

export const DEFAULT_BACK_OFF: BackOff = { retries: 6, firstMs: 1000, longestMs: 120_000 };

/** Whether an answer may be better later: too many requests, or trouble on the server's side. */
export function isTemporary(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500;
}

/**
 * How long to wait before try number `attempt` (the second is 1), in milliseconds.
 *
 * What the server asks for is respected, even if it is more than the longest wait.
 */
export function waitBefore(
  attempt: number,
  backOff: BackOff,
  retryAfter: string | undefined,
  nowMs: number,
): number {
  const own = Math.min(backOff.firstMs * 2 ** (attempt - 1), backOff.longestMs);
  return Math.max(own, retryAfterMs(retryAfter, nowMs) ?? 0);
}

/** `Retry-After` is a number of seconds or a date. */
export function retryAfterMs(field: string | null | undefined, nowMs: number): number | undefined {
  if (field === undefined || field === null) return undefined;
  if (/^\d+$/.test(field.trim())) return Number(field) * 1000;
  const time = Date.parse(field);
  return Number.isNaN(time) ? undefined : Math.max(0, time - nowMs);
}
