import type { Learner } from "./learner.ts";
import type { MeasuredRecall } from "./recall-policy.ts";

/** What learning promises, keeps and spares. */
export interface LearningReport {
  /** The share of hits, and of mementos, that is to be kept. */
  readonly promised: number;
  /** Lookups that were decided, and answers that were learnt from. */
  readonly lookups: number;
  readonly answers: number;
  /** The share of hits that was kept lately; undefined before the first. */
  readonly hits: MeasuredRecall | undefined;
  readonly mementos: MeasuredRecall | undefined;
  /** The share of requests that were spared up to a number of lookups, since the number before. */
  readonly spared: readonly { readonly lookups: number; readonly share: number }[];
}

export function learningReport(learner: Learner): LearningReport {
  const { policy, history } = learner;
  const spared: { lookups: number; share: number }[] = [];
  for (let i = 0; i + 2 < history.length; i += 3) {
    spared.push({ lookups: history[i], share: 1 - history[i + 1] / history[i + 2] });
  }
  return {
    promised: policy.recall,
    lookups: policy.lookups,
    answers: learner.observations,
    hits: policy.recallOfHits,
    mementos: policy.recallOfMementos,
    spared,
  };
}
