import type { Decision } from "../route/decision.ts";
import type { Outcome } from "./outcome.ts";

/** One question to the aggregator, from its arrival to the answer. */
export interface Session {
  /** Unique in a process: nanoseconds since 1970, about, as a text of digits. */
  readonly id: string;
  readonly kind: "timemap" | "timegate";
  readonly uri: string;
  readonly startedAt: number;
  /** One for every archive. */
  readonly decisions: readonly Decision[];
}

/** Told of what an aggregator does, as it does it. Nothing of it may throw. */
export interface SessionObserver {
  /** Archives are about to be asked. */
  began?(session: Session): void;
  /** One of them answered, or will not. */
  answered?(session: Session, outcome: Outcome): void;
  /** All have, or their time is over. */
  ended?(session: Session, end: SessionEnd): void;
}

export interface SessionEnd {
  readonly mementos: number;
  /** When the last archive had answered, and when the answers were put together. */
  readonly answeredAt: number;
  readonly endedAt: number;
}

/** Milliseconds since 1970 with fractions; never steps back. */
export type Clock = () => number;

export const systemClock: Clock = () => performance.timeOrigin + performance.now();

/** `1465473600123.4567` → `1465473600123456700`. */
export function nanosecondsText(ms: number): string {
  const whole = Math.floor(ms);
  return `${whole}${String(Math.floor((ms - whole) * 1e6)).padStart(6, "0")}`;
}

/** Hands out names of sessions that no other of this process has. */
export class SessionIds {
  #ms = 0;
  #nanoseconds = 0;

  next(now: number): string {
    const whole = Math.floor(now);
    const nanoseconds = Math.floor((now - whole) * 1e6);
    const isLater = whole > this.#ms || (whole === this.#ms && nanoseconds > this.#nanoseconds);
    if (isLater) {
      this.#ms = whole;
      this.#nanoseconds = nanoseconds;
    } else {
      this.#nanoseconds += 1;
      if (this.#nanoseconds === 1e6) {
        this.#ms += 1;
        this.#nanoseconds = 0;
      }
    }
    return `${this.#ms}${String(this.#nanoseconds).padStart(6, "0")}`;
  }
}
