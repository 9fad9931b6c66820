import { fitQuality, formatCount } from "../../../format.ts";
import { barChart } from "../../../page/chart/bar-charts.ts";
import type { Analysis, GrowthPoint, YearRow } from "../../analyze/analysis.ts";
import { STATUS_CLASSES } from "../../analyze/capture-tally.ts";
import { type GridRow, gridTable, heatFigure, lineFigure } from "../figures.ts";
import { column, type Column, type Section, table, type Table } from "../report.ts";

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** The growth of the archive: the paper's yearly table and growth curve, and cdx-summary's months. */
export function growthSection(analysis: Analysis): Section {
  const { growth, captures } = analysis;
  const months = heatFigure({
    id: "month-map",
    title: "Mementos by year and month",
    caption:
      "The stronger the colour, the more captures (by orders of magnitude). Gaps show when crawling stopped.",
    corner: "Year",
    columnName: "month",
    columns: MONTHS,
    columnText: (name) => name.slice(0, 1),
    rows: captures.yearMonth.map(({ year, months: cells }) => ({
      name: String(year),
      cells: cells.slice(1),
    })),
    showsNumbers: false,
  });
  return {
    id: "growth",
    title: "Growth",
    text:
      "Captures over time, and how many of them were of new pages. An original " +
      "is a distinct URI; a memento is one capture of it. In the table + is cumulative, Dup. is " +
      "the share of originals seen in an earlier year, and γ is mementos per original.",
    blocks:
      growth.length === 0
        ? [{ notes: ["No capture has a datetime, so there is nothing to draw over time."] }]
        : [
            [growthFigure(analysis), yearFigure(analysis)],
            yearTable(analysis),
            [months, heapsFigure(analysis)],
          ],
  };
}

/** `2014-03` as a place on an axis of years. */
function yearPlace(month: string): number {
  const [year = "", part] = month.split("-");
  return Number(year) + (part === undefined ? 0 : (Number(part) - 0.5) / 12);
}

const GROWTH_COLUMNS: readonly Column<GrowthPoint>[] = [
  column.text("Month", ({ month }) => month),
  column.count("Mementos", ({ mementos }) => mementos),
  column.count("Originals", ({ originals }) => originals),
];

function growthFigure({ growth }: Analysis): Table<GrowthPoint> {
  const series = (["mementos", "originals"] as const).map((name) => ({
    name,
    points: growth.map(({ month, [name]: y }) => ({ x: yearPlace(month), y, label: month })),
  }));
  const last = growth.at(-1)?.mementos ?? 0;
  const half = growth.find(({ mementos }) => mementos * 2 >= last)?.month ?? "";
  const places = growth.map(({ month }) => yearPlace(month));
  // Whole years, so that months of one year stand between two names.
  const range = [Math.floor(Math.min(...places)), Math.ceil(Math.max(...places))] as const;
  return lineFigure<GrowthPoint>({
    id: "growth-curve",
    title: "Cumulative growth",
    caption: `Mementos and distinct originals up to each month. Half of all mementos were captured by ${half}.`,
    columns: GROWTH_COLUMNS,
    rows: growth,
    x: { name: "year", text: String, isWhole: true, range },
    y: { name: "count" },
    series,
  });
}

function yearFigure({ years }: Analysis): Table<GridRow> {
  const rows = years.map(({ year, mementos, statusShares }) => ({
    name: String(year),
    cells: statusShares.map((part) => Math.round(part * mementos)),
  }));
  return {
    ...gridTable({
      id: "year-bars",
      title: "Mementos by year and status",
      corner: "Year",
      columns: STATUS_CLASSES,
      rows,
    }),
    isLong: true,
    figure: {
      caption:
        "Captures per year, by class of status code. “None” are revisits and records without a code.",
      draw: () =>
        barChart({
          x: "year",
          y: "mementos",
          layers: STATUS_CLASSES.map((name, i) => ({ name, color: [0, 4, 1, 5, 7, 3][i] ?? i })),
          bars: rows.map(({ name, cells }) => ({ name, values: cells })),
        }),
    },
  };
}

type AnyYear = Omit<YearRow, "year" | "duplicateShare"> & {
  readonly year: number | "All";
  readonly duplicateShare: number | null;
};

function yearTable({ years, index, distribution }: Analysis): Table<AnyYear> {
  const { originals, mementos } = index;
  const { mean: gamma } = distribution;
  const ofStatus = (i: number): number =>
    years.reduce((sum, row) => sum + (row.statusShares[i] ?? 0) * row.mementos, 0);
  const all = {
    year: "All" as const,
    originals,
    mementos,
    gamma,
    duplicateShare: null,
    cumulativeOriginals: originals,
    cumulativeMementos: mementos,
    cumulativeGamma: gamma,
    statusShares: STATUS_CLASSES.map((_, i) => ofStatus(i) / Math.max(1, mementos)),
  };
  const title = "Yearly originals, mementos and status codes";
  const rows = table<AnyYear>("year-table", title, years, [
    column.text("Year", ({ year }) => String(year)),
    column.count("Originals", (row) => row.originals),
    column.count("Originals+", (row) => row.cumulativeOriginals),
    column.count("Mementos", (row) => row.mementos),
    column.count("Mementos+", (row) => row.cumulativeMementos),
    column.share("Dup.", ({ duplicateShare }) => duplicateShare),
    column.number("γ", (row) => row.gamma),
    column.number("γ+", (row) => row.cumulativeGamma),
    ...STATUS_CLASSES.slice(0, 4).map((name, i) =>
      column.share<AnyYear>(name, ({ statusShares }) => statusShares[i]),
    ),
  ]);
  return { ...rows, totals: [all] };
}

function heapsFigure({ growth, fits: { heaps: law } }: Analysis): Table<GrowthPoint> {
  const fit = ({ mementos }: GrowthPoint): number | null =>
    law === undefined ? null : law.k * mementos ** law.beta;
  const points = growth.map(({ mementos, originals, month }) => ({
    x: mementos,
    y: originals,
    label: `${month}, ${formatCount(mementos)} mementos`,
  }));
  const ends = [growth[0], growth[growth.length - 1]];
  const fitted = ends.map((end) => ({ x: end.mementos, y: fit(end) ?? 0 }));
  const curve = { name: "Heaps’ law", style: "dashed", points: fitted } as const;
  return lineFigure<GrowthPoint>({
    id: "heaps-fit",
    title: "Distinct originals by mementos",
    caption:
      law === undefined
        ? "Too few months to fit Heaps’ law."
        : `Heaps’ law, originals = K · mementos^β, with K = ${law.k.toPrecision(4)} and β = ${law.beta.toFixed(3)} (${fitQuality(law, "R²")}). The closer β is to 1, the larger the share of new originals.`,
    columns: [...GROWTH_COLUMNS, column.number("Fit", fit, { digits: 0 })],
    rows: growth,
    x: { name: "mementos (log)", isLog: true },
    y: { name: "originals (log)", isLog: true },
    series: [{ name: "by month", points, style: "points" }, ...(law === undefined ? [] : [curve])],
  });
}
