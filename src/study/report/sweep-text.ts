import type { Evaluation, TruthSummary } from "../evaluate/evaluation.ts";
import { legend } from "./evaluation-text.ts";
import { percent, shortNumber, wholeNumber } from "./number-format.ts";
import type { TextTable } from "./text-table.ts";
import { TEXT_WIDTH, textTableLines } from "./text-table.ts";

const COLUMNS = ["map", "input", "lines", "size", "gzip", "rollups", "sec", "cost %", "keys"];

/**
 * The paper's table of compaction, 36 maps made one of the other below their base, in at most 80
 * columns. Counts are exact where there is room for them.
 */
export function sweepText(
  base: Evaluation,
  evaluations: readonly Evaluation[],
  truth: TruthSummary,
): string {
  const exact = sweepTable(base, evaluations, wholeNumber);
  const isWide = textTableWidth(exact) > TEXT_WIDTH;
  const table = isWide ? sweepTable(base, evaluations, shortNumber) : exact;
  const remarks = [
    "map, input: weights of hosts and paths, as Wh/Wp; each map is made of its input",
    ...legend(evaluations, truth),
  ];
  return `${textTableLines(table).join("\n")}\n\n${remarks.join("\n")}\n`;
}

function sweepTable(
  base: Evaluation,
  evaluations: readonly Evaluation[],
  count: (value: number) => string,
): TextTable {
  const hasUris = base.uris !== null;
  const rows = [base, ...evaluations].map((row) => [
    row.made === undefined ? "base" : weights(row.made),
    row.made === undefined ? "-" : inputName(row.made.input),
    count(row.lines ?? 0),
    count(row.bytes),
    count(row.gzipBytes),
    row.made === undefined ? "-" : count(row.made.rollUps),
    row.made === undefined ? "-" : secondsText(row.made.seconds),
    percent(row.relativeCost ?? 0),
    accuracyText(row.keyAccuracy),
    ...(hasUris ? [accuracyText(row.uriAccuracy)] : []),
  ]);
  return {
    title: "Maps by weights, each made of its input (size and gzip in bytes)",
    columns: hasUris ? [...COLUMNS, "URIs"] : COLUMNS,
    rows,
  };
}

/** How wide a table would be if nothing of it were cut. */
function textTableWidth({ columns, rows }: TextTable): number {
  const widths = columns.map((column, i) =>
    Math.max(column.length, ...rows.map((row) => row[i].length)),
  );
  return widths.reduce((sum, width) => sum + width + 2, -2);
}

function weights({ hostWeight, pathWeight }: { hostWeight: number; pathWeight: number }): string {
  return `${hostWeight}/${pathWeight}`;
}

/** `4/2` for `H4.00P2.00`, and `base` for what all are made of. */
function inputName(input: string): string {
  const [, host, path] = /^H([\d.]+)P([\d.]+)$/.exec(input) ?? [];
  if (host === undefined || path === undefined) return "base";
  return weights({ hostWeight: Number(host), pathWeight: Number(path) });
}

function secondsText(seconds: number): string {
  return seconds.toFixed(seconds < 100 ? 2 : 0);
}

function accuracyText(accuracy: number | null): string {
  return accuracy === null ? "-" : accuracy.toFixed(3);
}
