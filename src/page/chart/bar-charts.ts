import { formatShort, shortPercent } from "../../format.ts";
import { escapeHtml } from "../html.ts";
import {
  axesSvg,
  CHART,
  type Drawing,
  type LegendItem,
  NO_DATA,
  px,
  type TickText,
  X_RANGE,
  Y_RANGE,
} from "./drawing.ts";
import { countScale, linearScale } from "./scales.ts";

interface Layer {
  readonly name: string;
  readonly color?: number;
}

interface BarChart {
  readonly x: string;
  readonly y: string;
  readonly text?: TickText;
  /** The names of the layers of each bar, from the bottom. */
  readonly layers: readonly Layer[];
  readonly bars: readonly { readonly name: string; readonly values: readonly number[] }[];
  /** Indexes of the bars with labels below the axis; by default as many as fit. */
  readonly isNamed?: (bar: number) => boolean;
}

const MAX_NAMES = 8;

export function barChart(chart: BarChart): Drawing {
  const { bars, layers, text = formatShort } = chart;
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
  const isNamed = chart.isNamed ?? ((i: number): boolean => i % every === 0);
  const names = bars.flatMap((_, i) => (isNamed(i) ? [i] : []));
  const x = { at: (i: number) => left + (i + 0.5) * step, ticks: names };
  const xAxis = { name: chart.x, text: (i: number) => bars[i]?.name ?? "" };
  const axes = axesSvg(x, y, xAxis, { name: chart.y, text });
  // Drawn again, over the outlines of bars.
  const base = `<line class="axis" x1="${left}" x2="${right}" y1="${Y_RANGE[0]}" y2="${Y_RANGE[0]}"/>`;
  return { legend: blockLegend(layers), marks: axes + marks.join("") + base };
}

function blockLegend(layers: readonly Layer[]): LegendItem[] {
  return layers.map(({ name, color }, i) => ({ name, color: color ?? i, style: "block" }));
}

/** Fractions per bar; their sum is at most 1. */
type RowChart = Pick<BarChart, "layers" | "bars">;

const ROW_HEIGHT = 52;
const BAR_HEIGHT = 18;
const FOOT_HEIGHT = 30;
const [, RIGHT] = X_RANGE;
/** Names are above the bars, so no left margin is needed. */
const ROW_LEFT = 2;

/** Draws horizontal stacked bars, each with its full name: host names are long. */
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
  return { legend: blockLegend(layers), marks, height: bottom + FOOT_HEIGHT };
}
