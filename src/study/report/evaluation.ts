import { formatAmount, formatCount, formatShort, shortPercent } from "../../format.ts";
import type { Series } from "../../page/chart/line-chart.ts";
import { roundMin } from "../../page/chart/scales.ts";
import type {
  AnswerCounts,
  AsOfFreshness,
  Evaluation,
  EvaluationReport,
  LaterCounts,
} from "../evaluate/evaluation.ts";
import type { TracePoint } from "../evaluate/paper-maps.ts";
import { lineFigure } from "./figures.ts";
import {
  column,
  type Column,
  fact,
  type Fact,
  type Report,
  type Section,
  table,
  type Table,
} from "./report.ts";

/** The accuracy and cost of maps: the paper's table and figures. */
export function evaluationReport(report: EvaluationReport): Report {
  const { all, truth, base, trace } = report;
  const losers = all.filter(({ recall }) => recall < 1).length;
  const [first] = all;
  return {
    name: "evaluation",
    title: "Cost and accuracy of maps",
    lead: `${formatAmount(all.length, "map was", "maps were")} looked up ${formatCount(first?.lookups ?? 0)} times each. ${losers === 0 ? "No map misses a held key (recall 1)." : `Maps that miss held keys: ${losers}.`}`,
    facts: first === undefined ? [] : lookupFacts(first, all),
    sections: [
      {
        id: "maps",
        title: "Maps",
        text: `All measured maps.${base === undefined ? "" : " Each is made from its input, which has one larger weight; the base has all keys."}`,
        blocks: [mapTable(report), { notes: legend(report) }],
      },
      {
        id: "accuracy",
        title: "Cost and accuracy",
        text: `Accuracy is the share of correct answers by key (without queries); cost is lines of the map per ${basisOf(all)} of the truth. Better maps are nearer the top left.`,
        blocks: [
          [
            accuracyFigure("cost-accuracy", "Accuracy by relative cost", all, COST),
            accuracyFigure("size-accuracy", "Accuracy by size after gzip", all, SIZE),
          ],
        ],
      },
      ...(first?.asOf === undefined ? [] : [freshnessSection(first.asOf, all)]),
      ...(trace === undefined ? [] : [traceSection(trace)]),
    ],
    data: all.map((one) => ({ ...one, truth })),
  };
}

function basisOf([first]: readonly Evaluation[]): string {
  return first?.costBasis === "originals" ? "original" : "key";
}

function heldOf({ truePositives, falseNegatives }: AnswerCounts): number {
  return truePositives + falseNegatives;
}

function lookupFacts(first: Evaluation, all: readonly Evaluation[]): Fact[] {
  const { uris, heldHosts, lookups } = first;
  const best = all.toSorted((a, b) => (b.accuracy ?? 0) - (a.accuracy ?? 0)).at(0);
  const maps = fact("count", "Maps", all.length);
  if (lookups === 0) return [maps];
  const ofUris = uris && [
    fact("count", "URIs looked up", uris.lookups),
    fact("count", "URIs held", heldOf(uris)),
  ];
  return [
    maps,
    fact("count", "Keys looked up", lookups),
    fact("count", "Keys held", heldOf(first)),
    fact("count", "Keys on held hosts", heldHosts.keys.lookups),
    ...(ofUris ?? []),
    fact("ratio", "Best accuracy by key", best?.accuracy ?? null, { remark: best?.map }),
  ];
}

/** Explanations of the columns, for the terminal. */
function legend({ all, truth, base }: EvaluationReport): string[] {
  const [first] = all;
  if (first === undefined) return [];
  return [
    ...(truth.noUris === null ? [] : [`no accuracy of URIs: ${truth.noUris}`]),
    ...(base === undefined
      ? []
      : ["Wh, Wp: weights of hosts and paths; each map is made from its input"]),
    `cost: lines per ${basisOf(all)} (${formatCount(first.costDivisor)}); size and gzip in bytes`,
    "keys, URIs: the share of correct answers by key, without query, and by URI",
    "hosts: the share of correct answers to keys whose host is held",
    "precision: the share of keys reported present that are held; false: the share of absent keys reported present; saved: the share of lookups without a request",
    ...(first.freshness === null
      ? []
      : [
          first.asOf === undefined
            ? "fresh: the share of the keys of --future, not held yet, that is reported present"
            : "fresh: the share of originals first captured later that is reported present",
        ]),
  ];
}

