import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { PlainText, webUri } from "../parts/uri.tsx";
import { useText } from "../text.ts";
import { ArchiveRows } from "./archive-rows.tsx";
import { Calendar } from "./calendar.tsx";
import { Downloads } from "./downloads.tsx";
import { closest, density, type Memento, spanOf, timeOf } from "./memento.ts";
import { MementoRows } from "./memento-list.tsx";
import { Sides } from "./sides.tsx";
import { Strip, Years } from "./strip.tsx";
import type { MementoStream } from "./use-mementos.ts";

const DAY_MS = 86_400_000;

/** Browsers limit address changes to some hundred in 30 seconds. */
const SETTLED_MS = 250;

/** The mementos of a page: by archive, by day and in a list, with one selected. */
export function Timeline(props: {
  readonly uri: string;
  readonly stream: MementoStream;
  /** The base path of the aggregator. */
  readonly base: string;
  /** The selected time, as in the address. */
  readonly at?: string | undefined;
  readonly onChoose?: (at: string) => void;
}): JSX.Element {
  const { uri, stream, base, at, onChoose } = props;
  const { archives } = stream;
  const text = useText("time");
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [picked, setPicked] = useState<readonly Memento[]>([]);
  const [time, setTime] = useState(() => timeOf(at));
  useEffect(() => {
    if (Number.isNaN(time) || time === timeOf(at)) return undefined;
    const timer = setTimeout(() => onChoose?.(new Date(time).toISOString()), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [time]);
  const mementos = useMemo(
    () => stream.mementos.filter(({ archive }) => !hidden.has(archive)),
    [stream.mementos, hidden],
  );
  // A single implausible date must not compress the rest of the chart.
  const charted = useMemo(() => {
    const usual = mementos.filter(isUsual);
    return usual.length === 0 ? mementos : usual;
  }, [mementos]);
  const span = useMemo(() => spanOf(charted), [charted]);
  const counts = useMemo(() => {
    const ids = [...new Set(charted.map(({ archive }) => archive))];
    const rows = ids.map((id) => charted.filter(({ archive }) => archive === id));
    return new Map(ids.map((id, i) => [id, density(rows[i] ?? [], span)]));
  }, [charted, span]);
  const [earliest, latest] = [charted[0]?.time ?? 0, charted.at(-1)?.time ?? 0];
  const wanted = Number.isNaN(time) ? latest : time;
  const place = closest(mementos, wanted);
  const memento = mementos[place];
  const year = new Date(wanted).getUTCFullYear();
  const share = (wanted - span.from) / (span.until - span.from);
  const outliers = mementos.length - charted.length;
  const nameOf = (id: string): string => archives.find((each) => each.id === id)?.name ?? id;
  const chooseAt = (next: number): void => setTime(mementos[next]?.time ?? wanted);
  const pick = (next: Memento): void =>
    setPicked((before) => [...before.filter((each) => each !== next), next].slice(-2));
  const toggle = (id: string): void => {
    const next = new Set(hidden);
    if (!next.delete(id)) next.add(id);
    setHidden(next);
  };
  const step = (to: number, words: string): JSX.Element => (
    <button
      type="button"
      class="quiet"
      disabled={to < 0 || to === mementos.length}
      onClick={() => chooseAt(to)}
    >
      {words}
    </button>
  );
  const toYear = (to: number, label: string, arrow: string): JSX.Element => (
    <button
      type="button"
      class="quiet"
      aria-label={label}
      onClick={() => setTime(Date.UTC(to, 6, 1))}
    >
      {arrow}
    </button>
  );
  return (
    <>
      {memento !== undefined && (
        <section class="card flow chosen" aria-label={text("chosen")}>
          <div class="chosen-date flow tight">
            <label for="at">{text("chosen")}</label>
            <input
              id="at"
              type="date"
              value={new Date(wanted).toISOString().slice(0, 10)}
              onChange={({ currentTarget: { valueAsNumber } }) => {
                if (!Number.isNaN(valueAsNumber)) setTime(valueAsNumber);
              }}
            />
          </div>
          <p class="chosen-memento">
            <time class="headline" dateTime={new Date(memento.time).toISOString()}>
              {text.moment(memento.time)} UTC
            </time>
            <span>
              <PlainText value={nameOf(memento.archive)} />
            </span>
          </p>
          <div class="chosen-actions flow tight">
            {step(place - 1, `← ${text("previous")}`)}
            {step(place + 1, `${text("next")} →`)}
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
        {memento !== undefined && (
          <div>
            <Overview
              mementos={charted}
              span={span}
              label={text("strip", { from: text.day(earliest), until: text.day(latest) })}
              share={share}
              onChoose={setTime}
            />
            <input
              type="range"
              class="moment"
              aria-label={text("slider")}
              aria-valuetext={text.day(wanted)}
              min={span.from}
              max={span.until}
              step={DAY_MS}
              value={wanted}
              onInput={({ currentTarget }) => setTime(currentTarget.valueAsNumber)}
            />
            <Years from={span.from} until={span.until} />
          </div>
        )}
        {outliers > 0 && <p class="hint">{text.count("outliers", outliers)}</p>}
        <h2>{text("archives")}</h2>
        <ArchiveRows
          archives={archives}
          state={stream.state}
          counts={counts}
          hidden={hidden}
          onToggle={toggle}
          chosen={memento === undefined ? undefined : share}
        />
      </section>
      {picked.length > 0 && (
        <Sides
          picked={picked}
          nameOf={nameOf}
          onRemove={(gone) => setPicked(picked.filter((each) => each !== gone))}
        />
      )}
      {memento !== undefined && (
        <div class="columns">
          <section class="card">
            <div class="card-head">
              <h2>
                {text("calendar")} {year}
              </h2>
              <div class="flow tight">
                {toYear(year - 1, text("earlier"), "←")}
                {toYear(year + 1, text("later"), "→")}
              </div>
            </div>
            <Calendar mementos={mementos} year={year} time={wanted} onChoose={setTime} />
          </section>
          <section class="card">
            <h2>{text("list")}</h2>
            <MementoRows
              mementos={mementos}
              nameOf={nameOf}
              place={place}
              onChoose={chooseAt}
              onPick={pick}
            />
            <Downloads base={base} uri={uri} mementos={mementos} />
          </section>
        </div>
      )}
    </>
  );
}

/** The mementos of all archives over time. */
function Overview(props: {
  readonly mementos: readonly Memento[];
  readonly span: ReturnType<typeof spanOf>;
  readonly label: string;
  readonly share: number;
  readonly onChoose: (time: number) => void;
}): JSX.Element {
  const { mementos, span, label, share, onChoose } = props;
  const text = useText("time");
  const all = useMemo(() => density(mementos, span), [mementos, span]);
  const max = Math.max(...all);
  return (
    <>
      <p class="hint">{text(span.isQuarters ? "mostQuarter" : "mostMonth", { count: max })}</p>
      <Strip
        counts={all}
        max={max}
        label={label}
        chosen={share}
        onChoose={(next) => onChoose(span.from + next * (span.until - span.from))}
      />
    </>
  );
}

/** Plausible: after the beginning of the Web in 1991, and not in the future. */
function isUsual({ time }: Memento): boolean {
  return time >= Date.UTC(1990, 0, 1) && time <= Date.now() + DAY_MS;
}
