import type { TracePoint } from "../evaluate/compaction-trace.ts";
import type { Evaluation } from "../evaluate/evaluation.ts";
import { decimal, numbers, share, texts, whole } from "./cells.ts";
import { figureHtml } from "./chart.ts";
import type { TableCell, TableColumn } from "./html-table.ts";
import { htmlTable } from "./html-table.ts";
import type { Series } from "./line-chart.ts";
import { lineChart } from "./line-chart.ts";
import { shortNumber, shortPercent } from "./number-format.ts";
import type { PageSection } from "./page.ts";
import { card, grid, pageHtml } from "./page.ts";
import type { SweepBase } from "./sweep-text.ts";

export interface EvaluationReport {
  readonly evaluations: readonly Evaluation[];
  /** The map that a paper sweep starts from. */
  readonly base?: SweepBase | undefined;
  /** Processed and produced rows of a compaction by weights 4 and 2. */
  readonly trace?: readonly TracePoint[] | undefined;
  readonly generator: string;
}

/** How well maps answer lookups, as one HTML file: the paper's table and figures. */
export function evaluationPage(report: EvaluationReport): string {
  const { evaluations, generator, trace } = report;
  const [first] = evaluations;
  const best = evaluations.reduce<Evaluation | undefined>(
    (a, b) => (a === undefined || b.accuracy > a.accuracy ? b : a),
    undefined,
  );
  const losers = evaluations.filter(({ recall }) => recall < 1).length;
  const lookups = first?.lookups ?? 0;
  return pageHtml({
    title: "Cost and accuracy of maps",
    lead: `${evaluations.length} maps were asked ${shortNumber(lookups)} lookups each. ${losers === 0 ? "None lost anything that is held (recall 1)." : `Maps that lose something that is held: ${losers}.`}`,
    tiles: [
      { name: "Maps", value: String(evaluations.length) },
      { name: "Lookups", value: shortNumber(lookups) },
      {
        name: "Held",
        value: shortPercent(
          ((first?.truePositives ?? 0) + (first?.falseNegatives ?? 0)) / Math.max(1, lookups),
        ),
      },
      { name: "Best accuracy", value: shortPercent(best?.accuracy ?? 0), remark: best?.map },
    ],
    sections: [
      accuracySection(evaluations),
      ...(trace === undefined ? [] : [traceSection(trace)]),
      tableSection(report),
    ],
    data: { evaluations, base: report.base ?? null, trace: trace ?? null },
    dataName: "evaluation.json",
    generator,
  });
}

/** Maps made alike are one series: by host weight, or by the first word of their names. */
function seriesOf(
  evaluations: readonly Evaluation[],
  x: (evaluation: Evaluation) => number | null,
): Series[] {
  const groups = new Map<string, Evaluation[]>();
  for (const evaluation of evaluations) {
    const { made, map } = evaluation;
    const name = made === undefined ? (map.split(" ")[0] ?? map) : `Wh ${made.hostWeight}`;
    groups.set(name, [...(groups.get(name) ?? []), evaluation]);
  }
  return [...groups].map(([name, list]) => ({
    name,
    points: list
      .flatMap((evaluation) => {
        const at = x(evaluation);
        const label = `${evaluation.map} at ${at === null ? "" : shortNumber(at)}`;
        return at === null ? [] : [{ x: at, y: evaluation.accuracy, label }];
      })
      .sort((a, b) => a.x - b.x),
  }));
}

function accuracySection(evaluations: readonly Evaluation[]): PageSection {
  return {
    id: "accuracy",
    title: "Cost and accuracy",
    text:
      "Accuracy is the share of lookups answered rightly; relative cost is the lines of a map for " +
      "each original. A good map is far up and far to the left.",
    content: grid(
      accuracyFigure("cost-accuracy", "Accuracy by relative cost", evaluations, {
        name: "relative cost (%, log)",
        text: (value) => `${Number((value * 100).toPrecision(2))} %`,
        of: ({ relativeCost }) => relativeCost,
      }),
      accuracyFigure("size-accuracy", "Accuracy by size after gzip", evaluations, {
        name: "bytes after gzip (log)",
        text: shortNumber,
        of: ({ gzipBytes }) => gzipBytes,
      }),
    ),
  };
}

