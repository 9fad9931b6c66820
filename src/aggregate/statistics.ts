import type { Archive } from "./route/archive.ts";
import type { RouteReason } from "./route/decision.ts";
import { type Share, wilson } from "./learn/intervals.ts";
import { type BySpan, bySpan, SpanRing, SPANS } from "./history.ts";
import {
  type Clock,
  type Outcome,
  type Session,
  type SessionObserver,
  systemClock,
} from "./session.ts";

const NO_ANSWERS = {
  /** Times the archive was asked; the sum of the three below. */
  asked: 0,
  hits: 0,
  misses: 0,
  errors: 0,
  /** Times it was not asked. */
  skipped: 0,
  /** Answers that did not come from the archive itself. */
  fromCache: 0,
  mementos: 0,
  latencySumMs: 0,
};

/** What one archive did since the start. */
export interface ArchiveTally extends Readonly<typeof NO_ANSWERS> {
  /** Half of its last thousand answers took less; undefined before the first. */
  readonly medianMs: number | undefined;
  readonly p99Ms: number | undefined;
  /** Times it was asked in each of the last 60 minutes, the current one last. */
  readonly lastHour: readonly number[];
  /** What it was asked and spared, and how often it had mementos, over time. */
  readonly history: ArchiveHistory;
  readonly lastFault: string | undefined;
}

/** Counts for each of the last minutes and hours, the current one last. */
export type ArchiveHistory = BySpan<{
  readonly asked: readonly number[];
  readonly spared: readonly number[];
  readonly hits: readonly number[];
}>;

/** Adds histories up. */
export function joinHistories(all: readonly ArchiveHistory[]): ArchiveHistory {
  return bySpan((name) => {
    const sums = (count: keyof ArchiveHistory["hours"]): number[] =>
      Array.from({ length: SPANS[name].count }, (_, place) =>
        all.reduce((sum, each) => sum + each[name][count][place], 0),
      );
    return { asked: sums("asked"), spared: sums("spared"), hits: sums("hits") };
  });
}

/** Counts what archives answer, for the dashboard and metrics. A few kilobytes an archive. */
export class ArchiveTallies implements SessionObserver {
  /** By the ids of archives. */
  readonly #counts = new Map<string, ArchiveCounts>();
  readonly #clock: Clock;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  began({ decisions }: Session): void {
    const now = this.#clock();
    for (const { isAsked, archive, reason } of decisions) {
      if (!isAsked) this.#countsOf(archive).skip(now, SPARED.has(reason));
    }
  }

  answered(_session: Session, outcome: Outcome): void {
    this.#countsOf(outcome.archive).add(outcome);
  }

  tallyOf(archive: Archive): ArchiveTally {
    return this.#countsOf(archive).tally(this.#clock());
  }

  /** Forgets all archives but these. */
  keepOnly(archives: readonly Archive[]): void {
    const ids = new Set(archives.map(({ id }) => id));
    for (const id of this.#counts.keys()) if (!ids.has(id)) this.#counts.delete(id);
  }

  #countsOf({ id }: Archive): ArchiveCounts {
    const counts = this.#counts.get(id) ?? new ArchiveCounts();
    this.#counts.set(id, counts);
    return counts;
  }
}

const COUNT_OF = { hit: "hits", miss: "misses", error: "errors" } as const;
const MOST_LATENCIES = 1000;

