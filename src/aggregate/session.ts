import type { ArchiveAnswer } from "./ask/answer.ts";
import type { Archive } from "./route/archive.ts";
import type { Decision } from "./route/decision.ts";

/** One question to the aggregator, from its arrival to the answer. */
export interface Session {
  /** Unique in a service: nanoseconds since 1970, about, as a text of digits. */
  readonly id: string;
  readonly kind: "timemap" | "timegate";
  readonly uri: string;
  readonly startedAt: number;
  /** One for every archive. */
  readonly decisions: readonly Decision[];
}

/** Notified of what an aggregator does, as it does it. Must not throw. */
export interface SessionObserver {
  /** Archives are about to be asked. */
  began?(session: Session): void;
  /** One of them answered, or will not. */
  answered?(session: Session, outcome: Outcome): void;
  /** All have, also those that the answer did not wait for. */
  ended?(session: Session, end: SessionEnd): void;
}

export interface SessionEnd {
  readonly mementos: number;
  /** When the answer was put together. */
  readonly answeredAt: number;
  /** When the last archive had answered. */
  readonly endedAt: number;
}

/** Milliseconds since 1970 with fractions. */
export type Clock = () => number;

/** Clocks drift apart by little; more than this is a clock that was set, or a machine that slept. */
const FAR_APART_MS = 1000;

/** Advances as evenly as the first clock, and steps where the second one was set. */
export function followingClock(steady: Clock, system: Clock): Clock {
  let aheadMs = 0;
  return () => {
    const steadyMs = steady();
    const apartMs = system() - steadyMs;
    if (Math.abs(apartMs - aheadMs) > FAR_APART_MS) aheadMs = apartMs;
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
 * Hands out names of sessions that no other of this process has, nor one of the processes that serve
 * together with it: the remainder of the nanoseconds tells them apart.
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

/** What became of asking one archive. */
export type Result =
  | ArchiveAnswer["result"]
  /** It has not answered yet; observers are notified when it does. */
  | "pending";

/** What one archive answered, when and how. */
export interface Outcome extends Omit<ArchiveAnswer, "result" | "mementos"> {
  readonly archive: Archive;
  /** Why it was asked. */
  readonly decision: Decision;
  readonly result: Result;
  /** How many mementos it named. */
  readonly mementos: number;
  /** Milliseconds since 1970, with fractions. */
  readonly startedAt: number;
  readonly endedAt: number;
}

/** Whether what the archive has is known, all of it. */
export function isWhole(outcome: Outcome): boolean {
  return outcome.fault === undefined && (outcome.result === "hit" || outcome.result === "miss");
}
