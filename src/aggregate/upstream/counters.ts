import { FAILURE_REASONS, type FailureReason } from "../../http/failure-reason.ts";

/** The upper ends of the buckets of times, in seconds. */
export const LATENCY_SECONDS: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
];

/** What was asked of an archive and what came of it, since the start. */
export class ArchiveCounters {
  /** Sent over the network, with those sent again. */
  requests = 0;
  /** Answered from the cache. */
  cacheHits = 0;
  /** Found unchanged by the archive. */
  revalidations = 0;
  /** Answered by a request that was under way. */
  coalesced = 0;
  /** Sent again. */
  retries = 0;
  /** Old answers that were given because there was no new one. */
  staleAnswers = 0;
  /** Bytes of bodies, decompressed. */
  bytes = 0;
  /** Answers of status 429 and 5xx. */
  failingAnswers = 0;
  /** By reason; those the upstream does not give stay 0. */
  readonly failures: Record<FailureReason, number> = noFailures();
  /** Answers by the time until their head came; one bucket more than `LATENCY_SECONDS`. */
  readonly latencyCounts: number[] = Array.from({ length: LATENCY_SECONDS.length + 1 }, () => 0);
  latencySumSeconds = 0;

  addLatency(ms: number): void {
    const seconds = ms / 1000;
    let bucket = 0;
    while (bucket < LATENCY_SECONDS.length && seconds > LATENCY_SECONDS[bucket]) bucket += 1;
    this.latencyCounts[bucket] += 1;
    this.latencySumSeconds += seconds;
  }
}

function noFailures(): Record<FailureReason, number> {
  // One entry for each, so that none is missing.
  return Object.fromEntries(FAILURE_REASONS.map((reason) => [reason, 0])) as Record<
    FailureReason,
    number
  >;
}
