import { MementoMapError, quote } from "../../../errors.ts";
import type { DepthChildren } from "./children-fit.ts";

/**
 * Reads a depth table: a header that names the columns, then a row a depth.
 *
 * Columns are separated by tabs, commas with blanks, or runs of blanks. `Depth` is needed (`H3`,
 * `P1`), and either `Parents` and `Children` or `MeanChld`. Thousands separators are allowed.
 *
 * @throws MM_BAD_LINE, MM_BAD_INPUT
 */
export function parseDepthTable(text: string, source: string): DepthChildren[] {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  const names = (lines[0] ?? "")
    .trim()
    .split(/[\s|&]+/)
    .map((name) => name.toLowerCase());
  const column = (name: string): number => names.indexOf(name);
  const [depth, parents, children, mean] = ["depth", "parents", "children", "meanchld"].map(column);
  if (depth === -1 || (mean === -1 && (parents === -1 || children === -1))) {
    throw new MementoMapError(
      "MM_BAD_INPUT",
      `expected a table with columns Depth and MeanChld, or Depth, Parents and Children, not ${quote(lines[0] ?? "")}`,
      { position: { source, line: 1 } },
    );
  }
  return lines.slice(1).map((line, i) => {
    const cells = line
      .trim()
      .split(/[\s|&]+/)
      .map((cell) => cell.replaceAll(",", ""));
    const number = (at: number): number => Number(cells[at] ?? Number.NaN);
    const row =
      mean === -1
        ? { depth: cells[depth], parents: number(parents), children: number(children) }
        : { depth: cells[depth], parents: 1, children: number(mean) };
    if (!/^[HP]\d+\+?$/.test(row.depth) || !(row.parents >= 0) || !(row.children >= 0)) {
      throw new MementoMapError("MM_BAD_LINE", `not a row of a depth table: ${quote(line)}`, {
        position: { source, line: i + 2 },
      });
    }
    return row;
  });
}
