import type { LearningReport } from "../learn/learning-report.ts";
import { formatNumber } from "../../page/html.ts";
import { formatShare } from "../../page/text-format.ts";
import type { Share } from "../statistics.ts";

/** What learning promises and keeps, and what it spared after so many lookups: names and values. */
export function learningFacts(report: LearningReport): readonly (readonly [string, string])[] {
  const { promised, hits, mementos, spared } = report;
  return [
    ["Promised recall", formatShare(promised)],
    ["Measured, of answers", kept(hits)],
    ["Measured, of mementos", kept(mementos)],
    ["Learnt from answers", formatNumber(report.answers)],
    ...spared.map(
      ({ lookups, share }) =>
        [`Spared up to ${formatNumber(lookups)} lookups`, formatShare(share)] as const,
    ),
  ];
}

function kept(of: Share | undefined): string {
  return of === undefined ? "not known yet" : `${formatShare(of.value)} (${rangeText(of)})`;
}

export function rangeText({ low, high }: Share): string {
  return `${formatShare(low)} to ${formatShare(high)}`;
}
