import { escapeHtml } from "../../page/html.ts";
import {
  decimalNumber,
  lowerCase,
  percent,
  shortened,
  TEXT_WIDTH,
  wholeNumber,
} from "../../page/text-format.ts";

/** A cell: text, or a number with the text that shows it. */
export type Cell = string | { readonly value: number; readonly text: string };

/** One of the columns of a {@link Table}: its heading, and its cell of a row. */
export interface Column<Row> extends ColumnOptions {
  readonly name: string;
  /** Numbers are aligned right and sort as numbers. */
  readonly isNumber: boolean;
  readonly cell: (row: Row) => Cell;
}

interface ColumnOptions {
  /** What the column means, for readers who do not know the term. */
  readonly help?: string | undefined;
  /** The heading in a terminal: `name` in lower case by default; null leaves the column out. */
  readonly short?: string | null | undefined;
  /** False leaves the column out everywhere. */
  readonly isShown?: boolean | undefined;
}

/** A table of a report; HTML and text are drawn from it. */
export interface Table<Row> {
  readonly id: string;
  readonly title: string;
  /** The title in a terminal, where it differs. */
  readonly textTitle?: string | undefined;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** Sums, which stay below when rows are sorted. */
  readonly footer?: readonly Row[] | undefined;
}

export function texts<Row>(
  name: string,
  cell: (row: Row) => string,
  options?: ColumnOptions,
): Column<Row> {
  return { name, isNumber: false, cell, ...options };
}

export function numbers<Row>(
  name: string,
  cell: (row: Row) => Cell,
  options?: ColumnOptions,
): Column<Row> {
  return { name, isNumber: true, cell, ...options };
}

type Value = number | null | undefined;

/** A count as a cell; `-` for none. */
export function whole(value: Value): Cell {
  return cellOf(value, wholeNumber);
}

/** A number with decimals as a cell; `-` for none. */
export function decimal(value: Value, decimals: number = 2): Cell {
  return cellOf(value, (number) => decimalNumber(number, decimals));
}

/** A median as a cell: with a decimal only where it lies between two whole numbers. */
export function median(value: number): Cell {
  return decimal(value, Number.isInteger(value) ? 0 : 1);
}

/** A share as a cell, in percents; `-` for none. */
export function share(value: Value, decimals: number = 2): Cell {
  return cellOf(value, (number) => percent(number, decimals));
}

function cellOf(value: Value, show: (value: number) => string): Cell {
  return value === null || value === undefined ? "-" : { value, text: show(value) };
}

/** The columns of a table of names and how many there are of each. */
export function countColumns(
  name: string,
  count: string,
): Column<readonly [name: string | number, count: number]>[] {
  return [texts(name, ([text]) => String(text)), numbers(count, ([, value]) => whole(value))];
}

/** A row of a table of numbers by two things; null where a number cannot be known. */
export interface GridRow {
  readonly name: string;
  readonly cells: readonly (number | null)[];
}

/** A table of numbers by two things, such as years and months. */
export function gridTable({
  corner,
  columns,
  show = wholeNumber,
  ...table
}: Omit<Table<GridRow>, "columns"> & {
  readonly corner: string;
  readonly columns: readonly string[];
  readonly show?: ((value: number) => string) | undefined;
}): Table<GridRow> {
  const cell = (value: number | null): Cell =>
    value === null ? "N/A" : { value, text: show(value) };
  return {
    ...table,
    columns: [
      texts(corner, ({ name }) => name),
      ...columns.map((name, i) =>
        numbers<GridRow>(name, ({ cells }) => cell(cells[i]), { short: name }),
      ),
    ],
  };
}

/** The table as HTML, which the page's script makes sortable and copyable. */
export function htmlTable<Row>({ id, title, columns, rows, footer = [] }: Table<Row>): string {
  const shown = columns.filter(({ isShown }) => isShown !== false);
  const head = shown.map(
    ({ name, isNumber, help }) =>
      `<th scope="col"${isNumber ? ' class="n"' : ""}${help === undefined ? "" : ` title="${escapeHtml(help)}"`}>${escapeHtml(name)}</th>`,
  );
  const line = (row: Row): string =>
    `<tr>${shown.map((column, i) => cellHtml(column.cell(row), column, i === 0)).join("")}</tr>`;
  const foot = footer.length === 0 ? "" : `<tfoot>${footer.map(line).join("")}</tfoot>`;
  return `<div class="table" id="${id}"><table><caption>${escapeHtml(title)}</caption><thead><tr>${head.join("")}</tr></thead><tbody>${rows.map(line).join("")}</tbody>${foot}</table></div>`;
}

function cellHtml(
  cell: Cell,
  { isNumber }: { readonly isNumber: boolean },
  isFirst: boolean,
): string {
  if (typeof cell !== "string") return `<td class="n" data-v="${cell.value}">${cell.text}</td>`;
  if (isFirst) return `<th scope="row">${escapeHtml(cell)}</th>`;
  // A missing number is aligned as the others are.
  return `<td${isNumber ? ' class="n"' : ""}>${escapeHtml(cell)}</td>`;
}

const GAP = 2;
const MIN_TEXT = 8;

export type TextTable<Row> = Omit<Table<Row>, "id">;

/**
 * The table as lines, without their ends, of at most 80 columns: texts of the first column that are
 * too long lose their middle, all other columns are aligned right. None for a table without rows.
 */
export function textTable<Row>(table: TextTable<Row>): string[] {
  if (table.rows.length === 0) return [];
  const { headings, rows, widths } = textCells(table);
  const numbersWidth = widths.slice(1).reduce((sum, width) => sum + width + GAP, 0);
  const first = Math.min(widths[0], Math.max(MIN_TEXT, TEXT_WIDTH - numbersWidth));
  const line = ([text, ...rest]: readonly string[]): string => {
    const tail = rest.map((cell, i) => cell.padStart(widths[i + 1] + GAP)).join("");
    return `${shortened(text, first).padEnd(first)}${tail}`.trimEnd();
  };
  const rule = "-".repeat(Math.min(TEXT_WIDTH, first + numbersWidth));
  const head = headings.some((heading) => heading !== "") ? [line(headings)] : [];
  return [shortened(table.textTitle ?? table.title, TEXT_WIDTH), rule, ...head, ...rows.map(line)];
}

/** How wide a table would be as text if nothing were cut. */
export function textWidth<Row>(table: TextTable<Row>): number {
  return textCells(table).widths.reduce((sum, width) => sum + width + GAP, -GAP);
}

function textCells<Row>({ columns, rows, footer = [] }: TextTable<Row>): {
  headings: string[];
  rows: string[][];
  widths: number[];
} {
  const shown = columns.filter(({ isShown, short }) => isShown !== false && short !== null);
  const headings = shown.map(({ name, short }) => short ?? lowerCase(name));
  const cells = [...rows, ...footer].map((row) =>
    shown.map((column) => {
      const cell = column.cell(row);
      return typeof cell === "string" ? cell : cell.text;
    }),
  );
  const widths = headings.map((heading, i) =>
    Math.max(heading.length, ...cells.map((row) => row[i].length)),
  );
  return { headings, rows: cells, widths };
}
