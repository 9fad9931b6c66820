import type { Analysis } from "../analyze/analysis.ts";
import { STATUS_CLASSES } from "../analyze/capture-tally.ts";
import { barChart, figureHtml, heatMap, lineChart } from "./charts.ts";
import { decimal, htmlTable, numbers, share, texts, whole } from "./table.ts";
import { fitQuality, wholeNumber } from "./number-format.ts";
import type { PageSection } from "./page.ts";
import { card, grid } from "./page.ts";

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** How the archive grew: the paper's yearly table and growth curve, and cdx-summary's months. */
export function growthSection(analysis: Analysis): PageSection {
  return {
    id: "growth",
    title: "Growth",
    text:
      "When captures were made, and how many of them were of pages not seen before. An original " +
      "is a distinct URI; a memento is one capture of it. In the table + is cumulative, Dup. % is " +
      "the share of originals seen in an earlier year, and γ is mementos per original.",
    content: [
      grid(growthFigure(analysis), yearFigure(analysis)),
      card(yearTable(analysis)),
      grid(monthFigure(analysis), heapsFigure(analysis)),
    ].join("\n"),
  };
}

/** `2014-03` as a place on an axis of years. */
function yearPlace(month: string): number {
  const [year = "", part] = month.split("-");
  return Number(year) + (part === undefined ? 0 : (Number(part) - 0.5) / 12);
}

function growthFigure({ growth }: Analysis): string {
  const series = (of: "mementos" | "originals") =>
    growth.map((point) => ({ x: yearPlace(point.month), y: point[of], label: point.month }));
  const title = "Cumulative growth";
  const last = growth.at(-1);
  const half = growth.find(({ mementos }) => mementos * 2 >= (last?.mementos ?? 0));
  const caption =
    half === undefined
      ? "No capture has a datetime."
      : `Mementos and distinct originals up to each month. Half of all mementos were there by ${half.month}.`;
  const places = growth.map(({ month }) => yearPlace(month));
  const years = [Math.floor(Math.min(...places)), Math.ceil(Math.max(...places))] as const;
  return figureHtml({
    id: "growth-curve",
    title,
    caption,
    svg: lineChart({
      title,
      description: caption,
      x: {
        name: "year",
        text: (year) => (Number.isInteger(year) ? String(year) : ""),
        // Whole years, so that months of one year stand between two names.
        range: years,
      },
      y: { name: "count" },
      series: [
        { name: "mementos", points: series("mementos") },
        { name: "originals", points: series("originals") },
      ],
    }),
    columns: [texts("Month"), numbers("Mementos"), numbers("Originals")],
    rows: growth.map(({ month, mementos, originals }) => [
      month,
      whole(mementos),
      whole(originals),
    ]),
  });
}

function yearFigure({ years }: Analysis): string {
  const title = "Mementos by year and status";
  const caption =
    "How many captures each year has, by class of status code. “None” are revisits and records without a code.";
  return figureHtml({
    id: "year-bars",
    title,
    caption,
    svg: barChart({
      title,
      description: caption,
      x: "year",
      y: "mementos",
      layers: STATUS_CLASSES.map((name, i) => ({ name, color: [0, 2, 1, 5, 7, 4][i] ?? i })),
      bars: years.map(({ year, mementos, statusShares }) => ({
        name: String(year),
        values: statusShares.map((part) => Math.round(part * mementos)),
      })),
    }),
    columns: [texts("Year"), ...STATUS_CLASSES.map((name) => numbers(name))],
    rows: years.map(({ year, mementos, statusShares }) => [
      String(year),
      ...statusShares.map((part) => whole(part * mementos)),
    ]),
  });
}

function yearTable({ years, index, distribution }: Analysis): string {
  const rows = years.map((row) => [
    String(row.year),
    whole(row.originals),
    whole(row.cumulativeOriginals),
    whole(row.mementos),
    whole(row.cumulativeMementos),
    share(row.duplicateShare),
    decimal(row.gamma),
    decimal(row.cumulativeGamma),
    ...row.statusShares.slice(0, 4).map((part) => share(part)),
  ]);
  const all = [
    "All",
    whole(index.originals),
    whole(index.originals),
    whole(index.mementos),
    whole(index.mementos),
    share(0),
    decimal(distribution.mean),
    decimal(distribution.mean),
    ...[0, 1, 2, 3].map((i) =>
      share(
        years.reduce((sum, row) => sum + (row.statusShares[i] ?? 0) * row.mementos, 0) /
          Math.max(1, index.mementos),
      ),
    ),
  ];
  return htmlTable({
    id: "year-table",
    caption: "Yearly originals, mementos and status codes",
    columns: [
      texts("Year"),
      numbers("Originals", "Originals captured in the year"),
      numbers("Originals+", "Originals captured up to the end of the year"),
      numbers("Mementos", "Mementos of the year"),
      numbers("Mementos+", "Mementos up to the end of the year"),
      numbers("Dup. %", "Originals of the year that were captured in an earlier one"),
      numbers("γ", "Mementos per original in the year"),
      numbers("γ+", "Mementos per original up to the end of the year"),
      numbers("2xx %"),
      numbers("3xx %"),
      numbers("4xx %"),
      numbers("5xx %"),
    ],
    rows: [...rows, all],
    footerRows: 1,
  });
}

function monthFigure({ captures }: Analysis): string {
  const title = "Mementos by year and month";
  const caption =
    "The stronger the colour, the more captures (by orders of magnitude). Gaps show when crawling stopped.";
  const rows = captures.yearMonth.map(({ year }) => String(year));
  const cells = captures.yearMonth.map(({ months }) => months.slice(1));
  return figureHtml({
    id: "month-map",
    title,
    caption,
    svg: heatMap({
      title,
      description: caption,
      rowName: "year",
      columnName: "month",
      rows,
      columns: MONTHS,
      cells,
    }),
    columns: [texts("Year"), ...MONTHS.map((month) => numbers(month))],
    rows: cells.map((row, i) => [rows[i] ?? "", ...row.map((count) => whole(count))]),
  });
}

function heapsFigure({ growth, fits }: Analysis): string {
  const title = "Distinct originals by mementos";
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
  return figureHtml({
    id: "heaps-fit",
    title,
    caption,
    svg: lineChart({
      title,
      description: caption,
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
    columns: [texts("Month"), numbers("Mementos"), numbers("Originals"), numbers("Fit")],
    rows: growth.map(({ month, mementos, originals }) => [
      month,
      whole(mementos),
      whole(originals),
      decimal(law === undefined ? 0 : law.k * mementos ** law.beta, 0),
    ]),
  });
}
