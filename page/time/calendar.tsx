import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { TIME } from "../messages.ts";
import { formatDay, formatMonth, useText, weekdays } from "../text.ts";
import { closest, type MementoStore } from "./memento-store.ts";

const DAY_MS = 86_400_000;
const MIN_SCALE_MAX = 12;
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
  const chosen = Math.floor(time / DAY_MS);
  const reachable = counts.has(chosen) ? chosen : counts.keys().next().value;
  const choose = ({ target }: MouseEvent): void => {
    const day = target instanceof HTMLElement ? target.dataset["day"] : undefined;
    if (day !== undefined) onChoose(Number(day) * DAY_MS + DAY_MS / 2);
  };
  return (
    <div
      class="calendar"
      role="group"
      aria-label={`${text("calendar")} ${year}`}
      onKeyDown={move}
      onClick={choose}
    >
      {Array.from({ length: 12 }, (_, month) => {
        const [first = 0, next = 0] = [month, month + 1].map((m) => Date.UTC(year, m, 1) / DAY_MS);
        const within = (day: number | undefined): number | undefined =>
          day !== undefined && day >= first && day < next ? day : undefined;
        return (
          <Month
            key={month}
            first={first}
            length={next - first}
            counts={counts}
            chosen={within(chosen)}
            reachable={within(reachable)}
          />
        );
      })}
    </div>
  );
}

/** A month, made again only where something in it changes: a slider moves often. */
function Month(props: {
  readonly first: number;
  readonly length: number;
  readonly counts: ReadonlyMap<number, number>;
  readonly chosen: number | undefined;
  /** The day that the Tab key goes to. */
  readonly reachable: number | undefined;
}): JSX.Element {
  const { first, length, counts, chosen, reachable } = props;
  const text = useText(TIME);
  const { language } = text;
  const made = useMemo(() => {
    // Keep days with a single memento light.
    const most = Math.max(...counts.values(), MIN_SCALE_MAX);
    // Weeks begin on Monday.
    const column = ((new Date(first * DAY_MS).getUTCDay() + 6) % 7) + 1;
    const days = Array.from({ length }, (_, i) => first + i);
    return (
      <div class="month">
        <h3>{formatMonth(new Date(first * DAY_MS), language)}</h3>
        <div class="days">
          {weekdays(language).map((name, index) => (
            <span key={`w${index}`} class="weekday" aria-hidden="true">
              {name}
            </span>
          ))}
          {days.map((day, index) => {
            const count = counts.get(day) ?? 0;
            const style = day === first ? { gridColumnStart: column } : {};
            if (count === 0) {
              return (
                <span key={index} class="day" style={style} aria-hidden="true">
                  {day - first + 1}
                </span>
              );
            }
            const level = Math.ceil((9 * Math.log1p(count)) / Math.log1p(most));
            const date = formatDay(new Date(day * DAY_MS), language);
            const label = `${date}: ${text.count("mementos", count)}`;
            return (
              <button
                key={index}
                type="button"
                class={`day heat-${level} ${level >= STRONG ? "strong" : ""}`}
                style={style}
                data-day={day}
                tabIndex={day === reachable ? 0 : -1}
                aria-pressed={day === chosen}
                aria-label={label}
                title={label}
              >
                {day - first + 1}
              </button>
            );
          })}
        </div>
      </div>
    );
  }, [first, counts, chosen, reachable, language]);
  return made;
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