class ArchiveCounts {
  readonly #counts = { ...NO_ANSWERS };
  #lastFault: string | undefined;
  /** Of the last answers of the archive itself. */
  readonly #latencies: number[] = [];
  readonly #history = bySpan((name) => ({
    asked: new SpanRing(SPANS[name]),
    spared: new SpanRing(SPANS[name]),
    hits: new SpanRing(SPANS[name]),
  }));

  skip(now: number, isSpared: boolean): void {
    this.#counts.skipped += 1;
    if (isSpared) this.#note("spared", now);
  }

  add({ result, origin, mementos, startedAt, endedAt, fault }: Outcome): void {
    const counts = this.#counts;
    counts.asked += 1;
    this.#note("asked", endedAt);
    if (result === "hit") this.#note("hits", endedAt);
    if (result !== "pending") counts[COUNT_OF[result]] += 1;
    counts.mementos += mementos;
    if (fault !== undefined) this.#lastFault = fault;
    if (origin !== undefined && origin !== "network") {
      counts.fromCache += 1;
    } else if (origin !== undefined) {
      const ms = Math.max(0, endedAt - startedAt); // the clock may have been set back
      counts.latencySumMs += ms;
      this.#latencies.push(ms);
      if (this.#latencies.length > MOST_LATENCIES) this.#latencies.shift();
    }
  }

  tally(now: number): ArchiveTally {
    const read = (ring: SpanRing): number[] => ring.read(now).map((count) => count ?? 0);
    const history = bySpan((name) => {
      const { asked, spared, hits } = this.#history[name];
      return { asked: read(asked), spared: read(spared), hits: read(hits) };
    });
    const sorted = Float64Array.from(this.#latencies).sort();
    const quantile = (share: number): number | undefined =>
      sorted.at(Math.ceil(share * sorted.length) - 1);
    return {
      ...this.#counts,
      medianMs: quantile(0.5),
      p99Ms: quantile(0.99),
      lastHour: history.minutes.asked,
      history,
      lastFault: this.#lastFault,
    };
  }

  #note(count: keyof ArchiveHistory["hours"], now: number): void {
    for (const rings of Object.values(this.#history)) rings[count].count(now);
  }
}

const NOTHING_ROUTED = {
  /** Questions that clients asked. */
  sessions: 0,
  /** Questions to archives that were asked. */
  asked: 0,
  /** Those that maps, times and likelihoods spared: a broadcast would have asked them too. */
  spared: 0,
  /** How often an archive was asked although it was to be spared, to learn how often that is wrong. */
  sampled: 0,
  sampledHits: 0,
  hits: 0,
};

/** What routing saved so far, and what it may have cost. */
export interface RoutingReport extends Readonly<typeof NOTHING_ROUTED> {
  /** The share of a broadcast's questions that were spared, 0 to 1. */
  readonly saved: number;
  /** How often a spared archive would have had mementos; undefined before anything was sampled. */
  readonly missRate: Share | undefined;
  /** An estimate of the answers with mementos among the requests that were spared. */
  readonly missedHits: Share | undefined;
  /** Hits as a share of hits and missed hits: what maps keep of a broadcast's answers. */
  readonly recall: Share | undefined;
}

/** Reasons for which routing spares an archive, that a broadcast would not have had. */
const SPARED: ReadonlySet<RouteReason> = new Set([
  "not-in-map",
  "out-of-range",
  "beyond-top-k",
  "improbable",
  "unlikely",
]);

/**
 * Keeps count of what routing spares archives, and estimates from the sampled ones how many answers
 * with mementos that costs.
 *
 * A sampled archive that fails to answer says nothing either way and does not count.
 */
export class RoutingEstimate implements SessionObserver {
  readonly #counts = { ...NOTHING_ROUTED };

  began({ decisions }: Session): void {
    const counts = this.#counts;
    counts.sessions += 1;
    for (const { isAsked, reason } of decisions) {
      if (isAsked) counts.asked += 1;
      else if (SPARED.has(reason)) counts.spared += 1;
    }
  }

  answered(_session: Session, { decision, result }: Outcome): void {
    const counts = this.#counts;
    if (result === "hit") counts.hits += 1;
    if (decision.reason !== "sampled" || (result !== "hit" && result !== "miss")) return;
    counts.sampled += 1;
    if (result === "hit") counts.sampledHits += 1;
  }

  report(): RoutingReport {
    const counts = { ...this.#counts };
    const { asked, spared, sampled, sampledHits, hits } = counts;
    const saved = spared === 0 ? 0 : spared / (spared + asked);
    if (sampled === 0) {
      return { ...counts, saved, missRate: undefined, missedHits: undefined, recall: undefined };
    }
    const missRate = wilson(sampledHits, sampled);
    const [value, low, high] = [missRate.value, missRate.low, missRate.high].map(
      (rate) => rate * spared,
    );
    const kept = (missed: number): number => (hits + missed === 0 ? 1 : hits / (hits + missed));
    const recall = { value: kept(value), low: kept(high), high: kept(low) };
    return { ...counts, saved, missRate, missedHits: { value, low, high }, recall };
  }
}
