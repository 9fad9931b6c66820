import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openLearner } from "../../../src/aggregate/learn/kept-learner.ts";
import { Learner } from "../../../src/aggregate/learn/learner.ts";
import { learningReport } from "../../../src/aggregate/learn/learning-report.ts";
import { type Decision, decisionJson, isSample } from "../../../src/aggregate/route/decision.ts";
import { Random } from "../../../src/bytes/random.ts";
import type { MapRouter } from "../../../src/aggregate/route/map-router.ts";
import { archivesOf, routerOf, shown } from "../route/routing.ts";
import { runCli } from "../../support/run-cli.ts";
import { scratchDir } from "../../support/scratch.ts";

const archives = archivesOf({ good: {}, poor: {}, mapped: {} });
const MAPS = { mapped: "org,held)/* 40/10\norg,held)/exact 3\n" };

/** An earlier answer with two mementos of one archive. */
const GIVEN = { mementos: 2, archives: 1, isBeingReplaced: false };

function givenBy(archives: number): typeof GIVEN {
  return { ...GIVEN, mementos: archives, archives };
}

function learnerOf(random: () => number): Learner {
  return new Learner(archives, { recall: 0.9, memoryBytes: 2 ** 20, random, now: () => 1.7e12 });
}

function idOf({ archive }: Decision): string {
  return archive.id;
}

/** Lookups of many pages of which `good` has all, and `poor` none. */
function look(router: MapRouter, count: number): void {
  for (let i = 0; i < count; i++) {
    const uri = `http://example.org/${i % 7}/${i}`;
    for (const decision of router.route({ uri })) {
      if (decision.isAsked) router.learn(decision, uri, idOf(decision) === "good", 2);
    }
  }
}

