import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openLearner } from "../../../src/aggregate/learn/store.ts";
import { Learner } from "../../../src/aggregate/learn/learner.ts";
import { type Decision, decisionJson } from "../../../src/aggregate/route/decision.ts";
import type { MapRouter } from "../../../src/aggregate/route/map-router.ts";
import { archivesOf, routerOf, shown } from "../route/routing.ts";
import { runCli } from "../../support/run-cli.ts";
import { scratchDir } from "../../support/scratch.ts";

const archives = archivesOf({ good: {}, poor: {}, mapped: {} });
const MAPS = { mapped: "org,held)/* 40/10\norg,held)/exact 3\n" };

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
    const { promised, lookups, hits, spared } = learner.report();
    expect(promised).toBe(0.9);
    expect(lookups).toBeGreaterThan(400);
    expect(hits?.high).toBe(1);
    expect(spared.map((part) => part.lookups)).toEqual([100, 200]);
  });

  it("shows what it would do, which counts as no lookup", async () => {
    const learner = learnerOf(() => 0.999);
    const router = await routerOf(archives, MAPS, { learner });
    look(router, 400);
    const before = learner.report();
    const uri = "http://example.org/1/new";
    for (let i = 0; i < 200; i++) {
      const decisions = router.route({ uri, isPreview: true });
      expect(shown(decisions)).toBe("+good likely, -poor unlikely, -mapped not-in-map");
    }
    expect(learner.report()).toEqual(before);
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
    await kept.close();
    expect(faults).toEqual([
      expect.stringMatching(/^the learnt state cannot be saved: .*learnt\.bin: .* \[MM_IO\]$/),
    ]);
    mkdirSync(folder);
    await kept.close();
    expect(existsSync(file)).toBe(true);
  });
});
