import { escapeHtml } from "../../publish/serve/html.ts";
import { type GridRow, htmlTable, type Table } from "./table.ts";
import { lowerCase, shortNumber, shortPercent, wholeNumber } from "./text-format.ts";

/** What a chart draws: SVG marks, and HTML of the legend above them. */
export interface Drawing {
  readonly marks: string;
  readonly legend?: string | undefined;
  readonly height?: number | undefined;
}

/** A figure of a report: a drawing, what it shows in words, and its numbers as a table. */
interface Figure<Row> extends Table<Row> {
  /** What a reader should see; also the text alternative of the drawing. */
  readonly caption: string;
  readonly drawing: Drawing;
}

/** The figure as HTML, its numbers folded away below it. */
export function figureHtml<Row>({ caption, drawing, ...table }: Figure<Row>): string {
  const { id, title } = table;
  const { marks, legend = "", height = CHART.height } = drawing;
  return `<figure id="${id}" class="chart">
<h3>${escapeHtml(title)}</h3>
${legend}<svg viewBox="0 0 ${CHART.width} ${height}" role="img" aria-label="${escapeHtml(`${title}. ${caption}`)}" preserveAspectRatio="xMidYMid meet">${marks}</svg>
<figcaption>${escapeHtml(caption)}</figcaption>
<details><summary>The numbers</summary>
${htmlTable({ ...table, id: `${id}-numbers` })}
</details>
</figure>`;
}

/** The size of all drawings; they scale to their container. */
export const CHART = { width: 640, height: 340, left: 78, right: 16, top: 14, bottom: 48 } as const;

/** Drawn where there is nothing to draw. */
const NO_DATA: Drawing = {
  marks: `<text class="name" x="${CHART.width / 2}" y="${CHART.height / 2}" text-anchor="middle">no data</text>`,
};

/** A number for an SVG attribute: two decimals are a hundredth of a pixel. */
export function px(value: number): string {
  return String(Math.round(value * 100) / 100);
}

/** Places values along an axis. */
interface Scale {
  at(value: number): number;
  readonly ticks: readonly number[];
}

const PLOT_WIDTH = CHART.width - CHART.left - CHART.right;
const PLOT_HEIGHT = CHART.height - CHART.top - CHART.bottom;

/** A scale from 0 to the next round tick at or above `max`. */
function countScale(max: number, range: readonly [number, number]): Scale {
  const step = roundStep((max || 1) / 5);
  return linearScale([0, Math.ceil((max || 1) / step - 1e-9) * step], range);
}

/** A scale from `from` to `to` over a stretch of pixels; about `wanted` round ticks. */
function linearScale(
  [from, to]: readonly [number, number],
  [start, end]: readonly [number, number],
  wanted: number = 5,
): Scale {
  const span = to - from || 1;
  const step = roundStep(span / wanted);
  const ticks: number[] = [];
  for (let tick = Math.ceil(from / step) * step; tick <= to + step * 1e-9; tick += step) {
    ticks.push(Math.abs(tick) < step * 1e-9 ? 0 : Number(tick.toPrecision(12)));
  }
  return { at: (value) => start + ((value - from) / span) * (end - start), ticks };
}

/** A scale by orders of magnitude, for positive values; a tick at each power of ten. */
function logScale(
  [from, to]: readonly [number, number],
  [start, end]: readonly [number, number],
): Scale {
  const low = Math.floor(Math.log10(Math.max(from, Number.MIN_VALUE)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(to, Number.MIN_VALUE)) - 1e-9));
  const step = Math.ceil((high - low) / 6);
  const ticks: number[] = [];
  for (let power = low; power <= high; power += step) ticks.push(10 ** power);
  const place = (value: number): number => (Math.log10(value) - low) / (high - low);
  return { at: (value) => start + place(value) * (end - start), ticks };
}

function roundStep(raw: number): number {
  const power = 10 ** Math.floor(Math.log10(raw));
  const lead = raw / power;
  return (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10) * power;
}

const X_RANGE: readonly [number, number] = [CHART.left, CHART.left + PLOT_WIDTH];
const Y_RANGE: readonly [number, number] = [CHART.top + PLOT_HEIGHT, CHART.top];

/** How the values of an axis are written. */
type TickText = (value: number) => string;

interface Axis {
  readonly name: string;
  readonly text?: TickText | undefined;
}

function axesSvg(x: Scale, y: Scale, xAxis: Axis, yAxis: Axis): string {
  const { name: xName, text: xText = shortNumber } = xAxis;
  const { name: yName, text: yText = shortNumber } = yAxis;
  const [left, right] = X_RANGE;
  const [bottom, top] = Y_RANGE;
  const grid = y.ticks.map((tick) => {
    const at = px(y.at(tick));
    return `<line class="grid" x1="${left}" x2="${right}" y1="${at}" y2="${at}"/><text class="tick" x="${left - 7}" y="${at}" dy="0.32em" text-anchor="end">${escapeHtml(yText(tick))}</text>`;
  });
  const marks = x.ticks.map((tick) => {
    const at = px(x.at(tick));
    return `<line class="axis" x1="${at}" x2="${at}" y1="${bottom}" y2="${bottom + 4}"/><text class="tick" x="${at}" y="${bottom + 20}" text-anchor="middle">${escapeHtml(xText(tick))}</text>`;
  });
  return `${grid.join("")}<line class="axis" x1="${left}" x2="${right}" y1="${bottom}" y2="${bottom}"/>${marks.join("")}<text class="name" x="${px((left + right) / 2)}" y="${CHART.height - 8}" text-anchor="middle">${escapeHtml(xName)}</text><text class="name" transform="translate(14 ${px((bottom + top) / 2)}) rotate(-90)" text-anchor="middle">${escapeHtml(yName)}</text>`;
}