function accuracyFigure(
  id: string,
  title: string,
  evaluations: readonly Evaluation[],
  x: { name: string; text: (value: number) => string; of: (one: Evaluation) => number | null },
): string {
  const caption = "Each point is a map; maps made alike are joined by a line.";
  const series = seriesOf(evaluations, x.of);
  return figureHtml({
    id,
    title,
    caption,
    svg: lineChart({
      title,
      description: caption,
      x: { name: x.name, isLog: true, text: x.text },
      y: { name: "accuracy (%)", text: shortPercent, min: leastAccuracy(evaluations), max: 1 },
      series: series.flatMap((one, color) => [
        { ...one, color },
        { ...one, name: `${one.name}, maps`, color, style: "points" as const },
      ]),
      legend: series.map((one, color) => ({ ...one, color })),
    }),
    columns: [texts("Map"), numbers("Cost"), numbers("Accuracy %")],
    rows: evaluations.map((one) => [
      one.map,
      { value: x.of(one) ?? 0, text: x.text(x.of(one) ?? 0) },
      share(one.accuracy),
    ]),
  });
}

/** A tenth below all accuracies, for an axis. */
function leastAccuracy(evaluations: readonly Evaluation[]): number {
  const least = Math.min(0.9, ...evaluations.map(({ accuracy }) => accuracy));
  return Math.floor(least * 10) / 10;
}

function traceSection(trace: readonly TracePoint[]): PageSection {
  const title = "Rows processed and produced";
  const caption =
    "A stretch of the map being compacted with weights 4 and 2: the smaller map grows row by row, and shrinks whenever a sub-tree is rolled up.";
  return {
    id: "trace",
    title: "Compaction at work",
    text: "What a roll-up does, seen closely.",
    content: figureHtml({
      id: "processed-produced",
      title,
      caption,
      svg: lineChart({
        title,
        description: caption,
        x: { name: "rows processed" },
        y: { name: "rows produced" },
        series: [
          {
            name: "compacted",
            points: trace.map(({ processed, produced }) => ({ x: processed, y: produced })),
          },
        ],
      }),
      columns: [numbers("Processed"), numbers("Produced")],
      rows: trace.map(({ processed, produced }) => [whole(processed), whole(produced)]),
    }),
  };
}

function tableSection({ evaluations, base }: EvaluationReport): PageSection {
  const isSweep = evaluations.some(({ made }) => made !== undefined);
  const columns: TableColumn[] = [
    texts(isSweep ? "Input" : "Map"),
    ...(isSweep ? [numbers("Wh"), numbers("Wp")] : []),
    numbers("Lines"),
    numbers("Size (bytes)"),
    numbers("Gzipped (bytes)"),
    ...(isSweep ? [numbers("Rollups"), numbers("Time (sec)")] : []),
    numbers("RelCost", "Lines for each original"),
    numbers("Accuracy", "The share of lookups answered rightly"),
    numbers("False +", "Lookups called present that are not held"),
    numbers("Recall", "The share of what is held that the map calls present"),
    numbers("Freshness", "The share of what was archived later that it calls present"),
  ];
  const rows = evaluations.map((one): TableCell[] => [
    one.made?.input ?? one.map,
    ...(isSweep ? [weight(one.made?.hostWeight), weight(one.made?.pathWeight)] : []),
    one.lines === null ? "-" : whole(one.lines),
    whole(one.bytes),
    whole(one.gzipBytes),
    ...(isSweep ? [whole(one.made?.rollUps ?? 0), decimal(one.made?.seconds ?? 0)] : []),
    one.relativeCost === null ? "-" : decimal(one.relativeCost, 4),
    decimal(one.accuracy, 4),
    whole(one.falsePositives),
    decimal(one.recall, 4),
    one.freshness === null ? "-" : decimal(one.freshness, 4),
  ]);
  const remark =
    base === undefined
      ? ""
      : ` The base has ${shortNumber(base.lines)} lines, ${shortNumber(base.bytes)} bytes, ${shortNumber(base.gzipBytes)} after gzip.`;
  return {
    id: "maps",
    title: "Maps",
    text: `All maps that were measured.${isSweep ? " Each is made of its input, which has one larger weight." : ""}${remark}`,
    content: card(htmlTable({ id: "map-table", caption: "Maps", columns, rows })),
  };
}

function weight(value: number | undefined): TableCell {
  return value === undefined ? "-" : decimal(value);
}
