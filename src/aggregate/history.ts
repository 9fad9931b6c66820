import { type Clock, type SessionObserver, systemClock } from "./session.ts";

const MINUTE_MS = 60_000;

/** The spans that history is kept in: the last hour by minutes, and the last three days by hours. */
export const SPANS = {
  minutes: { spanMs: MINUTE_MS, count: 60 },
  hours: { spanMs: 60 * MINUTE_MS, count: 72 },
} as const;

/** One value for each span, the current one last. */
export type BySpan<Value> = Readonly<Record<keyof typeof SPANS, Value>>;

export function bySpan<Value>(make: (name: keyof typeof SPANS) => Value): BySpan<Value> {
  return { minutes: make("minutes"), hours: make("hours") };
}

/** A number for the current span of time and for each of those before it; older ones are forgotten. */
export class SpanRing {
  readonly #spanMs: number;
  readonly #values: (number | undefined)[];
  /** The number of the current span since 1970; its place is that modulo the length. */
  #last = 0;

  constructor({ spanMs, count }: { readonly spanMs: number; readonly count: number }) {
    this.#spanMs = spanMs;
    this.#values = Array.from({ length: count });
  }

  /** Counts one more. */
  count(now: number): void {
    this.set(now, (this.#valueAt(this.#spanOf(now)) ?? 0) + 1);
  }

  set(now: number, value: number): void {
    this.#values[this.#spanOf(now) % this.#values.length] = value;
  }

  /** Undefined for spans in which nothing happened. */
  read(now: number): (number | undefined)[] {
    const first = this.#spanOf(now) + 1 - this.#values.length;
    return this.#values.map((_, place) => this.#valueAt(first + place));
  }

  #valueAt(span: number): number | undefined {
    return this.#values.at(span % this.#values.length);
  }

  /** The current span; forgets what is too old, and all where the clock was set back. */
  #spanOf(now: number): number {
    const span = Math.floor(now / this.#spanMs);
    const { length } = this.#values;
    if (span < this.#last - 1) {
      this.#values.fill(undefined);
      this.#last = span;
    }
    for (let each = Math.max(this.#last, span - length) + 1; each <= span; each++) {
      this.#values[each % length] = undefined;
    }
    this.#last = Math.max(this.#last, span);
    return this.#last;
  }
}

/** The recall as it was at the end of each span; null where it was not known, or nobody asked. */
export type RecallBySpan = BySpan<readonly (number | null)[]>;

/** Notes the recall as it is estimated after each lookup, so that it can be seen over time. */
export class RecallHistory implements SessionObserver {
  readonly #recall: () => number | undefined;
  readonly #clock: Clock;
  readonly #rings = bySpan((name) => new SpanRing(SPANS[name]));

  constructor(recall: () => number | undefined, clock: Clock = systemClock) {
    this.#recall = recall;
    this.#clock = clock;
  }

  ended(): void {
    const recall = this.#recall();
    if (recall === undefined) return;
    for (const ring of Object.values(this.#rings)) ring.set(this.#clock(), recall);
  }

  report(): RecallBySpan {
    const now = this.#clock();
    return bySpan((name) => this.#rings[name].read(now).map((value) => value ?? null));
  }
}
