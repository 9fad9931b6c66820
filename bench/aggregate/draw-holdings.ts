import { uniform } from "./archive-model.ts";
import type { LoggedArchive } from "./paper-archives.ts";

/*
 * Archives hold sites more than single pages, and much the same sites. So how likely an archive is
 * to hold an original is the sum of what holds for its host in all archives, for the host in this
 * one, for the original in all and in this one, and of how often it is wanted. The weights are made
 * up; the rates of hits are those of the log.
 */
const HOST_WEIGHT = 0.5;
const HOST_HERE_WEIGHT = 0.55;
const ORIGINAL_WEIGHT = 0.4;
const ORIGINAL_HERE_WEIGHT = 0.54;
const POPULARITY_WEIGHT = 0.15;

/**
 * Draws what each archive holds of `stream`, such that the share of the last `asked` requests that
 * hit it is the one of the log. An archive takes the likeliest originals until that share is
 * reached, whether they are among the last or were asked for before.
 */
export function drawHoldings(
  stream: readonly string[],
  asked: number,
  archives: readonly LoggedArchive[],
): Set<string>[] {
  const requests = countsOf(stream);
  const lastRequests = countsOf(stream.slice(-asked));
  const candidates = Array.from(requests, ([original, count]) => {
    const host = hostOf(original);
    const common =
      HOST_WEIGHT * normal("", host) +
      ORIGINAL_WEIGHT * normal("", original) +
      POPULARITY_WEIGHT * Math.log2(count);
    return { original, host, count: lastRequests.get(original) ?? 0, common };
  });
  return archives.map(({ id, hits }) => {
    const ranked = candidates
      .map(({ original, host, count, common }) => ({
        original,
        count,
        score:
          common +
          HOST_HERE_WEIGHT * normal(id, host) +
          ORIGINAL_HERE_WEIGHT * normal(id, original),
      }))
      .sort((a, b) => b.score - a.score);
    const held = new Set<string>();
    let left = Math.round(hits * asked);
    for (const { original, count } of ranked) {
      if (left === 0) break;
      // One that is wanted too often would overshoot; the next may fit.
      if (count > left) continue;
      held.add(original);
      left -= count;
    }
    return held;
  });
}

function countsOf(originals: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const original of originals) counts.set(original, (counts.get(original) ?? 0) + 1);
  return counts;
}

function hostOf(original: string): string {
  return original.split("/", 3)[2] ?? "";
}

function normal(id: string, text: string): number {
  const radius = Math.sqrt(-2 * Math.log(1 - uniform(id, text, 100)));
  return radius * Math.cos(2 * Math.PI * uniform(id, text, 101));
}
