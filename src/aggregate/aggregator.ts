import { checkSignal, interruption } from "../interruption.ts";
import { MementoList } from "../memento/memento-list.ts";
import { type ArchiveAnswer, failedAnswer } from "./ask/answer.ts";
import type { HowToAsk, Upstream } from "./ask/state.ts";
import { type MergedTimeMap, mergeTimeMaps } from "./merge-timemaps.ts";
import type { Archive } from "./route/archive.ts";
import { type Decision, isSample, type Router, type RouteRequest } from "./route/decision.ts";
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
import { nextTurn } from "../http/next-turn.ts";

/** So many mementos take so long to merge that others have their turns between two such merges. */
const LONG = 2000;

/** How an aggregator asks. Every member may be left out. */
export interface AggregatorOptions {
  /**
   * What archives have not answered by then is left out of the answer, and comes into the cache when they do; default
   * 60 s.
   */
  readonly deadlineMs?: number | undefined;
  readonly observers?: readonly SessionObserver[] | undefined;
  readonly clock?: Clock | undefined;
  /** Where several processes serve together, which of them this is; default the only one. */
  readonly place?: ProcessPlace | undefined;
}

/** A request to an aggregator; the URI comes from `originalUri`. */
export interface AggregateRequest extends RouteRequest {
  /** How long to wait for archives, if not as long as the aggregator's deadline allows. */
  readonly waitMs?: number | undefined;
  /** Ends the waiting when it is aborted. Requests to archives run to their end. */
  readonly signal?: AbortSignal | undefined;
  /** Whether archives or the cache answer; default `cached`. */
  readonly how?: HowToAsk | undefined;
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
 * The router chooses the archives, the upstream queries them. The result has what has arrived when all have answered, or
 * when the time is over; later answers fill the cache.
 */
export class Aggregator {
  readonly router: Router;
  readonly upstream: Upstream;
  readonly #observers: SessionObserver[];
  readonly #deadlineMs: number;
  readonly #clock: Clock;
  readonly #ids: SessionIds;

  constructor(router: Router, upstream: Upstream, options: AggregatorOptions = {}) {
    this.router = router;
    this.upstream = upstream;
    this.#observers = [...(options.observers ?? [])];
    this.#deadlineMs = options.deadlineMs ?? 60_000;
    this.#clock = options.clock ?? systemClock;
    this.#ids = new SessionIds(options.place);
  }

  /** Notifies one more observer, from the next session on. */
  observe(observer: SessionObserver): void {
    this.#observers.push(observer);
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
    const { uri, signal, from, until } = request;
    checkSignal(signal);
    const startedAt = this.#clock();
    const { router } = this;
    const { archives } = router;
    const decisions = router.route(request);
    const kind = datetime === undefined ? "timemap" : "timegate";
    const session = { id: this.#ids.next(startedAt), kind, uri, startedAt, decisions } as const;
    for (const observer of this.#observers) observer.began?.(session);
    request.onDecided?.(decisions);
    const asks = decisions
      .filter(({ isAsked }) => isAsked)
      .map((decision) => this.#ask(session, decision, request, datetime));
    const all = Promise.allSettled(asks.flatMap(({ done }) => done ?? []));
    const waited = asks
      .filter(({ decision }) => !isSample(decision))
      .map((ask) => ({ ask, archive: archives.indexOf(ask.decision.archive) }))
      .sort((a, b) => a.archive - b.archive);
    const waitMs = Math.min(request.waitMs ?? Infinity, this.#deadlineMs);
    const pending = waited.flatMap(({ ask }) => ask.done ?? []);
    if (pending.length > 0) await arrived(pending, waitMs, signal);
    const found = waited.reduce((sum, { ask }) => sum + (ask.answer?.mementos.count ?? 0), 0);
    if (found > LONG) await nextTurn();
    const outcomes = waited.map(({ ask }) => ask.outcome ?? this.#outcomeOf(ask));
    for (const ask of asks) ask.isWaitedFor = false;
    const merged = mergeTimeMaps(
      waited.map(({ ask, archive }) => ({ archive, mementos: ask.answer?.mementos ?? NOTHING })),
    );
    const isAll = from === undefined && until === undefined;
    const mementos = isAll ? merged : merged.part(merged.range(from, until));
    const end = { mementos: mementos.count, answeredAt: this.#clock() };
    void all.then(() => {
      const endedAt = this.#clock();
      for (const observer of this.#observers) observer.ended?.(session, { ...end, endedAt });
    });
    return {
      original: uri,
      session: session.id,
      archives,
      decisions,
      outcomes,
      mementos,
      isWhole: outcomes.every(isWhole) && !decisions.some(({ reason }) => reason === "dormant"),
    };
  }

  /** Asks one archive, and tells observers what it answered, also after the result was returned. */
  #ask(
    session: Session,
    decision: Decision,
    { uri, how, onOutcome }: AggregateRequest,
    datetime: number | undefined,
  ): Ask {
    const { archive } = decision;
    const ask: Ask = { decision, startedAt: this.#clock(), isWaitedFor: true };
    const take = (answer: ArchiveAnswer): void => {
      const { mementos } = answer;
      const outcome = this.#outcomeOf(ask, answer);
      ask.answer = answer;
      ask.outcome = outcome;
      for (const observer of this.#observers) observer.answered?.(session, outcome);
      if (ask.isWaitedFor) onOutcome?.(outcome, mementos.count > 0 ? mementos : undefined);
    };
    const answer =
      datetime === undefined
        ? this.upstream.ask(archive, uri, how)
        : this.upstream.askClosest(archive, uri, datetime, how);
    if (answer instanceof Promise) ask.done = answer.then(take);
    else take(answer);
    return ask;
  }

  #outcomeOf({ decision, startedAt }: Ask, answer?: ArchiveAnswer): Outcome {
    const { archive } = decision;
    const { result, mementos } = answer ?? { ...PENDING, result: "pending" };
    const told = { archive, decision, result, mementos: mementos.count };
    return { ...(answer ?? PENDING), ...told, startedAt, endedAt: this.#clock() };
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
  pending: readonly Promise<void>[],
  waitMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      if (signal?.aborted === true) reject(interruption(signal));
      else resolve();
    };
    const timer = setTimeout(end, waitMs);
    signal?.addEventListener("abort", end);
    Promise.all(pending).then(end, reject);
  });
}

const NOTHING = new MementoList();

const PENDING: ArchiveAnswer = failedAnswer({
  code: undefined,
  failure: undefined,
  fault: "it has not answered yet",
});
