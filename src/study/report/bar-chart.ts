import type { TickText } from "./axis.ts";
import { axesSvg, countScale, X_RANGE, Y_RANGE } from "./axis.ts";
import { px, svgDrawing } from "./chart.ts";
import { escapeHtml } from "./html.ts";
import { emptyMessage, legendHtml } from "./line-chart.ts";
import { shortNumber } from "./number-format.ts";

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
