import type { Io } from "./io.ts";
import { formatCount } from "./sizes.ts";

/** Warns of lines of a list that were left out. */
export function warnOfOddLines(io: Io, count: number): void {
  if (count === 0) return;
  const lines =
    count === 1
      ? "1 line of the lists is neither a URI nor a SURT, and was left out"
      : `${formatCount(count)} lines of the lists are neither URIs nor SURTs, and were left out`;
  io.stderr.write(`mementomap: warning: ${lines}\n`);
}
