/** A Markdown table that can be read as text: `textColumns` go to the left, figures to the right. */
export function markdownTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  textColumns: number = 1,
): string {
  const widths = head.map((_, column) =>
    Math.max(3, ...[head, ...rows].map((cells) => cells[column].length)),
  );
  const aligned = (cell: string, i: number): string =>
    i < textColumns ? cell.padEnd(widths[i]) : cell.padStart(widths[i]);
  const line = (cells: readonly string[]): string => `| ${cells.map(aligned).join(" | ")} |`;
  const rule = widths.map((width, i) =>
    i < textColumns ? "-".repeat(width) : `${"-".repeat(width - 1)}:`,
  );
  return [line(head), line(rule), ...rows.map(line)].join("\n");
}

/** `12.30 s`. */
export function seconds(value: number | undefined): string {
  return value === undefined ? "?" : `${value.toFixed(2)} s`;
}

/** `123 MB`, of a million bytes each. */
export function megabytes(value: number | undefined): string {
  return value === undefined ? "?" : `${Math.round(value / 1e6)} MB`;
}
