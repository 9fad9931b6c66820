import { formatCount, formatShort, lowerCase } from "../../format.ts";
import { escapeHtml } from "../html.ts";
import { CHART, type Drawing, type LegendItem, px } from "./drawing.ts";

export interface HeatMap {
  readonly corner: string;
  readonly columnName: string;
  readonly columns: readonly string[];
  /** The column heading, if the full name does not fit. */
  readonly columnText?: ((name: string) => string) | undefined;
  /** Null for unknown numbers. */
  readonly rows: readonly { readonly name: string; readonly cells: readonly (number | null)[] }[];
  /** Whether numbers fit into the cells. */
  readonly showsNumbers: boolean;
}

const LEFT = 92;
const TOP = 50;
const LEVELS = 9;
/** From this level on, the text on a cell is inverted. */
const STRONG = 6;

/** The colour level of a count, from 1 to 9 on a log scale; 0 for none. */
function heatLevel(count: number | null, max: number): number {
  if (count === null || count === 0) return 0;
  return Math.max(1, Math.round((Math.log10(count + 1) / Math.log10(max + 1)) * LEVELS));
}

/** Draws a matrix of numbers; larger numbers have stronger colours. */
export function heatMap(map: HeatMap): Drawing {
  const { corner, columnName, columns, rows, showsNumbers, columnText = (name) => name } = map;
  const rowHeight = rows.length > 16 ? 22 : 28;
  const height = TOP + rows.length * rowHeight + 8;
  const width = (CHART.width - LEFT - 2) / columns.length;
  const max = Math.max(1, ...rows.flatMap(({ cells }) => cells.map(Number)));
  const marks = rows.flatMap(({ name, cells }, i) =>
    cells.map((cell, j) => {
      const [x, y] = [LEFT + j * width, TOP + i * rowHeight];
      const level = heatLevel(cell, max);
      const what = cell === null ? "not known" : formatCount(Math.round(cell));
      const tip = `${name} × ${columns[j]}: ${what}`;
      const number = showsNumbers
        ? `<text class="cell${level >= STRONG ? " strong" : ""}" x="${px(x + width / 2)}" y="${px(y + rowHeight / 2)}" dy="0.34em" text-anchor="middle">${cell === null ? "N/A" : cell === 0 ? "·" : formatShort(cell)}</text>`
        : "";
      return `<rect class="heat h${level}" x="${px(x + 1)}" y="${px(y + 1)}" width="${px(width - 2)}" height="${rowHeight - 2}" rx="2" data-tip="${escapeHtml(tip)}"/>${number}`;
    }),
  );
  const rowNames = rows.map(
    ({ name }, i) =>
      `<text class="tick" x="${LEFT - 7}" y="${px(TOP + (i + 0.5) * rowHeight)}" dy="0.32em" text-anchor="end">${escapeHtml(name)}</text>`,
  );
  const columnNames = columns.map(
    (name, j) =>
      `<text class="tick" x="${px(LEFT + (j + 0.5) * width)}" y="${TOP - 8}" text-anchor="middle">${escapeHtml(columnText(name))}</text>`,
  );
  const names = `<text class="name" x="${px((LEFT + CHART.width) / 2)}" y="18" text-anchor="middle">${escapeHtml(columnName)}</text><text class="name" x="4" y="${TOP - 8}">${escapeHtml(lowerCase(corner))}</text>`;
  const content = [names, ...columnNames, ...rowNames, ...marks].join("");
  return { legend: heatScale(max), marks: content, height };
}

/** The legend: zero, then the smallest number of each level in use. */
function heatScale(max: number): LegendItem[] {
  const starts = new Map<number, number>([[0, 0]]);
  for (let level = 1; level <= LEVELS; level++) {
    const from = Math.max(1, Math.ceil((max + 1) ** ((level - 0.5) / LEVELS) - 1));
    if (from <= max) starts.set(heatLevel(from, max), from);
  }
  const shown = [...starts].filter(
    ([level], i, all) => all.length <= 6 || level === 0 || (all.length - 1 - i) % 2 === 0,
  );
  return shown.map(([heat, from]) => ({
    name: from === 0 ? "none" : `from ${formatShort(from)}`,
    color: { heat },
    style: "block",
  }));
}
