/**
 * Runs the learner of a source tree on sets of lookups, and prints a JSON line for each.
 *
 *     npx tsx bench/learn/run-world.ts TREE SET:SEED:RECALL...
 */
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { readWorld, type SetName, worldFile } from "./worlds.ts";

/** Figures count from this many different originals on; after a change from the change on. */
const FROM = 50_000;
/** An archive with fewer hits has no recall to speak of. */
const FEWEST_HITS = 50;

/** What a learner did on a set. */
export interface WorldResult {
  readonly run: string;
  /** Of requests, from 50,000 originals or the change on. */
  readonly spared: number;
  /** Of hits, from there on, and from the first lookup on. */
  readonly recall: number;
  readonly coldRecall: number;
  /** The lowest recall, of hits, in any 5,000 lookups. */
  readonly worstRecall: number;
  /** Over archives. */
  readonly meanRecall: number;
  readonly lowestRecall: number;
  /** Microseconds for each lookup, its decisions and what is learnt. */
  readonly micros: number;
}

const [tree, ...runs] = process.argv.slice(2);
const from = async <T>(path: string): Promise<T> =>
  (await import(pathToFileURL(resolve(join(tree, "src", path))).href)) as T;
const { Learner } = await from<typeof import("../../src/aggregate/learn/learner.ts")>(
  "aggregate/learn/learner.ts",
);
const { Random } = await from<typeof import("../../src/bytes/random.ts")>("bytes/random.ts");

for (const run of runs) {
  const [set, seed, recall] = run.split(":");
  const path = await worldFile(set as SetName, Number(seed));
  console.log(JSON.stringify(runWorld(run, path, Number(seed), Number(recall))));
}

function runWorld(run: string, path: string, seed: number, recall: number): WorldResult {
  const world = readWorld(path);
  const { archives, originals, lookups, times, changeAt, memoryBytes } = world;
  const random = new Random(seed, run);
  let now = times[0];
  const learner = new Learner(
    archives.map((id) => ({ id })),
    { recall, memoryBytes, random: () => random.real(), now: () => now },
  );

  const seen = new Uint8Array(originals.length);
  const hits = archives.map(() => 0);
  const kept = archives.map(() => 0);
  let [distinct, made, possible, coldHits, coldKept] = [0, 0, 0, 0, 0];
  let [windowHits, windowKept, worstRecall] = [0, 0, 1];
  const start = process.cpuUsage();
  for (const [i, place] of lookups.entries()) {
    now = times[i];
    if (seen[place] === 0) distinct++;
    seen[place] = 1;
    const isCounted = changeAt === undefined ? distinct > FROM : i >= changeAt;
    const held = changeAt !== undefined && i >= changeAt ? (world.heldLater ?? []) : world.held;
    learner.look(originals[place]);
    learner.begin();
    const decisions = archives.map((_, archive) => learner.decide(archive));
    for (const [archive, id] of archives.entries()) {
      const { isAsked, propensity } = decisions[archive];
      const mementos = held[archive][place];
      const isKept = isAsked && propensity >= 1;
      if (mementos > 0) {
        coldHits++;
        windowHits++;
        if (isKept) coldKept++;
        if (isKept) windowKept++;
      }
      if (isCounted) {
        possible++;
        if (isAsked) made++;
        if (mementos > 0) hits[archive]++;
        if (mementos > 0 && isKept) kept[archive]++;
      }
      if (!isAsked) continue;
      learner.observe({ archive: id, surt: originals[place], mementos, ...decisions[archive] });
    }
    if (i % 5000 !== 4999) continue;
    worstRecall = Math.min(worstRecall, windowKept / windowHits);
    windowHits = windowKept = 0;
  }
  const micros = process.cpuUsage(start).user / lookups.length;
  const recalls = archives.flatMap((_, archive) =>
    hits[archive] < FEWEST_HITS ? [] : [kept[archive] / hits[archive]],
  );
  return {
    run,
    spared: 1 - made / possible,
    recall: sum(kept) / sum(hits),
    coldRecall: coldKept / coldHits,
    worstRecall,
    meanRecall: sum(recalls) / recalls.length,
    lowestRecall: Math.min(...recalls),
    micros,
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => a + b, 0);
}
