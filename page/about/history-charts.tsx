import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { barChart } from "../../src/page/chart/bar-charts.ts";
import { NEUTRAL } from "../../src/page/chart/drawing.ts";
import { lineChart, type Series } from "../../src/page/chart/line-chart.ts";
import { ABOUT } from "../messages.ts";
import { Chart } from "../parts/chart.tsx";
import { type Fact, Facts } from "../parts/facts.tsx";
import { formatNumber, formatPercent, type Text, useText } from "../text.ts";
import { total } from "./archive-table.tsx";
import type { History, Learning, Span } from "./health.ts";

type AboutText = Text<keyof (typeof ABOUT)["en"]>;

/** Requests to archives and what was spared and kept, over the last hour or the last days. */
export function HistoryCharts(props: {
  readonly history: History["all"];
  readonly promised: number | undefined;
  readonly span: Span;
  readonly onSpan: (span: Span) => void;
}): JSX.Element {
  const { history, promised, span, onSpan } = props;
  const text = useText(ABOUT);
  const counts = history[span];
  const isQuiet = [...counts.asked, ...counts.spared].every((count) => count === 0);
  return (
    <section class="card" aria-label={text("history")}>
      <div class="card-head">
        <h2>{text("history")}</h2>
        <div class="switch" role="group" aria-label={text("history")}>
          {(["minutes", "hours"] as const).map((each) => (
            <button
              key={each}
              type="button"
              class="quiet"
              aria-pressed={each === span}
              onClick={() => onSpan(each)}
            >
              {text(each)}
            </button>
          ))}
        </div>
      </div>
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

/** How long ago a span was: `12`; `now` for the current one. */
function agoText(ago: number, text: AboutText): string {
  return ago === 0 ? text("now") : formatNumber(ago, text.language);
}

function Requests({ counts, span }: SpanProps): JSX.Element {
  const text = useText(ABOUT);
  const { asked, spared } = counts;
  const drawing = useMemo(
    () =>
      barChart({
        x: text(span === "minutes" ? "timeMinutes" : "timeHours"),
        y: text("requestsAxis"),
        text: (value) => formatNumber(value, text.language),
        layers: [
          { name: text("askedShort"), color: 0 },
          { name: text("sparedShort"), color: 7 },
        ],
        isNamed: (place) => (asked.length - 1 - place) % (span === "minutes" ? 10 : 12) === 0,
        bars: asked.map((count, place) => ({
          name: agoText(asked.length - 1 - place, text),
          values: [count, spared[place] ?? 0],
        })),
      }),
    [asked, spared, span, text.language],
  );
  const [all, saved] = [total(asked) + total(spared), total(spared)];
  const label = `${text("requests")}: ${formatNumber(all, text.language)}; ${text("sparedShort")}: ${formatNumber(saved, text.language)}`;
  return <Chart drawing={drawing} label={label} />;
}

function Shares(props: SpanProps & { readonly promised: number | undefined }): JSX.Element {
  const { counts, span, promised } = props;
  const text = useText(ABOUT);
  const drawing = useMemo(() => {
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
      series.push({
        name: text("promisedShare"),
        style: "dashed",
        color: NEUTRAL,
        points: [
          { x: -last, y: promised },
          { x: 0, y: promised },
        ],
      });
    }
    return lineChart({
      x: {
        name: text(span === "minutes" ? "timeMinutes" : "timeHours"),
        text: (place) => agoText(-place, text),
        isWhole: true,
        range: [-last, 0],
      },
      y: { name: text("shareAxis"), min: 0, max: 1, text: (share) => percentText(share, text) },
      series,
    });
  }, [counts, span, promised, text.language]);
  return <Chart drawing={drawing} label={text("shares")} />;
}

function HistoryTable({ counts, span }: SpanProps): JSX.Element {
  const text = useText(ABOUT);
  const { asked, spared, hits, recall } = counts;
  const rows = asked.flatMap((count, place) => (count + (spared[place] ?? 0) === 0 ? [] : [place]));
  return (
    <details>
      <summary>{text("table")}</summary>
      <div class="scroller" tabIndex={0} role="region" aria-label={text("table")}>
        <table class="history">
          <thead>
            <tr>
              <th scope="col">{text(span === "minutes" ? "timeMinutes" : "timeHours")}</th>
              {(["askedShort", "sparedShort", "hits", "keptShare"] as const).map((name) => (
                <th key={name} scope="col" class="number">
                  {text(name)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.toReversed().map((place) => (
              <tr key={place}>
                <th scope="row">{agoText(asked.length - 1 - place, text)}</th>
                {[asked, spared, hits].map((column, index) => (
                  <td key={index} class="number">
                    {formatNumber(column[place] ?? 0, text.language)}
                  </td>
                ))}
                <td class="number">{percentText(recall[place] ?? null, text)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

/** What learning spared, the more it has seen. */
export function Learnt({ learning }: { readonly learning: Learning }): JSX.Element {
  const text = useText(ABOUT);
  const { spared, hits, mementos, lookups, answers, promised } = learning;
  const drawing = useMemo(
    () =>
      lineChart({
        x: { name: text("lookups"), isLog: true, text: (at) => formatNumber(at, text.language) },
        y: {
          name: text("sparedShare"),
          min: 0,
          max: 1,
          text: (share) => percentText(share, text),
        },
        series: [
          {
            name: text("sparedShare"),
            points: spared.map(({ lookups: x, share: y }) => ({ x, y })),
          },
        ],
      }),
    [spared, text.language],
  );
  const facts: Fact[] = [
    [text("lookupsCount"), formatNumber(lookups, text.language)],
    [text("answers"), formatNumber(answers, text.language)],
    [text("keptHits"), percentText(hits?.value ?? null, text), rangeText(hits, text)],
    [text("keptMementos"), percentText(mementos?.value ?? null, text), rangeText(mementos, text)],
    [text("promisedRecall"), percentText(promised, text)],
  ];
  return (
    <section class="card">
      <h2>{text("learnt")}</h2>
      <Facts facts={facts} />
      {spared.length > 0 && (
        <div class="chart-half">
          <Chart drawing={drawing} label={text("learntHint")} />
        </div>
      )}
      <p class="hint">{text("learntHint")}</p>
    </section>
  );
}

function rangeText(share: Learning["hits"], text: AboutText): string {
  if (share === undefined || share === null) return "";
  return `${percentText(share.low, text)} – ${percentText(share.high, text)}`;
}

function percentText(share: number | null, text: AboutText): string {
  return share === null ? text("unknown") : formatPercent(share, text.language);
}
