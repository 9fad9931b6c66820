import type { Evaluation } from "../evaluate/evaluation.ts";
import { wholeNumber } from "./number-format.ts";
import { textTableLines } from "./text-table.ts";

/** The base of a sweep, the first row of its table. */
export interface SweepBase {
  readonly lines: number;
  readonly bytes: number;
  readonly gzipBytes: number;
}

/** The paper's table of compaction: 36 maps made one of the other, in at most 80 columns. */
export function sweepText(base: SweepBase, evaluations: readonly Evaluation[]): string {
  const [first] = evaluations;
  const originals =
    first?.relativeCost && first.lines ? first.lines / first.relativeCost : base.lines;
  const rows = evaluations.map(({ made, lines, bytes, gzipBytes, relativeCost, accuracy }) => [
    made?.input ?? "",
    made?.hostWeight.toFixed(2) ?? "",
    made?.pathWeight.toFixed(2) ?? "",
    wholeNumber(lines ?? 0),
    wholeNumber(bytes),
    (gzipBytes / 1e6).toFixed(3),
    wholeNumber(made?.rollUps ?? 0),
    made?.seconds.toFixed(2) ?? "",
    (relativeCost ?? 0).toFixed(3),
    accuracy.toFixed(3),
  ]);
  const baseRow = [
    "base",
    "inf",
    "inf",
    wholeNumber(base.lines),
    wholeNumber(base.bytes),
    (base.gzipBytes / 1e6).toFixed(3),
    "N/A",
    "N/A",
    (base.lines / originals).toFixed(3),
    "1.000",
  ];
  const lines = textTableLines({
    title: "Maps by weights, each made of its input (size in bytes, gzipped in MB)",
    columns: ["input", "Wh", "Wp", "lines", "size", "gz MB", "rollups", "sec", "cost", "acc."],
    rows: [baseRow, ...rows],
  });
  return `${lines.join("\n")}\n`;
}
