// What learning costs: time for a decision about twenty archives and for an answer, and memory after
// ten million lookups.
//
//   npx tsx --expose-gc bench/learn.ts [LOOKUPS]
//
// Lookups are of a million hosts, some far more often than others, 60 % of them new pages.
import { Learner, type LearntDecision, type Observation } from "../src/aggregate/learn/learner.ts";
import { snapshotOf } from "../src/aggregate/learn/snapshot.ts";
import { Random } from "../src/bytes/random.ts";
import { machine } from "./machine.ts";
import { markdownTable } from "./markdown-table.ts";

const ARCHIVES = 20;
/** Lookups whose answers are waited for: 1,000 a second, of archives that take 100 ms. */
const UNDER_WAY = 100;
const LOOKUPS = Number(process.argv[2] ?? 1_000_000);
const random = new Random(1, "learn");

function surtOf(): string {
  const host = Math.floor(1e6 * random.real() ** 6);
  const page = random.chance(0.6) ? random.below(1e9) : random.below(20);
  return `com,host${host})/folder${page % 9}/sub${page % 31}/${page}`;
}

/** An archive holds some hosts, and half of their folders. */
function holds(archive: number, surt: string): boolean {
  const [, host = "0", folder = "0"] = /host(\d+)\)\/folder(\d+)/.exec(surt) ?? [];
  return (Number(host) * (archive + 3)) % 20 === 0 && (Number(folder) + archive) % 2 === 0;
}

globalThis.gc?.();
const before = process.memoryUsage();
const learner = new Learner(
  Array.from({ length: ARCHIVES }, (_, i) => ({ id: `archive${i}` })),
  { recall: 0.98, random: () => random.real(), now: () => 1.7e12 },
);
let [deciding, observing, answers] = [0, 0, 0];
// As a router does it: some lookups are in flight.
for (let done = 0; done < LOOKUPS; done += UNDER_WAY) {
  const surts = Array.from({ length: UNDER_WAY }, surtOf);
  const decisions: LearntDecision[][] = [];
  const start = process.cpuUsage();
  for (const surt of surts) {
    learner.look(surt);
    learner.begin();
    const own: LearntDecision[] = [];
    for (let archive = 0; archive < ARCHIVES; archive++) own.push(learner.decide(archive));
    decisions.push(own);
  }
  deciding += process.cpuUsage(start).user;
  const observations: Observation[] = [];
  for (const [i, surt] of surts.entries()) {
    for (const [archive, { isAsked, ...decision }] of decisions[i].entries()) {
      if (!isAsked) continue;
      const mementos = holds(archive, surt) ? 2 : 0;
      observations.push({ archive: `archive${archive}`, surt, mementos, ...decision });
    }
  }
  const middle = process.cpuUsage();
  for (const observation of observations) learner.observe(observation);
  observing += process.cpuUsage(middle).user;
  answers += observations.length;
}
globalThis.gc?.();
const after = process.memoryUsage();
const grown =
  (after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers) / 2 ** 20;
console.log(machine());
console.log(
  markdownTable(
    ["what", "figure"],
    [
      ["lookups", String(LOOKUPS)],
      [`decision, ${ARCHIVES} archives`, `${(deciding / LOOKUPS).toFixed(2)} µs`],
      ["answer", `${(observing / answers).toFixed(2)} µs`],
      ["answers a lookup", (answers / LOOKUPS).toFixed(2)],
      ["memory", `${grown.toFixed(1)} MiB`],
      ["prefixes and originals", `${learner.counts.keys.length} ${learner.answers.keys.length}`],
      ["snapshot", `${(snapshotOf(learner).length / 2 ** 20).toFixed(1)} MiB`],
    ],
  ),
);
