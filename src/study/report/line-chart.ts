import type { TickText } from "./axis.ts";
import { axesSvg, countScale, linearScale, logScale, X_RANGE, Y_RANGE } from "./axis.ts";
import { CHART, px, svgDrawing } from "./chart.ts";
import { escapeHtml } from "./html.ts";
import { shortNumber } from "./number-format.ts";

/** A line, or loose points, of a chart. */
export interface Series {
  readonly name: string;
  readonly points: readonly { readonly x: number; readonly y: number; readonly label?: string }[];
  /** `dashed` for fits and lines of reference; `points` for data that is not a curve. */
  readonly style?: "line" | "dashed" | "points" | undefined;
  /** The colour of the palette; that of the series' place by default. */
  readonly color?: number | undefined;
}

export interface LineChart {
  readonly title: string;
  readonly description: string;
  readonly x: {
    readonly name: string;
    readonly isLog?: boolean;
    readonly text?: TickText;
    /** Where the axis begins and ends; at the smallest and largest value by default. */
    readonly range?: readonly [number, number] | undefined;
  };
  readonly y: {
    readonly name: string;
    readonly isLog?: boolean;
    readonly text?: TickText;
    /** Where the axis begins; at 0 by default. */
    readonly min?: number;
    /** Where the axis ends; at the largest value by default. */
    readonly max?: number;
  };
  readonly series: readonly Series[];
  /** What the legend names; the series by default. */
  readonly legend?: readonly Series[] | undefined;
}

/** The colours of the palette; see the page's style. */
export const COLORS = 8;

/** Draws lines over two axes; every point tells its values when it is pointed at. */
export function lineChart(chart: LineChart): string {
  const { title, description } = chart;
  const points = chart.series.flatMap((series) => series.points).filter((p) => isShown(p, chart));
  if (points.length === 0) return svgDrawing(emptyMessage(), { title, description });
  const xs = points.map((point) => point.x);
  const ys = points.map((point) => point.y);
  const range = chart.x.range ?? ([Math.min(...xs), Math.max(...xs)] as const);
  const x = chart.x.isLog === true ? logScale(range, X_RANGE) : linearScale(range, X_RANGE, 6);
  const yMax = chart.y.max ?? Math.max(...ys);
  const y =
    chart.y.isLog === true
      ? logScale([Math.min(...ys), yMax], Y_RANGE)
      : chart.y.min === undefined
        ? countScale(yMax, Y_RANGE)
        : linearScale([chart.y.min, yMax], Y_RANGE);
  const place = { x: (value: number) => x.at(value), y: (value: number) => y.at(value) };
  const lines = chart.series.map((series, i) => seriesSvg(series, i, chart, place));
  const axes = axesSvg(x, y, {
    x: chart.x.name,
    y: chart.y.name,
    ...(chart.x.text === undefined ? {} : { xText: chart.x.text }),
    ...(chart.y.text === undefined ? {} : { yText: chart.y.text }),
  });
  return `${legendHtml(chart.legend ?? chart.series)}${svgDrawing(axes + lines.join(""), { title, description })}`;
}

/** Logarithms have no place for zero. */
function isShown(point: { x: number; y: number }, { x, y }: LineChart): boolean {
  return (x.isLog !== true || point.x > 0) && (y.isLog !== true || point.y > 0);
}

function seriesSvg(
  series: Series,
  index: number,
  chart: LineChart,
  place: { x: (value: number) => number; y: (value: number) => number },
): string {
  const color = `c${(series.color ?? index) % COLORS}`;
  const shown = series.points.filter((point) => isShown(point, chart));
  const at = shown.map((point) => ({ x: px(place.x(point.x)), y: px(place.y(point.y)) }));
  if (shown.length === 0) return "";
  // A line of one point is nothing to see.
  const style = shown.length === 1 ? "points" : (series.style ?? "line");
  const path =
    style === "points"
      ? ""
      : `<path class="line ${color}${style === "dashed" ? " dashed" : ""}" d="M${at.map(({ x, y }) => `${x} ${y}`).join("L")}"/>`;
  if (style === "dashed") return path;
  const xText = chart.x.text ?? shortNumber;
  const yText = chart.y.text ?? shortNumber;
  const dots = shown.map((point, i) => {
    const label = point.label ?? xText(point.x);
    const tip = `${series.name}: ${label}, ${yText(point.y)}`;
    return `<circle class="dot ${color}${style === "points" ? " solid" : ""}" cx="${at[i]?.x}" cy="${at[i]?.y}" r="${style === "points" ? 4 : 3}" data-tip="${escapeHtml(tip)}"/>`;
  });
  return path + dots.join("");
}

/** The names of the series beside their colours; none for a single one. */
export function legendHtml(series: readonly Series[]): string {
  if (series.length < 2) return "";
  const items = series.map(
    ({ name, style, color }, i) =>
      `<li><i class="k${(color ?? i) % COLORS}${style === "dashed" ? " dashed" : ""}"></i>${escapeHtml(name)}</li>`,
  );
  return `<ul class="legend">${items.join("")}</ul>`;
}

/** What is drawn where there is nothing to draw. */
export function emptyMessage(): string {
  return `<text class="name" x="${CHART.width / 2}" y="${CHART.height / 2}" text-anchor="middle">no data</text>`;
}