function shareOf(part: number, all: number): number | null {
  return all === 0 ? null : part / all;
}

function mapTable({ all, base }: EvaluationReport): Table<Evaluation> {
  const ofSweep: Column<Evaluation>[] = [
    column.number("Wh", ({ made }) => made?.hostWeight ?? "inf"),
    column.number("Wp", ({ made }) => made?.pathWeight ?? "inf"),
    column.text("Input", ({ made }) => made?.input ?? ""),
    column.count("Roll-ups", ({ made }) => made?.rollUps ?? null),
    column.number("Seconds", ({ made }) => made?.seconds ?? null),
  ];
  const ofUris: Column<Evaluation>[] = [
    column.ratio("URIs", ({ uriAccuracy }) => uriAccuracy),
    column.ratio("Hosts, URIs", ({ heldHosts }) => heldHosts.uris?.accuracy ?? null),
  ];
  const isFresh = all.some(({ freshness }) => freshness !== null);
  const rows = base === undefined ? all : [base, ...all];
  return table<Evaluation>("map-table", "Cost and accuracy of maps", rows, [
    column.text("Map", ({ map }) => map),
    ...(base === undefined ? [] : ofSweep),
    column.count("Lines", ({ lines }) => lines),
    column.count("Size", ({ bytes }) => bytes),
    column.count("Gzip", ({ gzipBytes }) => gzipBytes),
    column.share("Cost", ({ relativeCost }) => relativeCost),
    column.ratio("Keys", ({ keyAccuracy }) => keyAccuracy),
    ...(all.some(({ uris }) => uris !== null) ? ofUris : []),
    column.ratio("Hosts", ({ heldHosts }) => heldHosts.keys.accuracy),
    column.ratio("Recall", ({ recall }) => recall),
    column.ratio("Precision", ({ truePositives, falsePositives }) =>
      shareOf(truePositives, truePositives + falsePositives),
    ),
    column.share("False", ({ falsePositives, trueNegatives }) =>
      shareOf(falsePositives, falsePositives + trueNegatives),
    ),
    column.share("Saved", (row) => shareOf(row.trueNegatives + row.falseNegatives, row.lookups)),
    ...(isFresh ? [column.ratio<Evaluation>("Fresh", ({ freshness }) => freshness)] : []),
  ]);
}

/** An axis of maps. */
interface Scale {
  readonly name: string;
  readonly column: Column<Evaluation>;
  readonly text: (value: number) => string;
}

const COST: Scale = {
  name: "relative cost (%, log)",
  column: column.share("Cost", ({ relativeCost }) => relativeCost),
  text: (value) => `${Number((value * 100).toPrecision(3))} %`,
};
const SIZE: Scale = {
  name: "bytes after gzip (log)",
  column: column.count("Gzip", ({ gzipBytes }) => gzipBytes),
  text: formatShort,
};

/** Related maps form one series: by host weight, or by the first word of their names. */
function seriesOf(all: readonly Evaluation[], { text, column: { value } }: Scale): Series[] {
  const series = new Map<string, { x: number; y: number; label: string }[]>();
  for (const evaluation of all) {
    const { made, map, accuracy: y } = evaluation;
    const name = made === undefined ? (map.split(" ")[0] ?? map) : `Wh ${made.hostWeight}`;
    const points = series.get(name) ?? [];
    series.set(name, points);
    const x = Number(value(evaluation));
    if (y !== null) points.push({ x, y, label: `${map} at ${text(x)}` });
  }
  return [...series].map(([name, points]) => ({
    name,
    points: points.sort((a, b) => a.x - b.x),
  }));
}

