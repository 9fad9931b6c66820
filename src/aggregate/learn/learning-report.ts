import type { Learner, LearningMark } from "./learner.ts";
import type { Share } from "./intervals.ts";

/** What learning promises, keeps and saves. */
export interface LearningReport {
  /** The share of hits to keep. */
  readonly promised: number;
  /** Lookups that were decided, and answers that were learnt from. */
  readonly lookups: number;
  readonly answers: number;
  /** The share of hits that was kept lately; undefined before the first. */
  readonly hits: Share | undefined;
  /** The share of mementos that was kept, which is not promised. */
  readonly mementos: Share | undefined;
  /** What was saved and kept up to 100, 200, 500, 1000 lookups and so on, since the number before. */
  readonly spared: readonly LearningMark[];
  readonly archives: readonly ArchiveLearning[];
}

/** What learning keeps and saves of an archive, lately. */
interface ArchiveLearning {
  readonly id: string;
  /** The share of requests that were saved; undefined before the first decision. */
  readonly spared: number | undefined;
  /** The share of its hits that was kept. */
  readonly hits: Share | undefined;
  /** It is queried where a hit is at least as likely; 0 where it always is. */
  readonly threshold: number;
}

export function learningReport({
  policy,
  archives,
  observations,
  history,
}: Learner): LearningReport {
  return {
    promised: policy.recall,
    lookups: policy.lookups,
    answers: observations,
    hits: policy.recallOfHits(),
    mementos: policy.recallOfMementos(),
    spared: history,
    archives: archives.map(({ id }, number) => ({
      id,
      spared: policy.savedShare(number),
      hits: policy.recallOfHits(number),
      threshold: policy.threshold(number),
    })),
  };
}
