/** A table for a terminal. The first column is text, all others are numbers; names may be empty. */
export interface TextTable {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** What every terminal shows without breaking lines. */
export const TEXT_WIDTH = 80;
const GAP = 2;
const MIN_TEXT = 8;

/**
 * Lays out a table in at most 80 columns; texts of the first column that are too long lose their
 * middle.
 *
 * @returns lines, without their ends.
 */
export function textTableLines({ title, columns, rows }: TextTable): string[] {
  const widths = columns.map((column, i) =>
    Math.max(column.length, ...rows.map((row) => (row[i] ?? "").length)),
  );
  const numbers = widths.slice(1).reduce((sum, width) => sum + width + GAP, 0);
  const room = Math.max(MIN_TEXT, TEXT_WIDTH - numbers);
  const first = Math.min(widths[0] ?? 0, room);
  const line = (cells: readonly string[]): string => {
    const [text = "", ...rest] = cells;
    const tail = rest.map((cell, i) => cell.padStart((widths[i + 1] ?? 0) + GAP)).join("");
    return `${shortened(text, first).padEnd(first)}${tail}`.trimEnd();
  };
  const rule = "-".repeat(Math.min(TEXT_WIDTH, first + numbers));
  const header = columns.some((column) => column !== "") ? [line(columns)] : [];
  return [shortened(title, TEXT_WIDTH), rule, ...header, ...rows.map((row) => line(row))];
}

/** A text in lines of at most so many characters, broken at blanks. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** Cuts the middle out of a text: `com,example)/very…long.gif`. */
export function shortened(text: string, length: number): string {
  const shown = text.replaceAll(/\p{Cc}/gu, "?");
  if (shown.length <= length) return shown;
  const head = Math.ceil((length - 1) / 2);
  return `${shown.slice(0, head)}…${shown.slice(shown.length - (length - 1 - head))}`;
}
