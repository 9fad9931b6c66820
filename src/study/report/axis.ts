import { CHART, px } from "./chart.ts";
import { escapeHtml } from "./html.ts";
import { shortNumber } from "./number-format.ts";

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
