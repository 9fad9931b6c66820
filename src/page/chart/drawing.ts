import { formatShort } from "../../format.ts";
import { escapeHtml } from "../html.ts";
import type { Scale } from "./scales.ts";

/** The result of a chart: SVG marks, and the legend above them. */
export interface Drawing {
  readonly marks: string;
  readonly legend?: readonly LegendItem[] | undefined;
  readonly height?: number | undefined;
}

/**
 * The size of all drawings. They scale to their container, and text grows as they shrink (see
 * `chart-style.ts`): margins fit the largest text.
 */
export const CHART = { width: 480, height: 300, left: 74, right: 16, top: 14, bottom: 52 } as const;

/** X from left to right, Y from bottom to top. */
export const X_RANGE: readonly [number, number] = [CHART.left, CHART.width - CHART.right];
export const Y_RANGE: readonly [number, number] = [CHART.height - CHART.bottom, CHART.top];

/** Placeholder for a chart without data. */
export const NO_DATA: Drawing = {
  marks: `<text class="name" x="${CHART.width / 2}" y="40" text-anchor="middle">no data</text>`,
  height: 70,
};

/** The drawing as an image with a text alternative. */
export function drawingHtml(
  { marks, legend = [], height = CHART.height }: Drawing,
  description: string,
): string {
  return `${legendHtml(legend)}<svg class="drawing" viewBox="0 0 ${CHART.width} ${height}" role="img" aria-label="${escapeHtml(description)}" preserveAspectRatio="xMidYMid meet">${marks}</svg>`;
}

/** A number for an SVG attribute: two decimals are a hundredth of a pixel. */
export function px(value: number): string {
  return String(Math.round(value * 100) / 100);
}

/** Formats the values of an axis. */
export type TickText = (value: number) => string;

export interface Axis {
  readonly name: string;
  readonly text?: TickText | undefined;
}

export function axesSvg(x: Scale, y: Scale, xAxis: Axis, yAxis: Axis): string {
  const { name: xName, text: xText = formatShort } = xAxis;
  const { name: yName, text: yText = formatShort } = yAxis;
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
  return `${grid.join("")}<line class="axis" x1="${left}" x2="${right}" y1="${bottom}" y2="${bottom}"/>${marks.join("")}<text class="name" x="${px((left + right) / 2)}" y="${CHART.height - 8}" text-anchor="middle">${escapeHtml(xName)}</text><text class="name" transform="translate(15 ${px((bottom + top) / 2)}) rotate(-90)" text-anchor="middle">${escapeHtml(yName)}</text>`;
}

/** A palette index: of unordered series, ordered steps, or heat-map levels. */
export type Color =
  | number
  | { readonly step: number; readonly of: number }
  | { readonly heat: number };

const COLORS = 8;

/** The index of the neutral colour, for reference lines; beyond all steps. */
export const NEUTRAL: number = 2 * COLORS - 1;

/** The class of a colour; see `chart-style.ts`. Ordered steps are spread over the whole ramp. */
export function colorClass(color: Color): string {
  if (typeof color === "number") return `c${color % COLORS}`;
  if ("heat" in color) return `h${color.heat}`;
  const { step, of } = color;
  return `o${of < 2 ? 0 : Math.round((Math.min(step, of - 1) / (of - 1)) * (COLORS - 1))}`;
}

export interface LegendItem {
  readonly name: string;
  readonly color: Color;
  /** `block` for bars; otherwise the style of the series. */
  readonly style: "line" | "dashed" | "points" | "block";
  /** The shape of its markers, if it has any. */
  readonly shape?: number | undefined;
}

/** The symbol of a legend item, in a box of 24 by 14, or 14 by 14 for areas. */
export function keySvg({ color, style, shape }: LegendItem): string {
  const tone = colorClass(color);
  if (style === "block")
    return `<rect class="bar ${tone}" x="0" y="1" width="14" height="12" rx="2"/>`;
  const dashed = style === "dashed" ? " dashed" : "";
  const line = style === "points" ? "" : `<path class="line ${tone}${dashed}" d="M0 7H24"/>`;
  return line + (shape === undefined ? "" : markerSvg(shape, { x: 12, y: 7, classes: tone }));
}

/** The names of series with their colours and markers; empty for a single series. */
function legendHtml(items: readonly LegendItem[]): string {
  if (items.length < 2) return "";
  const keys = items.map((item) => {
    const [name, width] = item.style === "block" ? ["key block", 14] : ["key", 24];
    return `<li><svg class="${name}" viewBox="0 0 ${width} 14" aria-hidden="true">${keySvg(item)}</svg>${escapeHtml(item.name)}</li>`;
  });
  return `<ul class="legend">${keys.join("")}</ul>`;
}

/** Outlines of similar area around 0, 0: series differ in shape as well as in colour. */
const SHAPES = [
  "M4 0A4 4 0 1 1-4 0A4 4 0 1 1 4 0Z",
  "M-3.6-3.6H3.6V3.6H-3.6Z",
  "M0-4.9L4.7 3.4H-4.7Z",
  "M0-5.1L5.1 0L0 5.1L-5.1 0Z",
  "M0 4.9L4.7-3.4H-4.7Z",
  "M-1.5-4.6H1.5V-1.5H4.6V1.5H1.5V4.6H-1.5V1.5H-4.6V-1.5H-1.5Z",
  "M-4.3-2.2L-2.2-4.3L0-2.1L2.2-4.3L4.3-2.2L2.1 0L4.3 2.2L2.2 4.3L0 2.1L-2.2 4.3L-4.3 2.2L-2.1 0Z",
  "M0-4.8L4.2-2.4V2.4L0 4.8L-4.2 2.4V-2.4Z",
];

interface Marker {
  readonly x: number;
  readonly y: number;
  readonly classes: string;
  /** The tooltip. */
  readonly tip?: string | undefined;
}

/** The outline for an index. Indexes of the same colour have different outlines: 64 series are distinguishable. */
function outlineOf(shape: number): string {
  const round = Math.floor(shape / COLORS);
  return SHAPES[(shape + round) % SHAPES.length] ?? "";
}

/** A marker of one of the shapes. */
export function markerSvg(shape: number, { x, y, classes, tip }: Marker): string {
  const data = tip === undefined ? "" : ` data-tip="${escapeHtml(tip)}"`;
  return `<path class="dot ${classes}" transform="translate(${px(x)} ${px(y)})" d="${outlineOf(shape)}"${data}/>`;
}
