import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { TIME } from "../messages.ts";
import { PlainText, webUri } from "../parts/uri.tsx";
import { formatDay, formatMoment, useText } from "../text.ts";
import { ArchiveRows } from "./archive-rows.tsx";
import { Calendar } from "./calendar.tsx";
import { Downloads } from "./downloads.tsx";
import { MementoRows } from "./memento-list.tsx";
import { closest, density, type Memento, momentOf } from "./memento-store.ts";
import { Sides } from "./sides.tsx";
import { Strip, Years } from "./strip.tsx";
import type { Mementos } from "./use-mementos.ts";

/** How far the archives are, in a line. */
export function Progress({ mementos }: { readonly mementos: Mementos }): JSX.Element {
  const text = useText(TIME);
  const { archives, state, store } = mementos;
  const asked = archives.filter(({ isAsked }) => isAsked);
  const ended = asked.filter(({ outcome }) => outcome !== undefined).length;
  const answered = asked.filter(({ outcome }) => isAnswer(outcome?.result)).length;
  const failed = ended - answered;
  const skipped = archives.length - asked.length;
  const parts = [
    text.count("mementos", store.count),
    text.count("answered", answered),
    ...(failed > 0 ? [text.count("unanswered", failed)] : []),
    ...(asked.length > ended ? [text.count("pending", asked.length - ended)] : []),
    ...(skipped > 0 ? [text.count("skipped", skipped)] : []),
  ];
  return (
    <div class="progress">
      <p role="status" class="progress-line">
        {archives.length === 0 && state === "asking" ? text("asking") : parts.join(" · ")}
      </p>
      <progress
        aria-label={text("asking")}
        class={state === "asking" ? "" : "is-over"}
        max={Math.max(1, asked.length)}
        value={ended}
      />
      {state === "failed" && (
        <p class="fault" role="alert">
          {text("failed")}
        </p>
      )}
      {state === "done" && store.count === 0 && (
        <p class="hint">
          {failed === 0
            ? text("none")
            : answered === 0
              ? text("unknown")
              : text.count("noneFailed", failed)}
        </p>
      )}
    </div>
  );
}

/** Whether an archive said what it has. */
function isAnswer(result: string | undefined): boolean {
  return result === "hit" || result === "miss";
}

const DAY_MS = 86_400_000;

