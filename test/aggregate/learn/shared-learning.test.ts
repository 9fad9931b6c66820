import { describe, expect, it } from "vitest";
import { RECALL_WIDTH } from "../../../src/aggregate/learn/archive-recalls.ts";
import { KeyPath } from "../../../src/aggregate/learn/key-path.ts";
import { Learner } from "../../../src/aggregate/learn/learner.ts";
import { learningReport } from "../../../src/aggregate/learn/learning-report.ts";
import {
  ObservationBatch,
  readObservations,
} from "../../../src/aggregate/learn/observation-batch.ts";
import { Random } from "../../../src/bytes/random.ts";

const encoder = new TextEncoder();
const IDS = ["a", "b", "c", "d", "e", "f"];
const LOOKUPS = 6000;
/** After as many lookups, learners tell each other. */
const EVERY = 20;

/** Each archive holds some hosts, and most of their pages. */
function holds(archive: number, host: number, page: number): boolean {
  return (host + 3 * archive) % 11 === 0 && page % 7 !== archive;
}

/** Learners of processes that take turns with lookups. */
function learnTogether(count: number): { learners: Learner[]; asked: number } {
  const random = new Random(7, "shared");
  const observed = Array.from({ length: count }, () => new ObservationBatch());
  const learners = observed.map((own) => {
    const choices = new Random(1, "choices");
    return new Learner(
      IDS.map((id) => ({ id })),
      {
        recall: 0.95,
        memoryBytes: 2 ** 20,
        now: () => 1.7e12,
        random: () => choices.real(),
        onObservation: (observation) => own.add(observation),
      },
    );
  });
  const tellOthers = (): void => {
    for (const [i, learner] of learners.entries()) {
      const decisions = structuredClone(learner.takeDecisions());
      const sent = structuredClone(observed[i].take());
      for (const [j, other] of learners.entries()) {
        if (i === j) continue;
        for (const observation of readObservations(sent)) other.apply(observation);
        if (decisions !== undefined) other.applyDecisions(decisions);
      }
    }
  };
  tellOthers();
  let asked = 0;
  for (let i = 0; i < LOOKUPS; i++) {
    const learner = learners[i % count];
    const [host, page] = [random.below(300), random.below(1000)];
    const surt = `com,host${host})/folder${page % 5}/${page}`;
    learner.look(encoder.encode(surt));
    learner.begin();
    const decisions = IDS.map((_, archive) => learner.decide(archive));
    for (const [archive, { isAsked, ...decision }] of decisions.entries()) {
      if (!isAsked) continue;
      asked++;
      const mementos = holds(archive, host, page) ? 1 : 0;
      learner.observe({ archive: IDS[archive], surt, mementos, ...decision });
    }
    if (i % EVERY === EVERY - 1) tellOthers();
  }
  return { learners, asked };
}

/** Hits that were to be found by exploring, as `RecallPolicy.measured` has them. */
const expectedHits = ({ policy }: Learner): number => policy.measured[8];

describe("processes that learn together", () => {
  it("know the same, and report the same", () => {
    const [first, second] = learnTogether(2).learners;
    expect(first.policy.lookups).toBe(LOOKUPS);
    expect(second.policy.lookups).toBe(LOOKUPS);
    expect(expectedHits(first) / expectedHits(second)).toBeCloseTo(1, 1);
    const [one, other] = [learningReport(first), learningReport(second)];
    expect(one.spared.map(({ lookups }) => lookups)).toEqual([100, 200, 500, 1000, 2000, 5000]);
    expect(other.spared.map(({ lookups }) => lookups)).toEqual([100, 200, 500, 1000, 2000, 5000]);
    for (const [i, { spared = 0, hits }] of one.archives.entries()) {
      expect(spared).toBeCloseTo(other.archives[i].spared ?? 0, 2);
      expect(hits?.value).toBeCloseTo(other.archives[i].hits?.value ?? 0, 2);
    }
  });

  it("know how often hosts were looked up, by all of them", () => {
    const [alone] = learnTogether(1).learners;
    const path = new KeyPath();
    for (const learner of learnTogether(3).learners) {
      for (let host = 0; host < 300; host++) {
        path.take(encoder.encode(`com,host${host})/`));
        const [high, low] = [path.highs[3], path.lows[3]];
        const [own, all] = [learner, alone].map(({ evidence }) =>
          evidence.lookups(evidence.table.find(high, low)),
        );
        expect(own).toBe(all);
      }
    }
  });

  it("know what was kept by answers that were given again", () => {
    const [first, second] = ["first", "second"].map(
      () =>
        new Learner(
          IDS.map((id) => ({ id })),
          { memoryBytes: 2 ** 20 },
        ),
    );
    first.takeDecisions();
    first.look(encoder.encode("com,host1)/"));
    first.begin();
    const [a, c] = [0, 2].map((archive) => ({ archive, isAside: archive === 2 }));
    first.keep([a, c], 7);
    const decisions = structuredClone(first.takeDecisions());
    if (decisions !== undefined) second.applyDecisions(decisions);
    for (const { policy, recalls } of [first, second]) {
      expect([policy.measured[0], policy.measured[4]]).toEqual([2, 7]);
      expect([...policy.aside]).toEqual([1, 3.5]);
      const hits = IDS.map((_, archive) => recalls.state[archive * RECALL_WIDTH]);
      expect(hits).toEqual([1, 0, 1, 0, 0, 0]);
    }
    expect(first.takeDecisions()).toBeUndefined();
    // As a worker of an older version says it.
    const archives = IDS.map((archive) => ({
      archive,
      possible: 1,
      made: 0,
      seen: [],
      expected: 0,
    }));
    second.applyDecisions({ lookups: 1, looked: new Uint32Array(0), archives });
    expect(second.policy.recallOfHits?.value).toBe(1);
  });

  it("spare as much as one does", () => {
    const alone = learnTogether(1);
    const together = learnTogether(3);
    expect(together.asked / alone.asked).toBeGreaterThan(0.93);
    expect(together.asked / alone.asked).toBeLessThan(1.07);
    for (const learner of together.learners) {
      expect(expectedHits(learner) / expectedHits(alone.learners[0])).toBeGreaterThan(0.75);
      expect(expectedHits(learner) / expectedHits(alone.learners[0])).toBeLessThan(1.33);
    }
  });
});
