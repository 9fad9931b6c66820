import { formatBytes, formatCount, formatRate } from "../../format.ts";
import { isMementoMapError, MementoMapError } from "../../errors.ts";
import type { ReadingSummary } from "../../generate/partition.ts";
import type { CommandIo, SummaryLine } from "./messages.ts";

/** The lines of a summary that account for every line of the indexes. */
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
      "  not web content",
      counts.nonWeb,
      summary.unit === "records"
        ? "requests, warcinfo, metadata and the like"
        : "dns:, warcinfo: and the like",
    ),
    ...some("  unusable", counts.unproven, "requests that prove no capture"),
    ...Object.entries(counts.filtered).flatMap(([reason, count]) =>
      some(`  excluded by ${reason}`, count),
    ),
    ...some("  bad, skipped", counts.bad),
    ...(counts.counted === counts.captures
      ? []
      : some("  counted", counts.counted, "including lines with a count of their own")),
    ["  captures", formatCount(counts.captures)],
    ...some("    revisits", counts.revisits),
    ...some("    counted once", duplicates, "same URI and time as another"),
    ...some("    without a URI", counts.keyedByColumn, "the key column is used instead"),
    ...some("damaged", counts.damaged, `${formatBytes(counts.damagedBytes)} skipped, see above`),
  ];
}

/** Warns about unreadable inputs and the first skipped ranges, so that no loss is silent. */
export function warnOfDamages(io: CommandIo, { counts, damages }: ReadingSummary): void {
  for (const { source, message, bytes } of damages) {
    io.warn(`${source}: ${message}${bytes === 0 ? "" : `; ${formatCount(bytes)} bytes skipped`}`);
  }
  const more = counts.damaged - damages.length;
  if (more > 0) io.warn(`${formatCount(more)} more places skipped`);
}

/** A line of the summary, unless the count is 0. */
function some(label: string, count: number, remark: string = ""): SummaryLine[] {
  return count === 0 ? [] : [[label, formatCount(count), remark]];
}

/** Adds a hint at `--skip-bad` to errors about bad lines, which it does not skip in `maps`. */
export function withSkipHint(error: unknown, maps: readonly string[] = []): unknown {
  if (!isMementoMapError(error) || error.code !== "MM_BAD_LINE") return error;
  if (maps.includes(error.position?.source ?? "")) return error;
  const { code, message, position, cause } = error;
  const hint = "; --skip-bad skips and counts such lines";
  return new MementoMapError(code, message + hint, { position, cause });
}
