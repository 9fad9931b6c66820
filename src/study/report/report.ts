import { formatCount, formatDecimal, formatPercent } from "../../format.ts";
import type { Drawing } from "../../page/chart/drawing.ts";

/** A report as data: text, HTML, CSV, LaTeX, SVG and JSON are rendered from it. */
export interface Report {
  /** The command, which names the files of the report. */
  readonly name: string;
  readonly title: string;
  readonly lead: string;
  /** The key figures. */
  readonly facts: readonly Fact[];
  readonly sections: readonly Section[];
  /** The output of `--json`: one object, or one per line. */
  readonly data: object | readonly object[];
}

export interface Section {
  readonly id: string;
  readonly title: string;
  /** A description of the section, in one or two sentences. */
  readonly text: string;
  /** Blocks of a nested list are placed side by side if there is room. */
  readonly blocks: readonly (Block | readonly Block[])[];
}

// oxlint-disable-next-line typescript/no-explicit-any -- each table has rows of its own type
export type Block = Table<any> | Notes;

/** Remarks on the block above. */
interface Notes {
  readonly notes: readonly string[];
}

export type Value = string | number | null;

/** The format of a value. A share is a fraction shown as a percentage; a ratio is shown unchanged. */
export interface Format {
  readonly unit: "text" | "count" | "share" | "ratio" | "number";
  readonly digits?: number | undefined;
}

export interface Fact extends Format {
  readonly name: string;
  readonly value: Value;
  readonly remark?: string | undefined;
}

export interface Column<Row> extends Format {
  readonly name: string;
  /** An explanation of the column. */
  readonly help?: string | undefined;
  readonly value: (row: Row) => Value;
  /** The format per row, if rows differ. */
  readonly formatOf?: ((row: Row) => Format) | undefined;
}

export interface Table<Row> {
  readonly id: string;
  readonly title: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** Sums, which stay at the bottom when rows are sorted. */
  readonly totals?: readonly Row[] | undefined;
  /** The rows as a chart with a caption; the table is then collapsed below it. */
  readonly figure?: { readonly caption: string; readonly draw: () => Drawing } | undefined;
  /** True for tables omitted on a terminal, because they are long or repeat other numbers. */
  readonly isLong?: boolean | undefined;
}

/** @param more an explanation of the column, its number of digits, or both */
type MakeColumn = <Row>(
  name: string,
  value: Column<Row>["value"],
  more?: string | number | Pick<Column<Row>, "help" | "digits">,
) => Column<Row>;

function columnOf(unit: Format["unit"]): MakeColumn {
  return (name, value, more = {}) => {
    const rest =
      typeof more === "string"
        ? { help: more }
        : typeof more === "number"
          ? { digits: more }
          : more;
    return { name, unit, value, ...rest };
  };
}

export const column: Readonly<Record<Format["unit"], MakeColumn>> = {
  text: columnOf("text"),
  count: columnOf("count"),
  share: columnOf("share"),
  ratio: columnOf("ratio"),
  number: columnOf("number"),
};

export function fact(
  unit: Format["unit"],
  name: string,
  value: Value,
  more?: Pick<Fact, "digits" | "remark">,
): Fact {
  return { name, unit, value, ...more };
}

export function table<Row>(
  id: string,
  title: string,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
): Table<Row> {
  return { id, title, columns, rows };
}

/** Facts as a table of names and values. */
export function factTable(id: string, title: string, facts: readonly Fact[]): Table<Fact> {
  return table(id, title, facts, [
    column.text("Attribute", ({ name }) => name),
    { name: "Value", unit: "number", value: ({ value }) => value, formatOf: (fact) => fact },
  ]);
}

export function isTable(block: Block): block is Table<unknown> {
  return "columns" in block;
}

/** All tables of a report that have rows, those below drawings included. */
export function tablesOf({ sections }: Report): Table<unknown>[] {
  const blocks = sections.flatMap((section) => section.blocks.flat());
  return blocks.filter(isTable).filter(({ rows }) => rows.length > 0);
}

/** The heading of a column, with its unit. */
export function headingOf({ name, unit }: Column<never>): string {
  return unit === "share" ? `${name} %` : name;
}

/** The formatted text of a cell. */
export function cellText<Row>(row: Row, { value, formatOf, ...format }: Column<Row>): string {
  return formatOf === undefined
    ? valueText(value(row), format)
    : factText({ ...formatOf(row), value: value(row) });
}

/** The formatted text of a fact, with its unit, which a table has in its heading. */
export function factText({ value, ...format }: Format & { readonly value: Value }): string {
  const text = valueText(value, format);
  return format.unit === "share" && typeof value === "number" ? `${text} %` : text;
}

function valueText(value: Value, { unit, digits }: Format): string {
  if (value === null) return "-";
  if (typeof value === "string") return value;
  if (unit === "share") return formatPercent(value, digits);
  if (unit === "number") return formatDecimal(value, digits ?? 2);
  return unit === "ratio" ? ratioText(value, digits ?? 4) : formatCount(value);
}

/** Never rounded up to 1, to keep small losses visible. */
function ratioText(value: number, digits: number): string {
  const text = value.toFixed(digits);
  return value < 1 && Number(text) === 1 ? `0.${"9".repeat(digits)}` : text;
}
