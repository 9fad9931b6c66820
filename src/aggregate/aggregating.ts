import { MementoMapError } from "../errors.ts";
import type { Archive } from "./route/archive.ts";
import type { Decision } from "./route/decision.ts";
import type { AggregateRequest, Aggregation } from "./aggregator.ts";
import { type AskLimits, faultOf, type Finding, isAnswered, NOTHING_FOUND } from "./ask-archive.ts";
import { askForAll, askForClosest } from "./ask-endpoints.ts";
import { type MergeSource, mergeTimeMaps } from "./merge.ts";
import type { MergedTimeMap } from "./merged-timemap.ts";
import { isWhole, type Outcome, type Result } from "./outcome.ts";
import type { Clock, Session, SessionObserver } from "./session.ts";
import { Stop } from "./stop-signal.ts";
import type { Upstream } from "./upstream.ts";

/** Everything that one question needs. */
export interface Work {
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
export class Aggregating {
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

  /** @param reject told of what should not have happened; faults of archives are outcomes. */
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
    for (const decision of decisions) {
      if (!decision.isAsked) break; // those asked come first
      this.#pending += 1;
      if (decision.reason !== "sampled") this.#needed += 1;
      this.#ask(decision).catch(this.#reject);
    }
    if (this.#pending > 0) {
      this.#timer = setTimeout(() => {
        try {
          this.#closeLate(deadlineMs);
        } catch (error) {
          this.#reject(error);
        }
      }, deadlineMs);
    }
    this.#goOn();
  }

  /** Asks no further and says nothing more, unless the answer was given. */
  cancel(): void {
    if (this.#isOver || this.#answer !== undefined) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#stop.abort(
      new MementoMapError("MM_INTERRUPTED", "the answer is not wanted any more", {
        reason: "aborted",
      }),
    );
  }

  async #ask(decision: Decision): Promise<void> {
    const { request, datetime, upstream, limits, clock } = this.#work;
    const startedAt = clock();
    const question = {
      archive: decision.archive,
      uri: request.uri,
      cacheControl: request.cacheControl,
      signal: this.#stop,
    };
    let finding: Finding;
    try {
      finding = await (datetime === undefined
        ? askForAll(upstream, question, limits)
        : askForClosest(upstream, question, limits, datetime));
    } catch (error) {
      if (this.#isOver) return;
      finding = { ...NOTHING_FOUND, ...faultOf(error) };
    }
    if (this.#isOver) return;
    this.#settle(decision, finding, startedAt);
    this.#goOn();
  }

  #settle(decision: Decision, finding: Finding, startedAt: number, late?: Result): void {
    const { session, placeOf, observers, clock } = this.#work;
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
    if (decision.reason !== "sampled") this.#needed -= 1;
    for (const observer of observers) observer.answered?.(session, outcome);
  }

  #goOn(): void {
    if (this.#needed > 0) return;
    this.#answer ??= this.#give();
    if (this.#pending === 0) this.#end(this.#answer);
  }

  /** The time is over: whoever has not answered is left out. */
  #closeLate(deadlineMs: number): void {
    const { session, placeOf } = this.#work;
    const fault = `no whole answer within ${deadlineMs / 1000} s`;
    for (const decision of session.decisions) {
      if (!decision.isAsked) break;
      if (this.#outcomes[placeOf.get(decision.archive) ?? 0] !== undefined) continue;
      const finding: Finding = { ...NOTHING_FOUND, code: "MM_HTTP", failure: "timeout", fault };
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

function isDormant({ reason }: Decision): boolean {
  return reason === "dormant";
}

const NO_MEMENTOS = mergeTimeMaps([]);

function resultOf(finding: Finding): Result {
  const { mementos, code } = finding;
  if (mementos !== undefined && mementos.count > 0) return "hit";
  return code === undefined && isAnswered(finding) ? "miss" : "error";
}
