/** A Markdown table with columns wide enough to be read as text; text to the left, figures to the right. */
export function markdownTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const widths = head.map((_, column) =>
    Math.max(3, ...[head, ...rows].map((cells) => cells[column].length)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join(" | ")} |`;
  const rule = widths.map((width, i) =>
    i === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`,
  );
  return [line(head), line(rule), ...rows.map(line)].join("\n");
}

/** `12.3 s`. */
export function seconds(value: number | undefined): string {
  return value === undefined ? "?" : `${value.toFixed(2)} s`;
}

/** `123 MB`, of a million bytes each. */
export function megabytes(value: number | undefined): string {
  return value === undefined ? "?" : `${Math.round(value / 1e6)} MB`;
}
