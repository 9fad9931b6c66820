import { describe, expect, it } from "vitest";
import { Learner } from "../../../src/aggregate/learn/learner.ts";
import { takeLearntMap } from "../../../src/aggregate/learn/shared-map.ts";
import { restoreSnapshot, snapshotOf } from "../../../src/aggregate/learn/snapshot.ts";
import { MemoryIndex } from "../../../src/lookup/memory-index.ts";

/** The form of docs/learning.md. */
const MAP = mapOf(
  '{"sample":true,"misses":{"org,empty,*":4000}}',
  `* 200+/200~ {"lookups":4400}
org,empty)/* 0 {"lookups":4000}
org,held)/* 200+/200~ {"lookups":400}
org,held)/news/* 200+/200~ {"lookups":400}`,
);

function mapOf(meta: string, rows: string): MemoryIndex {
  return MemoryIndex.build(new TextEncoder().encode(`!meta ${meta}\n${rows}\n`));
}

describe("a map of what others learnt", () => {
  it("is where a learner begins, once, and what it sees itself outweighs it", () => {
    const learner = learnerOf();
    const nothing = chanceOf(learner, "org,held)/news/new");
    const source = "https://first.example/maps/a";
    expect(takeLearntMap(learner, "a", MAP, source)).toBe(5);
    expect(chanceOf(learner, "org,held)/news/new")).toBeGreaterThan(5 * nothing);
    expect(chanceOf(learner, "org,empty)/x/new")).toBeLessThan(nothing / 5);
    expect(learner.explain(0)).toMatch(/^0 of \d+ lookups under org,empty\)/);
    const again = learnerOf();
    restoreSnapshot(again, snapshotOf(learner), "snapshot");
    for (const each of [learner, again]) {
      const before = chanceOf(each, "org,empty)/x/new");
      expect(takeLearntMap(each, "a", MAP, source)).toBe(0);
      expect(chanceOf(each, "org,empty)/x/new")).toBe(before);
    }
    // The archive has it by now.
    for (let i = 0; i < 150; i++) {
      learner.observe({ archive: "a", surt: `org,empty)/x/new${i}`, mementos: 3 });
    }
    expect(chanceOf(learner, "org,empty)/x/last")).toBeGreaterThan(0.4);
  });

  it.each([
    ["{}", 'org,x)/* 4 {"lookups":9}', 0],
    ['{"sample":true}', "org,x)/* 4", 0],
    ['{"sample":true}', 'org,x)/* 4 {"lookups":-9}', 0],
    ['{"sample":true}', 'org,x)/a 4 {"lookups":9}', 0],
    ['{"sample":true}', 'org,x)/* / {"lookups":9}', 0],
    ['{"sample":true,"misses":[1]}', 'org,x)/* 0 {"lookups":"9"}', 0],
    ['{"sample":true,"misses":{"com,*":9}}', "org,x)/* 4", 1],
    ['{"sample":true}', `org,x)/* 4 {"lookups":${Number.MAX_SAFE_INTEGER}}`, 1],
  ])("is taken if it is a sample that says what it rests on: %s %s", (meta, rows, taken) => {
    expect(takeLearntMap(learnerOf(), "a", mapOf(meta, rows), "x")).toBe(taken);
  });
});

function learnerOf(): Learner {
  const options = { memoryBytes: 2 ** 18, now: () => 1.7e12, random: () => 1 };
  return new Learner([{ id: "a" }, { id: "b" }], options);
}

function chanceOf(learner: Learner, key: string): number {
  learner.look(key);
  return learner.chanceOf(0);
}
