import type { JSX } from "preact";
import type { LearningReport } from "../../src/aggregate/learn/learner.ts";
import { barChart } from "../../src/page/chart/bar-charts.ts";
import { NEUTRAL } from "../../src/page/chart/drawing.ts";
import { lineChart, type Series } from "../../src/page/chart/line-chart.ts";
import { Chart } from "../parts/chart.tsx";
import { Facts } from "../parts/facts.tsx";
import { CardSwitch } from "../parts/switch.tsx";
import { Table } from "../parts/table.tsx";
import { type Text, useText } from "../text.ts";
import { total } from "./archive-table.tsx";
import type { History, Span } from "./health.ts";

type AboutText = Text<"about">;

/** Requests to archives, savings and recall over the last hour or days. */
export function HistoryCharts(props: {
  readonly history: History;
  readonly promised: number | undefined;
  readonly span: Span;
  readonly onSpan: (span: Span) => void;
}): JSX.Element {
  const { history, promised, span, onSpan } = props;
  const text = useText("about");
  const counts = history.all[span];
  const isQuiet = total(counts.asked) + total(counts.spared) === 0;
  return (
    <section class="card" aria-label={text("history")}>
      <CardSwitch
        title={text("history")}
        choices={[
          ["minutes", text("minutes")],
          ["hours", text("hours")],
        ]}
        value={span}
        onChoose={onSpan}
      />
      {isQuiet ? (
        <p class="hint">{text("quiet")}</p>
      ) : (
        <>
          <div class="chart-pair">
            <div>
              <h3>{text("requests")}</h3>
              <Requests counts={counts} span={span} />
            </div>
            <div>
              <h3>{text("shares")}</h3>
              <Shares counts={counts} span={span} promised={promised} />
            </div>
          </div>
          <HistoryTable counts={counts} span={span} />
        </>
      )}
    </section>
  );
}

interface SpanProps {
  readonly counts: History["all"][Span];
  readonly span: Span;
}

const AXES = { minutes: "timeMinutes", hours: "timeHours" } as const;

/** The age of an interval: `12`; `now` for the current one. */
function agoText(ago: number, text: AboutText): string {
  return ago === 0 ? text("now") : text.number(ago);
}

function Requests({ counts, span }: SpanProps): JSX.Element {
  const text = useText("about");
  const { asked, spared } = counts;
  const last = asked.length - 1;
  const drawing = barChart({
    x: text(AXES[span]),
    y: text("requestsAxis"),
    text: text.number,
    layers: [
      { name: text("askedShort"), color: 0 },
      { name: text("sparedShort"), color: 7 },
    ],
    isNamed: (place) => (last - place) % (span === "minutes" ? 10 : 12) === 0,
    bars: asked.map((count, place) => ({
      name: agoText(last - place, text),
      values: [count, spared[place] ?? 0],
    })),
  });
  const [all, saved] = [total(asked) + total(spared), total(spared)].map(text.number);
  const label = `${text("requests")}: ${all}; ${text("sparedShort")}: ${saved}`;
  return <Chart drawing={drawing} label={label} />;
}

function Shares(props: SpanProps & { readonly promised: number | undefined }): JSX.Element {
  const { counts, span, promised } = props;
  const text = useText("about");
  const { asked, spared, recall } = counts;
  const last = asked.length - 1;
  const saved = asked.flatMap((count, place) => {
    const all = count + (spared[place] ?? 0);
    return all === 0 ? [] : [{ x: place - last, y: (spared[place] ?? 0) / all }];
  });
  const kept = recall.flatMap((share, place) =>
    share === null ? [] : [{ x: place - last, y: share }],
  );
  const series: Series[] = [{ name: text("sparedShare"), points: saved }];
  if (kept.length > 0) series.push({ name: text("keptShare"), points: kept });
  if (promised !== undefined) {
    const points = [-last, 0].map((x) => ({ x, y: promised }));
    series.push({ name: text("promisedShare"), style: "dashed", color: NEUTRAL, points });
  }
  const drawing = lineChart({
    x: {
      name: text(AXES[span]),
      text: (place) => agoText(-place, text),
      isWhole: true,
      range: [-last, 0],
    },
    y: { name: text("shareAxis"), min: 0, max: 1, text: text.percent },
    series,
  });
  return <Chart drawing={drawing} label={text("shares")} />;
}

function HistoryTable({ counts, span }: SpanProps): JSX.Element {
  const text = useText("about");
  const { asked, spared, hits, recall } = counts;
  const places = asked.flatMap((count, i) => (count + (spared[i] ?? 0) === 0 ? [] : [i]));
  const cells: readonly (readonly [name: string, of: (place: number) => string])[] = [
    [text("askedShort"), (place) => text.number(asked[place] ?? 0)],
    [text("sparedShort"), (place) => text.number(spared[place] ?? 0)],
    [text("hits"), (place) => text.number(hits[place] ?? 0)],
    [text("keptShare"), (place) => percentText(recall[place], text)],
  ];
  return (
    <details>
      <summary>{text("table")}</summary>
      <Table
        label={text("table")}
        rows={places.toReversed()}
        columns={[
          { name: text(AXES[span]), cell: (place) => agoText(asked.length - 1 - place, text) },
          ...cells.map(([name, cell]) => ({ name, class: "number", cell })),
        ]}
      />
    </details>
  );
}

/** Savings of learning by the number of lookups. */
export function Learnt({ learning }: { readonly learning: LearningReport }): JSX.Element {
  const text = useText("about");
  const { spared, hits, mementos, lookups, answers, promised } = learning;
  const points = spared.map(({ lookups: x, share: y }) => ({ x, y }));
  const drawing = lineChart({
    x: { name: text("lookups"), isLog: true, text: text.number },
    y: { name: text("sparedShare"), min: 0, max: 1, text: text.percent },
    series: [{ name: text("sparedShare"), points }],
  });
  return (
    <section class="card">
      <h2>{text("learnt")}</h2>
      <Facts
        facts={[
          [text("lookupsCount"), text.number(lookups)],
          [text("answers"), text.number(answers)],
          [text("keptHits"), percentText(hits?.value, text), rangeText(hits, text)],
          [text("keptMementos"), percentText(mementos?.value, text), rangeText(mementos, text)],
          [text("promisedRecall"), text.percent(promised)],
        ]}
      />
      {spared.length > 0 && <Chart drawing={drawing} label={text("learntHint")} />}
      <p class="hint">{text("learntHint")}</p>
    </section>
  );
}

function rangeText(share: LearningReport["hits"], text: AboutText): string {
  return share === undefined ? "" : `${text.percent(share.low)} – ${text.percent(share.high)}`;
}

function percentText(share: number | null | undefined, text: AboutText): string {
  return share === null || share === undefined ? text("unknown") : text.percent(share);
}