describe("a router that learns", () => {
  it("spares archives that never have anything, says why, and leaves maps their say", async () => {
    const learner = learnerOf(() => 0.999);
    const router = await routerOf(archives, MAPS, { learner });
    expect(shown(router.route({ uri: "http://example.org/" }))).toBe(
      "+good likely, +poor likely, -mapped not-in-map",
    );
    look(router, 400);
    const decisions = router.route({ uri: "http://example.org/1/new" });
    expect(shown(decisions)).toBe("+good likely, -poor unlikely, -mapped not-in-map");
    const poor = decisions.find((decision) => idOf(decision) === "poor");
    expect(poor?.why).toMatch(/^0 of \d+ lookups under org,example\)\/1 found anything$/);
    expect(poor === undefined ? {} : decisionJson(poor)).toMatchObject({ why: poor?.why });
    const exact = router.route({ uri: "http://held.org/exact" });
    expect(exact.find((decision) => idOf(decision) === "mapped")?.reason).toBe("in-map");
    const { promised, lookups, hits, spared } = learningReport(learner);
    expect(promised).toBe(0.9);
    expect(lookups).toBeGreaterThan(400);
    expect(hits?.high).toBe(1);
    expect(spared.map((part) => part.lookups)).toEqual([100, 200]);
  });

  it("shows what it would do, which counts as no lookup", async () => {
    const learner = learnerOf(() => 0.999);
    const router = await routerOf(archives, MAPS, { learner });
    look(router, 400);
    const before = learningReport(learner);
    const uri = "http://example.org/1/new";
    for (let i = 0; i < 200; i++) {
      const decisions = router.route({ uri, isPreview: true });
      expect(shown(decisions)).toBe("+good likely, -poor unlikely, -mapped not-in-map");
    }
    expect(learningReport(learner)).toEqual(before);
  });

  it("counts answers that are given again, and asks for what they lack", async () => {
    let drawn = 0.999;
    const learner = learnerOf(() => drawn);
    const router = await routerOf(archives, MAPS, { learner });
    look(router, 400);
    const request = { uri: "http://example.org/1/new" };
    const state = (): unknown => structuredClone([learner.policy.state, learner.policy.lookups]);
    const before = state();
    expect(router.repeat(request, GIVEN)).toBeUndefined(); // good has not answered for it
    expect(state()).toEqual(before);
    for (const decision of router.route(request)) {
      if (decision.isAsked) router.learn(decision, request.uri, true, 2);
    }
    const { measured } = learner.policy;
    const [hits, mementos] = [measured[0], measured[4]];
    const { lookups } = learner.policy;
    expect(router.repeat(request, GIVEN)).toEqual([]);
    expect(measured[0]).toBe(hits + 1);
    expect(measured[4]).toBe(mementos + 2);
    expect(learner.policy.lookups).toBe(lookups + 1);
    expect(learner.policy.seen.reduce((sum, seen) => sum + seen)).toBeGreaterThan(0);
    // An answer that has nothing of good lacks it. It is given until a new one is there.
    expect(router.repeat(request, givenBy(0))).toBeUndefined();
    expect(router.repeat(request, { ...givenBy(0), isBeingReplaced: true })).toEqual([]);
    expect(measured[0]).toBe(hits + 1);
    drawn = 0;
    expect(shown(router.repeat(request, GIVEN) ?? [])).toBe("+poor explored");
    drawn = 0.999;
    // What is asked for as often is asked of every archive once.
    const given = Array.from({ length: 10 }, () => router.repeat(request, GIVEN) !== undefined);
    expect(given.indexOf(false)).toBeGreaterThan(2);
    expect(shown(router.route(request))).toContain("+poor to-learn");
  });

  it("keeps its promise where most lookups are answered again", { timeout: 60_000 }, async () => {
    // Home pages of which all is known are asked for all the time. Other pages are new, held at random, and each is
    // asked for ten times within a minute: what the first answer lacks, nine more lack.
    const rates = { a: 0.3, b: 0.1, c: 0.04, d: 0.02, e: 0.01, f: 0.005 };
    const random = new Random(3, "burst");
    const list = archivesOf({ a: {}, b: {}, c: {}, d: {}, e: {}, f: {} });
    const learner = new Learner(list, {
      recall: 0.95,
      memoryBytes: 2 ** 22,
      random: () => random.real(),
      now: () => 1.7e12,
    });
    const router = await routerOf(list, {}, { learner });
    let [kept, all, repeats] = [0, 0, 0];
    const lookUp = (uri: string, held: ReadonlySet<string>, times: number): void => {
      const given = new Set<string>();
      let isOutdated = true;
      for (let time = 0; time < times; time++) {
        const samples = isOutdated ? undefined : router.repeat({ uri }, givenBy(given.size));
        if (samples === undefined) given.clear();
        else repeats++;
        isOutdated = false;
        for (const decision of samples ?? router.route({ uri })) {
          if (!decision.isAsked) break;
          const isHit = held.has(idOf(decision));
          router.learn(decision, uri, isHit);
          if (isHit && isSample(decision)) isOutdated = true;
          else if (isHit) given.add(idOf(decision));
        }
        all += held.size;
        kept += given.size;
      }
    };
    const everywhere = new Set(Object.keys(rates));
    for (let i = 0; i < 3000; i++) {
      if (i === 1000) kept = all = 0;
      lookUp(`http://host${i % 20}.org/`, everywhere, 1);
      const held = Object.entries(rates).flatMap(([id, rate]) =>
        random.real() < rate ? [id] : [],
      );
      lookUp(`http://host${20 + random.below(40)}.org/${i}`, new Set(held), 10);
    }
    expect(repeats).toBeGreaterThan(15_000);
    expect(kept / all).toBeGreaterThan(0.94);
    const measured = learningReport(learner).hits;
    expect(measured?.low).toBeLessThan(kept / all);
    expect(measured?.high).toBeGreaterThan(kept / all);
  });

  it("explores, and answers do not wait for that", async () => {
    const learner = learnerOf(() => 0);
    const router = await routerOf(archives, MAPS, { learner });
    look(router, 400);
    const decisions = router.route({ uri: "http://example.org/1/new" });
    expect(shown(decisions)).toContain("+poor explored");
    const few = router.route({ uri: "http://example.org/1/new", topK: 1 });
    expect(shown(few)).toContain("-poor unlikely");
  });

  it("learns from logs what `route` then shows", async () => {
    const folder = scratchDir();
    const [list, log] = [join(folder, "archives.json"), join(folder, "memgator.log")];
    writeFileSync(list, JSON.stringify(archives));
    const lines = Array.from({ length: 300 }, (_, i) => [
      `INFO: 2016/06/09 12:00:00 Aggregating Mementos for http://example.org/${i % 5}/${i}`,
      "INFO: 2016/06/09 12:00:00 good => Success: 2 mementos",
      "INFO: 2016/06/09 12:00:00 poor => Response error: 404 Not Found",
    ]);
    writeFileSync(log, `${lines.flat().join("\n")}\n`);
    const args = ["route", "example.org/1/x", "--archives", list, "--learn-from", log];
    const { stdout, code } = await runCli([...args, "--recall", "0.9", "--only", "poor"]);
    expect(stdout).toContain("skip  poor");
    expect(stdout).toMatch(/poor: 0 of \d+ lookups under org,example\)\/1 found anything/);
    expect(code).toBe(1);
    const asked = await runCli([...args, "--recall", "0.9", "--only", "good", "--json"]);
    expect(JSON.parse(asked.stdout).archives[0]).toMatchObject({ id: "good", asked: true });
  });

  it("counts the lookups of a log, also of those that were under way at the same time", async () => {
    const log = join(scratchDir(), "memgator.log");
    const line = (text: string): string => `INFO: 2016/06/09 12:00:00 ${text}`;
    const pairs = Array.from({ length: 50 }, (_, i) => [
      line(`Aggregating Mementos for http://example.org/${i}`),
      line("good => Success: 2 mementos"),
      line(`Aggregating Mementos for http://example.net/${i}`),
      line("poor => Response error: 404 Not Found"),
      line("good => Response error: 404 Not Found"),
      line("poor => Response error: 404 Not Found"),
    ]);
    writeFileSync(log, `${pairs.flat().join("\n")}\n`);
    const { learner } = await openLearner(archives, { recall: 0.9, logs: [log] });
    expect(learner.policy.lookups).toBe(100);
  });

  it("names the file that it cannot save", async () => {
    const folder = join(scratchDir(), "state");
    mkdirSync(folder);
    const file = join(folder, "learnt.bin");
    const faults: string[] = [];
    const kept = await openLearner(archives, {
      recall: 0.9,
      memoryBytes: 2 ** 18,
      file,
      onFault: (message, reason) => faults.push(`${message}: ${reason}`),
    });
    rmSync(folder, { recursive: true });
    kept.learner.observe({ archive: "good", surt: "org,example)/", mementos: 1 });
    await kept.save();
    expect(faults).toEqual([
      expect.stringMatching(/^what was learnt is not saved: .*learnt\.bin: .* \[MM_IO\]$/),
    ]);
    mkdirSync(folder);
    await kept.close();
    expect(existsSync(file)).toBe(true);
  });
});
