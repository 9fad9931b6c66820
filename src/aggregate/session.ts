import type { ArchiveAnswer } from "./ask/answer.ts";
import type { Archive } from "./route/archive.ts";
import type { Decision } from "./route/decision.ts";

/** One lookup of an aggregator, from the request to the answer. */
export interface Session {
  /** Unique in a service: approximately nanoseconds since 1970, as digits. */
  readonly id: string;
  readonly kind: "timemap" | "timegate";
  readonly uri: string;
  readonly startedAt: number;
  /** One per archive. */
  readonly decisions: readonly Decision[];
}

/** Observes the sessions of an aggregator. Must not throw. */
export interface SessionObserver {
  /** Archives are about to be queried. */
  began?(session: Session): void;
  /** An archive answered or failed. */
  answered?(session: Session, outcome: Outcome): void;
  /** All archives answered or failed, including those that the result did not wait for. */
  ended?(session: Session, end: SessionEnd): void;
}

export interface SessionEnd {
  readonly mementos: number;
  /** When the result was merged. */
  readonly answeredAt: number;
  /** When the last archive answered. */
  readonly endedAt: number;
}

/** Milliseconds since 1970 with fractions. */
export type Clock = () => number;

/** Smaller differences are drift; larger ones mean that the clock was set or the machine was suspended. */
const MAX_DRIFT_MS = 1000;

/** Advances with the steady clock, and jumps when the system clock was set. */
export function followingClock(steady: Clock, system: Clock): Clock {
  let aheadMs = 0;
  return () => {
    const steadyMs = steady();
    const apartMs = system() - steadyMs;
    if (Math.abs(apartMs - aheadMs) > MAX_DRIFT_MS) aheadMs = apartMs;
    return steadyMs + aheadMs;
  };
}

/** The system's clock, with fractions. */
export const systemClock: Clock = followingClock(
  () => performance.timeOrigin + performance.now(),
  Date.now,
);

/** `1465473600123.4567` → `1465473600123456700`. */
export function nanosecondsText(ms: number): string {
  const whole = Math.floor(ms);
  return `${whole}${String(Math.floor((ms - whole) * 1e6)).padStart(6, "0")}`;
}

/** One of several processes that serve together. */
export interface ProcessPlace {
  /** From 1 to `count`. */
  readonly number: number;
  readonly count: number;
}

/**
 * Generates session ids that are unique in this process and among those that serve together with it:
 * the remainder of the nanoseconds identifies the process.
 */
export class SessionIds {
  readonly #remainder: bigint;
  readonly #step: bigint;
  #last = 0n;

  constructor({ number, count }: ProcessPlace = { number: 1, count: 1 }) {
    this.#remainder = BigInt(number - 1);
    this.#step = BigInt(count);
  }

  next(now: number): string {
    const nanoseconds = BigInt(nanosecondsText(now));
    const own = nanoseconds - (nanoseconds % this.#step) + this.#remainder;
    this.#last = own > this.#last ? own : this.#last + this.#step;
    return String(this.#last);
  }
}

/** Result of querying one archive. */
export type Result =
  | ArchiveAnswer["result"]
  /** No answer yet; observers are notified of it later. */
  | "pending";

/** Outcome of querying one archive. */
export interface Outcome extends Omit<ArchiveAnswer, "result" | "mementos"> {
  readonly archive: Archive;
  /** Why it was queried. */
  readonly decision: Decision;
  readonly result: Result;
  /** Number of mementos. */
  readonly mementos: number;
  /** Milliseconds since 1970, with fractions. */
  readonly startedAt: number;
  readonly endedAt: number;
}

/** Whether the archive answered completely. */
export function isWhole(outcome: Outcome): boolean {
  return outcome.fault === undefined && (outcome.result === "hit" || outcome.result === "miss");
}
