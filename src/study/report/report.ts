import { formatCount, formatDecimal, formatPercent } from "../../format.ts";
import type { Drawing } from "../../page/chart/drawing.ts";

/** A report as data: text, HTML, CSV, LaTeX, SVG and JSON are rendered from it. */
export interface Report {
  /** The command; files of the report are named by it. */
  readonly name: string;
  readonly title: string;
  readonly lead: string;
  /** The numbers to see first. */
  readonly facts: readonly Fact[];
  readonly sections: readonly Section[];
  /** What `--json` writes: one object, or one for each line. */
  readonly data: object | readonly object[];
}

export interface Section {
  readonly id: string;
  readonly title: string;
  /** One or two sentences on what the section shows. */
  readonly text: string;
  /** A list within the list stands side by side where there is room. */
  readonly blocks: readonly (Block | readonly Block[])[];
}

// oxlint-disable-next-line typescript/no-explicit-any -- each table has rows of its own type
export type Block = Table<any> | Notes;

/** Sentences below what they are about. */
interface Notes {
  readonly notes: readonly string[];
}

export type Value = string | number | null;

/** What a value is. A share is a fraction, and shown in percents; a ratio is shown as it is. */
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
  /** What the column means, for readers who do not know the term. */
  readonly help?: string | undefined;
  readonly value: (row: Row) => Value;
  /** Where each row has a format of its own. */
  readonly formatOf?: ((row: Row) => Format) | undefined;
}

export interface Table<Row> {
  readonly id: string;
  readonly title: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** Sums, which stay below when rows are sorted. */
  readonly totals?: readonly Row[] | undefined;
  /** The rows as a drawing, with what a reader should see in it; the table is then folded away below it. */
  readonly figure?: { readonly caption: string; readonly draw: () => Drawing } | undefined;
  /** True for tables that a terminal does not show: they are long, or have the numbers of another. */
  readonly isLong?: boolean | undefined;
}

/** @param more what the column means, or how many digits it shows, or both */
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

/** How a column is headed where its values are shown to people. */
export function headingOf({ name, unit }: Column<never>): string {
  return unit === "share" ? `${name} %` : name;
}

/** A cell of a table, for people. */
export function cellText<Row>(row: Row, { value, formatOf, ...format }: Column<Row>): string {
  return formatOf === undefined
    ? valueText(value(row), format)
    : factText({ ...formatOf(row), value: value(row) });
}

/** A fact, for people: with its unit, which a table has in its heading. */
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

/** Never rounded up to 1: what is lost must be seen. */
function ratioText(value: number, digits: number): string {
  const text = value.toFixed(digits);
  return value < 1 && Number(text) === 1 ? `0.${"9".repeat(digits)}` : text;
}
