import type { RouteReason } from "./route/decision.ts";
import type { Outcome } from "./outcome.ts";
import type { Session, SessionObserver } from "./session.ts";

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
  /** About so many answers with mementos were missed among all that were spared. */
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
]);

/**
 * Keeps count of what routing spares archives, and estimates from the sampled ones how many answers
 * with mementos that costs.
 *
 * A sampled archive that fails to answer says nothing either way and does not count.
 */
export class RoutingEstimate implements SessionObserver {
  #sessions = 0;
  #asked = 0;
  #spared = 0;
  #hits = 0;
  #sampled = 0;
  #sampledHits = 0;

  began({ decisions }: Session): void {
    this.#sessions += 1;
    for (const { isAsked, reason } of decisions) {
      if (isAsked) this.#asked += 1;
      else if (SPARED.has(reason)) this.#spared += 1;
    }
  }

  answered(_session: Session, { decision, result }: Outcome): void {
    if (result === "hit") this.#hits += 1;
    if (decision.reason !== "sampled" || (result !== "hit" && result !== "miss")) return;
    this.#sampled += 1;
    if (result === "hit") this.#sampledHits += 1;
  }

  report(): RoutingReport {
    return reportOf({
      sessions: this.#sessions,
      asked: this.#asked,
      spared: this.#spared,
      sampled: this.#sampled,
      sampledHits: this.#sampledHits,
      hits: this.#hits,
    });
  }
}

/** What several processes report, as one. */
export function joinReports(reports: readonly RoutingReport[]): RoutingReport {
  const sum = (name: keyof RoutingCounts): number =>
    reports.reduce((total, report) => total + report[name], 0);
  return reportOf({
    sessions: sum("sessions"),
    asked: sum("asked"),
    spared: sum("spared"),
    sampled: sum("sampled"),
    sampledHits: sum("sampledHits"),
    hits: sum("hits"),
  });
}

type RoutingCounts = Pick<
  RoutingReport,
  "sessions" | "asked" | "spared" | "sampled" | "sampledHits" | "hits"
>;

function reportOf(counts: RoutingCounts): RoutingReport {
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
