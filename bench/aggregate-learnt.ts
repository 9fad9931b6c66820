import { mkdir } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import {
  type Contestant,
  findMemGator,
  startMemGator,
  startOurs,
} from "./aggregate/contestants.ts";
import { startFleet } from "./aggregate/fleet-process.ts";
import { writeLookups } from "./aggregate/holdings.ts";
import { type LoadResult, runLoad } from "./aggregate/load-process.ts";
import { lookupStream } from "./aggregate/lookup-stream.ts";
import { cpuSeconds } from "./aggregate/process-usage.ts";
import { modelHoldings, PAPER_ARCHIVES } from "./aggregate/model-archive.ts";
import { surt } from "../src/surt/uri-to-surt.ts";
import { benchFolder } from "./bench-folder.ts";
import { machine } from "./machine.ts";
import { markdownTable } from "./markdown-table.ts";

/*
 * How fast is our aggregator once it has learnt which archives have what? Fourteen archives of 20 to 60
 * milliseconds with the hit rates of the paper's log and the holdings of `aggregate/model-archive.ts`, and
 * no maps. Ours learns from the first part of a stream of lookups, and answers the next part: as it is,
 * with its repeats, and then only originals that were not asked for before. MemGator gets a third of the same
 * lookups, which takes it longer. Both run all the time and get their lookups in turns, round by round:
 * machines are not as fast in one minute as in the next. See bench/README.md.
 */
const { values } = parseArgs({
  options: {
    recall: { type: "string", default: "0.98" },
    learn: { type: "string", default: "50000" },
    lookups: { type: "string", default: "20000" },
    rounds: { type: "string", default: "3" },
    clients: { type: "string", default: "50,500" },
    latency: { type: "string", default: "20-60" },
  },
});

const RATIO_GOAL = 8;
const ARCHIVES = PAPER_ARCHIVES.length;
const [leastMs = 0, mostMs = 0] = values.latency.split("-").map(Number);
const count = Number(values.lookups);
const rounds = Number(values.rounds);
/** MemGator gets one of so many lookups. */
const THEIR_PART = 3;
const recall = Number(values.recall);

interface Measured extends LoadResult {
  readonly upstream: number;
  readonly cpu: number;
  readonly harnessCpu: number;
}

const PARTS = ["as they come", "none asked for before"] as const;
type Part = (typeof PARTS)[number];
type Rounds = Record<Part, Measured[]>;

type Summed =
  | "requests"
  | "seconds"
  | "upstream"
  | "cpu"
  | "harnessCpu"
  | "failures"
  | "mementos"
  | "missedMementos";

/** All rounds as one: sums, and of latencies the median of the rounds. */
class Total {
  readonly #rounds: readonly Measured[];

  constructor(all: readonly Measured[]) {
    this.#rounds = all;
  }

  sum(of: Summed): number {
    return this.#rounds.reduce((total, round) => total + round[of], 0);
  }

  each(of: Summed): number {
    return this.sum(of) / this.sum("requests");
  }

  median(of: "p50" | "p99"): number {
    const sorted = this.#rounds.map((round) => round[of]).sort((a, b) => a - b);
    return sorted[sorted.length >> 1];
  }

  get perSecond(): number {
    return this.sum("requests") / this.sum("seconds");
  }

  /** The share of all mementos that were in the answers. */
  get kept(): number {
    return this.sum("mementos") / (this.sum("mementos") + this.sum("missedMementos"));
  }
}

console.log(`${machine()}\n`);
const folder = join(await benchFolder(), "aggregate-learnt");
await mkdir(folder, { recursive: true });
const stream = lookupStream();
const learnt = untilDifferent(stream.originals, Number(values.learn));
const next = stream.originals.slice(learnt.length, learnt.length + count * rounds);
const seen = new Set([...learnt, ...next]);
const unseen = new Set(
  stream.originals.slice(learnt.length + next.length).filter((original) => !seen.has(original)),
);
const fresh = [...unseen].slice(0, count * rounds);
const holdings = drawHoldings([...learnt, ...next, ...fresh]);
const models = PAPER_ARCHIVES.map(({ id }) => ({
  id,
  name: id,
  medianMs: 0,
  spread: 0,
  betweenMs: [leastMs, mostMs] as const,
  errors: 0,
  hangs: 0,
}));
const file = (name: string, originals: readonly string[]): Promise<string> =>
  writeLookups(join(folder, `${name}.tsv`), originals, models, holdings);
const learntFile = await file("learnt", learnt);
const files: Record<Part, string[]> = { "as they come": [], "none asked for before": [] };
for (let round = 0; round < rounds; round++) {
  const [start, end] = [round * count, (round + 1) * count];
  files["as they come"].push(await file(`next-${round}`, next.slice(start, end)));
  files["none asked for before"].push(await file(`fresh-${round}`, fresh.slice(start, end)));
}
console.log(
  `${learnt.length} lookups to learn from (${new Set(learnt).size} different), ` +
    `${next.length} as they come (${new Set(next).size} different), ${fresh.length} none of which was asked for before: ${stream.name}\n`,
);
const fleet = await startFleet(folder, models, holdings, [...seen, ...fresh]);
const findings: string[] = [];
try {
  const list = await fleet.list(join(folder, "archives.json"));
  const memGator = findMemGator();
  for (const clients of values.clients.split(",").map(Number)) {
    const theirs = memGator === undefined ? undefined : await startMemGator(memGator, list);
    const ours = await startOurs(`ours, --recall ${recall}`, list, ["--recall", values.recall]);
    try {
      const results = await measureInTurns(theirs, ours, clients);
      for (const part of PARTS) report(part, clients, results.theirs?.[part], results.ours[part]);
    } finally {
      await theirs?.stop();
      await ours.stop();
    }
  }
} finally {
  await fleet.stop();
}
if (findings.length > 0) {
  console.log(`A GOAL IS MISSED: ${findings.join("; ")}`);
  process.exitCode = 1;
}

