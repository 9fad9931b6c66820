import { bySpan, type BySpan, History } from "./history.ts";
import { type Share, wilson } from "./learn/intervals.ts";
import type { Archive } from "./route/archive.ts";
import type { RouteReason } from "./route/decision.ts";
import {
  type Clock,
  type Outcome,
  type Session,
  type SessionObserver,
  systemClock,
} from "./session.ts";

const NOTHING = {
  /** Queries to an archive, and their results. */
  asked: 0,
  hits: 0,
  misses: 0,
  errors: 0,
  mementos: 0,
  /** Times an archive was skipped, and how many of these requests a broadcast would have made. */
  skipped: 0,
  spared: 0,
  /** Answers that did not come from the archive itself. */
  fromCache: 0,
  cacheHits: 0,
  stale: 0,
  coalesced: 0,
  /** Answers of archives queried as a sample, and how many of them had mementos. */
  sampled: 0,
  sampledHits: 0,
};

const COUNT_OF_RESULT = { hit: "hits", miss: "misses", error: "errors" } as const;
const COUNT_OF_ORIGIN = { cache: "cacheHits", stale: "stale", coalesced: "coalesced" } as const;

/** Reasons for which routing skips an archive that a broadcast would query. */
const SPARED: ReadonlySet<RouteReason> = new Set([
  "not-in-map",
  "out-of-range",
  "beyond-top-k",
  "improbable",
  "unlikely",
]);

/** Response times kept per archive. */
const MAX_LATENCIES = 1000;

/** Counts of one archive or of all. */
class Tally {
  readonly counts = { ...NOTHING };
  readonly history = new History({ asked: 0, spared: 0, hits: 0 });
  /** Of the latest answers of the archive itself. */
  readonly latencies: number[] = [];

  count(name: "asked" | "spared" | "hits", now: number): void {
    this.counts[name] += 1;
    this.history.note(now, (values) => (values[name] += 1));
  }

  add({ decision, result, origin, mementos, startedAt, endedAt }: Outcome): void {
    const { counts, latencies } = this;
    counts.mementos += mementos;
    if (result === "hit") this.count("hits", endedAt);
    else if (result !== "pending") counts[COUNT_OF_RESULT[result]] += 1;
    // A failure says nothing about missed hits.
    if (decision.reason === "sampled" && (result === "hit" || result === "miss")) {
      counts.sampled += 1;
      if (result === "hit") counts.sampledHits += 1;
    }
    if (origin === "network") {
      latencies.push(Math.max(0, endedAt - startedAt)); // the clock may have been set back
      if (latencies.length > MAX_LATENCIES) latencies.shift();
    } else if (origin !== undefined) {
      counts.fromCache += 1;
      counts[COUNT_OF_ORIGIN[origin]] += 1;
    }
  }
}

/** Counts of one archive since the start. */
export type ArchiveCounts = Readonly<typeof NOTHING>;

/** Requests saved by routing so far, and hits estimated to be missed. */
export interface RoutingReport {
  readonly sessions: number;
  readonly asked: number;
  readonly spared: number;
  readonly sampled: number;
  readonly sampledHits: number;
  readonly hits: number;
  /** The fraction of a broadcast's requests that were saved, 0 to 1. */
  readonly saved: number;
  /** How often a skipped archive would have had mementos; undefined before the first sample. */
  readonly missRate: Share | undefined;
  /** Estimated number of hits among the skipped requests. */
  readonly missedHits: Share | undefined;
  /** Hits as a fraction of hits and missed hits: the recall compared with a broadcast. */
  readonly recall: Share | undefined;
}

/** Counts queries to archives, their results, and requests saved by routing. A few kilobytes per archive. */
export class Statistics implements SessionObserver {
  /** By the ids of archives. */
  readonly #tallies = new Map<string, Tally>();
  readonly #all = new Tally();
  readonly #recalls = new History({ recall: null as number | null });
  readonly #recall: (() => number | undefined) | undefined;
  readonly #clock: Clock;
  #sessions = 0;

  /** @param recall the measured recall, if not only maps decide. */
  constructor(recall?: () => number | undefined, clock: Clock = systemClock) {
    this.#recall = recall;
    this.#clock = clock;
  }

  began({ decisions }: Session): void {
    const now = this.#clock();
    this.#sessions += 1;
    for (const { isAsked, archive, reason } of decisions) {
      for (const tally of [this.#all, this.#tallyOf(archive)]) {
        if (isAsked) tally.count("asked", now);
        else tally.counts.skipped += 1;
        if (!isAsked && SPARED.has(reason)) tally.count("spared", now);
      }
    }
  }

  answered(_session: Session, outcome: Outcome): void {
    this.#all.add(outcome);
    this.#tallyOf(outcome.archive).add(outcome);
  }

  ended(): void {
    const recall = this.#recall === undefined ? this.routing().recall?.value : this.#recall();
    if (recall !== undefined)
      this.#recalls.note(this.#clock(), (values) => (values.recall = recall));
  }

  countsOf(archive: Archive): ArchiveCounts {
    return this.#tallyOf(archive).counts;
  }

  /** Median and 99th percentile of the response times of an archive's last thousand answers. */
  latenciesOf(archive: Archive): { medianMs: number | undefined; p99Ms: number | undefined } {
    const sorted = Float64Array.from(this.#tallyOf(archive).latencies).sort();
    const quantile = (share: number): number | undefined =>
      sorted.at(Math.ceil(share * sorted.length) - 1);
    return { medianMs: quantile(0.5), p99Ms: quantile(0.99) };
  }

  /** The history of an archive for `/history.json`. */
  historyOf(archive: Archive): ReturnType<Tally["history"]["read"]> {
    return this.#tallyOf(archive).history.read(this.#clock());
  }

  /** The history of all archives, with the recall at the end of each span. */
  history(): BySpan<{ readonly recall: readonly (number | null)[] }> {
    const now = this.#clock();
    const [counts, recalls] = [this.#all.history.read(now), this.#recalls.read(now)];
    return bySpan((name) => ({ ...counts[name], ...recalls[name] }));
  }

  routing(): RoutingReport {
    const { asked, spared, sampled, sampledHits, hits } = this.#all.counts;
    const counts = { sessions: this.#sessions, asked, spared, sampled, sampledHits, hits };
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

  /** Drops the counts of all archives but these. */
  keepOnly(archives: readonly Archive[]): void {
    const ids = new Set(archives.map(({ id }) => id));
    for (const id of this.#tallies.keys()) if (!ids.has(id)) this.#tallies.delete(id);
  }

  #tallyOf({ id }: Archive): Tally {
    const tally = this.#tallies.get(id) ?? new Tally();
    this.#tallies.set(id, tally);
    return tally;
  }
}
