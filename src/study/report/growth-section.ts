import type { Analysis, GrowthPoint, YearRow } from "../analyze/analysis.ts";
import { STATUS_CLASSES } from "../analyze/capture-tally.ts";
import { monthTable, yearTable } from "./analysis-tables.ts";
import { barChart } from "../../page/chart/bar-charts.ts";
import { lineChart } from "../../page/chart/line-chart.ts";
import { figureHtml, heatFigure } from "./figure.ts";
import { decimal, gridTable, numbers, texts, whole } from "./table.ts";
import { fitQuality, wholeNumber } from "../../page/text-format.ts";
import type { PageSection } from "./page.ts";
import { card, grid } from "./page.ts";

/** How the archive grew: the paper's yearly table and growth curve, and cdx-summary's months. */
export function growthSection(analysis: Analysis): PageSection {
  return {
    id: "growth",
    title: "Growth",
    text:
      "When captures were made, and how many of them were of pages not seen before. An original " +
      "is a distinct URI; a memento is one capture of it. In the table + is cumulative, Dup. % is " +
      "the share of originals seen in an earlier year, and γ is mementos per original.",
    content: analysis.growth.length === 0 ? NO_DATETIMES : growthFigures(analysis),
  };
}

const NO_DATETIMES = `<div class="card"><p>No capture has a datetime, so there is nothing to draw over time.</p></div>`;

function growthFigures(analysis: Analysis): string {
  return [
    grid(growthFigure(analysis), yearFigure(analysis)),
    card({ ...yearTable(analysis), footer: [allYears(analysis)] }),
    grid(
      heatFigure(monthTable(analysis), {
        caption:
          "The stronger the colour, the more captures (by orders of magnitude). Gaps show when crawling stopped.",
        columnName: "month",
        columnText: (name) => name.slice(0, 1),
        showsNumbers: false,
      }),
      heapsFigure(analysis),
    ),
  ].join("\n");
}

/** `2014-03` as a place on an axis of years. */
function yearPlace(month: string): number {
  const [year = "", part] = month.split("-");
  return Number(year) + (part === undefined ? 0 : (Number(part) - 0.5) / 12);
}

function growthFigure({ growth }: Analysis): string {
  const series = (of: "mementos" | "originals") =>
    growth.map((point) => ({ x: yearPlace(point.month), y: point[of], label: point.month }));
  const last = growth.at(-1);
  const half = growth.find(({ mementos }) => mementos * 2 >= (last?.mementos ?? 0));
  const caption =
    half === undefined
      ? "No capture has a datetime."
      : `Mementos and distinct originals up to each month. Half of all mementos were there by ${half.month}.`;
  const places = growth.map(({ month }) => yearPlace(month));
  const years = [Math.floor(Math.min(...places)), Math.ceil(Math.max(...places))] as const;
  return figureHtml<GrowthPoint>({
    id: "growth-curve",
    title: "Cumulative growth",
    caption,
    drawing: lineChart({
      x: {
        name: "year",
        text: String,
        isWhole: true,
        // Whole years, so that months of one year stand between two names.
        range: years,
      },
      y: { name: "count" },
      series: [
        { name: "mementos", points: series("mementos") },
        { name: "originals", points: series("originals") },
      ],
    }),
    columns: [
      texts("Month", (row) => row.month),
      numbers("Mementos", (row) => whole(row.mementos)),
      numbers("Originals", (row) => whole(row.originals)),
    ],
    rows: growth,
  });
}

function yearFigure({ years }: Analysis): string {
  const table = gridTable({
    id: "year-bars",
    title: "Mementos by year and status",
    corner: "Year",
    columns: STATUS_CLASSES,
    rows: years.map(({ year, mementos, statusShares }) => ({
      name: String(year),
      cells: statusShares.map((part) => part * mementos),
    })),
  });
  return figureHtml({
    ...table,
    caption:
      "How many captures each year has, by class of status code. “None” are revisits and records without a code.",
    drawing: barChart({
      x: "year",
      y: "mementos",
      layers: STATUS_CLASSES.map((name, i) => ({ name, color: [0, 4, 1, 5, 7, 3][i] ?? i })),
      bars: table.rows.map(({ name, cells }) => ({
        name,
        values: cells.map((count) => Math.round(Number(count))),
      })),
    }),
  });
}

function allYears({
  years,
  index,
  distribution,
}: Analysis): Omit<YearRow, "year"> & { year: "All" } {
  const { originals, mementos } = index;
  const { mean: gamma } = distribution;
  const ofStatus = (i: number): number =>
    years.reduce((sum, row) => sum + (row.statusShares[i] ?? 0) * row.mementos, 0);
  return {
    year: "All",
    originals,
    cumulativeOriginals: originals,
    mementos,
    cumulativeMementos: mementos,
    duplicateShare: 0,
    gamma,
    cumulativeGamma: gamma,
    statusShares: STATUS_CLASSES.map((_, i) => ofStatus(i) / Math.max(1, mementos)),
  };
}

function heapsFigure({ growth, fits }: Analysis): string {
  const law = fits.heaps;
  const caption =
    law === undefined
      ? "Too few months to fit Heaps’ law."
      : `Heaps’ law, originals = K · mementos^β, with K = ${law.k.toPrecision(4)} and β = ${law.beta.toFixed(3)} (${fitQuality(law, "R²")}). The nearer β is to 1, the more of the crawl is new.`;
  const points = growth.map(({ mementos, originals, month }) => ({
    x: mementos,
    y: originals,
    label: `${month}, ${wholeNumber(mementos)} mementos`,
  }));
  const ends = [points[0], points.at(-1)].filter((point) => point !== undefined);
  return figureHtml<GrowthPoint>({
    id: "heaps-fit",
    title: "Distinct originals by mementos",
    caption,
    drawing: lineChart({
      x: { name: "mementos (log)", isLog: true },
      y: { name: "originals (log)", isLog: true },
      series: [
        { name: "by month", points, style: "points" },
        ...(law === undefined
          ? []
          : [
              {
                name: "Heaps’ law",
                style: "dashed" as const,
                points: ends.map(({ x }) => ({ x, y: law.k * x ** law.beta })),
              },
            ]),
      ],
    }),
    columns: [
      texts("Month", (row) => row.month),
      numbers("Mementos", (row) => whole(row.mementos)),
      numbers("Originals", (row) => whole(row.originals)),
      numbers("Fit", (row) => decimal(law === undefined ? 0 : law.k * row.mementos ** law.beta, 0)),
    ],
    rows: growth,
  });
}
