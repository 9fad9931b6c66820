import { readLearntReason } from "../../src/aggregate/learn/learnt-reason.ts";

/** Whether an archive holds a page; the most definite verdict comes first. */
export const VERDICTS = ["held", "possibly", "not-known", "not-held"] as const;
export type Verdict = (typeof VERDICTS)[number];

/** The verdict of a map: an exact key is stronger than one that covers the page. */
export function verdictOfAnswer(answer: {
  readonly present: boolean;
  readonly key?: string | null | undefined;
}): Verdict {
  if (!answer.present) return "not-held";
  return isExact(answer.key) ? "held" : "possibly";
}

/** The verdict of an aggregator about an archive, by the reason for its decision. */
export function verdictOfDecision(decision: {
  readonly reason: string;
  readonly key?: string | null | undefined;
  readonly why?: string | undefined;
}): Verdict {
  const { reason, key, why } = decision;
  const learnt = why === undefined ? undefined : readLearntReason(why)?.kind;
  if (learnt === "had-it") return "held";
  if (learnt === "lacked-it") return "not-held";
  if ((learnt === "unknown" || learnt === "hint") && (key ?? null) === null) return "not-known";
  if (reason === "in-map") return isExact(key) ? "held" : "possibly";
  if (["likely", "referer", "to-learn"].includes(reason)) return "possibly";
  return ["not-in-map", "sampled"].includes(reason) ? "not-held" : "not-known";
}

/** Packed maps do not store keys. */
function isExact(key: string | null | undefined): boolean {
  return key !== undefined && key !== null && !key.endsWith("*");
}
