import { linearScale, X_RANGE } from "./axis.ts";
import type { BarChart } from "./bar-chart.ts";
import { CHART, px, svgDrawing } from "./chart.ts";
import { escapeHtml } from "./html.ts";
import { emptyMessage, legendHtml } from "./line-chart.ts";
import { shortPercent } from "./number-format.ts";

/** Shares of several things, each of which adds up to 1 at most. */
export type RowChart = Omit<BarChart, "x" | "y" | "text">;

const ROW_HEIGHT = 52;
const BAR_HEIGHT = 18;
const FOOT_HEIGHT = 30;
const [, RIGHT] = X_RANGE;
/** Names stand above their bars, so bars need no room to their left. */
const LEFT = CHART.right;

/** Draws stacked shares below one another, each with its whole name: names of hosts are long. */
export function rowChart({ title, description, bars, layers }: RowChart): string {
  if (bars.length === 0) return svgDrawing(emptyMessage(), { title, description });
  const x = linearScale([0, 1], [LEFT, RIGHT]);
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
    return `<text class="name" x="${LEFT}" y="${top + 18}">${escapeHtml(name)}</text>${rects.join("")}`;
  });
  const legend = legendHtml(
    layers.map(({ name, color }, i) => ({ name, points: [], color: color ?? i })),
  );
  const height = bottom + FOOT_HEIGHT;
  return `${legend}${svgDrawing(grid.join("") + rows.join(""), { title, description, height })}`;
}
