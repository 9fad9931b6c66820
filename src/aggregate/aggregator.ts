import type { Archive } from "./route/archive.ts";
import { type Decision, isSample, type Router, type RouteRequest } from "./route/decision.ts";
import { type ArchiveAnswer, failedAnswer } from "./ask/answer.ts";
import type { HowToAsk, Upstream } from "./ask/state.ts";
import { type MergedTimeMap, type MergeSource, mergeTimeMaps } from "./merge-timemaps.ts";
import {
  type Clock,
  isWhole,
  type Outcome,
  type ProcessPlace,
  type Session,
  SessionIds,
  type SessionObserver,
  systemClock,
} from "./session.ts";
import type { MementoList } from "../memento/memento-list.ts";
import { interruption } from "../interruption.ts";

/** How an aggregator asks. Every member may be left out. */
export interface AggregatorOptions {
  /**
   * What archives have not answered by then is left out of the answer, and comes into the cache when they do; default
   * 60 s.
   */
  readonly deadlineMs?: number | undefined;
  /** Decides for requests that want every archive to be asked; default as for all others. */
  readonly broadcastRouter?: Router | undefined;
  readonly observers?: readonly SessionObserver[] | undefined;
  readonly clock?: Clock | undefined;
  /** Where several processes serve together, which of them this is; default the only one. */
  readonly place?: ProcessPlace | undefined;
}

/** What ends the waiting for an answer. */
interface StopSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** What is asked of an aggregator: the URI comes from `originalUri`. */
export interface AggregateRequest extends RouteRequest {
  /** Whether every archive is to be asked, whatever maps say. */
  readonly isBroadcast?: boolean | undefined;
  /** How long to wait for archives, if not as long as the aggregator's deadline allows. */
  readonly waitMs?: number | undefined;
  /** When it is aborted, nobody waits any more; archives that were asked are heard out. */
  readonly signal?: StopSignal | undefined;
  /** What the client said about caches: `no-cache`, `only-if-cached`. */
  readonly cacheControl?: string | undefined;
  /** Called when it is decided which archives are asked. Must not throw. */
  readonly onDecided?: ((decisions: readonly Decision[]) => void) | undefined;
  /** Called when an archive has answered, as long as the answer waits, with what it has. Must not throw. */
  readonly onOutcome?: ((outcome: Outcome, found: MementoList | undefined) => void) | undefined;
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
   * One for every archive that was asked, in the order of `archives`; `pending` for those that have not answered yet.
   * Archives that were asked as a sample are not waited for.
   */
  readonly outcomes: readonly Outcome[];
  /** In the order of time; archives are known in it by their place in `archives`. */
  readonly mementos: MergedTimeMap;
  /** Whether every archive that was asked said all it has, and none is dormant. */
  readonly isWhole: boolean;
}

/**
 * Asks archives for the mementos of an original, all at once, and puts their answers together.
 *
 * Which archives are asked is the router's affair, how they are asked that of the upstream. An answer is put together
 * of what is there when all is, or the time is over; what comes later is in the cache for the next.
 */
export class Aggregator {
  readonly router: Router;
  readonly upstream: Upstream;
  readonly #broadcastRouter: Router;
  readonly #observers: SessionObserver[];
  readonly #deadlineMs: number;
  readonly #clock: Clock;
  readonly #ids: SessionIds;

  constructor(router: Router, upstream: Upstream, options: AggregatorOptions = {}) {
    this.router = router;
    this.upstream = upstream;
    this.#broadcastRouter = options.broadcastRouter ?? router;
    this.#observers = [...(options.observers ?? [])];
    this.#deadlineMs = options.deadlineMs ?? 60_000;
    this.#clock = options.clock ?? systemClock;
    this.#ids = new SessionIds(options.place);
  }

