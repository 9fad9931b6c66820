import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Learner, type LearnerOptions } from "../../../src/aggregate/learn/learner.ts";
import { restoreSnapshot, snapshotOf } from "../../../src/aggregate/learn/snapshot.ts";
import { Random } from "../../../src/bytes/random.ts";

const IDS = ["a", "b", "c"];
const NOW = Date.parse("2026-01-01T00:00:00Z");

function learnerOf(options: LearnerOptions = {}, ids: readonly string[] = IDS): Learner {
  const random = new Random(1, "test");
  return new Learner(
    ids.map((id) => ({ id })),
    { memoryBytes: 2 ** 16, now: () => NOW, random: () => random.real(), ...options },
  );
}

const surts = fc
  .tuple(
    fc.constantFrom("com,", "org,", "uk,co,"),
    fc.constantFrom("a", "b", "c", "d"),
    fc.constantFrom(")/", ")/x", ")/x/y", ")/x/y?q=1", ")/z/", ",www)/x/y/z/1/2/3/4/5/6"),
  )
  .map((parts) => parts.join(""));

const observations = fc.array(
  fc.record({
    archive: fc.constantFrom(...IDS, "unknown"),
    surt: fc.oneof(surts, fc.string()),
    mementos: fc.nat(5),
    propensity: fc.constantFrom(1, 0.5, 0.01),
  }),
  { maxLength: 200 },
);

function chances(learner: Learner, surt: string): number[] {
  learner.look(surt);
  return IDS.map((_, number) => learner.chanceOf(number));
}

