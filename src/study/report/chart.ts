import { escapeHtml } from "./html.ts";
import type { TableCell, TableColumn } from "./html-table.ts";
import { htmlTable } from "./html-table.ts";

/** A figure of the report: a drawing, what it shows in words, and its numbers as a table. */
export interface Figure {
  readonly id: string;
  readonly title: string;
  /** What a reader should see; also the text alternative of the drawing. */
  readonly caption: string;
  readonly svg: string;
  readonly columns: readonly TableColumn[];
  readonly rows: readonly (readonly TableCell[])[];
}

/** The figure as HTML, its numbers folded away below it. */
export function figureHtml({ id, title, caption, svg, columns, rows }: Figure): string {
  return `<figure id="${id}" class="chart">
<h3>${escapeHtml(title)}</h3>
${svg}
<figcaption>${escapeHtml(caption)}</figcaption>
<details><summary>The numbers</summary>
${htmlTable({ id: `${id}-numbers`, caption: title, columns, rows })}
</details>
</figure>`;
}

/** The size of all drawings; they scale to their container. */
export const CHART = { width: 640, height: 340, left: 78, right: 16, top: 14, bottom: 48 } as const;

/** Wraps marks into an SVG with a name and a description. */
export function svgDrawing(
  content: string,
  { title, description, height }: { title: string; description: string; height?: number },
): string {
  const size = height ?? CHART.height;
  return `<svg viewBox="0 0 ${CHART.width} ${size}" role="img" aria-label="${escapeHtml(`${title}. ${description}`)}" preserveAspectRatio="xMidYMid meet">${content}</svg>`;
}

/** A number for an SVG attribute: two decimals are a hundredth of a pixel. */
export function px(value: number): string {
  return String(Math.round(value * 100) / 100);
}
