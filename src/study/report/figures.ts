import type { Drawing } from "../../page/chart/drawing.ts";
import { type HeatMap, heatMap } from "../../page/chart/heat-map.ts";
import { lineChart } from "../../page/chart/line-chart.ts";
import { column, type Table } from "./report.ts";

export interface FigureTexts {
  readonly id: string;
  readonly title: string;
  readonly caption: string;
}

/** A table as lines: a terminal does not show it, unless it has the numbers of no other one. */
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

/** A row of a table of numbers by two things; null where a number cannot be known. */
export interface GridRow {
  readonly name: string;
  readonly cells: readonly (number | null)[];
}

/** A table of counts by two things, such as years and months. */
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

/** A grid as a heat map: the more a cell holds, the stronger its colour, by orders of magnitude. */
export function heatFigure({ id, title, caption, ...map }: HeatMap & FigureTexts): Table<GridRow> {
  const { corner, columns, rows } = map;
  const draw = (): Drawing => heatMap(map);
  return { ...gridTable({ id, title, corner, columns, rows }), figure: { caption, draw } };
}
