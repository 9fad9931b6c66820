/**
 * Why an archive gave no answer, or none of use.
 *
 * Stable words: the header `X-MementoMap-Missing`, logs and metrics have them. `docs/aggregating.md`
 * explains each; a test checks it.
 */
export const FAILURE_REASONS = [
  // No connection.
  "dns",
  "connect",
  "connect-timeout",
  "tls",
  // No answer, or no whole one.
  "timeout",
  "reset",
  "bad-http",
  "bad-encoding",
  "header-limit",
  "body-limit",
  // An answer that leads where nobody may go.
  "redirect",
  "private-address",
  // Not sent.
  "queue-full",
  "queue-timeout",
  "dormant",
  "bad-request",
  "local",
  "closed",
  "aborted",
  // An answer of no use.
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

/** The reason an error gives; one that gives none is a bug of ours. */
export function failureReasonOf(error: unknown): FailureReason {
  const reason = error instanceof Error && "reason" in error ? error.reason : undefined;
  // The set has nothing else.
  return typeof reason === "string" && REASONS.has(reason) ? (reason as FailureReason) : "internal";
}
