import { escapeHtml } from "./html.ts";
import { htmlTable, type TableCell, type TableColumn } from "./table.ts";
import { shortNumber, shortPercent, wholeNumber } from "./number-format.ts";

/** A figure of the report: a drawing, what it shows in words, and its numbers as a table. */
export interface Figure {
  readonly id: string;
  readonly title: string;
  /** What a reader should see; also the text alternative of the drawing. */
  readonly caption: string;
  readonly svg: string;
  readonly columns: readonly TableColumn[];
  readonly rows: readonly (readonly TableCell[])[];
}

/** The figure as HTML, its numbers folded away below it. */
export function figureHtml({ id, title, caption, svg, columns, rows }: Figure): string {
  return `<figure id="${id}" class="chart">
<h3>${escapeHtml(title)}</h3>
${svg}
<figcaption>${escapeHtml(caption)}</figcaption>
<details><summary>The numbers</summary>
${htmlTable({ id: `${id}-numbers`, caption: title, columns, rows })}
</details>
</figure>`;
}

/** The size of all drawings; they scale to their container. */
export const CHART = { width: 640, height: 340, left: 78, right: 16, top: 14, bottom: 48 } as const;

/** Wraps marks into an SVG with a name and a description. */
export function svgDrawing(
  content: string,
  { title, description, height }: { title: string; description: string; height?: number },
): string {
  const size = height ?? CHART.height;
  return `<svg viewBox="0 0 ${CHART.width} ${size}" role="img" aria-label="${escapeHtml(`${title}. ${description}`)}" preserveAspectRatio="xMidYMid meet">${content}</svg>`;
}

/** A number for an SVG attribute: two decimals are a hundredth of a pixel. */
export function px(value: number): string {
  return String(Math.round(value * 100) / 100);
}

/** Places values along an axis. */
export interface Scale {
  /** The position of a value. */
  at(value: number): number;
  readonly ticks: readonly number[];
}

const PLOT_WIDTH = CHART.width - CHART.left - CHART.right;
const PLOT_HEIGHT = CHART.height - CHART.top - CHART.bottom;

/** A scale from 0 to the next round tick at or above `max`. */
export function countScale(max: number, range: readonly [number, number]): Scale {
  const step = roundStep((max || 1) / 5);
  return linearScale([0, Math.ceil((max || 1) / step - 1e-9) * step], range);
}

