import { epochMs, tryParseDatetime } from "../memento/datetime.ts";

/** The retry policy of background requests. */
export interface BackOff {
  /** Attempts after the first. */
  readonly retries: number;
  /** The first delay; doubled on each retry. */
  readonly firstMs: number;
  readonly longestMs: number;
}

/** The longest `Retry-After` that is honored; beyond it the request fails. */
export const LONGEST_ASKED_MS: number = 3_600_000;

export const DEFAULT_BACK_OFF: BackOff = { retries: 6, firstMs: 1000, longestMs: 120_000 };

/** Whether a background request may succeed on retry: includes all server errors (5xx). */
export function isTemporary(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500;
}

/**
 * The delay in milliseconds before retry number `attempt`, starting at 1.
 *
 * `Retry-After` is honored even if it exceeds the longest delay.
 */
export function waitBefore(
  attempt: number,
  { firstMs, longestMs }: Pick<BackOff, "firstMs" | "longestMs">,
  askedMs: number = 0,
): number {
  return Math.max(Math.min(firstMs * 2 ** (attempt - 1), longestMs), askedMs);
}

/** Parses `Retry-After`, a number of seconds or a date; undefined for anything else. */
export function retryAfterMs(field: string | null | undefined, nowMs: number): number | undefined {
  if (field === undefined || field === null) return undefined;
  const text = field.trim();
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const datetime = tryParseDatetime(currentForm(text, nowMs));
  return datetime === undefined ? undefined : Math.max(0, epochMs(datetime) - nowMs);
}

const ASCTIME = /^[a-z]{3} ([a-z]{3}) +(\d{1,2}) (\d\d:\d\d:\d\d) (\d{4})$/i;
const TWO_DIGIT_YEAR = /^([a-z]+, \d\d-[a-z]{3}-)(\d\d)( .*)$/i;

/**
 * Converts the obsolete HTTP date formats: `Sun Nov  6 08:49:37 1994`, which is in UTC, and
 * `Sunday, 06-Nov-94 08:49:37 GMT`, whose year is at most 50 years ahead.
 */
function currentForm(text: string, nowMs: number): string {
  const [, month, day, clock, year] = ASCTIME.exec(text) ?? [];
  if (year !== undefined) return `${day} ${month} ${year} ${clock} GMT`;
  const [, before, digits, after] = TWO_DIGIT_YEAR.exec(text) ?? [];
  if (digits === undefined) return text;
  const thisYear = new Date(nowMs).getUTCFullYear();
  const sameCentury = thisYear - (thisYear % 100) + Number(digits);
  return `${before}${sameCentury > thisYear + 50 ? sameCentury - 100 : sameCentury}${after}`;
}

/**
 * Why an archive gave no usable response.
 *
 * Stable identifiers, used in the header `X-MementoMap-Missing`, in logs and metrics. `docs/aggregating.md` explains
 * each; a test checks it.
 */
export const FAILURE_REASONS = [
  // No connection.
  "dns",
  "connect",
  "connect-timeout",
  "tls",
  // No complete response.
  "timeout",
  "reset",
  "bad-http",
  "bad-encoding",
  "header-limit",
  "body-limit",
  // A redirect to a forbidden address.
  "redirect",
  "private-address",
  // Not sent.
  "queue-full",
  "queue-timeout",
  "dormant",
  "bad-request",
  "local",
  "closed",
  // An unusable response.
  "no-endpoint",
  "bad-status",
  "bad-timemap",
  "no-memento",
  "page-limit",
  "memento-limit",
  "internal",
] as const;

export type FailureReason = (typeof FAILURE_REASONS)[number];

const REASONS: ReadonlySet<string> = new Set(FAILURE_REASONS);

/** The reason of an error; an error without one is a bug ("internal"). */
export function failureReasonOf(error: unknown): FailureReason {
  const reason = error instanceof Error && "reason" in error ? error.reason : undefined;
  // Members of the set are failure reasons.
  return typeof reason === "string" && REASONS.has(reason) ? (reason as FailureReason) : "internal";
}
