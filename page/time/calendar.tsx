import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { useText } from "../text.ts";
import type { Memento } from "./memento.ts";

const DAY_MS = 86_400_000;
const MIN_SCALE_MAX = 12;
/** From this level on, the text on a day is inverted. */
const STRONG = 6;

/** A year by days: the more mementos, the darker. Days with mementos can be selected. */
export function Calendar(props: {
  readonly mementos: readonly Memento[];
  readonly year: number;
  /** The selected time. */
  readonly time: number;
  readonly onChoose: (time: number) => void;
}): JSX.Element {
  const { mementos, year, time, onChoose } = props;
  const text = useText("time");
  const counts = useMemo(() => countDays(mementos, year), [mementos, year]);
  const chosen = Math.floor(time / DAY_MS);
  const choose = ({ target }: MouseEvent): void => {
    const day = target instanceof HTMLElement ? target.dataset["day"] : undefined;
    if (day !== undefined) onChoose(Number(day) * DAY_MS + DAY_MS / 2);
  };
  // Most moves of the slider stay within a day.
  const months = useMemo(() => {
    // Keep days with a single memento light.
    const max = Math.max(...counts.values(), MIN_SCALE_MAX);
    // The day in the tab order.
    const reachable = counts.has(chosen) ? chosen : counts.keys().next().value;
    const dayOf = (
      day: number,
      name: number,
      style: Readonly<Record<string, number>>,
    ): JSX.Element => {
      const count = counts.get(day) ?? 0;
      if (count === 0) {
        return (
          <span key={day} class="day" style={style} aria-hidden="true">
            {name}
          </span>
        );
      }
      const level = Math.min(9, 1 + Math.ceil((9 * Math.log1p(count)) / Math.log1p(max)));
      const label = `${text.day(day * DAY_MS)}: ${text.count("mementos", count)}`;
      return (
        <button
          key={day}
          type="button"
          class={`day ${level >= STRONG ? "strong" : ""}`}
          style={{ ...style, background: `var(--h${level})` }}
          data-day={day}
          tabIndex={day === reachable ? 0 : -1}
          aria-pressed={day === chosen}
          aria-label={label}
          title={label}
        >
          {name}
        </button>
      );
    };
    return Array.from({ length: 12 }, (_, month) => {
      const [first = 0, next = 0] = [month, month + 1].map((m) => Date.UTC(year, m, 1) / DAY_MS);
      // Weeks begin on Monday.
      const column = ((new Date(first * DAY_MS).getUTCDay() + 6) % 7) + 1;
      return (
        <div key={month} class="month">
          <h3 class="hint">{text.month(first * DAY_MS)}</h3>
          <div class="days">
            {text.weekdays.map((name, index) => (
              <span key={`w${index}`} class="weekday" aria-hidden="true">
                {name}
              </span>
            ))}
            {Array.from({ length: next - first }, (__, i) =>
              dayOf(first + i, i + 1, i === 0 ? { gridColumnStart: column } : {}),
            )}
          </div>
        </div>
      );
    });
  }, [counts, chosen, text]);
  return (
    <div
      class="calendar"
      role="group"
      aria-label={`${text("calendar")} ${year}`}
      onKeyDown={moveFocus}
      onClick={choose}
    >
      {months}
    </div>
  );
}

/** Arrow keys move to the next day with mementos. */
function moveFocus(event: KeyboardEvent): void {
  const step = { ArrowRight: 1, ArrowDown: 7, ArrowLeft: -1, ArrowUp: -7 }[event.key];
  if (step === undefined || !(event.currentTarget instanceof Element)) return;
  const days = [...event.currentTarget.querySelectorAll("button")];
  const at = days.findIndex((day) => day === event.target);
  days[Math.min(days.length - 1, Math.max(0, at + step))]?.focus();
  event.preventDefault();
}

function countDays(mementos: readonly Memento[], year: number): ReadonlyMap<number, number> {
  const [from, until] = [Date.UTC(year, 0, 1), Date.UTC(year + 1, 0, 1)];
  const counts = new Map<number, number>();
  for (const { time } of mementos) {
    if (time < from || time >= until) continue;
    const day = Math.floor(time / DAY_MS);
    counts.set(day, (counts.get(day) ?? 0) + 1);
  }
  return counts;
}
