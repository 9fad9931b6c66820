import type { Archive } from "./route/archive.ts";
import { type Decision, isSample, type Router, type RouteRequest } from "./route/decision.ts";
import {
  askForAll,
  askForClosest,
  type AskLimits,
  DEFAULT_ASK_LIMITS,
  failedFinding,
  faultOf,
  type Finding,
  type FindingReceiver,
  isAnswered,
  type Question,
} from "./ask-archive.ts";
import { type MergedTimeMap, type MergeSource, mergeTimeMaps } from "./merge-timemaps.ts";
import {
  type Clock,
  isWhole,
  type Outcome,
  type ProcessPlace,
  type Result,
  type Session,
  SessionIds,
  type SessionObserver,
  systemClock,
} from "./session.ts";
import { Stop, type StopSignal, type Upstream } from "./upstream.ts";
import type { MementoList } from "../memento/memento-list.ts";
import { interruption } from "../interruption.ts";
import { MementoMapError } from "../errors.ts";

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
  /** The only archives to ask, as a sample, because the client got an earlier answer; default the router decides. */
  readonly samples?: readonly Decision[] | undefined;
  /** When it is aborted, archives are asked no further. */
  readonly signal?: StopSignal | undefined;
  /** What the client said about caches: `no-cache`, `only-if-cached`. */
  readonly cacheControl?: string | undefined;
  /** Called when it is decided which archives are asked. Must not throw. */
  readonly onDecided?: ((decisions: readonly Decision[]) => void) | undefined;
  /** Called when an archive has answered, or will not, with what it has. Must not throw. */
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
   * One for every archive that was asked and has answered, in the order of `archives`.
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
 * Which archives are asked is the router's affair, how they are asked that of the upstream. Holds
 * the mementos of the questions under way, up to the limits.
 */
export class Aggregator {
  readonly router: Router;
  readonly upstream: Upstream;
  readonly #broadcastRouter: Router;
  readonly #observers: SessionObserver[];
  readonly #deadlineMs: number;
  readonly #limits: AskLimits;
  readonly #clock: Clock;
  readonly #ids: SessionIds;
  #places: Places = { archives: [], placeOf: new Map() };

