import type { Io } from "./io.ts";
import { formatAmount } from "../../errors.ts";

/** Warns of lines of a list that were left out. */
export function warnOfOddLines(io: Io, count: number): void {
  if (count === 0) return;
  const what =
    count === 1 ? "is neither a URI nor a SURT, and was" : "are neither URIs nor SURTs, and were";
  const lines = formatAmount(count, "line of the lists", "lines of the lists");
  io.stderr.write(`mementomap: warning: ${lines} ${what} left out\n`);
}
