import { shortened, TEXT_WIDTH, wrapped } from "../../format.ts";
import {
  cellText,
  type Column,
  factText,
  headingOf,
  isTable,
  type Report,
  type Table,
} from "./report.ts";

const GAP = 2;
/** Texts are shortened in the middle to at least this many characters before a table is split. */
const MIN_TEXT = 24;

/** A report for a terminal, in at most 80 columns. */
export function reportText({ facts, sections }: Report): string {
  const names = Math.max(0, ...facts.map(({ name }) => name.length));
  const blocks = [
    facts.flatMap((fact) =>
      wrapped(
        `${fact.name.padEnd(names)}  ${factText(fact)}  ${fact.remark ?? ""}`.trimEnd(),
        TEXT_WIDTH,
      ),
    ),
  ];
  for (const block of sections.flatMap((section) => section.blocks.flat())) {
    if (!isTable(block)) blocks.push(block.notes.flatMap((note) => wrapped(note, TEXT_WIDTH)));
    else if (block.isLong !== true) blocks.push(...tableLines(block));
  }
  const shown = blocks.filter((lines) => lines.length > 0);
  return `${shown.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

/** The heading and cells of a column. */
interface Cells {
  readonly cells: readonly string[];
  readonly isText: boolean;
  readonly width: number;
}

/**
 * The lines of a table, without line endings; none for a table without rows. Excess columns are moved to
 * further tables that repeat the first column.
 */
export function tableLines<Row>({ title, columns, rows, totals = [] }: Table<Row>): string[][] {
  if (rows.length === 0) return [];
  const [first, ...rest] = columns.map((column) => cellsOf(column, [...rows, ...totals]));
  const parts: [Cells, ...Cells[]][] = [[first]];
  for (const cells of rest) {
    const last = parts.at(-1) ?? [first];
    if (last.length > 1 && leastWidth([...last, cells]) > TEXT_WIDTH) parts.push([first, cells]);
    else last.push(cells);
  }
  return parts.map((part, i) => partLines(`${title}${i === 0 ? "" : " (continued)"}`, part));
}

function cellsOf<Row>(column: Column<Row>, rows: readonly Row[]): Cells {
  const cells = [headingOf(column), ...rows.map((row) => cellText(row, column))];
  return {
    cells,
    isText: column.unit === "text",
    width: Math.max(...cells.map(({ length }) => length)),
  };
}

function leastWidth(columns: readonly Cells[]): number {
  return totalWidth(
    columns.map(({ isText, width }) => (isText ? Math.min(width, MIN_TEXT) : width)),
  );
}

function totalWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width + GAP, -GAP);
}

function partLines(title: string, columns: readonly Cells[]): string[] {
  const widths = columns.map(({ width }) => width);
  // Shorten the widest texts.
  const texts = [...columns.keys()].filter((i) => columns[i].isText);
  for (let over = totalWidth(widths) - TEXT_WIDTH; over > 0; over--) {
    const most = Math.max(...texts.map((i) => widths[i]));
    if (most <= 1) break;
    widths[texts.find((i) => widths[i] === most) ?? 0]--;
  }
  const line = (row: number): string =>
    columns
      .map(({ cells, isText }, i) =>
        isText
          ? shortened(cells[row], widths[i]).padEnd(widths[i])
          : cells[row].padStart(widths[i]),
      )
      .join(" ".repeat(GAP))
      .trimEnd();
  const lines = columns[0].cells.map((_, row) => line(row));
  const rule = "-".repeat(Math.max(...lines.map(({ length }) => length)));
  return [shortened(title, TEXT_WIDTH), rule, ...lines];
}