/** The start of a stream, up to so many different originals. */
function untilDifferent(originals: readonly string[], most: number): readonly string[] {
  const different = new Set<string>();
  const end = originals.findIndex((original) => different.add(original).size > most);
  return end === -1 ? originals : originals.slice(0, end);
}

/** What each archive holds, by its model. */
function drawHoldings(lookups: readonly string[]): Set<string>[] {
  const uris = [...new Set(lookups)];
  const keys = uris.map((uri) => surt(uri));
  const places = new Map(uris.map((uri, place) => [uri, place]));
  const drawn = {
    originals: keys,
    uris,
    lookups: lookups.map((uri) => places.get(uri) ?? 0),
    times: [],
  };
  return PAPER_ARCHIVES.map(({ model }, number) => {
    const counts = modelHoldings(model, drawn, 1, number);
    return new Set(uris.filter((_, place) => counts[place] > 0));
  });
}

function noRounds(): Rounds {
  return { "as they come": [], "none asked for before": [] };
}

/** Has ours learn, and then both answer their lookups, round by round. */
async function measureInTurns(
  theirs: Contestant | undefined,
  ours: Contestant,
  clients: number,
): Promise<{ readonly theirs: Rounds | undefined; readonly ours: Rounds }> {
  // MemGator learns nothing, and needs only to become warm.
  if (theirs !== undefined) await measure(theirs, clients, learntFile, count / 10);
  await measure(ours, clients, learntFile);
  const results = { theirs: theirs && noRounds(), ours: noRounds() };
  for (let round = 0; round < rounds; round++) {
    for (const part of PARTS) {
      const lookups = files[part][round];
      if (theirs !== undefined) {
        results.theirs?.[part].push(await measure(theirs, clients, lookups, count / THEIR_PART));
      }
      results.ours[part].push(await measure(ours, clients, lookups));
    }
  }
  return results;
}

async function measure(
  server: Contestant,
  clients: number,
  lookups: string,
  first?: number,
): Promise<Measured> {
  await fleet.count();
  const before = await cpuSeconds(server.pid);
  const fleetBefore = await cpuSeconds(fleet.pid);
  const load = await runLoad({ port: server.port, lookups, clients, rampMs: 100, first });
  const { requests: upstream } = await fleet.count();
  const cpu = (await cpuSeconds(server.pid)) - before;
  const harnessCpu = (await cpuSeconds(fleet.pid)) - fleetBefore + load.cpuSeconds;
  const measured = { ...load, upstream, cpu, harnessCpu };
  console.log(`${server.name}: ${JSON.stringify(measured)}`);
  return measured;
}

function report(
  part: Part,
  clients: number,
  theirRounds: readonly Measured[] | undefined,
  ourRounds: readonly Measured[],
): void {
  const ours = new Total(ourRounds);
  const theirs = theirRounds && new Total(theirRounds);
  const named: [string, Total][] = [[`ours, --recall ${recall}`, ours]];
  if (theirs !== undefined) named.unshift(["MemGator", theirs]);
  const rows = named.map(([name, total]) => [
    name,
    Math.round(total.perSecond).toLocaleString("en"),
    theirs === undefined ? "" : `${(total.perSecond / theirs.perSecond).toFixed(2)}×`,
    `${total.median("p50").toFixed(0)} ms`,
    `${total.median("p99").toFixed(0)} ms`,
    total.each("upstream").toFixed(2),
    total.kept.toFixed(4),
    `${(total.each("cpu") * 1e6).toFixed(0)} µs`,
    `${(total.each("harnessCpu") * 1e6).toFixed(0)} µs`,
    String(total.sum("failures")),
  ]);
  const heads =
    "TimeMaps/s,ratio,p50,p99,archives asked,mementos kept,CPU each,others' CPU,without an answer";
  const title = `${clients} clients, ${ARCHIVES} archives of ${values.latency} ms, ${part}`;
  console.log(`\n${markdownTable([title, ...heads.split(",")], rows)}`);
  const where = `with ${clients} clients, ${part}`;
  const asked = ours.each("upstream");
  // Nobody is faster than the slowest of the archives that are asked, or than all cores are.
  const slowestMs = leastMs + ((mostMs - leastMs) * asked) / (asked + 1);
  const ofArchives = (clients * 1000) / slowestMs;
  const ofCores = availableParallelism() / (ours.each("cpu") + ours.each("harnessCpu"));
  console.log(
    `\nbounds of ours: ${Math.round(ofCores)}/s by cores, about ${Math.round(ofArchives)}/s by archives if each lookup asks ${asked.toFixed(1)}\n`,
  );
  const failures = ours.sum("failures");
  if (failures > 0) findings.push(`${failures} lookups have no answer ${where}`);
  if (theirs === undefined || theirRounds === undefined) return;
  const ratio = ours.perSecond / theirs.perSecond;
  const byRound = ourRounds.map(({ perSecond }, i) => perSecond / theirRounds[i].perSecond);
  console.log(`by round: ${byRound.map((each) => `${each.toFixed(2)}×`).join(", ")}\n`);
  const possible = (0.9 * Math.min(ofCores, ofArchives)) / theirs.perSecond;
  if (ratio < Math.min(RATIO_GOAL, possible)) {
    findings.push(`${ratio.toFixed(2)}× the rate of MemGator ${where}, not ${RATIO_GOAL}×`);
  }
  if (ours.median("p99") >= theirs.median("p99")) {
    findings.push(`the p99 is higher than MemGator's ${where}`);
  }
}
