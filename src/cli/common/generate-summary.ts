import type { GenerateSummary } from "../../map/generate/generate-files.ts";
import type { Io } from "./io.ts";
import { formatCount } from "../../errors.ts";
import { formatDuration, formatSize } from "./sizes.ts";
import type { SummaryLine } from "./summary.ts";
import { showSummary } from "./summary.ts";

/** Shows what became of every line, on stderr; for `--json` as one object. */
export function showGenerateSummary(
  io: Io,
  summary: GenerateSummary,
  ms: number,
  isJson: boolean,
): void {
  const { counts, rows, bytes, rekeyed } = summary;
  const peakMemoryBytes = process.resourceUsage().maxRSS * 1024;
  if (isJson) {
    io.stderr.write(
      `${JSON.stringify({ ...counts, ...summary, counts: undefined, seconds: ms / 1000, peakMemoryBytes })}\n`,
    );
    return;
  }
  for (const source of summary.indexed) {
    io.stderr.write(
      `mementomap: warning: ${source}: not read, as an index that is read too names it\n`,
    );
  }
  showDamages(io, summary);
  showSummary(io, [
    [
      summary.unit,
      formatCount(counts.lines),
      `${formatCount(Math.round((counts.lines / ms) * 1000))}/s`,
    ],
    ...some("  headers and blanks", counts.headers + counts.blank),
    ...some(
      "  not of the web",
      counts.nonWeb,
      summary.unit === "records"
        ? "requests, warcinfo, metadata and the like"
        : "dns:, warcinfo: and the like",
    ),
    ...some("  of no use", counts.unproven, "requests that show no capture"),
    ...Object.entries(counts.filtered).flatMap(([reason, count]) =>
      some(`  left out by ${reason}`, count),
    ),
    ...some("  bad, skipped", counts.bad),
    ...(counts.counted === counts.captures
      ? []
      : some("  counted", counts.counted, "lines with a count of their own among them")),
    ["  captures", formatCount(counts.captures)],
    ...some("    revisits", counts.revisits),
    ...some("    counted once", summary.duplicates, "the same URI and time as another"),
    ...(rekeyed.length > 0
      ? some(
          "    keyed anew",
          counts.keyedByUri,
          `key columns differ from the URIs, ${named(rekeyed)}`,
        )
      : []),
    ...some("    keys that differ", counts.keysDifferent, `of ${counts.keysChecked} compared`),
    ...some("damaged", counts.damaged, `${formatSize(counts.damagedBytes)} skipped, see above`),
    ["rows", formatCount(rows)],
    ["size", formatSize(bytes)],
    ["time", formatDuration(ms)],
    ["memory", formatSize(peakMemoryBytes), "peak"],
  ]);
}

/** Names the first places that were passed over: what is missing should not go unnoticed. */
function showDamages(io: Io, { counts, damages }: GenerateSummary): void {
  for (const { source, message, bytes } of damages) {
    const skipped = bytes === 0 ? "" : `; ${formatCount(bytes)} bytes skipped`;
    io.stderr.write(`mementomap: warning: ${source}: ${message}${skipped}\n`);
  }
  const more = counts.damaged - damages.length;
  if (more > 0) io.stderr.write(`mementomap: warning: ${formatCount(more)} more places skipped\n`);
}

function named(sources: readonly string[]): string {
  const more = sources.length > 1 ? ` and ${sources.length - 1} more` : "";
  return `in ${sources[0] ?? ""}${more}`;
}

/** A line of the summary for what did happen. */
function some(label: string, count: number, remark: string = ""): SummaryLine[] {
  return count === 0 ? [] : [[label, formatCount(count), remark]];
}