function accuracyFigure(
  id: string,
  title: string,
  all: readonly Evaluation[],
  x: Scale,
): Table<Evaluation> {
  const accuracies = all.flatMap(({ accuracy }) => accuracy ?? []);
  const min = roundMin(accuracies, 1);
  const start = min === 0 ? "" : ` The axis of accuracy begins at ${shortPercent(min)}.`;
  const series = seriesOf(all, x);
  return lineFigure({
    id,
    title,
    caption: `Each point is a map; lines join related maps.${start}`,
    columns: [
      column.text("Map", ({ map }) => map),
      x.column,
      column.ratio("Keys", ({ keyAccuracy }) => keyAccuracy),
      column.ratio("URIs", ({ uriAccuracy }) => uriAccuracy),
    ],
    rows: all,
    x: { name: x.name, isLog: true, text: x.text },
    y: { name: "accuracy (%)", text: shortPercent, min, max: 1 },
    series: series.flatMap((one, color) => [
      { ...one, color },
      { ...one, name: `${one.name}, maps`, color, style: "points" },
    ]),
    // Weights have an order; names do not.
    steps: all[0]?.made === undefined ? undefined : series.length,
    legend: series.map((one, color) => ({ ...one, color })),
  });
}

type PeriodRow = LaterCounts & { readonly map: string; readonly period: string };

/** The answers of maps as of a date for later captures. */
function freshnessSection({ date, periods }: AsOfFreshness, all: readonly Evaluation[]): Section {
  const ofPeriod = all.map(({ map, asOf }) => ({
    map,
    rows: (asOf?.periods ?? []).map((row) => ({ map, ...row })),
    totals: asOf === undefined ? [] : [{ map, period: "all", ...asOf }],
  }));
  const newPresent = (row: PeriodRow): number | null =>
    shareOf(row.newOriginalsPresent, row.newOriginals);
  const table = lineFigure<PeriodRow>({
    id: "freshness-periods",
    title: `Captured after ${date}, and reported present`,
    caption: `Of the originals first captured in each period after ${date}, the share that each map reports present.`,
    columns: [
      column.text("Map", ({ map }) => map),
      column.text("Period", ({ period }) => period),
      column.count("Captures", ({ captures }) => captures),
      column.share("Present", (row) => shareOf(row.capturesPresent, row.captures)),
      column.count("New originals", ({ newOriginals }) => newOriginals),
      column.share("New present", newPresent),
    ],
    rows: ofPeriod.flatMap(({ rows }) => rows),
    totals: ofPeriod.flatMap(({ totals }) => totals),
    isLong: false,
    x: {
      name: `periods after ${date}`,
      text: (value) => periods[Math.round(value) - 1]?.period ?? "",
    },
    y: { name: "reported present (%)", text: shortPercent, min: 0, max: 1 },
    series: ofPeriod.map(({ map, rows }) => ({
      name: map,
      points: rows.flatMap((row, i) => {
        const y = newPresent(row);
        return y === null ? [] : [{ x: i + 1, y, label: row.period }];
      }),
    })),
  });
  return {
    id: "freshness",
    title: "Freshness",
    text: `The maps include captures up to ${date}. The more later ones they report present, the longer they stay useful.`,
    blocks: [table],
  };
}

function traceSection(trace: readonly TracePoint[]): Section {
  const figure = lineFigure<TracePoint>({
    id: "processed-produced",
    title: "Processed and produced rows",
    caption:
      "A range of the map being compacted with weights 4 and 2: the smaller map grows row by row, and shrinks whenever a sub-tree is rolled up.",
    columns: [
      column.count("Processed", ({ processed }) => processed),
      column.count("Produced", ({ produced }) => produced),
    ],
    rows: trace,
    x: { name: "rows processed" },
    y: { name: "rows produced" },
    series: [
      {
        name: "compacted",
        points: trace.map(({ processed: x, produced: y }) => ({ x, y })),
      },
    ],
  });
  const text = "The effect of single roll-ups.";
  return { id: "trace", title: "Compaction at work", text, blocks: [figure] };
}