/** The mementos of a page: by archive, by day and in a list, with one of them chosen. */
export function Timeline(props: {
  readonly uri: string;
  readonly mementos: Mementos;
  /** The aggregator, as its paths begin. */
  readonly base: string;
  /** The chosen moment as the address has it. */
  readonly at?: string | undefined;
  readonly onChoose?: ((moment: string) => void) | undefined;
}): JSX.Element {
  const { uri, mementos, base, at, onChoose } = props;
  const { store, version, archives } = mementos;
  const text = useText(TIME);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [picked, setPicked] = useState<readonly Memento[]>([]);
  const [time, setTime] = useState(() => momentOf(at));
  const order = useMemo(() => store.sorted(hidden), [store, version, hidden]);
  // One odd date must not squeeze all others.
  const charted = useMemo(() => {
    const usual = order.filter((index) => isUsual(store.timeAt(index)));
    return usual.length === 0 ? order : usual;
  }, [order]);
  const [earliest, latest] = [charted[0], charted.at(-1)].map((index) => store.timeAt(index ?? 0));
  const span = useMemo(() => spanOf(earliest, latest), [earliest, latest]);
  const sums = useMemo(() => density(store, charted, span), [charted, span]);
  const wanted = Number.isNaN(time) ? latest : time;
  const place = closest(store, order, wanted);
  const nameOf = (id: string): string => archives.find((each) => each.id === id)?.name ?? id;
  const choose = (next: number): void => {
    setTime(next);
    onChoose?.(new Date(next).toISOString());
  };
  const chooseAt = (next: number): void => {
    const index = order[next];
    if (index !== undefined) choose(store.timeAt(index));
  };
  const pick = (memento: Memento): void =>
    setPicked((before) =>
      [...before.filter(({ index }) => index !== memento.index), memento].slice(-2),
    );
  const toggle = (id: string): void =>
    setHidden((before) => {
      const next = new Set(before);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  const share = (wanted - span.from) / (span.until - span.from);
  const hasAny = order.length > 0;
  const outliers = order.length - charted.length;
  const year = new Date(wanted).getUTCFullYear();
  const memento = place < 0 ? undefined : store.at(order[place] ?? 0);
  return (
    <>
      {memento !== undefined && (
        <section class="card chosen" aria-label={text("chosen")}>
          <div class="chosen-date">
            <label for="at">{text("chosen")}</label>
            <input
              id="at"
              type="date"
              value={new Date(wanted).toISOString().slice(0, 10)}
              onChange={({ currentTarget }) => {
                if (!Number.isNaN(currentTarget.valueAsNumber)) choose(currentTarget.valueAsNumber);
              }}
            />
          </div>
          <p class="chosen-memento">
            <time dateTime={new Date(memento.time).toISOString()}>
              {formatMoment(new Date(memento.time), text.language)} UTC
            </time>
            <span>
              <PlainText value={nameOf(memento.archive)} />
            </span>
          </p>
          <div class="chosen-actions">
            <button
              type="button"
              class="quiet"
              disabled={place === 0}
              onClick={() => chooseAt(place - 1)}
            >
              ← {text("previous")}
            </button>
            <button
              type="button"
              class="quiet"
              disabled={place === order.length - 1}
              onClick={() => chooseAt(place + 1)}
            >
              {text("next")} →
            </button>
            <a class="button" href={webUri(memento.uri)} rel="noreferrer">
              {text("open")}
            </a>
            <button type="button" class="quiet" onClick={() => pick(memento)}>
              {text("pick")}
            </button>
          </div>
        </section>
      )}
      <section class="card" aria-label={text("archives")}>
        {hasAny && (
          <div class="overview">
            <p class="strip-most">
              {text(span.isQuarters ? "mostQuarter" : "mostMonth", {
                count: Math.max(...sums.all),
              })}
            </p>
            <Strip
              counts={sums.all}
              label={text("strip", {
                from: formatDay(new Date(earliest), text.language),
                until: formatDay(new Date(latest), text.language),
              })}
              chosen={share}
              onChoose={(next) => choose(span.from + next * (span.until - span.from))}
            />
            <input
              type="range"
              class="moment"
              aria-label={text("slider")}
              aria-valuetext={formatDay(new Date(wanted), text.language)}
              min={span.from}
              max={span.until}
              step={DAY_MS}
              value={wanted}
              onInput={({ currentTarget }) => choose(currentTarget.valueAsNumber)}
            />
            <Years from={span.from} until={span.until} />
          </div>
        )}
        {outliers > 0 && <p class="hint">{text.count("outliers", outliers)}</p>}
        <h2>{text("archives")}</h2>
        <ArchiveRows
          archives={archives}
          density={sums.byArchive}
          hidden={hidden}
          onToggle={toggle}
          chosen={hasAny ? share : undefined}
        />
      </section>
      {picked.length > 0 && (
        <Sides
          picked={picked}
          nameOf={nameOf}
          onRemove={(gone) => setPicked(picked.filter(({ index }) => index !== gone.index))}
        />
      )}
      {hasAny && (
        <div class="columns">
          <section class="card">
            <div class="year-head">
              <h2>
                {text("calendar")} {year}
              </h2>
              <button
                type="button"
                class="quiet"
                aria-label={text("earlier")}
                onClick={() => choose(Date.UTC(year - 1, 6, 1))}
              >
                ←
              </button>
              <button
                type="button"
                class="quiet"
                aria-label={text("later")}
                onClick={() => choose(Date.UTC(year + 1, 6, 1))}
              >
                →
              </button>
            </div>
            <Calendar store={store} order={order} year={year} time={wanted} onChoose={choose} />
          </section>
          <section class="card">
            <h2>{text("list")}</h2>
            <MementoRows
              store={store}
              order={order}
              nameOf={nameOf}
              place={place}
              onChoose={chooseAt}
              onPick={pick}
              picked={picked}
            />
            <Downloads base={base} uri={uri} store={store} order={order} />
          </section>
        </div>
      )}
    </>
  );
}

/** Whole years around all mementos, in parts of equal length: months, or longer where there are many. */
function spanOf(
  first: number,
  last: number,
): { from: number; until: number; bins: number; isQuarters: boolean } {
  const from = Date.UTC(new Date(first).getUTCFullYear(), 0, 1);
  const until = Date.UTC(new Date(last).getUTCFullYear() + 1, 0, 1);
  const years = new Date(until).getUTCFullYear() - new Date(from).getUTCFullYear();
  const isQuarters = years > 12;
  return { from, until, bins: years * (isQuarters ? 4 : 12), isQuarters };
}

/** The Web began in 1991; mementos are not of tomorrow. */
function isUsual(time: number): boolean {
  return time >= Date.UTC(1990, 0, 1) && time <= Date.now() + DAY_MS;
}
