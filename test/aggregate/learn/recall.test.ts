import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Learner } from "../../../src/aggregate/learn/learner.ts";
import { Random } from "../../../src/bytes/random.ts";

/** Archives that hold hosts, most pages of them, and a few pages elsewhere. */
function simulated(recall: number, lookups: number, seed: number): Record<string, number> {
  const random = new Random(seed, "recall");
  const rates = [0.4, 0.1, 0.05, 0.02, 0.01, 0];
  const learner = new Learner(
    rates.map((_, i) => ({ id: `a${i}` })),
    { recall, memoryBytes: 4 * 2 ** 20, now: () => 1.7e12, random: () => random.real() },
  );
  const holds = (archive: number, host: number, page: number): boolean => {
    const known = new Random(host * 64 + archive, "host").real() < rates[archive];
    return new Random(page, `page${host}/${archive}`).real() < (known ? 0.85 : rates[archive] / 50);
  };
  let [asked, all, kept, hits] = [0, 0, 0, 0];
  for (let i = 0; i < lookups; i++) {
    const host = Math.floor(1500 * random.real() ** 3);
    const page = random.below(200);
    const surt = `com,host${host})/${page % 7}/${page}`;
    learner.look(surt);
    learner.begin();
    const decisions = rates.map((_, archive) => learner.decide(archive));
    for (const [archive, { isAsked, propensity, logit, isAside }] of decisions.entries()) {
      const isHit = holds(archive, host, page);
      if (i > lookups / 2) all++;
      if (i > lookups / 2 && isAsked) asked++;
      if (isHit) hits++;
      if (isHit && isAsked && propensity === 1) kept++;
      if (!isAsked) continue;
      const mementos = isHit ? 3 : 0;
      learner.observe({ archive: `a${archive}`, surt, mementos, propensity, logit, isAside });
    }
  }
  const measured = learner.policy.recallOfHits();
  return {
    spared: 1 - asked / all,
    recall: kept / hits,
    low: measured?.low ?? 0,
    high: measured?.high ?? 1,
  };
}

describe("RecallPolicy", () => {
  it("keeps what it promises, measures it, and spares the rest", { timeout: 60_000 }, () => {
    for (const recall of [0.9, 0.98]) {
      const result = simulated(recall, 20_000, 1);
      expect(result["recall"]).toBeGreaterThan(recall - (1 - recall) * 0.6);
      expect(result["spared"]).toBeGreaterThan(0.6);
      // What is measured counts later lookups for more.
      expect(result["low"] - 0.01).toBeLessThanOrEqual(result["recall"]);
      expect(result["high"] + 0.01).toBeGreaterThanOrEqual(result["recall"]);
    }
  });

  it("spares nothing where everything is to be kept", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(20), fc.boolean()), { maxLength: 300 }), (all) => {
        const learner = new Learner([{ id: "a" }], { recall: 1, memoryBytes: 2 ** 18 });
        for (const [host, isHit] of all) {
          const surt = `com,h${host})/`;
          learner.look(surt);
          learner.begin();
          const decision = learner.decide(0);
          expect(decision).toMatchObject({ isAsked: true, propensity: 1 });
          learner.observe({ archive: "a", surt, mementos: isHit ? 1 : 0 });
        }
      }),
    );
  });

  it("says how little is known as long as exploration has found nothing", () => {
    const learner = new Learner([{ id: "a" }, { id: "b" }], {
      recall: 0.9,
      memoryBytes: 2 ** 18,
      now: () => 1.7e12,
      random: () => 1, // nothing is ever explored
    });
    for (let i = 0; i < 600; i++) {
      const surt = `com,h${i % 40})/${i}`;
      learner.look(surt);
      learner.begin();
      for (const archive of [0, 1]) {
        const { isAsked, ...decision } = learner.decide(archive);
        const mementos = archive === 0 ? 2 : 0;
        if (isAsked)
          learner.observe({ archive: "ab".charAt(archive), surt, mementos, ...decision });
      }
    }
    expect(learner.policy.savedShare(1)).toBeGreaterThan(0);
    for (const measured of [learner.policy.recallOfHits(), learner.policy.recallOfMementos()]) {
      expect(measured).toMatchObject({ value: 1, high: 1 });
      expect(measured?.low).toBeLessThan(1);
    }
    const [a, b] = learner.report().archives;
    expect(a?.hits?.value).toBe(1);
    expect(b?.hits).toBeUndefined();
  });

  it("spares archives without a map as soon as those with maps had enough hits", () => {
    const learner = new Learner([{ id: "mapped" }, { id: "dead" }], {
      recall: 0.9,
      memoryBytes: 2 ** 18,
      now: () => 1.7e12,
      random: () => 1,
    });
    let asked = 0;
    for (let i = 0; i < 1000; i++) {
      const surt = `com,h${i % 40})/${i}`;
      learner.look(surt);
      learner.begin();
      learner.observe({ archive: "mapped", surt, mementos: 1, isAside: true, map: "listed" });
      const { isAsked, ...decision } = learner.decide(1);
      if (!isAsked) continue;
      asked++;
      learner.observe({ archive: "dead", surt, mementos: 0, ...decision });
    }
    expect(asked).toBeLessThan(500);
  });
});
