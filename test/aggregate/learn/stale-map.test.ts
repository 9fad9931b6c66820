import { describe, expect, it } from "vitest";
import { Learner } from "../../../src/aggregate/learn/learner.ts";
import type { StaleMap } from "../../../src/aggregate/learn/map-trust.ts";
import { restoreSnapshot, snapshotOf } from "../../../src/aggregate/learn/snapshot.ts";
import type { MapRouter } from "../../../src/aggregate/route/map-router.ts";
import { archivesOf, routerOf, shown } from "../route/routing.ts";

const archives = archivesOf({ mapped: {} });
const MAP = "org,held)/* 40/10\norg,held)/exact 3\norg,held)/gone/* 9/9\n";
const NOW = 1.7e12;

function learnerOf(onStaleMap?: (archive: string, stale: StaleMap) => void): Learner {
  const options = { recall: 0.9, memoryBytes: 2 ** 20, random: () => 0, now: () => NOW };
  return new Learner(archives, { ...options, onStaleMap });
}

/** Routes a URI and answers as `isHeld` says. */
function ask(router: MapRouter, uri: string, isHeld: boolean): string {
  const decisions = router.route({ uri });
  for (const decision of decisions) {
    if (decision.isAsked) router.learn(decision, uri, isHeld, 1);
  }
  return shown(decisions);
}

describe("a map that answers contradict", () => {
  it("is stale once it misses too much of what the archive has; then the learner decides", async () => {
    const noticed: [string, StaleMap][] = [];
    const learner = learnerOf((...stale) => noticed.push(stale));
    const router = await routerOf(
      archives,
      { mapped: MAP },
      {
        learner,
        random: () => 0,
        sampleShare: 0.01,
      },
    );
    for (let i = 0; i < 20; i++) ask(router, `http://held.org/${i}`, true);
    const said = ["1", "2?q=private", "3"].map((path) =>
      ask(router, `http://new.org/${path}`, true),
    );
    expect(said).toEqual(["+mapped sampled", "+mapped sampled", "+mapped sampled"]);
    expect(noticed).toHaveLength(1);
    const [archive, stale] = noticed[0] ?? [];
    expect(archive).toBe("mapped");
    expect(stale).toMatchObject({ kind: "missing", since: NOW, example: "org,new)/3" });
    expect(stale?.share).toBeGreaterThan(0.05);
    expect(ask(router, "http://new.org/4", true)).toBe("+mapped likely");
    // It outlives a restart, but not a new map.
    const again = learnerOf();
    restoreSnapshot(again, snapshotOf(learner), "test");
    const other = await routerOf(archives, { mapped: MAP }, { learner: again, random: () => 1 });
    expect(again.maps.staleOf("mapped")).toEqual(stale);
    expect(ask(other, "http://new.org/5", true)).toBe("+mapped likely");
    const fresh = await routerOf(
      archives,
      { mapped: `${MAP}org,new)/* 9/9\n` },
      { learner: again, random: () => 1 },
    );
    expect(again.maps.staleOf("mapped")).toBeUndefined();
    expect(ask(fresh, "http://elsewhere.org/", true)).toBe("-mapped not-in-map");
  });

  it("is believed if few hits of many are missing", async () => {
    const learner = learnerOf();
    const options = { learner, random: () => 0, sampleShare: 1 };
    const router = await routerOf(archives, { mapped: MAP }, options);
    for (let i = 0; i < 400; i++) ask(router, `http://held.org/${i}`, true);
    for (let i = 0; i < 8; i++) ask(router, `http://new.org/${i}`, true);
    for (let i = 0; i < 400; i++) ask(router, `http://none.org/${i}`, false);
    expect(learner.maps.staleOf("mapped")).toBeUndefined();
  });

  it("is stale if most of the keys that it lists are gone; wildcards promise nothing", async () => {
    const learner = learnerOf();
    const listed = Array.from({ length: 60 }, (_, i) => `org,listed)/${100 + i} 3\n`).join("");
    const router = await routerOf(archives, { mapped: MAP + listed }, { learner, random: () => 1 });
    for (let i = 0; i < 200; i++) ask(router, `http://held.org/gone/${i}`, false);
    for (let i = 0; i < 19; i++) ask(router, `http://listed.org/${100 + i}`, false);
    expect(learner.maps.staleOf("mapped")).toBeUndefined();
    for (let i = 19; i < 30; i++) ask(router, `http://listed.org/${100 + i}`, false);
    expect(learner.maps.staleOf("mapped")).toMatchObject({
      kind: "gone",
      example: "org,listed)/119",
    });
  });

  it("is believed whatever is asked again and again: an original counts once", async () => {
    const learner = learnerOf();
    const router = await routerOf(archives, { mapped: MAP }, { learner, random: () => 1 });
    for (let i = 0; i < 60; i++) ask(router, "http://held.org/exact", false);
    expect(learner.maps.staleOf("mapped")).toBeUndefined();
  });

  it("lists a page, and not what the page has with other queries", async () => {
    const listed = Array.from({ length: 60 }, (_, i) => `org,listed)/${100 + i} 3\n`).join("");
    const stale = async (map: string): Promise<StaleMap | undefined> => {
      const learner = learnerOf();
      const router = await routerOf(archives, { mapped: map }, { learner, random: () => 1 });
      for (let i = 0; i < 60; i++) ask(router, `http://listed.org/${100 + i}?q=${i}`, false);
      return learner.maps.staleOf("mapped");
    };
    expect(await stale(listed)).toBeUndefined();
    const withQueries = listed.replace(
      /(\d{3}) 3/g,
      (_, page: string) => `${page}?q=${Number(page) - 100} 3`,
    );
    const fields = '!fields {"keys":["surt"],"values":["frequency"],"queries":true}\n';
    expect(await stale(fields + withQueries)).toMatchObject({ kind: "gone" });
  });
});
