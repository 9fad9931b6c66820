import { describe, expect, it } from "vitest";
import { hintsOf } from "../../../src/aggregate/learn/hints.ts";
import { Learner } from "../../../src/aggregate/learn/learner.ts";
import { learningReport } from "../../../src/aggregate/learn/learning-report.ts";
import {
  replaceLearntArchives,
  restoreSnapshot,
  snapshotInSlices,
  snapshotOf,
} from "../../../src/aggregate/learn/snapshot.ts";

const encoder = new TextEncoder();

function chanceOf(learner: Learner, id: string, surt: string): number {
  learner.look(encoder.encode(surt));
  return learner.chanceOf(learner.numberOf(id));
}

/** Both archives were asked often: `good` has all, `poor` nothing. */
function learnt(): Learner {
  const learner = new Learner([{ id: "good" }, { id: "poor" }], {
    recall: 0.9,
    memoryBytes: 2 ** 20,
    now: () => 1.7e12,
    random: () => 0.999,
  });
  for (let i = 0; i < 400; i++) {
    const surt = `org,example)/${i % 7}/${i}`;
    learner.look(encoder.encode(surt));
    learner.begin();
    for (const id of ["good", "poor"]) {
      if (!learner.decide(learner.numberOf(id)).isAsked) continue;
      learner.observe({ archive: id, surt, mementos: id === "good" ? 1 : 0 });
    }
  }
  return learner;
}

describe("replaceLearntArchives", () => {
  it("keeps what is known of archives that stay; others begin with their hints, or go", async () => {
    const learner = learnt();
    const before = chanceOf(learner, "poor", "org,example)/1/new");
    const list = [{ id: "new", scope: ["pt,"], probability: 0.7 }, { id: "poor" }, { id: "good" }];
    await replaceLearntArchives(learner, list.map(hintsOf), async () => undefined);
    expect(learner.archives.map(({ id }) => id)).toEqual(["new", "poor", "good"]);
    expect(chanceOf(learner, "poor", "org,example)/1/new")).toBeCloseTo(before, 12);
    expect(chanceOf(learner, "new", "pt,example)/")).toBeGreaterThan(0.3);
    expect(chanceOf(learner, "new", "com,example)/")).toBeLessThan(0.01);
    chanceOf(learner, "poor", "org,example)/1/new");
    expect(learner.preview(1).isAsked).toBe(false);
    expect(learner.preview(2).isAsked).toBe(true);
  });

  it("keeps what is known of archives that leave and come back, also after a restart", async () => {
    const learner = learnt();
    const [good, poor] = ["good", "poor"].map((id) => chanceOf(learner, id, "org,example)/1/new"));
    const list = [{ id: "good" }, { id: "poor" }];
    await replaceLearntArchives(learner, [{ id: "poor" }], async () => undefined);
    expect(learningReport(learner).archives.map(({ id }) => id)).toEqual(["poor"]);
    const again = new Learner([{ id: "poor" }], learner.options);
    restoreSnapshot(again, snapshotOf(learner), "test");
    expect(learningReport(again).archives.map(({ id }) => id)).toEqual(["poor"]);
    for (const each of [learner, again]) {
      await replaceLearntArchives(each, list, async () => undefined);
      expect(each.archives).toEqual(list);
      expect(chanceOf(each, "good", "org,example)/1/new")).toBeCloseTo(good ?? 0, 12);
      expect(chanceOf(each, "poor", "org,example)/1/new")).toBeCloseTo(poor ?? 0, 12);
    }
  });

  it("forgets archives that left long before others", async () => {
    const learner = learnt();
    for (let i = 0; i < 6; i++) {
      await replaceLearntArchives(learner, [{ id: `a${i}` }], async () => undefined);
    }
    expect(learner.archives.map(({ id }) => id)).toEqual(["a5", "a4", "a3", "a2", "a1"]);
  });

  it("asks a new archive until something is known of it, and then goes by that", async () => {
    const learner = learnt();
    const list = [{ id: "good" }, { id: "poor" }, { id: "new" }];
    await replaceLearntArchives(learner, list, async () => undefined);
    let [asked, first] = [0, 0];
    for (let i = 0; i < 300; i++) {
      const surt = `org,other)/${i % 5}/${i}`;
      learner.look(encoder.encode(surt));
      learner.begin();
      const decision = learner.decide(2);
      if (decision.isAsked && decision.propensity === 1 && i < 30) first++;
      if (decision.isAsked) learner.observe({ archive: "new", surt, mementos: 1, ...decision });
      if (decision.isAsked) asked++;
    }
    expect(first).toBe(30);
    expect(asked).toBeGreaterThan(200);
    expect(chanceOf(learner, "new", "org,other)/1/x")).toBeGreaterThan(0.8);
  });

  it("loses no answer that comes meanwhile, and decides as before", async () => {
    const learner = learnt();
    const before = learner.observations;
    let pauses = 0;
    await replaceLearntArchives(learner, [{ id: "poor" }, { id: "new" }], async () => {
      pauses++;
      expect(learner.numberOf("good")).toBe(0);
      learner.observe({ archive: "new", surt: `com,x)/${pauses}`, mementos: 1 });
    });
    expect(pauses).toBeGreaterThan(0);
    expect(learner.observations).toBe(before + pauses);
    expect(chanceOf(learner, "new", "com,x)/other")).toBeGreaterThan(0.1);
  });

  it("does nothing for the same list", async () => {
    const learner = learnt();
    const before = snapshotOf(learner);
    const { evidence } = learner;
    await replaceLearntArchives(learner, [{ id: "good" }, { id: "poor" }], async () => undefined);
    expect(learner.evidence).toBe(evidence);
    expect(snapshotOf(learner)).toEqual(before);
  });
});

describe("snapshotInSlices", () => {
  const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it("is of one moment, and loses no answer that comes meanwhile", async () => {
    const learner = learnt();
    const before = learner.observations;
    const expected = snapshotOf(learner);
    let pauses = 0;
    const slices = await snapshotInSlices(learner, async () => {
      pauses++;
      learner.observe({ archive: "good", surt: `com,x)/${pauses}`, mementos: 1 });
      await nextTurn();
    });
    expect(pauses).toBeGreaterThan(10);
    expect(Buffer.compare(slices, expected)).toBe(0);
    expect(learner.observations).toBe(before + pauses);
  });

  it("may be made while other archives are taken", async () => {
    const learner = learnt();
    const before = learner.observations;
    const making = snapshotInSlices(learner, nextTurn);
    const replacing = replaceLearntArchives(learner, [{ id: "poor" }, { id: "new" }], nextTurn);
    learner.observe({ archive: "poor", surt: "com,x)/", mementos: 0 });
    const bytes = await making;
    learner.observe({ archive: "poor", surt: "com,x)/y", mementos: 0 });
    await replacing;
    expect(learner.archives).toEqual([{ id: "poor" }, { id: "new" }, { id: "good", isGone: true }]);
    expect(learner.observations).toBe(before + 2);
    const copy = new Learner([{ id: "good" }, { id: "poor" }], learner.options);
    restoreSnapshot(copy, bytes, "snapshot");
    expect(copy.observations).toBe(before);
  });
});
