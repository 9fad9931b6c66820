import { formatAmount } from "../../errors.ts";
import type { Evaluation, TruthSummary } from "../evaluate/evaluation.ts";
import type { TracePoint } from "../evaluate/paper-maps.ts";
import { lineChart, type Series } from "../../page/chart/line-chart.ts";
import { roundMin } from "../../page/chart/scales.ts";
import { figureHtml } from "./figure.ts";
import { PERIOD_COLUMNS, type PeriodRow } from "./evaluation-text.ts";
import { shortNumber, shortPercent, wholeNumber } from "../../page/text-format.ts";
import type { PageSection, RunRecord, Tile } from "./page.ts";
import { card, grid, pageHtml } from "./page.ts";
import type { Cell, Column } from "./table.ts";
import { decimal, numbers, share, texts, whole } from "./table.ts";

const BY_KEY = "The share of right answers by key, without query";

interface EvaluationPage {
  readonly evaluations: readonly Evaluation[];
  readonly truth: TruthSummary;
  /** The map that a paper sweep starts from. */
  readonly base?: Evaluation | undefined;
  /** Processed and produced rows of a compaction by weights 4 and 2. */
  readonly trace?: readonly TracePoint[] | undefined;
  readonly run: RunRecord;
}

/** How well maps answer lookups, as one HTML file: the paper's table and figures. */
export function evaluationPage(report: EvaluationPage): string {
  const { evaluations, trace, run } = report;
  const [first] = evaluations;
  const losers = evaluations.filter(({ recall }) => recall < 1).length;
  const lookups = first?.lookups ?? 0;
  const held = (first?.truePositives ?? 0) + (first?.falseNegatives ?? 0);
  return pageHtml({
    title: "Cost and accuracy of maps",
    lead: `${formatAmount(evaluations.length, "map was", "maps were")} asked ${shortNumber(lookups)} lookups each. ${losers === 0 ? "None lost anything that is held (recall 1)." : `Maps that lose something that is held: ${losers}.`}`,
    tiles: [
      { name: "Maps", value: String(evaluations.length) },
      { name: "Lookups", value: shortNumber(lookups), remark: `${wholeNumber(lookups)} keys` },
      {
        name: "Held",
        value: lookups === 0 ? "-" : shortPercent(held / lookups),
        remark: `${wholeNumber(held)} keys`,
      },
      bestTile(evaluations),
    ],
    sections: [
      accuracySection(evaluations),
      ...(first?.asOf === undefined ? [] : [freshnessSection(evaluations)]),
      ...(trace === undefined ? [] : [traceSection(trace)]),
      tableSection(report),
    ],
    data: {
      evaluations,
      truth: report.truth,
      base: report.base ?? null,
      trace: trace ?? null,
      run,
    },
    dataName: "evaluation.json",
    run,
  });
}

/** The map that answers best; what is not a map is not one to publish. */
function bestTile(evaluations: readonly Evaluation[]): Tile {
  const maps = evaluations.filter(({ lines, accuracy }) => lines !== null && accuracy !== null);
  const best = maps.reduce<Evaluation | undefined>(
    (a, b) => (a === undefined || (b.accuracy ?? 0) > (a.accuracy ?? 0) ? b : a),
    undefined,
  );
  const value = best?.accuracy;
  return {
    name: "Best accuracy by key",
    value: value === undefined || value === null ? "-" : shortPercent(value),
    remark: best?.map,
  };
}

/** Maps made alike are one series: by host weight, or by the first word of their names. */
function seriesOf(
  evaluations: readonly Evaluation[],
  x: { text: (value: number) => string; of: (evaluation: Evaluation) => number | null },
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
        const { map, accuracy } = evaluation;
        const at = x.of(evaluation);
        if (at === null || accuracy === null) return [];
        return [{ x: at, y: accuracy, label: `${map} at ${x.text(at)}` }];
      })
      .sort((a, b) => a.x - b.x),
  }));
}

