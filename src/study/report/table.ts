import { escapeHtml } from "./html.ts";
import { decimalNumber, percent, wholeNumber } from "./number-format.ts";

/** A cell: text, or a number with the text that shows it. */
export type TableCell = string | { readonly value: number; readonly text: string };

export interface TableColumn {
  readonly name: string;
  /** Numbers are set to the right and sort as numbers. */
  readonly isNumber?: boolean | undefined;
  /** What the column means, for those who do not know the term. */
  readonly help?: string | undefined;
}

export interface HtmlTable {
  readonly id: string;
  readonly caption: string;
  readonly columns: readonly TableColumn[];
  readonly rows: readonly (readonly TableCell[])[];
  /** The last rows are sums, and stay below when the others are sorted. */
  readonly footerRows?: number | undefined;
}

/** A table that the page's script makes sortable and copyable. */
export function htmlTable({ id, caption, columns, rows, footerRows = 0 }: HtmlTable): string {
  const head = columns.map(
    ({ name, isNumber, help }) =>
      `<th scope="col"${isNumber === true ? ' class="n"' : ""}${help === undefined ? "" : ` title="${escapeHtml(help)}"`}>${escapeHtml(name)}</th>`,
  );
  const bodyRows = rows.slice(0, rows.length - footerRows).map((row) => rowHtml(row, columns));
  const footer = rows.slice(rows.length - footerRows).map((row) => rowHtml(row, columns));
  const foot = footer.length === 0 ? "" : `<tfoot>${footer.join("")}</tfoot>`;
  return `<div class="table" id="${id}"><table><caption>${escapeHtml(caption)}</caption><thead><tr>${head.join("")}</tr></thead><tbody>${bodyRows.join("")}</tbody>${foot}</table></div>`;
}

function rowHtml(cells: readonly TableCell[], columns: readonly TableColumn[]): string {
  const html = cells.map((cell, i) => {
    if (typeof cell !== "string") return `<td class="n" data-v="${cell.value}">${cell.text}</td>`;
    if (i === 0) return `<th scope="row">${escapeHtml(cell)}</th>`;
    // What is missing among numbers stands where they stand.
    return `<td${columns[i]?.isNumber === true ? ' class="n"' : ""}>${escapeHtml(cell)}</td>`;
  });
  return `<tr>${html.join("")}</tr>`;
}

/** A column of numbers. */
export function numbers(name: string, help?: string): TableColumn {
  return { name, isNumber: true, help };
}

/** A column of text. */
export function texts(name: string, help?: string): TableColumn {
  return { name, help };
}

/** A count as a cell. */
export function whole(value: number): TableCell {
  return { value, text: wholeNumber(value) };
}

/** A number with decimals as a cell. */
export function decimal(value: number, decimals: number = 2): TableCell {
  return { value, text: decimalNumber(value, decimals) };
}

/** A share as a cell, in percents. */
export function share(value: number, decimals: number = 2): TableCell {
  return { value, text: percent(value, decimals) };
}

/** A table for a terminal. The first column is text, all others are numbers; names may be empty. */
export interface TextTable {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** What every terminal shows without breaking lines. */
export const TEXT_WIDTH = 80;
const GAP = 2;
const MIN_TEXT = 8;

/**
 * Lays out a table in at most 80 columns; texts of the first column that are too long lose their
 * middle.
 *
 * @returns lines, without their ends.
 */
export function textTableLines({ title, columns, rows }: TextTable): string[] {
  const widths = columns.map((column, i) =>
    Math.max(column.length, ...rows.map((row) => (row[i] ?? "").length)),
  );
  const numbers = widths.slice(1).reduce((sum, width) => sum + width + GAP, 0);
  const room = Math.max(MIN_TEXT, TEXT_WIDTH - numbers);
  const first = Math.min(widths[0] ?? 0, room);
  const line = (cells: readonly string[]): string => {
    const [text = "", ...rest] = cells;
    const tail = rest.map((cell, i) => cell.padStart((widths[i + 1] ?? 0) + GAP)).join("");
    return `${shortened(text, first).padEnd(first)}${tail}`.trimEnd();
  };
  const rule = "-".repeat(Math.min(TEXT_WIDTH, first + numbers));
  const header = columns.some((column) => column !== "") ? [line(columns)] : [];
  return [shortened(title, TEXT_WIDTH), rule, ...header, ...rows.map((row) => line(row))];
}

/** A text in lines of at most so many characters, broken at blanks. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** Cuts the middle out of a text: `com,example)/very…long.gif`. */
export function shortened(text: string, length: number): string {
  const shown = text.replaceAll(/\p{Cc}/gu, "?");
  if (shown.length <= length) return shown;
  const head = Math.ceil((length - 1) / 2);
  return `${shown.slice(0, head)}…${shown.slice(shown.length - (length - 1 - head))}`;
}
