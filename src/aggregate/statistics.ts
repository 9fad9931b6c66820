import type { Archive } from "./route/archive.ts";
import {
  type Clock,
  type Outcome,
  type Session,
  type SessionObserver,
  systemClock,
} from "./session.ts";
import type { RouteReason } from "./route/decision.ts";
import { type BySpan, bySpan, SpanRing, SPANS } from "./span-ring.ts";

/** Upper ends of the classes that times are counted in, in milliseconds. */
const LATENCY_LIMITS_MS: readonly number[] = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 30_000, 60_000,
];

/** What one archive did since the start. */
export interface ArchiveTally {
  /** Times it was asked; the sum of the three below. */
  readonly asked: number;
  readonly hits: number;
  readonly misses: number;
  readonly errors: number;
  /** Times it was not asked. */
  readonly skipped: number;
  /** Answers that did not come from the archive itself. */
  readonly fromCache: number;
  readonly mementos: number;
  /** Answers of the archive itself by {@link LATENCY_LIMITS_MS}; the last are those beyond. */
  readonly latencies: readonly number[];
  readonly latencySumMs: number;
  /** Half of its answers took less; undefined before the first. */
  readonly medianMs: number | undefined;
  readonly p99Ms: number | undefined;
  /** Times it was asked in each of the last 60 minutes, the current one last. */
  readonly lastHour: readonly number[];
  /** What it was asked and spared, and how often it had mementos, over time. */
  readonly history: ArchiveHistory;
  readonly lastFault: string | undefined;
}

const HISTORY_COUNTS = ["asked", "spared", "hits"] as const;

/** Counts for each of the last minutes and hours, the current one last. */
export type ArchiveHistory = BySpan<
  Readonly<Record<(typeof HISTORY_COUNTS)[number], readonly number[]>>
>;

/** Adds histories up. */
export function joinHistories(all: readonly ArchiveHistory[]): ArchiveHistory {
  return bySpan((name) =>
    recordBy(HISTORY_COUNTS, (count) =>
      Array.from({ length: SPANS[name].count }, (_, place) =>
        all.reduce((sum, each) => sum + (each[name][count][place] ?? 0), 0),
      ),
    ),
  );
}

/** Counts what archives answer, for the dashboard and metrics. A few hundred bytes an archive. */
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
    const known = this.#counts.get(id);
    if (known !== undefined) return known;
    const counts = new ArchiveCounts();
    this.#counts.set(id, counts);
    return counts;
  }
}

const COUNTS = [
  "asked",
  "hits",
  "misses",
  "errors",
  "skipped",
  "fromCache",
  "mementos",
] as const satisfies readonly (keyof ArchiveTally)[];

/** A value for each name. */
function recordBy<Name extends string, Value>(
  names: readonly Name[],
  make: (name: Name) => Value,
): Record<Name, Value> {
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<Name, Value>;
}

const COUNT_OF = { hit: "hits", miss: "misses", error: "errors" } as const;

class ArchiveCounts {
  readonly counts = recordBy(COUNTS, () => 0);
  #lastFault: string | undefined;
  readonly #latencies = new Float64Array(LATENCY_LIMITS_MS.length + 1);
  #latencySumMs = 0;
  readonly #history = bySpan((name) => recordBy(HISTORY_COUNTS, () => new SpanRing(SPANS[name])));

  skip(now: number, isSpared: boolean): void {
    this.counts.skipped += 1;
    if (isSpared) this.#note("spared", now);
  }

