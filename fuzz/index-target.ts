import type { CaptureFilter } from "../src/input/filter.ts";
import { PAPER_PRESET } from "../src/input/filter.ts";
import { must, mustEqual, outcomeOfAsync, randomChunks, Violation } from "./check.ts";
import type { ReadIndex, ReadIndexOptions } from "./read-index.ts";
import { readIndex } from "./read-index.ts";
import type { TargetDefinition } from "./target.ts";

const FILTERS: readonly CaptureFilter[] = [
  {},
  {},
  PAPER_PRESET,
  { from: "2001", to: "20161130", skipRevisits: true },
];

/** A format of indexes that `generate` reads. */
export interface IndexFormat extends Pick<ReadIndexOptions, "format" | "archive"> {
  readonly seeds: () => readonly (string | Uint8Array)[];
  readonly words?: readonly (string | Uint8Array)[] | undefined;
}

/** Reads an index whole and in pieces, strictly and with what cannot be read left out. */
export function indexTarget({ format, archive, seeds, words }: IndexFormat): TargetDefinition {
  return {
    holds: "chunks do not matter; leaving out what is bad changes nothing where nothing is",
    seeds,
    words,
    async run(input, random) {
      const options: ReadIndexOptions = {
        format,
        archive,
        originals: random.chance(0.2),
        distinct: random.chance(0.2),
        datetimeDigits: random.pick([0, 0, 4, 14]),
        filter: random.pick(FILTERS),
      };
      const strict = await outcomeOfAsync(() => readIndex([input], options));
      if ("value" in strict) checkCounts(strict.value);
      if (random.chance(0.5)) {
        const chunks = randomChunks(input, random);
        mustEqual(await outcomeOfAsync(() => readIndex(chunks, options)), strict, "read in chunks");
        return;
      }
      const lenient = await outcomeOfAsync(() => readIndex([input], { ...options, skipBad: true }));
      if ("value" in lenient) checkCounts(lenient.value);
      if (!("value" in strict)) return;
      if (!("value" in lenient)) throw new Violation(`skipBad refuses it with ${lenient.refused}`);
      // What looks unlike a record is damage where records may be broken, and is reported.
      if (lenient.value.counts.damaged > 0) return;
      mustEqual(lenient.value, strict.value, "read with skipBad");
    },
  };
}

/** Every line is counted once. */
function checkCounts({ rows, counts }: ReadIndex): void {
  const { lines, blank, headers, nonWeb, bad, unproven, filtered, counted } = counts;
  const rejected = Object.values(filtered).reduce((sum, count) => sum + count, 0);
  mustEqual(blank + headers + nonWeb + bad + unproven + rejected + counted, lines, "all lines");
  must(rows.length === 0 || counted > 0, "rows come from lines", rows);
}