  constructor(router: Router, upstream: Upstream, options: AggregatorOptions = {}) {
    this.router = router;
    this.upstream = upstream;
    this.#broadcastRouter = options.broadcastRouter ?? router;
    this.#observers = [...(options.observers ?? [])];
    this.#deadlineMs = options.deadlineMs ?? 60_000;
    this.#limits = { ...DEFAULT_ASK_LIMITS, ...options.limits };
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
      decisions: request.samples ?? router.route(request),
      isRepeated: request.samples !== undefined,
    };
    for (const observer of this.#observers) observer.began?.(session);
    request.onDecided?.(session.decisions);
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

/** Everything that one question needs. */
interface Work {
  readonly session: Session;
  readonly request: AggregateRequest;
  /** For a TimeGate, the moment that is asked for. */
  readonly datetime: number | undefined;
  readonly archives: readonly Archive[];
  /** The place of each archive in `archives`. */
  readonly placeOf: ReadonlyMap<Archive, number>;
  readonly upstream: Upstream;
  readonly limits: AskLimits;
  readonly observers: readonly SessionObserver[];
  readonly clock: Clock;
}

/**
 * One question under way: asks the archives that were chosen, and collects what they answer.
 *
 * The answer does not wait for archives that are asked as a sample only. The session ends when they
 * have answered too.
 */
class Aggregating {
  readonly #work: Work;
  readonly #resolve: (aggregation: Aggregation) => void;
  readonly #reject: (error: unknown) => void;
  readonly #stop = new Stop();
  /** By the place of the archive. */
  readonly #findings: (Finding | undefined)[] = [];
  readonly #outcomes: (Outcome | undefined)[] = [];
  /** Archives that have not answered, and those of them that the answer waits for. */
  #pending = 0;
  #needed = 0;
  /** What was answered, and when the last archive had that it waited for. */
  #answer: { readonly mementos: number; readonly answeredAt: number } | undefined;
  #isOver = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param reject takes internal errors; faults of archives are outcomes. */
  constructor(
    work: Work,
    resolve: (aggregation: Aggregation) => void,
    reject: (error: unknown) => void,
  ) {
    this.#work = work;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  start(deadlineMs: number): void {
    const { decisions } = this.#work.session;
    let asked = 0;
    // Those asked come first. All are counted before one is asked, which may be answered at once.
    for (; asked < decisions.length && decisions[asked].isAsked; asked++) {
      this.#pending += 1;
      if (!isSample(decisions[asked])) this.#needed += 1;
    }
    for (let place = 0; place < asked; place++) this.#ask(decisions[place]);
    if (!this.#isOver) this.#goOn();
    if (this.#isOver) return;
    this.#timer = setTimeout(() => {
      try {
        this.#closeLate(deadlineMs);
      } catch (error) {
        this.#reject(error);
      }
    }, deadlineMs);
  }

  /** Asks no further and says nothing more, unless the answer was given. */
  cancel(): void {
    if (this.#isOver || this.#answer !== undefined) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#stop.abort(
      new MementoMapError("MM_INTERRUPTED", "the response is no longer needed", {
        reason: "aborted",
      }),
    );
  }

  #ask(decision: Decision): void {
    const { request, datetime, upstream, limits, clock } = this.#work;
    const question = new ArchiveQuestion(this, decision, request, this.#stop, clock());
    try {
      if (datetime === undefined) askForAll(upstream, question, limits, question);
      else askForClosest(upstream, question, limits, datetime, question);
    } catch (error) {
      question.onFinding(failedFinding(faultOf(error)));
    }
  }

  /** An archive has answered, or will not. */
  onFinding(decision: Decision, finding: Finding, startedAt: number): void {
    if (this.#isOver) return;
    try {
      this.#settle(decision, finding, startedAt);
      this.#goOn();
    } catch (error) {
      this.#reject(error);
    }
  }

  #settle(decision: Decision, finding: Finding, startedAt: number, late?: Result): void {
    const { session, request, placeOf, observers, clock } = this.#work;
    const { mementos, code, failure, fault } = finding;
    const outcome: Outcome = {
      archive: decision.archive,
      decision,
      result: late ?? resultOf(finding),
      mementos: mementos?.count ?? 0,
      status: finding.status,
      origin: finding.origin,
      ageSeconds: finding.ageSeconds,
      code,
      failure,
      fault,
      startedAt,
      endedAt: clock(),
    };
    const place = placeOf.get(decision.archive) ?? 0;
    this.#findings[place] = finding;
    this.#outcomes[place] = outcome;
    this.#pending -= 1;
    if (!isSample(decision)) this.#needed -= 1;
    for (const observer of observers) observer.answered?.(session, outcome);
    request.onOutcome?.(outcome, mementos);
  }

  #goOn(): void {
    if (this.#needed > 0) return;
    this.#answer ??= this.#give();
    if (this.#pending === 0) this.#end(this.#answer);
  }

  /** The time is over: archives that have not answered are left out. */
  #closeLate(deadlineMs: number): void {
    const { session, placeOf } = this.#work;
    const fault = `no whole answer within ${deadlineMs / 1000} s`;
    for (const decision of session.decisions) {
      if (!decision.isAsked) break;
      if (this.#outcomes[placeOf.get(decision.archive) ?? 0] !== undefined) continue;
      const finding = failedFinding({ code: "MM_HTTP", failure: "timeout", fault });
      this.#settle(decision, finding, session.startedAt, "late");
    }
    this.#goOn();
    this.#stop.abort(new MementoMapError("MM_HTTP", fault, { reason: "timeout" }));
  }

  #merged({ from, until }: AggregateRequest): MergedTimeMap {
    const sources: MergeSource[] = [];
    for (const [archive, finding] of this.#findings.entries()) {
      const mementos = finding?.mementos;
      if (mementos !== undefined && mementos.count > 0) sources.push({ archive, mementos });
    }
    if (sources.length === 0) return NO_MEMENTOS;
    const all = mergeTimeMaps(sources);
    return from === undefined && until === undefined ? all : all.part(all.range(from, until));
  }

  /** Gives the answer of what is there. */
  #give(): { mementos: number; answeredAt: number } {
    const { session, archives, request, clock } = this.#work;
    const answeredAt = clock();
    const mementos = this.#merged(request);
    const outcomes = this.#outcomes.filter((outcome) => outcome !== undefined);
    this.#resolve({
      original: session.uri,
      session: session.id,
      archives,
      decisions: session.decisions,
      outcomes,
      mementos,
      isWhole: outcomes.every(isWhole) && !session.decisions.some(isDormant),
    });
    return { mementos: mementos.count, answeredAt };
  }

  #end(answer: { readonly mementos: number; readonly answeredAt: number }): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    const { session, observers, clock } = this.#work;
    const end = { ...answer, endedAt: clock() };
    for (const observer of observers) observer.ended?.(session, end);
  }
}

/** What one archive is asked. */
class ArchiveQuestion implements Question, FindingReceiver {
  readonly archive: Archive;
  readonly uri: string;
  readonly cacheControl: string | undefined;
  readonly signal: StopSignal;
  readonly #work: Aggregating;
  readonly #decision: Decision;
  readonly #startedAt: number;
  #isAnswered = false;

  constructor(
    work: Aggregating,
    decision: Decision,
    { uri, cacheControl }: AggregateRequest,
    signal: StopSignal,
    startedAt: number,
  ) {
    this.archive = decision.archive;
    this.uri = uri;
    this.cacheControl = cacheControl;
    this.signal = signal;
    this.#work = work;
    this.#decision = decision;
    this.#startedAt = startedAt;
  }

  onFinding(finding: Finding): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    this.#work.onFinding(this.#decision, finding, this.#startedAt);
  }
}

function isDormant({ reason }: Decision): boolean {
  return reason === "dormant";
}

const NO_MEMENTOS = mergeTimeMaps([]);

function resultOf(finding: Finding): Result {
  const { mementos, code } = finding;
  if (mementos !== undefined && mementos.count > 0) return "hit";
  return code === undefined && isAnswered(finding) ? "miss" : "error";
}