/** A line, or loose points, of a chart. */
export interface Series {
  readonly name: string;
  readonly points: readonly { readonly x: number; readonly y: number; readonly label?: string }[];
  /** `dashed` for fits and lines of reference; `points` for data that is not a curve. */
  readonly style?: "line" | "dashed" | "points" | undefined;
  /** The colour of the palette; that of the series' place by default. */
  readonly color?: number | undefined;
}

interface LineChart {
  readonly x: Axis & {
    readonly isLog?: boolean;
    /** Where the axis begins and ends; at the smallest and largest value by default. */
    readonly range?: readonly [number, number] | undefined;
  };
  readonly y: Axis & {
    readonly isLog?: boolean;
    /** Where the axis begins; at 0 by default. */
    readonly min?: number;
    /** Where the axis ends; at the largest value by default. */
    readonly max?: number;
  };
  readonly series: readonly Series[];
  /** What the legend names; the series by default. */
  readonly legend?: readonly Omit<Series, "points">[] | undefined;
}

/** The colours of the palette; see the page's style. */
const COLORS = 8;

/** Draws lines over two axes; every point shows its values under the pointer. */
export function lineChart(chart: LineChart): Drawing {
  const points = chart.series.flatMap((series) => series.points).filter((p) => isShown(p, chart));
  if (points.length === 0) return NO_DATA;
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
  const lines = chart.series.map((series, i) => seriesSvg(series, i, chart, { x, y }));
  const axes = axesSvg(x, y, chart.x, chart.y);
  return { legend: legendHtml(chart.legend ?? chart.series), marks: axes + lines.join("") };
}

/** Logarithms have no place for zero. */
function isShown(point: { x: number; y: number }, { x, y }: LineChart): boolean {
  return (x.isLog !== true || point.x > 0) && (y.isLog !== true || point.y > 0);
}

