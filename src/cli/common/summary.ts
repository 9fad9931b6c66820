import type { Io } from "./io.ts";

/** A line of the summary at the end of a run: what, how much, and a remark. */
export type SummaryLine = readonly [label: string, value: string, remark?: string];

/** Shows what a run did, on stderr, as an aligned list. */
export function showSummary(io: Io, lines: readonly SummaryLine[]): void {
  const labels = Math.max(...lines.map(([label]) => label.length));
  const values = Math.max(...lines.map(([, value]) => value.length));
  for (const [label, value, remark = ""] of lines) {
    const line = `${label.padEnd(labels)}  ${value.padStart(values)}  ${remark}`;
    io.stderr.write(`${line.trimEnd()}\n`);
  }
}
