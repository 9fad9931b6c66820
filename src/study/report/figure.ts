import { type Drawing, drawingHtml } from "../../page/chart/drawing.ts";
import { type HeatMap, heatMap } from "../../page/chart/heat-map.ts";
import { escapeHtml } from "../../page/html.ts";
import { type GridRow, htmlTable, type Table } from "./table.ts";

/** A figure of a report: a drawing, what it shows in words, and its numbers as a table. */
interface Figure<Row> extends Table<Row> {
  /** What a reader should see; also the text alternative of the drawing. */
  readonly caption: string;
  readonly drawing: Drawing;
}

/** The figure as HTML, its numbers folded away below it. */
export function figureHtml<Row>({ caption, drawing, ...table }: Figure<Row>): string {
  const { id, title } = table;
  return `<figure id="${id}" class="chart">
<h3>${escapeHtml(title)}</h3>
${drawingHtml(drawing, `${title}. ${caption}`)}
<figcaption>${escapeHtml(caption)}</figcaption>
<details><summary>The numbers</summary>
${htmlTable({ ...table, id: `${id}-numbers` })}
</details>
</figure>`;
}

/** A grid as a figure; the more a cell holds, the stronger its colour, by orders of magnitude. */
export function heatFigure(
  grid: Table<GridRow>,
  map: Omit<HeatMap, "corner" | "columns" | "rows"> & { readonly caption: string },
): string {
  const { caption, ...shown } = map;
  const [corner, ...columns] = grid.columns.map(({ name }) => name);
  const drawing = heatMap({ ...shown, corner, columns, rows: grid.rows });
  return figureHtml({ ...grid, caption, drawing });
}