  add({ result, origin, mementos, startedAt, endedAt, fault }: Outcome): void {
    const { counts } = this;
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
      this.#latencySumMs += ms;
      this.#latencies[classOf(ms)] += 1;
    }
  }

  tally(now: number): ArchiveTally {
    const history = bySpan((name) =>
      recordBy(HISTORY_COUNTS, (count) => this.#history[name][count].read(now)),
    );
    return {
      ...this.counts,
      latencies: [...this.#latencies],
      latencySumMs: this.#latencySumMs,
      medianMs: quantile(this.#latencies, 0.5),
      p99Ms: quantile(this.#latencies, 0.99),
      lastHour: history.minutes.asked,
      history,
      lastFault: this.#lastFault,
    };
  }

  #note(count: (typeof HISTORY_COUNTS)[number], now: number): void {
    this.#history.minutes[count].count(now);
    this.#history.hours[count].count(now);
  }
}

function classOf(ms: number): number {
  let at = 0;
  while (at < LATENCY_LIMITS_MS.length && ms > LATENCY_LIMITS_MS[at]) at += 1;
  return at;
}

/** Where in its class a quantile lies is taken to be in proportion. */
function quantile(latencies: Float64Array | readonly number[], share: number): number | undefined {
  let total = 0;
  for (const count of latencies) total += count;
  if (total === 0) return undefined;
  let rest = share * total;
  for (const [index, count] of latencies.entries()) {
    if (rest > count) {
      rest -= count;
      continue;
    }
    const low = index === 0 ? 0 : LATENCY_LIMITS_MS[index - 1];
    const high = LATENCY_LIMITS_MS[index] ?? low;
    return low + (high - low) * (count === 0 ? 0 : rest / count);
  }
  return LATENCY_LIMITS_MS.at(-1);
}

/** A share and the range it lies in with a confidence of 95 %. */
export interface Share {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** What routing saved so far, and what it may have cost. */
export interface RoutingReport {
  /** Questions that clients asked. */
  readonly sessions: number;
  /** Questions to archives that were asked. */
  readonly asked: number;
  /** Those that maps, times and likelihoods spared: a broadcast would have asked them too. */
  readonly spared: number;
  /** The share of a broadcast's questions that were spared, 0 to 1. */
  readonly saved: number;
  /** How often an archive was asked although it was to be spared, to learn how often that is wrong. */
  readonly sampled: number;
  readonly sampledHits: number;
  /** How often a spared archive would have had mementos; undefined before anything was sampled. */
  readonly missRate: Share | undefined;
  /** An estimate of the answers with mementos among the requests that were spared. */
  readonly missedHits: Share | undefined;
  readonly hits: number;
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

const ROUTING_COUNTS = ["sessions", "asked", "spared", "sampled", "sampledHits", "hits"] as const;

/**
 * Keeps count of what routing spares archives, and estimates from the sampled ones how many answers
 * with mementos that costs.
 *
 * A sampled archive that fails to answer says nothing either way and does not count.
 */
export class RoutingEstimate implements SessionObserver {
  readonly #counts = recordBy(ROUTING_COUNTS, () => 0);

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
    return reportOf(this.#counts);
  }
}

function reportOf(
  counts: Readonly<Record<(typeof ROUTING_COUNTS)[number], number>>,
): RoutingReport {
  const { asked, spared, sampled, sampledHits, hits } = counts;
  const missRate = sampled === 0 ? undefined : wilson(sampledHits, sampled);
  const missedHits = missRate && scaled(missRate, (rate) => rate * spared);
  const kept = (missed: number): number => (hits + missed === 0 ? 1 : hits / (hits + missed));
  return {
    ...counts,
    saved: spared === 0 ? 0 : spared / (spared + asked),
    missRate,
    missedHits,
    recall: missedHits && {
      value: kept(missedHits.value),
      low: kept(missedHits.high),
      high: kept(missedHits.low),
    },
  };
}

const Z = 1.959964;

/** The interval of Wilson, which is sound for rates near 0, where rates of missed hits should be. */
export function wilson(successes: number, trials: number): Share {
  const value = successes / trials;
  const z2 = (Z * Z) / trials;
  const middle = (value + z2 / 2) / (1 + z2);
  const half = (Z / (1 + z2)) * Math.sqrt((value * (1 - value)) / trials + z2 / (4 * trials));
  return { value, low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

function scaled({ value, low, high }: Share, by: (rate: number) => number): Share {
  return { value: by(value), low: by(low), high: by(high) };
}
