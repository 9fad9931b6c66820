import type { Drawing } from "../../page/chart/drawing.ts";
import { type HeatMap, heatMap } from "../../page/chart/heat-map.ts";
import { lineChart } from "../../page/chart/line-chart.ts";
import { column, type Table } from "./report.ts";

export interface FigureTexts {
  readonly id: string;
  readonly title: string;
  readonly caption: string;
}

/** A table as a line chart; omitted on a terminal, unless its numbers are in no other table. */
export function lineFigure<Row>({
  id,
  title,
  caption,
  columns,
  rows,
  totals,
  isLong = true,
  ...chart
}: FigureTexts & Omit<Table<Row>, "figure"> & Parameters<typeof lineChart>[0]): Table<Row> {
  const draw = (): Drawing => lineChart(chart);
  return { id, title, columns, rows, totals, isLong, figure: { caption, draw } };
}

/** A row of a cross table; null for unknown numbers. */
export interface GridRow {
  readonly name: string;
  readonly cells: readonly (number | null)[];
}

/** A cross table of counts, such as by year and month. */
export function gridTable({
  corner,
  columns,
  ...table
}: Omit<Table<GridRow>, "columns"> & {
  readonly corner: string;
  readonly columns: readonly string[];
}): Table<GridRow> {
  const cells = columns.map((name, i) =>
    column.count<GridRow>(name, ({ cells: values }) => values[i] ?? null),
  );
  return { ...table, columns: [column.text(corner, ({ name }) => name), ...cells] };
}

/** A cross table as a heat map, coloured by order of magnitude. */
export function heatFigure({ id, title, caption, ...map }: HeatMap & FigureTexts): Table<GridRow> {
  const { corner, columns, rows } = map;
  const draw = (): Drawing => heatMap(map);
  return { ...gridTable({ id, title, corner, columns, rows }), figure: { caption, draw } };
}
