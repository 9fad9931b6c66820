import { describe, expect, it } from "vitest";
import { Learner } from "../../../src/aggregate/learn/learner.ts";
import { Random } from "../../../src/bytes/random.ts";
import { archivesOf, routerOf } from "../route/routing.ts";

const IDS = ["a", "b", "c"];

/** A learner after lookups of many networks: `a` has two of five hosts, `b` one of twenty, `c` nothing. */
function experienced(seed: number): { learner: Learner; lookUp: typeof lookUp } {
  const random = new Random(seed, "poisoning");
  const learner = new Learner(
    IDS.map((id) => ({ id })),
    { recall: 0.98, memoryBytes: 2 ** 23, random: () => random.real(), now: () => 1.7e12 },
  );
  /** Which of those that have it were queried, and waited for. */
  const lookUp = (surt: string, network: string, holders: readonly string[]): string[] => {
    learner.look(surt);
    const isTeaching = learner.begin(network);
    const found: string[] = [];
    for (const [number, archive] of IDS.entries()) {
      const { isAsked, ...decision } = isTeaching
        ? learner.decide(number)
        : learner.preview(number);
      if (!isAsked) continue;
      const isHit = holders.includes(archive);
      learner.observe({
        ...decision,
        archive,
        surt,
        mementos: isHit ? 1 : 0,
        isTeaching,
      });
      if (isHit && decision.propensity === 1) found.push(archive);
    }
    return found;
  };
  for (let i = 0; i < 3000; i++) {
    const host = random.below(400);
    const holders = [...(host % 5 < 2 ? ["a"] : []), ...(host % 20 === 7 ? ["b"] : [])];
    lookUp(`com,host${host})/${random.below(50)}`, `198.51.${random.below(200)}`, holders);
  }
  return { learner, lookUp };
}

describe("a client that looks up what nobody holds", () => {
  it.each([100, 2000, 20_000])(
    "cannot hide what an archive holds from others, with %i lookups from one network",
    (misses) => {
      for (const [seed, site] of ["com,victim)/real/", "com,host1)/real/"].entries()) {
        const { lookUp } = experienced(seed);
        for (let i = 0; i < misses; i++) lookUp(`${site}x${i}`, "203.0.113", []);
        let found = 0;
        for (let i = 0; i < 1000; i++)
          found += lookUp(`${site}${i}`, `192.0.${i % 50}`, ["a"]).length;
        expect(found).toBeGreaterThanOrEqual(950);
      }
    },
  );

  it("cannot do so with other hosts of the domain or the top-level domain, either", () => {
    const { lookUp } = experienced(3);
    for (let i = 0; i < 20_000; i++) {
      lookUp(i % 2 === 0 ? `com,victim,h${i})/` : `com,other${i})/`, "203.0.113", []);
    }
    let found = 0;
    for (let i = 0; i < 1000; i++)
      found += lookUp(`com,victim)/${i}`, `192.0.${i % 50}`, ["a"]).length;
    expect(found).toBeGreaterThanOrEqual(950);
  });

  it("teaches nothing by what it forces", async () => {
    const archives = archivesOf({ a: {} });
    const learner = new Learner(archives, { recall: 0.9, memoryBytes: 2 ** 18 });
    const router = await routerOf(archives, {}, { learner });
    const broadcast = await routerOf(archives, {}, { isBroadcasting: true });
    const uri = "http://victim.org/x";
    for (const decision of broadcast.route({ uri })) router.learn(decision, uri, false);
    for (const decision of router.route({ uri, isForced: true })) {
      router.learn(decision, uri, false);
    }
    expect(learner.observations).toBe(0);
    expect(learner.policy.lookups).toBe(0);
  });
});
