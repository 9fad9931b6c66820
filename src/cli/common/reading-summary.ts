import { formatBytes, formatCount, formatRate } from "../../format.ts";
import { isMementoMapError, MementoMapError } from "../../errors.ts";
import type { ReadingSummary } from "../../generate/partition.ts";
import type { CommandIo, SummaryLine } from "./messages.ts";

/** What became of every line of indexes, as lines of a summary. */
export function readingLines(
  summary: ReadingSummary,
  ms: number,
  duplicates: number = 0,
): SummaryLine[] {
  const { counts } = summary;
  return [
    [summary.unit, formatCount(counts.lines), formatRate(counts.lines, ms)],
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
    ...some("    counted once", duplicates, "the same URI and time as another"),
    ...some("    without a URI", counts.keyedByColumn, "their key column stands for it"),
    ...some("damaged", counts.damaged, `${formatBytes(counts.damagedBytes)} skipped, see above`),
  ];
}

/** Names what was not read, and the first places that were skipped: nothing goes missing unnoticed. */
export function warnOfDamages(io: CommandIo, { counts, damages }: ReadingSummary): void {
  for (const { source, message, bytes } of damages) {
    io.warn(`${source}: ${message}${bytes === 0 ? "" : `; ${formatCount(bytes)} bytes skipped`}`);
  }
  const more = counts.damaged - damages.length;
  if (more > 0) io.warn(`${formatCount(more)} more places skipped`);
}

/** A line of the summary for what did happen. */
function some(label: string, count: number, remark: string = ""): SummaryLine[] {
  return count === 0 ? [] : [[label, formatCount(count), remark]];
}

/** Lines that are bad stop a run where `--skip-bad` was not given, and those of `maps` always. */
export function withSkipHint(error: unknown, maps: readonly string[] = []): unknown {
  if (!isMementoMapError(error) || error.code !== "MM_BAD_LINE") return error;
  if (maps.includes(error.position?.source ?? "")) return error;
  const { code, message, position, cause } = error;
  const hint = "; --skip-bad leaves such lines out and counts them";
  return new MementoMapError(code, message + hint, { position, cause });
}
