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

/** Merging this many mementos blocks the event loop noticeably, so other work runs between two such merges. */
const SLOW_MERGE = 2000;

/** Options of an aggregator. All members are optional. */
export interface AggregatorOptions {
  /** Archives that answer later are missing from the result; their answers still fill the cache. Default 60 s. */
  readonly deadlineMs?: number | undefined;
  readonly observers?: readonly SessionObserver[] | undefined;
  readonly clock?: Clock | undefined;
  /** Which of several processes this is; default the only one. */
  readonly place?: ProcessPlace | undefined;
}

/** A request to an aggregator; the URI comes from `originalUri`. */
export interface AggregateRequest extends RouteRequest {
  /** How long to wait for archives; default and maximum: the aggregator's deadline. */
  readonly waitMs?: number | undefined;
  /** Ends the wait when aborted. Requests to archives run to completion. */
  readonly signal?: AbortSignal | undefined;
  /** Whether to use the cache or query archives; default `cached`. */
  readonly how?: HowToAsk | undefined;
  /** Called with the routing decisions. Must not throw. */
  readonly onDecided?: ((decisions: readonly Decision[]) => void) | undefined;
  /** Called for each archive that answers before the result is returned, with its mementos. Must not throw. */
  readonly onOutcome?: ((outcome: Outcome, found: MementoList | undefined) => void) | undefined;
}

/** The merged answers of archives for an original. */
export interface Aggregation {
  readonly original: string;
  readonly session: string;
  /** The list of archives when the request arrived. */
  readonly archives: readonly Archive[];
  /** One per archive: queried ones first. */
  readonly decisions: readonly Decision[];
  /**
   * One per queried archive, in the order of `archives`; `pending` for those without an answer yet. The result does
   * not wait for sampled archives.
   */
  readonly outcomes: readonly Outcome[];
  /** In chronological order; their archives are indexes into `archives`. */
  readonly mementos: MergedTimeMap;
  /** Whether every queried archive answered completely, and none is dormant. */
  readonly isWhole: boolean;
}

/**
 * Queries archives in parallel for the mementos of an original, and merges their answers.
 *
 * The router selects the archives, the upstream queries them. The result is returned when all have answered, or at the
 * deadline; later answers fill the cache.
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

  /** Adds an observer, from the next session on. */
  observe(observer: SessionObserver): void {
    this.#observers.push(observer);
  }

  /**
   * All mementos of an original, or those from `from` to `until`.
   *
   * Errors of archives are in the outcomes, never thrown.
   *
   * @throws MM_INTERRUPTED when the signal is aborted.
   */
  timeMap(request: AggregateRequest): Promise<Aggregation> {
    return this.#start(request, undefined);
  }

  /**
   * The mementos around a datetime: of each archive the first, the last, the closest and its neighbours, as far as
   * its TimeGate names them.
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
    if (found > SLOW_MERGE) await nextTurn();
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

  /** Queries one archive and notifies observers, even after the result was returned. */
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
    const members = { archive, decision, result, mementos: mementos.count };
    return { ...(answer ?? PENDING), ...members, startedAt, endedAt: this.#clock() };
  }
}

/** A query to an archive during one lookup. */
interface Ask {
  readonly decision: Decision;
  readonly startedAt: number;
  isWaitedFor: boolean;
  /** Undefined if it was answered synchronously. */
  done?: Promise<void>;
  answer?: ArchiveAnswer;
  outcome?: Outcome;
}

/** Waits for all answers or the deadline. @throws MM_INTERRUPTED */
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
    // It may have been aborted while archives were queried.
    if (signal?.aborted === true) end();
    Promise.all(pending).then(end, reject);
  });
}

const NOTHING = new MementoList();

const PENDING: ArchiveAnswer = failedAnswer({
  code: undefined,
  failure: undefined,
  fault: "it has not answered yet",
});