describe("Learner", () => {
  it("learns along the key tree, each archive for itself, and says why", () => {
    const learner = learnerOf();
    for (let i = 0; i < 30; i++) {
      learner.observe({ archive: "a", surt: `org,example)/news/${i}`, mementos: 2 });
      learner.observe({ archive: "b", surt: `org,example)/news/${i}`, mementos: 0 });
    }
    learner.look("org,example)/news/new");
    expect(learner.chanceOf(0)).toBeGreaterThan(0.8);
    expect(learner.chanceOf(1)).toBeLessThan(0.02);
    expect(learner.explain(1)).toMatch(/^0 of 30 lookups under org,example\)\/news found/);
    expect(learner.explain(2)).toBe("no history yet");
  });

  it("knows what an archive answered for the same original", () => {
    const learner = learnerOf();
    learner.observe({ archive: "a", surt: "org,example)/a?b=1", mementos: 1 });
    learner.look("org,example)/a?b=1");
    expect(learner.explain(0)).toBe("it had this original when last queried");
    const [held] = chances(learner, "org,example)/a?b=1");
    const [other] = chances(learner, "org,example)/a?b=2");
    expect(held).toBeGreaterThan(other);
  });

  it("takes the same answers for evidence once, not once for each prefix", () => {
    const learner = learnerOf();
    for (let i = 0; i < 200; i++) {
      learner.observe({ archive: "a", surt: `org,host${i})/`, mementos: i % 4 === 0 ? 1 : 0 });
    }
    // All answers of the domain are of one folder of one host.
    for (let i = 0; i < 4; i++) {
      learner.observe({ archive: "a", surt: `com,new,www)/x/y/${i}`, mementos: 0 });
    }
    const [chance] = chances(learner, "com,new,www)/x/y/z");
    expect(chance).toBeGreaterThan(0.02);
    expect(chance).toBeLessThan(0.2);
  });

  it("never predicts anything but a chance, and never counts below 0, whatever is observed", () => {
    fc.assert(
      fc.property(observations, fc.string(), (all, asked) => {
        const learner = learnerOf({ recall: 0.9 });
        for (const observation of all) learner.observe(observation);
        for (const { surt } of [...all, { surt: asked }]) {
          expect(chances(learner, surt).every((chance) => chance >= 0 && chance <= 1)).toBe(true);
        }
        const { counts } = learner;
        return counts.keys.every((_, row) =>
          IDS.every((__, archive) => counts.hits(row, archive) <= counts.asked(row, archive)),
        );
      }),
    );
  });

  it("counts the same whatever the order of different originals", () => {
    const distinct = fc.uniqueArray(fc.record({ surt: surts, mementos: fc.nat(1) }), {
      selector: ({ surt }) => surt,
    });
    const hosts = ["com,", "org,", "uk,co,"].flatMap((prefix) => [
      `${prefix}a)/other`,
      `${prefix}b)/other`,
    ]);
    fc.assert(
      fc.property(distinct, (all) => {
        const counted = (list: typeof all): string[] => {
          const learner = learnerOf();
          for (const one of list) learner.observe({ archive: "a", ...one });
          return hosts.map((surt) => reasonOf(learner, surt));
        };
        expect(counted(all.toReversed())).toEqual(counted(all));
      }),
    );
  });

  it("restores what it knew from a snapshot", () => {
    fc.assert(
      fc.property(observations, surts, (all, asked) => {
        const learner = learnerOf({ recall: 0.9 });
        for (const observation of all) {
          learner.look(observation.surt);
          learner.begin();
          learner.observe(observation);
        }
        const copy = learnerOf({ recall: 0.9 });
        restoreSnapshot(copy, snapshotOf(learner), "test");
        expect(chances(copy, asked)).toEqual(chances(learner, asked));
        expect(copy.policy.recallOfHits()).toEqual(learner.policy.recallOfHits());
        expect(snapshotOf(copy)).toHaveLength(snapshotOf(learner).length);
        // Archives go by their ids.
        const other = learnerOf({ recall: 0.9 }, ["new", "c", "a"]);
        // As it is read from a file: among other bytes, and with another slice.
        restoreSnapshot(other, Buffer.from(snapshotOf(learner)), "test");
        const [ofA, , ofC] = chances(learner, asked);
        other.look(asked);
        expect(other.chanceOf(2)).toBeCloseTo(ofA, 12);
        expect(other.chanceOf(1)).toBeCloseTo(ofC, 12);
      }),
      { numRuns: 30 },
    );
  });

  it("refuses a snapshot that is cut or of another format, and stays as it was", () => {
    const learner = learnerOf();
    learner.observe({ archive: "a", surt: "org,example)/a", mementos: 1 });
    const bytes = snapshotOf(learner);
    for (const bad of [bytes.slice(0, -9), bytes.slice(0, 60), new Uint8Array(3)]) {
      const other = learnerOf();
      expect(() => restoreSnapshot(other, bad, "x.learnt")).toThrow(/not a snapshot of a learner/);
      expect(other.observations).toBe(0);
    }
  });

  it("goes on with another list of archives", () => {
    const learner = learnerOf();
    for (let i = 0; i < 100; i++) {
      learner.observe({ archive: "a", surt: `org,x)/${i}`, mementos: 1 });
      learner.observe({ archive: "c", surt: `org,x)/${i}`, mementos: 0 });
    }
    const [a, , c] = chances(learner, "org,x)/new");
    learner.replaceArchives([{ id: "c" }, { id: "new", scope: ["pt,"] }, { id: "a" }]);
    const [known, unlikely, other] = chances(learner, "org,x)/new");
    expect([known, other]).toEqual([c, a]);
    expect(unlikely).toBeLessThan(0.005);
    expect(chances(learner, "pt,x)/")[1]).toBeCloseTo(0.5, 1);
    expect(learner.observations).toBe(200);
  });

  it("stays within its memory, and keeps what is looked up often", () => {
    const learner = learnerOf({ memoryBytes: 100_000 });
    for (let i = 0; i < 20_000; i++) {
      learner.observe({ archive: "a", surt: `org,host${i})/a`, mementos: 0 });
      learner.observe({ archive: "a", surt: `com,often)/${i}`, mementos: 1 });
    }
    const bytes = learner.counts.data.byteLength + learner.answers.data.byteLength;
    expect(bytes).toBeLessThan(100_000);
    expect(chances(learner, "com,often)/new")[0]).toBeGreaterThan(0.8);
  });

  it("forgets slowly", () => {
    let now = NOW;
    const learner = learnerOf({ now: () => now });
    for (let i = 0; i < 20; i++) {
      learner.observe({ archive: "a", surt: `com,x)/${i}`, mementos: 1 });
    }
    const [before] = chances(learner, "com,x)/new");
    now += 1800 * 86_400_000;
    for (let i = 20; i < 24; i++) {
      learner.observe({ archive: "a", surt: `com,x)/${i}`, mementos: 0 });
    }
    const [after] = chances(learner, "com,x)/new");
    expect(before).toBeGreaterThan(0.8);
    expect(after).toBeLessThan(0.3);
  });

  it("takes hints: a probability, and what an archive collects, until it knows better", () => {
    const hinted = [
      { id: "likely", probability: 0.6 },
      { id: "national", scope: ["pt,", "com,sapo)/noticias/"] },
      { id: "small", scope: ["pt,"], probability: 0.01 },
      { id: "other" },
    ];
    const learner = new Learner(hinted, { memoryBytes: 2 ** 20, now: () => NOW });
    learner.look("pt,example)/a");
    expect(learner.chanceOf(0)).toBeCloseTo(0.6, 2);
    expect(learner.chanceOf(1)).toBeGreaterThan(0.2);
    expect(learner.chanceOf(2)).toBeGreaterThan(learner.chanceOf(3));
    learner.look("com,sapo)/noticias/1");
    expect(learner.chanceOf(1)).toBeGreaterThan(0.2);
    learner.look("com,sapo)/desporto/1");
    expect(learner.chanceOf(1)).toBeLessThan(0.01);
    const nothing = "no history yet; based on the archive list only";
    expect(reasonOf(learner, "pt,example)/a", 2)).toBe(nothing);
    expect(reasonOf(learner, "com,example)/a", 2)).toBe(nothing);
    for (let i = 0; i < 3; i++) {
      learner.observe({ archive: "small", surt: `pt,x${i})/`, mementos: i });
    }
    expect(reasonOf(learner, "pt,example)/a", 2)).toBe("2 of 3 lookups under pt found anything");
    expect(reasonOf(learner, "com,example)/a", 2)).toBe("2 of 3 lookups found anything");
  });
});

function reasonOf(learner: Learner, surt: string, archive = 0): string {
  learner.look(surt);
  return learner.explain(archive);
}
