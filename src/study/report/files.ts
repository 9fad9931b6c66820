import { svgFile } from "../../page/chart/svg-file.ts";
import {
  cellText,
  type Column,
  headingOf,
  type Report,
  type Table,
  tablesOf,
  type Value,
} from "./report.ts";

/** The tables of a report as CSV files, by name. */
export function csvFiles(report: Report): Map<string, string> {
  return new Map(tablesOf(report).map((table) => [`${table.id}.csv`, csv(table)]));
}

/** The tables of a report as LaTeX files, by name. */
export function latexFiles(report: Report): Map<string, string> {
  return new Map(tablesOf(report).map((table) => [`${table.id}.tex`, latex(table)]));
}

/** The charts of a report as SVG files, by name. */
export function svgFiles(report: Report): Map<string, string> {
  return new Map(
    tablesOf(report).flatMap(({ id, title, figure }) =>
      figure === undefined ? [] : [[`${id}.svg`, svgFile(figure.draw(), title)]],
    ),
  );
}

/**
 * A table as in RFC 4180: values with all digits, shares as fractions, empty fields for unknown
 * values.
 */
export function csv<Row>({ columns, rows, totals = [] }: Table<Row>): string {
  const lines = [...rows, ...totals].map((row) => columns.map(({ value }) => value(row)));
  return [columns.map(({ name }) => name), ...lines]
    .map((cells) => `${cells.map((cell) => csvField(cell)).join(",")}\r\n`)
    .join("");
}

/** Text that a spreadsheet would treat as a formula is prefixed with an apostrophe. */
function csvField(value: Value): string {
  if (typeof value !== "string") return value === null ? "" : String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A table for LaTeX, with the rules of the package booktabs. */
function latex<Row>({ id, title, columns, rows, totals = [] }: Table<Row>): string {
  const line = (cells: readonly string[]): string => `${cells.map(escaped).join(" & ")} \\\\`;
  const lines = (list: readonly Row[]): string[] =>
    list.map((row) => line(columns.map((column) => cellText(row, column))));
  const align = ({ unit }: Column<Row>): string => (unit === "text" ? "l" : "r");
  return [
    String.raw`\begin{table}`,
    String.raw`\caption{${escaped(title)}}\label{tab:${id}}`,
    String.raw`\begin{tabular}{${columns.map(align).join("")}}`,
    String.raw`\toprule`,
    line(columns.map(headingOf)),
    String.raw`\midrule`,
    ...lines(rows),
    ...(totals.length === 0 ? [] : [String.raw`\midrule`, ...lines(totals)]),
    String.raw`\bottomrule`,
    String.raw`\end{tabular}`,
    String.raw`\end{table}`,
    "",
  ].join("\n");
}

const LATEX_NAMES: Readonly<Record<string, string>> = {
  "\\": String.raw`\textbackslash{}`,
  "~": String.raw`\textasciitilde{}`,
  "^": String.raw`\textasciicircum{}`,
  γ: String.raw`$\gamma$`,
  β: String.raw`$\beta$`,
  "²": String.raw`$^2$`,
};

function escaped(text: string): string {
  return text.replaceAll(/[&%$#_{}]|[\\~^γβ²]/g, (sign) => LATEX_NAMES[sign] ?? `\\${sign}`);
}
