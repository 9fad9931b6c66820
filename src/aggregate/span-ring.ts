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
  readonly #empty: number;
  readonly #values: Float64Array;
  /** The number of the current span since 1970; its place is that modulo the length. */
  #last = 0;

  /** @param empty the number of a span in which nothing happened. */
  constructor(
    { spanMs, count }: { readonly spanMs: number; readonly count: number },
    empty: number = 0,
  ) {
    this.#spanMs = spanMs;
    this.#empty = empty;
    this.#values = new Float64Array(count).fill(empty);
  }

  /** Counts one more. */
  count(now: number): void {
    this.#advance(now);
    this.#values[this.#last % this.#values.length] += 1;
  }

  set(now: number, value: number): void {
    this.#advance(now);
    this.#values[this.#last % this.#values.length] = value;
  }

  read(now: number): number[] {
    this.#advance(now);
    const { length } = this.#values;
    return Array.from({ length }, (_, i) => this.#values[(this.#last + 1 + i) % length]);
  }

  /** Forgets what is too old; all, where the clock was set back. */
  #advance(now: number): void {
    const span = Math.floor(now / this.#spanMs);
    const { length } = this.#values;
    if (span < this.#last - 1) {
      this.#values.fill(this.#empty);
      this.#last = span;
    }
    const first = Math.max(this.#last + 1, span - length + 1);
    for (let each = first; each <= span; each++) this.#values[each % length] = this.#empty;
    this.#last = Math.max(this.#last, span);
  }
}
