import { CHART, px, svgDrawing } from "./chart.ts";
import { escapeHtml } from "./html.ts";
import { shortNumber, wholeNumber } from "./number-format.ts";

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

const LEFT = 100;
const TOP = 46;
const LEVELS = 9;

/** Draws a grid; the more a cell holds, the stronger its colour, by orders of magnitude. */
export function heatMap(map: HeatMap): string {
  const { title, description, rows, columns, cells } = map;
  const rowHeight = rows.length > 16 ? 19 : 26;
  const height = TOP + rows.length * rowHeight + 8;
  const width = (CHART.width - LEFT - CHART.right) / columns.length;
  const values = cells.flat().filter((cell) => cell !== null && cell > 0);
  const max = Math.log10(Math.max(1, ...values.map((value) => Number(value))) + 1);
  const marks = cells.flatMap((row, i) =>
    row.map((cell, j) => {
      const [x, y] = [LEFT + j * width, TOP + i * rowHeight];
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
      `<text class="tick" x="${LEFT - 7}" y="${px(TOP + (i + 0.5) * rowHeight)}" dy="0.32em" text-anchor="end">${escapeHtml(name)}</text>`,
  );
  const columnNames = columns.map(
    (name, j) =>
      `<text class="tick" x="${px(LEFT + (j + 0.5) * width)}" y="${TOP - 8}" text-anchor="middle">${escapeHtml(name)}</text>`,
  );
  const names = `<text class="name" x="${px((LEFT + CHART.width) / 2)}" y="14" text-anchor="middle">${escapeHtml(map.columnName)}</text><text class="name" x="4" y="${TOP - 8}">${escapeHtml(map.rowName)}</text>`;
  const content = [names, ...columnNames, ...rowNames, ...marks].join("");
  return svgDrawing(content, { title, description, height });
}
