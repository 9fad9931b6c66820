import { formatCount, formatShort, lowerCase } from "../../format.ts";
import { escapeHtml } from "../html.ts";
import { CHART, type Drawing, type LegendItem, px } from "./drawing.ts";

export interface HeatMap {
  readonly corner: string;
  readonly columnName: string;
  readonly columns: readonly string[];
  /** How a column is named above it, where its whole name has no room. */
  readonly columnText?: ((name: string) => string) | undefined;
  /** Null where a number cannot be known. */
  readonly rows: readonly { readonly name: string; readonly cells: readonly (number | null)[] }[];
  /** Whether cells have room for their numbers. */
  readonly showsNumbers: boolean;
}

const LEFT = 92;
const TOP = 50;
const LEVELS = 9;
/** From this level on, text on a cell takes the other colour. */
const STRONG = 6;

/** How strong a count is drawn, from 1 to 9, by orders of magnitude; 0 for none. */
function heatLevel(count: number | null, most: number): number {
  if (count === null || count === 0) return 0;
  return Math.max(1, Math.round((Math.log10(count + 1) / Math.log10(most + 1)) * LEVELS));
}

/** Draws numbers by two things; the more a cell holds, the stronger its colour. */
export function heatMap(map: HeatMap): Drawing {
  const { corner, columnName, columns, rows, showsNumbers, columnText = (name) => name } = map;
  const rowHeight = rows.length > 16 ? 22 : 28;
  const height = TOP + rows.length * rowHeight + 8;
  const width = (CHART.width - LEFT - 2) / columns.length;
  const most = Math.max(1, ...rows.flatMap(({ cells }) => cells.map(Number)));
  const marks = rows.flatMap(({ name, cells }, i) =>
    cells.map((cell, j) => {
      const [x, y] = [LEFT + j * width, TOP + i * rowHeight];
      const level = heatLevel(cell, most);
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
  return { legend: heatScale(most), marks: content, height };
}

/** Which colour stands for how many: none, then the least number of each strength that is used. */
function heatScale(most: number): LegendItem[] {
  const starts = new Map<number, number>([[0, 0]]);
  for (let level = 1; level <= LEVELS; level++) {
    const from = Math.max(1, Math.ceil((most + 1) ** ((level - 0.5) / LEVELS) - 1));
    if (from <= most) starts.set(heatLevel(from, most), from);
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
