import type { Learner, LearningMark } from "./learner.ts";
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
  /** What was spared and kept up to 100, 200, 500, 1000 lookups and so on, since the number before. */
  readonly spared: readonly LearningMark[];
  readonly archives: readonly ArchiveLearning[];
}

/** What learning keeps and spares of an archive, lately. */
export interface ArchiveLearning {
  readonly id: string;
  /** The share of requests that were spared; undefined before the first decision. */
  readonly spared: number | undefined;
  /** The share of its hits that was kept. */
  readonly hits: MeasuredRecall | undefined;
  /** It is asked where a hit is at least as likely; 0 where it is always asked. */
  readonly threshold: number;
}

export function learningReport(learner: Learner): LearningReport {
  const { policy, recalls, archives } = learner;
  return {
    promised: policy.recall,
    lookups: policy.lookups,
    answers: learner.observations,
    hits: policy.recallOfHits,
    mementos: policy.recallOfMementos,
    spared: learner.history,
    archives: archives.flatMap(({ id, isGone }, number) => {
      if (isGone === true) return [];
      const spared = recalls.sparedOf(number);
      const hits = recalls.of(number, policy.exploredWeight(number, number + 1));
      return [{ id, spared, hits, threshold: policy.thresholdOf(number) }];
    }),
  };
}
