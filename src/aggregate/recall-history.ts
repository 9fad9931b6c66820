import { type Clock, type SessionObserver, systemClock } from "./session.ts";
import { type BySpan, bySpan, SpanRing, SPANS } from "./span-ring.ts";

/** The recall as it was at the end of each span; null where it was not known, or nobody asked. */
export type RecallBySpan = BySpan<readonly (number | null)[]>;

/** To estimate the recall takes longer than to count an answer. */
const LEAST_APART_MS = 1000;

/** Notes the recall as it is estimated, once a second, so that it can be seen over time. */
export class RecallHistory implements SessionObserver {
  readonly #recall: () => number | undefined;
  readonly #clock: Clock;
  readonly #rings = bySpan((name) => new SpanRing(SPANS[name], Number.NaN));
  #notedAt = -Infinity;

  constructor(recall: () => number | undefined, clock: Clock = systemClock) {
    this.#recall = recall;
    this.#clock = clock;
  }

  ended(): void {
    const now = this.#clock();
    // The clock may have been set back.
    if (Math.abs(now - this.#notedAt) < LEAST_APART_MS) return;
    this.#notedAt = now;
    const recall = this.#recall();
    if (recall === undefined) return;
    this.#rings.minutes.set(now, recall);
    this.#rings.hours.set(now, recall);
  }

  report(): RecallBySpan {
    const now = this.#clock();
    return bySpan((name) =>
      this.#rings[name].read(now).map((value) => (Number.isNaN(value) ? null : value)),
    );
  }
}