function seriesSvg(
  series: Series,
  index: number,
  chart: LineChart,
  scales: { readonly x: Scale; readonly y: Scale },
): string {
  const color = `c${(series.color ?? index) % COLORS}`;
  const shown = series.points.filter((point) => isShown(point, chart));
  const at = shown.map(({ x, y }) => ({ x: px(scales.x.at(x)), y: px(scales.y.at(y)) }));
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
function legendHtml(series: readonly Omit<Series, "points">[]): string {
  if (series.length < 2) return "";
  const items = series.map(
    ({ name, style, color }, i) =>
      `<li><i class="k${(color ?? i) % COLORS}${style === "dashed" ? " dashed" : ""}"></i>${escapeHtml(name)}</li>`,
  );
  return `<ul class="legend">${items.join("")}</ul>`;
}

interface BarChart {
  readonly x: string;
  readonly y: string;
  readonly text?: TickText;
  /** The names of what is stacked in each bar, from below. */
  readonly layers: readonly { readonly name: string; readonly color?: number }[];
  readonly bars: readonly { readonly name: string; readonly values: readonly number[] }[];
}

const MAX_NAMES = 10;

export function barChart(chart: BarChart): Drawing {
  const { bars, layers, text = shortNumber } = chart;
  const sums = bars.map(({ values }) => values.reduce((sum, value) => sum + value, 0));
  const max = Math.max(0, ...sums);
  if (max === 0) return NO_DATA;
  const y = countScale(max, Y_RANGE);
  const [left, right] = X_RANGE;
  const step = (right - left) / bars.length;
  const every = Math.ceil(bars.length / MAX_NAMES);
  const marks = bars.map(({ name, values }, i) => {
    let base = 0;
    const x = px(left + i * step + step * 0.12);
    const rects = values.map((value, layer) => {
      const [low, high] = [y.at(base), y.at(base + value)];
      base += value;
      const tip = `${name}${layers.length > 1 ? `, ${layers[layer]?.name ?? ""}` : ""}: ${text(value)}`;
      return value === 0
        ? ""
        : `<rect class="bar c${layers[layer]?.color ?? layer}" x="${x}" width="${px(step * 0.76)}" y="${px(high)}" height="${px(low - high)}" data-tip="${escapeHtml(tip)}"/>`;
    });
    return rects.join("");
  });
  const names = bars.flatMap((_, i) => (i % every === 0 ? [i] : []));
  const x = { at: (i: number) => left + (i + 0.5) * step, ticks: names };
  const xAxis = { name: chart.x, text: (i: number) => bars[i]?.name ?? "" };
  const axes = axesSvg(x, y, xAxis, { name: chart.y, text });
  return { legend: legendHtml(layers), marks: axes + marks.join("") };
}

/** Shares of several things; each adds up to at most 1. */
type RowChart = Omit<BarChart, "x" | "y" | "text">;

const ROW_HEIGHT = 52;
const BAR_HEIGHT = 18;
const FOOT_HEIGHT = 30;
const [, RIGHT] = X_RANGE;
/** Names stand above their bars, so bars need no room to their left. */
const ROW_LEFT = CHART.right;

/** Draws stacked shares below one another, each with its whole name: names of hosts are long. */
export function rowChart({ bars, layers }: RowChart): Drawing {
  if (bars.length === 0) return NO_DATA;
  const x = linearScale([0, 1], [ROW_LEFT, RIGHT]);
  const bottom = CHART.top + bars.length * ROW_HEIGHT;
  const grid = x.ticks.map((tick) => {
    const at = px(x.at(tick));
    const anchor = tick === 0 ? "start" : tick === 1 ? "end" : "middle";
    return `<line class="grid" x1="${at}" x2="${at}" y1="${CHART.top}" y2="${bottom}"/><text class="tick" x="${at}" y="${bottom + 18}" text-anchor="${anchor}">${shortPercent(tick)}</text>`;
  });
  const rows = bars.map(({ name, values }, i) => {
    const top = CHART.top + i * ROW_HEIGHT;
    let base = 0;
    const rects = values.map((value, layer) => {
      const [from, to] = [x.at(base), x.at(base + value)];
      base += value;
      const tip = `${name}, ${layers[layer]?.name ?? ""}: ${shortPercent(value)}`;
      return value === 0
        ? ""
        : `<rect class="bar c${layers[layer]?.color ?? layer}" x="${px(from)}" width="${px(to - from)}" y="${top + 25}" height="${BAR_HEIGHT}" data-tip="${escapeHtml(tip)}"/>`;
    });
    return `<text class="name" x="${ROW_LEFT}" y="${top + 18}">${escapeHtml(name)}</text>${rects.join("")}`;
  });
  const marks = grid.join("") + rows.join("");
  return { legend: legendHtml(layers), marks, height: bottom + FOOT_HEIGHT };
}

interface HeatMap {
  readonly caption: string;
  readonly columnName: string;
  readonly showsNumbers: boolean;
}

const GRID_LEFT = 100;
const GRID_TOP = 46;
const LEVELS = 9;

/** A grid as a figure; the more a cell holds, the stronger its colour, by orders of magnitude. */
export function heatFigure(grid: Table<GridRow>, map: HeatMap): string {
  const [corner, ...columns] = grid.columns.map(({ name }) => name);
  const { rows } = grid;
  const rowHeight = rows.length > 16 ? 19 : 26;
  const height = GRID_TOP + rows.length * rowHeight + 8;
  const width = (CHART.width - GRID_LEFT - CHART.right) / columns.length;
  const max = Math.log10(Math.max(1, ...rows.flatMap(({ cells }) => cells.map(Number))) + 1);
  const marks = rows.flatMap(({ name, cells }, i) =>
    cells.map((cell, j) => {
      const [x, y] = [GRID_LEFT + j * width, GRID_TOP + i * rowHeight];
      const level =
        cell === null || cell === 0
          ? 0
          : Math.max(1, Math.round((Math.log10(cell + 1) / max) * LEVELS));
      const what = cell === null ? "not known" : wholeNumber(cell);
      const tip = `${name} × ${columns[j]}: ${what}`;
      const number = map.showsNumbers
        ? `<text class="cell${level > 5 ? " dark" : ""}" x="${px(x + width / 2)}" y="${px(y + rowHeight / 2)}" dy="0.34em" text-anchor="middle">${cell === null ? "N/A" : cell === 0 ? "·" : shortNumber(cell)}</text>`
        : "";
      return `<rect class="heat h${level}" x="${px(x + 1)}" y="${px(y + 1)}" width="${px(width - 2)}" height="${rowHeight - 2}" rx="2" data-tip="${escapeHtml(tip)}"/>${number}`;
    }),
  );
  const rowNames = rows.map(
    ({ name }, i) =>
      `<text class="tick" x="${GRID_LEFT - 7}" y="${px(GRID_TOP + (i + 0.5) * rowHeight)}" dy="0.32em" text-anchor="end">${escapeHtml(name)}</text>`,
  );
  const columnNames = columns.map(
    (name, j) =>
      `<text class="tick" x="${px(GRID_LEFT + (j + 0.5) * width)}" y="${GRID_TOP - 8}" text-anchor="middle">${escapeHtml(name)}</text>`,
  );
  const names = `<text class="name" x="${px((GRID_LEFT + CHART.width) / 2)}" y="14" text-anchor="middle">${escapeHtml(map.columnName)}</text><text class="name" x="4" y="${GRID_TOP - 8}">${escapeHtml(lowerCase(corner))}</text>`;
  const content = [names, ...columnNames, ...rowNames, ...marks].join("");
  return figureHtml({ ...grid, caption: map.caption, drawing: { marks: content, height } });
}
