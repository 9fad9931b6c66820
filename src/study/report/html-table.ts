import { escapeHtml } from "./html.ts";

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