  /** Notifies one more observer, from the next session on. */
  observe(observer: SessionObserver): void {
    this.#observers.push(observer);
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

  async #start(request: AggregateRequest, datetime: number | undefined): Promise<Aggregation> {
    const { signal } = request;
    if (signal?.aborted === true) throw interruption(signal);
    const startedAt = this.#clock();
    const router = this.routerFor(request.isBroadcast === true);
    const { archives } = router;
    const session: Session = {
      id: this.#ids.next(startedAt),
      kind: datetime === undefined ? "timemap" : "timegate",
      uri: request.uri,
      startedAt,
      decisions: router.route(request),
    };
    for (const observer of this.#observers) observer.began?.(session);
    request.onDecided?.(session.decisions);
    const asked = session.decisions.filter(({ isAsked }) => isAsked);
    const asks = asked.map((decision) => this.#ask(session, decision, request, datetime));
    const waited = asks.filter(({ decision }) => !isSample(decision));
    const waitMs = Math.min(request.waitMs ?? Infinity, this.#deadlineMs);
    await arrived(
      waited.map(({ done }) => done),
      waitMs,
      signal,
    );
    const outcomes = this.#outcomesOf(waited, archives);
    for (const ask of asks) ask.isWaitedFor = false;
    const mementos = merged(waited, archives, request);
    const end = { mementos: mementos.count, answeredAt: this.#clock() };
    void this.#end(session, asks, end);
    return {
      original: session.uri,
      session: session.id,
      archives,
      decisions: session.decisions,
      outcomes,
      mementos,
      isWhole: outcomes.every(isWhole) && !session.decisions.some(isDormant),
    };
  }

  /** Asks one archive, and tells observers what it answered, also when nobody waits for it any more. */
  #ask(
    session: Session,
    decision: Decision,
    request: AggregateRequest,
    datetime: number | undefined,
  ): Ask {
    const { uri, cacheControl, onOutcome } = request;
    const { archive } = decision;
    const startedAt = this.#clock();
    const how = howToAsk(cacheControl);
    const ask: Ask = { decision, startedAt, isWaitedFor: true };
    const take = (answer: ArchiveAnswer): void => {
      ask.answer = answer;
      const outcome = this.#outcomeOf(ask, answer);
      ask.outcome = outcome;
      for (const observer of this.#observers) observer.answered?.(session, outcome);
      if (ask.isWaitedFor)
        onOutcome?.(outcome, answer.mementos.count > 0 ? answer.mementos : undefined);
    };
    const answer =
      datetime === undefined
        ? this.upstream.ask(archive, uri, how)
        : this.upstream.askClosest(archive, uri, datetime, how);
    if (answer instanceof Promise) {
      ask.done = answer.then(take);
      // Where nobody waits for it.
      ask.done.catch(() => undefined);
    } else {
      take(answer);
    }
    return ask;
  }

  #outcomeOf({ decision, startedAt }: Ask, answer: ArchiveAnswer): Outcome {
    const { result, mementos, status, origin, ageSeconds, code, failure, fault } = answer;
    return {
      archive: decision.archive,
      decision,
      result,
      mementos: mementos.count,
      status,
      origin,
      ageSeconds,
      code,
      failure,
      fault,
      startedAt,
      endedAt: this.#clock(),
    };
  }

  /** In the order of the archives. */
  #outcomesOf(asks: readonly Ask[], archives: readonly Archive[]): Outcome[] {
    const endedAt = this.#clock();
    return inOrder(asks, archives).map(
      (ask) => ask.outcome ?? { ...this.#outcomeOf(ask, PENDING), result: "pending", endedAt },
    );
  }

  async #end(
    session: Session,
    asks: readonly Ask[],
    end: { readonly mementos: number; readonly answeredAt: number },
  ): Promise<void> {
    // What observers throw was told to those who waited.
    await Promise.allSettled(asks.flatMap(({ done }) => done ?? []));
    const endedAt = this.#clock();
    for (const observer of this.#observers) observer.ended?.(session, { ...end, endedAt });
  }
}

/** An archive that was asked for one lookup. */
interface Ask {
  readonly decision: Decision;
  readonly startedAt: number;
  isWaitedFor: boolean;
  /** Undefined where it was answered at once. */
  done?: Promise<void>;
  answer?: ArchiveAnswer;
  outcome?: Outcome;
}

/** Waits until all is there, or the time is over. @throws MM_INTERRUPTED */
function arrived(
  all: readonly (Promise<void> | undefined)[],
  waitMs: number,
  signal: StopSignal | undefined,
): Promise<void> | void {
  if (signal?.aborted === true) throw interruption(signal);
  const pending = all.filter((each) => each !== undefined);
  if (pending.length === 0) return;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      over();
      if (signal !== undefined) reject(interruption(signal));
    };
    const over = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };
    const timer = setTimeout(() => {
      over();
      resolve();
    }, waitMs);
    signal?.addEventListener("abort", onAbort);
    Promise.all(pending).then(
      () => {
        over();
        resolve();
      },
      (error: Error) => {
        over();
        reject(error);
      },
    );
  });
}

const PENDING: ArchiveAnswer = {
  ...failedAnswer({ code: undefined, failure: undefined, fault: "it has not answered yet" }),
};

function howToAsk(cacheControl: string | undefined): HowToAsk {
  if (cacheControl === "only-if-cached") return "only-cached";
  return cacheControl === "no-cache" ? "refresh" : "cached";
}

function inOrder(asks: readonly Ask[], archives: readonly Archive[]): Ask[] {
  const byArchive = new Map(asks.map((ask) => [ask.decision.archive, ask]));
  return archives.flatMap((archive) => byArchive.get(archive) ?? []);
}

function merged(
  asks: readonly Ask[],
  archives: readonly Archive[],
  { from, until }: AggregateRequest,
): MergedTimeMap {
  const sources: MergeSource[] = inOrder(asks, archives).flatMap(({ decision, answer }) =>
    answer !== undefined && answer.mementos.count > 0
      ? [{ archive: archives.indexOf(decision.archive), mementos: answer.mementos }]
      : [],
  );
  const all = sources.length === 0 ? NO_MEMENTOS : mergeTimeMaps(sources);
  return from === undefined && until === undefined ? all : all.part(all.range(from, until));
}

function isDormant({ reason }: Decision): boolean {
  return reason === "dormant";
}

const NO_MEMENTOS = mergeTimeMaps([]);
