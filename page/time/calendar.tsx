import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { TIME } from "../messages/time.ts";
import { formatDay, useText } from "../text.ts";
import { closest, type MementoStore } from "./memento-store.ts";

const DAY_MS = 86_400_000;
const LEAST_MOST = 12;
/** From this level on, text on a day takes the other colour. */
const STRONG = 5;

/** A year by days: the darker, the more mementos. Days with mementos can be chosen. */
export function Calendar(props: {
  readonly store: MementoStore;
  readonly order: Uint32Array;
  readonly year: number;
  /** The chosen moment. */
  readonly time: number;
  readonly onChoose: (time: number) => void;
}): JSX.Element {
  const { store, order, year, time, onChoose } = props;
  const text = useText(TIME);
  const counts = useMemo(() => countsOf(store, order, year), [store, order, year]);
  // A day with a single memento is never the darkest.
  const most = Math.max(...counts.values(), LEAST_MOST);
  const chosen = Math.floor(time / DAY_MS);
  const weekdays = useMemo(() => weekdayNames(text.language), [text.language]);
  const months = Array.from({ length: 12 }, (_, month) => month);
  return (
    <div class="calendar" role="group" aria-label={`${text("calendar")} ${year}`} onKeyDown={move}>
      {months.map((month) => (
        <div class="month" key={month}>
          <h3>{monthName(year, month, text.language)}</h3>
          <div class="days">
            {weekdays.map((name, index) => (
              <span key={`w${index}`} class="weekday" aria-hidden="true">
                {name}
              </span>
            ))}
            {daysOf(year, month).map(({ day, column }) => {
              const count = counts.get(day) ?? 0;
              const date = new Date(day * DAY_MS);
              const style = column === undefined ? {} : { gridColumnStart: column };
              const level = Math.ceil((9 * Math.log1p(count)) / Math.log1p(most));
              return count === 0 ? (
                <span key={day} class="day" style={style} aria-hidden="true">
                  {date.getUTCDate()}
                </span>
              ) : (
                <button
                  key={day}
                  type="button"
                  class={`day heat-${level} ${level >= STRONG ? "strong" : ""}`}
                  style={style}
                  tabIndex={
                    day === chosen || (!counts.has(chosen) && isFirst(counts, day)) ? 0 : -1
                  }
                  aria-pressed={day === chosen}
                  aria-label={`${formatDay(date, text.language)}: ${text.count("mementos", count)}`}
                  title={`${formatDay(date, text.language)}: ${text.count("mementos", count)}`}
                  onClick={() => onChoose(day * DAY_MS + DAY_MS / 2)}
                >
                  {date.getUTCDate()}
                </button>
              );
            })}
          </div>
        </div>
      ))}
    </div>
  );
}

/** Arrows go to the next day with mementos. */
function move(event: KeyboardEvent): void {
  const step = { ArrowRight: 1, ArrowDown: 7, ArrowLeft: -1, ArrowUp: -7 }[event.key];
  if (step === undefined || !(event.currentTarget instanceof Element)) return;
  const days = [...event.currentTarget.querySelectorAll("button")];
  const at = days.findIndex((day) => day === event.target);
  days[Math.min(days.length - 1, Math.max(0, at + step))]?.focus();
  event.preventDefault();
}

function isFirst(counts: ReadonlyMap<number, number>, day: number): boolean {
  return counts.keys().next().value === day;
}

function countsOf(store: MementoStore, order: Uint32Array, year: number): Map<number, number> {
  const counts = new Map<number, number>();
  const [from, until] = [Date.UTC(year, 0, 1), Date.UTC(year + 1, 0, 1)];
  for (let at = Math.max(0, closest(store, order, from)); at < order.length; at += 1) {
    const time = store.timeAt(order[at] ?? 0);
    if (time < from) continue;
    if (time >= until) break;
    const day = Math.floor(time / DAY_MS);
    counts.set(day, (counts.get(day) ?? 0) + 1);
  }
  return counts;
}

function daysOf(year: number, month: number): { day: number; column: number | undefined }[] {
  const first = Date.UTC(year, month, 1) / DAY_MS;
  const length = Date.UTC(year, month + 1, 1) / DAY_MS - first;
  // Weeks begin on Monday.
  const column = ((new Date(first * DAY_MS).getUTCDay() + 6) % 7) + 1;
  return Array.from({ length }, (_, i) => ({
    day: first + i,
    column: i === 0 ? column : undefined,
  }));
}

function monthName(year: number, month: number, language: string): string {
  const format = new Intl.DateTimeFormat(language, { month: "long", timeZone: "UTC" });
  return format.format(new Date(Date.UTC(year, month, 1)));
}

/** From Monday on, as narrow as the language has them. */
function weekdayNames(language: string): string[] {
  const format = new Intl.DateTimeFormat(language, { weekday: "narrow", timeZone: "UTC" });
  // 1 January 2024 was a Monday.
  return Array.from({ length: 7 }, (_, i) => format.format(Date.UTC(2024, 0, 1 + i)));
}
