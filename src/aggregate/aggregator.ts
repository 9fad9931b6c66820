import type { Archive } from "./route/archive.ts";
import type { Decision, Router, RouteRequest } from "./route/decision.ts";
import { Aggregating } from "./aggregating.ts";
import { type AskLimits, DEFAULT_ASK_LIMITS } from "./ask-archive.ts";
import type { MergedTimeMap } from "./merged-timemap.ts";
import type { Outcome } from "./outcome.ts";
import {
  type Clock,
  type ProcessPlace,
  SessionIds,
  type SessionObserver,
  systemClock,
} from "./session.ts";
import type { StopSignal } from "./stop-signal.ts";
import type { Upstream } from "./upstream.ts";
import { interruption } from "../interruption.ts";

/** How an aggregator asks. Every member may be left out. */
export interface AggregatorOptions {
  /** What has not been answered by then is left out of the answer; default 60 s. */
  readonly deadlineMs?: number | undefined;
  readonly limits?: Partial<AskLimits> | undefined;
  /** Decides for requests that want every archive to be asked; default as for all others. */
  readonly broadcastRouter?: Router | undefined;
  readonly observers?: readonly SessionObserver[] | undefined;
  readonly clock?: Clock | undefined;
  /** Where several processes serve together, which of them this is; default the only one. */
  readonly place?: ProcessPlace | undefined;
}

/** What is asked of an aggregator: the URI comes from `originalUri`. */
export interface AggregateRequest extends RouteRequest {
  /** Whether every archive is to be asked, whatever maps say. */
  readonly isBroadcast?: boolean | undefined;
  /** When it is aborted, archives are asked no further. */
  readonly signal?: StopSignal | undefined;
  /** What the client said about caches: `no-cache`, `only-if-cached`. */
  readonly cacheControl?: string | undefined;
}

/** What the archives have of an original, put together. */
export interface Aggregation {
  readonly original: string;
  readonly session: string;
  /** The list of archives as it was when the question came. */
  readonly archives: readonly Archive[];
  /** One for every archive: those asked first. */
  readonly decisions: readonly Decision[];
  /**
   * One for every archive that was asked and has answered, in the order of `archives`.
   * Archives that were asked as a sample are not waited for.
   */
  readonly outcomes: readonly Outcome[];
  /** In the order of time; archives are known in it by their place in `archives`. */
  readonly mementos: MergedTimeMap;
  /** Whether every archive that was asked said all it has, and none was left alone for its failures. */
  readonly isWhole: boolean;
}

/**
 * Asks archives for the mementos of an original, all at once, and puts their answers together.
 *
 * Which archives are asked is the router's affair, how they are asked that of the upstream. Holds
 * the mementos of the questions under way, up to the limits.
 */
export class Aggregator {
  readonly router: Router;
  readonly upstream: Upstream;
  readonly #broadcastRouter: Router;
  readonly #observers: readonly SessionObserver[];
  readonly #deadlineMs: number;
  readonly #limits: AskLimits;
  readonly #clock: Clock;
  readonly #ids: SessionIds;
  #places: Places = { archives: [], placeOf: new Map() };

  constructor(router: Router, upstream: Upstream, options: AggregatorOptions = {}) {
    this.router = router;
    this.upstream = upstream;
    this.#broadcastRouter = options.broadcastRouter ?? router;
    this.#observers = options.observers ?? [];
    this.#deadlineMs = options.deadlineMs ?? 60_000;
    this.#limits = { ...DEFAULT_ASK_LIMITS, ...options.limits };
    this.#clock = options.clock ?? systemClock;
    this.#ids = new SessionIds(options.place);
  }

  /** Who decides which archives are asked. */
  routerFor(isBroadcast: boolean): Router {
    return isBroadcast ? this.#broadcastRouter : this.router;
  }

  /**
   * All mementos of an original, or those from `from` until `until`.
   *
   * Faults of archives are in the outcomes, and never thrown.
   *
   * @throws MM_INTERRUPTED when the signal is aborted.
   */
  timeMap(request: AggregateRequest): Promise<Aggregation> {
    return this.#start(request, undefined);
  }

  /**
   * The mementos around a moment: of every archive the first, the last, that closest to it and its
   * neighbours, as far as its TimeGate tells.
   *
   * @throws as `timeMap` does.
   */
  timeGate(request: AggregateRequest & { readonly datetime: number }): Promise<Aggregation> {
    return this.#start(request, request.datetime);
  }

  #start(request: AggregateRequest, datetime: number | undefined): Promise<Aggregation> {
    const { signal } = request;
    if (signal?.aborted === true) return Promise.reject(interruption(signal));
    const startedAt = this.#clock();
    const router = this.routerFor(request.isBroadcast === true);
    const session = {
      id: this.#ids.next(startedAt),
      kind: datetime === undefined ? ("timemap" as const) : ("timegate" as const),
      uri: request.uri,
      startedAt,
      decisions: router.route(request),
    };
    for (const observer of this.#observers) observer.began?.(session);
    return new Promise((resolve, reject) => {
      const work = new Aggregating(
        {
          session,
          request,
          datetime,
          ...this.#placesIn(router.archives),
          upstream: this.upstream,
          limits: this.#limits,
          observers: this.#observers,
          clock: this.#clock,
        },
        resolve,
        reject,
      );
      signal?.addEventListener("abort", () => {
        work.cancel();
        reject(interruption(signal));
      });
      work.start(this.#deadlineMs);
    });
  }

  /** The list is another object when it is another list, which is seldom. */
  #placesIn(archives: readonly Archive[]): Places {
    if (this.#places.archives !== archives) {
      const placeOf = new Map(archives.map((archive, place) => [archive, place]));
      this.#places = { archives, placeOf };
    }
    return this.#places;
  }
}

/** A list of archives, and where in it each is. */
interface Places {
  readonly archives: readonly Archive[];
  readonly placeOf: ReadonlyMap<Archive, number>;
}