/** A scale from `from` to `to` over a stretch of pixels; about `wanted` round ticks. */
export function linearScale(
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
export function logScale(
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

export const X_RANGE: readonly [number, number] = [CHART.left, CHART.left + PLOT_WIDTH];
export const Y_RANGE: readonly [number, number] = [CHART.top + PLOT_HEIGHT, CHART.top];

/** How the values of an axis are written. */
export type TickText = (value: number) => string;

/** The lines, ticks and names of both axes. */
export function axesSvg(
  x: Scale,
  y: Scale,
  names: { x: string; y: string; xText?: TickText; yText?: TickText },
): string {
  const { xText = shortNumber, yText = shortNumber } = names;
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
  return `${grid.join("")}<line class="axis" x1="${left}" x2="${right}" y1="${bottom}" y2="${bottom}"/>${marks.join("")}<text class="name" x="${px((left + right) / 2)}" y="${CHART.height - 8}" text-anchor="middle">${escapeHtml(names.x)}</text><text class="name" transform="translate(14 ${px((bottom + top) / 2)}) rotate(-90)" text-anchor="middle">${escapeHtml(names.y)}</text>`;
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

export interface BarChart {
  readonly title: string;
  readonly description: string;
  readonly x: string;
  readonly y: string;
  readonly text?: TickText;
  /** The names of what is stacked in each bar, from below. */
  readonly layers: readonly { readonly name: string; readonly color?: number }[];
  readonly bars: readonly { readonly name: string; readonly values: readonly number[] }[];
}

const MAX_NAMES = 10;

/** Draws stacked bars side by side. */
export function barChart(chart: BarChart): string {
  const { title, description, bars, layers, text = shortNumber } = chart;
  const sums = bars.map(({ values }) => values.reduce((sum, value) => sum + value, 0));
  const max = Math.max(0, ...sums);
  if (max === 0) return svgDrawing(emptyMessage(), { title, description });
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
  const axes = axesSvg(x, y, {
    x: chart.x,
    y: chart.y,
    xText: (i) => bars[i]?.name ?? "",
    yText: text,
  });
  const legend = legendHtml(
    layers.map(({ name, color }, i) => ({ name, points: [], color: color ?? i })),
  );
  return `${legend}${svgDrawing(axes + marks.join(""), { title, description })}`;
}

/** Shares of several things, each of which adds up to 1 at most. */
export type RowChart = Omit<BarChart, "x" | "y" | "text">;

const ROW_HEIGHT = 52;
const BAR_HEIGHT = 18;
const FOOT_HEIGHT = 30;
const [, RIGHT] = X_RANGE;
/** Names stand above their bars, so bars need no room to their left. */
const ROW_LEFT = CHART.right;

/** Draws stacked shares below one another, each with its whole name: names of hosts are long. */
export function rowChart({ title, description, bars, layers }: RowChart): string {
  if (bars.length === 0) return svgDrawing(emptyMessage(), { title, description });
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
  const legend = legendHtml(
    layers.map(({ name, color }, i) => ({ name, points: [], color: color ?? i })),
  );
  const height = bottom + FOOT_HEIGHT;
  return `${legend}${svgDrawing(grid.join("") + rows.join(""), { title, description, height })}`;
}

export interface HeatMap {
  readonly title: string;
  readonly description: string;
  readonly rowName: string;
  readonly columnName: string;
  readonly rows: readonly string[];
  readonly columns: readonly string[];
  /** By row and column; null where there is nothing to know. */
  readonly cells: readonly (readonly (number | null)[])[];
  /** Whether each cell says its number. */
  readonly showsNumbers?: boolean | undefined;
}

const GRID_LEFT = 100;
const GRID_TOP = 46;
const LEVELS = 9;

/** Draws a grid; the more a cell holds, the stronger its colour, by orders of magnitude. */
export function heatMap(map: HeatMap): string {
  const { title, description, rows, columns, cells } = map;
  const rowHeight = rows.length > 16 ? 19 : 26;
  const height = GRID_TOP + rows.length * rowHeight + 8;
  const width = (CHART.width - GRID_LEFT - CHART.right) / columns.length;
  const values = cells.flat().filter((cell) => cell !== null && cell > 0);
  const max = Math.log10(Math.max(1, ...values.map((value) => Number(value))) + 1);
  const marks = cells.flatMap((row, i) =>
    row.map((cell, j) => {
      const [x, y] = [GRID_LEFT + j * width, GRID_TOP + i * rowHeight];
      const level =
        cell === null || cell === 0
          ? 0
          : Math.max(1, Math.round((Math.log10(cell + 1) / max) * LEVELS));
      const what = cell === null ? "not known" : wholeNumber(cell);
      const tip = `${rows[i] ?? ""} × ${columns[j] ?? ""}: ${what}`;
      const number =
        map.showsNumbers === true
          ? `<text class="cell${level > 5 ? " dark" : ""}" x="${px(x + width / 2)}" y="${px(y + rowHeight / 2)}" dy="0.34em" text-anchor="middle">${cell === null ? "N/A" : cell === 0 ? "·" : shortNumber(cell)}</text>`
          : "";
      return `<rect class="heat h${level}" x="${px(x + 1)}" y="${px(y + 1)}" width="${px(width - 2)}" height="${rowHeight - 2}" rx="2" data-tip="${escapeHtml(tip)}"/>${number}`;
    }),
  );
  const rowNames = rows.map(
    (name, i) =>
      `<text class="tick" x="${GRID_LEFT - 7}" y="${px(GRID_TOP + (i + 0.5) * rowHeight)}" dy="0.32em" text-anchor="end">${escapeHtml(name)}</text>`,
  );
  const columnNames = columns.map(
    (name, j) =>
      `<text class="tick" x="${px(GRID_LEFT + (j + 0.5) * width)}" y="${GRID_TOP - 8}" text-anchor="middle">${escapeHtml(name)}</text>`,
  );
  const names = `<text class="name" x="${px((GRID_LEFT + CHART.width) / 2)}" y="14" text-anchor="middle">${escapeHtml(map.columnName)}</text><text class="name" x="4" y="${GRID_TOP - 8}">${escapeHtml(map.rowName)}</text>`;
  const content = [names, ...columnNames, ...rowNames, ...marks].join("");
  return svgDrawing(content, { title, description, height });
}