function accuracySection(evaluations: readonly Evaluation[]): PageSection {
  const basis = evaluations[0]?.costBasis;
  return {
    id: "accuracy",
    title: "Cost and accuracy",
    text: `Accuracy is the share of right answers by key, which has no query; relative cost is the lines of a map for each ${basis === "originals" ? "original" : "key"} of the truth. A good map is far up and far to the left.`,
    content: grid(
      accuracyFigure("cost-accuracy", "Accuracy by relative cost", evaluations, {
        name: "relative cost (%, log)",
        text: (value) => `${Number((value * 100).toPrecision(3))} %`,
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
  const series = seriesOf(evaluations, x);
  const accuracies = evaluations.flatMap(({ accuracy }) => accuracy ?? []);
  const min = roundMin(accuracies, 1);
  const start = min === 0 ? "" : ` The axis of accuracy begins at ${shortPercent(min)}.`;
  return figureHtml<Evaluation>({
    id,
    title,
    caption: `Each point is a map; maps made alike are joined by a line.${start}`,
    drawing: lineChart({
      x: { name: x.name, isLog: true, text: x.text },
      y: { name: "accuracy (%)", text: shortPercent, min, max: 1 },
      series: series.flatMap((one, color) => [
        { ...one, color },
        { ...one, name: `${one.name}, maps`, color, style: "points" as const },
      ]),
      // Weights have an order; names do not.
      steps: evaluations[0]?.made === undefined ? undefined : series.length,
      legend: series.map((one, color) => ({ ...one, color })),
    }),
    columns: [
      texts("Map", (row) => row.map),
      numbers("Cost", (row) => {
        const value = x.of(row);
        return value === null ? "-" : { value, text: x.text(value) };
      }),
      numbers("Keys %", (row) => share(row.keyAccuracy), { help: BY_KEY }),
      numbers("URIs %", (row) => share(row.uriAccuracy), {
        help: "The share of right answers by URI",
      }),
    ],
    rows: evaluations,
  });
}

/** What maps made as of a date say of the time after it. */
function freshnessSection(evaluations: readonly Evaluation[]): PageSection {
  const { date = "", periods = [] } = evaluations[0]?.asOf ?? {};
  return {
    id: "freshness",
    title: "Freshness",
    text: `The maps know captures up to ${date}. The more of the later ones they call present, the longer they may be used.`,
    content: figureHtml<PeriodRow & { map: string }>({
      id: "freshness-periods",
      title: "New originals called present",
      caption: `Of the originals first captured in each period after ${date}, the share that each map calls present.`,
      drawing: lineChart({
        x: {
          name: `periods after ${date}`,
          text: (value) => periods[Math.round(value) - 1]?.period ?? "",
        },
        y: { name: "called present (%)", text: shortPercent, min: 0, max: 1 },
        series: evaluations.map(({ map, asOf }) => ({
          name: map,
          points: (asOf?.periods ?? []).flatMap((row, i) =>
            row.newOriginals === 0
              ? []
              : [{ x: i + 1, y: row.newOriginalsPresent / row.newOriginals, label: row.period }],
          ),
        })),
      }),
      columns: [texts("Map", (row) => row.map), ...PERIOD_COLUMNS],
      rows: evaluations.flatMap(({ map, asOf }) =>
        (asOf?.periods ?? []).map((row) => ({ map, ...row })),
      ),
    }),
  };
}

function traceSection(trace: readonly TracePoint[]): PageSection {
  return {
    id: "trace",
    title: "Compaction at work",
    text: "What a roll-up does, seen closely.",
    content: figureHtml<TracePoint>({
      id: "processed-produced",
      title: "Rows processed and produced",
      caption:
        "A stretch of the map being compacted with weights 4 and 2: the smaller map grows row by row, and shrinks whenever a sub-tree is rolled up.",
      drawing: lineChart({
        x: { name: "rows processed" },
        y: { name: "rows produced" },
        series: [
          {
            name: "compacted",
            points: trace.map(({ processed, produced }) => ({ x: processed, y: produced })),
          },
        ],
      }),
      columns: [
        numbers("Processed", (row) => whole(row.processed)),
        numbers("Produced", (row) => whole(row.produced)),
      ],
      rows: trace,
    }),
  };
}

function tableSection({ evaluations, base, truth }: EvaluationPage): PageSection {
  const isSweep = base !== undefined;
  const basis = evaluations[0]?.costBasis === "originals" ? "original" : "key";
  const columns: Column<Evaluation>[] = [
    texts(isSweep ? "Input" : "Map", (row) => row.made?.input ?? (row === base ? "base" : row.map)),
    numbers("Wh", (row) => weight(row.made?.hostWeight), { isShown: isSweep }),
    numbers("Wp", (row) => weight(row.made?.pathWeight), { isShown: isSweep }),
    numbers("Lines", (row) => whole(row.lines)),
    numbers("Size (bytes)", (row) => whole(row.bytes)),
    numbers("Gzipped (bytes)", (row) => whole(row.gzipBytes)),
    numbers("Rollups", (row) => whole(row.made?.rollUps), { isShown: isSweep }),
    numbers("Time (sec)", (row) => decimal(row.made?.seconds), { isShown: isSweep }),
    numbers("RelCost", (row) => decimal(row.relativeCost, 4), {
      help: `Lines for each ${basis} of the truth`,
    }),
    numbers("Keys", (row) => decimal(row.keyAccuracy, 4), { help: BY_KEY }),
    numbers("URIs", (row) => decimal(row.uriAccuracy, 4), {
      help: "The share of right answers by URI (URI-R)",
    }),
    numbers("Keys, held hosts", (row) => decimal(row.heldHosts.keys.accuracy, 4), {
      help: "The share of right answers to keys whose host is held",
    }),
    numbers("URIs, held hosts", (row) => decimal(row.heldHosts.uris?.accuracy, 4), {
      help: "The share of right answers to URIs whose host is held",
    }),
    numbers("False +", (row) => whole(row.falsePositives), {
      help: "Keys asked for that are called present and are not held",
    }),
    numbers("Recall", (row) => decimal(row.recall, 4), {
      help: "The share of what is held that the map calls present",
    }),
    numbers("Freshness", (row) => decimal(row.freshness, 4), {
      help: "The share of what was archived later that it calls present",
    }),
  ];
  const rows = base === undefined ? evaluations : [base, ...evaluations];
  const remark = truth.noUris === null ? "" : ` There is no accuracy by URI: ${truth.noUris}.`;
  return {
    id: "maps",
    title: "Maps",
    text: `All maps that were measured.${isSweep ? " Each is made of its input, which has one larger weight; the base has all keys." : ""}${remark}`,
    content: card({ id: "map-table", title: "Maps", columns, rows }),
  };
}

function weight(value: number | undefined): Cell {
  return value === undefined ? "inf" : decimal(value);
}
