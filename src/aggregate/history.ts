const MINUTE_MS = 60_000;

/** The last hour by minutes, and the last three days by hours. */
const SPANS = {
  minutes: { spanMs: MINUTE_MS, count: 60 },
  hours: { spanMs: 60 * MINUTE_MS, count: 72 },
} as const;

type SpanName = keyof typeof SPANS;

/** One value for the minutes, one for the hours. */
export type BySpan<Value> = Readonly<Record<SpanName, Value>>;

export function bySpan<Value>(make: (name: SpanName) => Value): BySpan<Value> {
  return { minutes: make("minutes"), hours: make("hours") };
}

/** Values of the last minutes and hours; older ones are dropped. */
export class History<Values extends Record<string, number | null>> {
  /** The values of a span without events. */
  readonly #empty: Values;
  /** By the number of the span since 1970. */
  readonly #spans = bySpan(() => new Map<number, Values>());

  constructor(empty: Values) {
    this.#empty = empty;
  }

  /** Changes the values of the current minute and hour. */
  note(now: number, change: (values: Values) => void): void {
    for (const name of ["minutes", "hours"] as const) {
      const { spanMs, count } = SPANS[name];
      const spans = this.#spans[name];
      const current = Math.floor(now / spanMs);
      let values = spans.get(current);
      if (values === undefined) {
        // Spans in the future: the clock was set back.
        for (const span of spans.keys())
          if (span <= current - count || span > current) spans.delete(span);
        values = { ...this.#empty };
        spans.set(current, values);
      }
      change(values);
    }
  }

  /** The values by name, the current span last. */
  read(now: number): BySpan<{ readonly [Name in keyof Values]: readonly Values[Name][] }> {
    return bySpan((name) => {
      const { spanMs, count } = SPANS[name];
      const first = Math.floor(now / spanMs) + 1 - count;
      const spans = Array.from(
        { length: count },
        (_, place) => this.#spans[name].get(first + place) ?? this.#empty,
      );
      const names: (keyof Values)[] = Object.keys(this.#empty);
      const columns = names.map((each) => [each, spans.map((values) => values[each])]);
      return Object.fromEntries(columns) as { [Name in keyof Values]: Values[Name][] };
    });
  }
}
