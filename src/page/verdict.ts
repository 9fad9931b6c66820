import { readLearntReason } from "./learnt-reason.ts";

/** What is known about whether an archive holds a page. */
export type Verdict = "held" | "possibly" | "not-held" | "not-known";

/** A shape for each verdict, so that colour never stands alone: the content of an SVG of 16 by 16. */
export const VERDICT_SHAPES: Readonly<Record<Verdict, string>> = {
  held: "M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1Zm3.8 5.2-4.6 5a.9.9 0 0 1-1.3 0L4.2 9.4l1.3-1.2 1 1.1 4-4.3Z",
  possibly: "M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1Zm0 1.8v10.4A5.2 5.2 0 0 1 8 2.8Z",
  "not-held":
    "m3.6 2.2 4.4 4.4 4.4-4.4 1.4 1.4L9.4 8l4.4 4.4-1.4 1.4L8 9.4l-4.4 4.4-1.4-1.4L6.6 8 2.2 3.6Z",
  "not-known":
    "M7 11.8h2V14H7ZM8 2a3.8 3.8 0 0 1 3.8 3.8c0 1.6-1 2.5-1.8 3.2-.7.6-1 .9-1 1.6H7c0-1.6.9-2.4 1.7-3.1.7-.6 1.1-1 1.1-1.7a1.8 1.8 0 0 0-3.6 0h-2A3.8 3.8 0 0 1 8 2Z",
};

/** The verdict of a map: a key for exactly the page counts for more than one that covers it. */
export function verdictOfAnswer(answer: {
  readonly present: boolean;
  readonly key?: string | null | undefined;
}): Verdict {
  if (!answer.present) return "not-held";
  return isExact(answer.key) ? "held" : "possibly";
}

/** What a router decided about an archive. */
interface Route {
  readonly reason: string;
  readonly key?: string | null | undefined;
  /** What was learnt that decided, as a text. */
  readonly why?: string | undefined;
}

/** The verdict of a router about an archive, by the reason it gives. */
export function verdictOfRoute({ reason, key, why }: Route): Verdict {
  const learnt = why === undefined ? undefined : readLearntReason(why)?.kind;
  if (learnt === "had-it") return "held";
  if (learnt === "lacked-it") return "not-held";
  if ((learnt === "unknown" || learnt === "hint") && (key ?? null) === null) return "not-known";
  switch (reason) {
    case "in-map":
      return isExact(key) ? "held" : "possibly";
    case "likely":
    case "referer":
    case "to-learn":
      return "possibly";
    case "not-in-map":
    case "sampled":
      return "not-held";
    default:
      return "not-known";
  }
}

/** Keys of packed maps are not known. */
function isExact(key: string | null | undefined): boolean {
  return key !== undefined && key !== null && !key.endsWith("*");
}
