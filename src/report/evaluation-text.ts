import type { Evaluation } from "../evaluate/evaluation.ts";
import { percent, wholeNumber } from "./number-format.ts";
import { textTableLines } from "./text-table.ts";

/**
 * What maps cost and how well they answer, in at most 80 columns; beside it the same for lookups on
 * held hosts, map by map.
 */
export function evaluationText(
  evaluations: readonly Evaluation[],
  onHeldHosts: readonly Evaluation[],
): string {
  const hasFreshness = evaluations.some(({ freshness }) => freshness !== null);
  const columns = ["map", "lines", "cost %", "gzip", "accuracy", "held hosts", "recall"];
  const rows = evaluations.map((row, i) => [
    row.map,
    row.lines === null ? "-" : wholeNumber(row.lines),
    row.relativeCost === null ? "-" : percent(row.relativeCost),
    wholeNumber(row.gzipBytes),
    row.accuracy.toFixed(4),
    onHeldHosts[i]?.accuracy.toFixed(4) ?? "-",
    row.recall === 1 ? "1" : row.recall.toFixed(6),
    ...(hasFreshness ? [row.freshness === null ? "-" : row.freshness.toFixed(4)] : []),
  ]);
  const lines = textTableLines({
    title: "Cost and accuracy of maps (gzip in bytes; held hosts: accuracy there)",
    columns: hasFreshness ? [...columns, "fresh"] : columns,
    rows,
  });
  return `${lines.join("\n")}\n`;
}
