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
import { modelHoldings, PAPER_ARCHIVES } from "../src/study/simulate/model-archive.ts";
import { surt } from "../src/surt/uri-to-surt.ts";
import { benchFolder } from "./bench-folder.ts";
import { machine } from "./machine.ts";
import { markdownTable } from "./markdown-table.ts";

/*
 * How fast is our aggregator once it has learnt which archives have what? Fourteen archives of 20 to 60
 * milliseconds with the hit rates of the paper's log and the holdings of `simulate --archives paper`, and
 * no maps. Ours learns from the first part of a stream of lookups, and answers the next part: as it is,
 * with its repeats, and then only originals that were not asked for before. MemGator gets the same
 * lookups. See bench/README.md.
 */
const { values } = parseArgs({
  options: {
    recall: { type: "string", default: "0.98" },
    learn: { type: "string", default: "50000" },
    lookups: { type: "string", default: "20000" },
    clients: { type: "string", default: "50,500" },
    latency: { type: "string", default: "20-60" },
  },
});

const RATIO_GOAL = 8;
const ARCHIVES = PAPER_ARCHIVES.length;
const [leastMs = 0, mostMs = 0] = values.latency.split("-").map(Number);
const count = Number(values.lookups);
const recall = Number(values.recall);

interface Measured extends LoadResult {
  readonly upstream: number;
  readonly cpu: number;
  readonly harnessCpu: number;
}

console.log(`${machine()}\n`);
const folder = join(await benchFolder(), "aggregate-learnt");
await mkdir(folder, { recursive: true });
const stream = lookupStream();
const learnt = untilDifferent(stream.originals, Number(values.learn));
const next = stream.originals.slice(learnt.length, learnt.length + count);
const seen = new Set([...learnt, ...next]);
const unseen = new Set(
  stream.originals.slice(learnt.length + next.length).filter((original) => !seen.has(original)),
);
const fresh = [...unseen].slice(0, count);
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
const parts = {
  learnt: await file("learnt", learnt),
  "as they come": await file("next", next),
  "none asked for before": await file("fresh", fresh),
};
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
    const theirs =
      memGator === undefined
        ? undefined
        : await measure(await startMemGator(memGator, list), clients);
    const name = `ours, --recall ${recall}`;
    const ours = await measure(await startOurs(name, list, ["--recall", values.recall]), clients);
    for (const part of Object.keys(ours)) report(part, clients, theirs?.[part], ours[part]);
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

/** What each archive holds, by the models of `simulate`. */
function drawHoldings(lookups: readonly string[]): Set<string>[] {
  const uris = [...new Set(lookups)];
  const keys = uris.map((uri) => surt(uri));
  const places = new Map(uris.map((uri, place) => [uri, place]));
  const drawn = {
    originals: keys,
    uris,
    lookups: lookups.map((uri) => places.get(uri) ?? 0),
    times: [],
    otherLines: 0,
  };
  return PAPER_ARCHIVES.map(({ model }, number) => {
    const counts = modelHoldings(model, drawn, 1, number);
    return new Set(uris.filter((_, place) => counts[place] > 0));
  });
}

/** Answers all parts of the stream, one after the other. */
async function measure(server: Contestant, clients: number): Promise<Record<string, Measured>> {
  const results: Record<string, Measured> = {};
  try {
    for (const [part, lookups] of Object.entries(parts)) {
      // MemGator learns nothing, and needs only to become warm.
      const first = part === "learnt" && server.name === "MemGator" ? count / 10 : undefined;
      await fleet.count();
      const before = await cpuSeconds(server.pid);
      const fleetBefore = await cpuSeconds(fleet.pid);
      const load = await runLoad({ port: server.port, lookups, clients, rampMs: 100, first });
      const { requests: upstream } = await fleet.count();
      const cpu = (await cpuSeconds(server.pid)) - before;
      const harnessCpu = (await cpuSeconds(fleet.pid)) - fleetBefore + load.cpuSeconds;
      console.log(`${server.name}, ${part}: ${JSON.stringify({ ...load, upstream, cpu })}`);
      if (part !== "learnt") results[part] = { ...load, upstream, cpu, harnessCpu };
    }
  } finally {
    await server.stop();
  }
  return results;
}

function report(part: string, clients: number, theirs: Measured | undefined, ours: Measured): void {
  const micros = (seconds: number, { requests }: Measured): string =>
    `${((seconds / requests) * 1e6).toFixed(0)} µs`;
  const named: [string, Measured][] = [
    ...(theirs === undefined ? [] : [["MemGator", theirs] satisfies [string, Measured]]),
    [`ours, --recall ${recall}`, ours],
  ];
  const rows = named.map(([name, load]) => [
    name,
    Math.round(load.perSecond).toLocaleString("en"),
    theirs === undefined ? "" : `${(load.perSecond / theirs.perSecond).toFixed(2)}×`,
    `${load.p50.toFixed(0)} ms`,
    `${load.p99.toFixed(0)} ms`,
    (load.upstream / load.requests).toFixed(2),
    keptOf(load).toFixed(4),
    micros(load.cpu, load),
    micros(load.harnessCpu, load),
    String(load.failures),
  ]);
  const heads =
    "TimeMaps/s,ratio,p50,p99,archives asked,mementos kept,CPU each,others' CPU,without an answer";
  const title = `${clients} clients, ${ARCHIVES} archives of ${values.latency} ms, ${part}`;
  console.log(`\n${markdownTable([title, ...heads.split(",")], rows)}`);
  const where = `with ${clients} clients, ${part}`;
  const asked = ours.upstream / ours.requests;
  // Nobody is faster than the slowest of the archives that are asked, or than all cores are.
  const slowestMs = leastMs + ((mostMs - leastMs) * asked) / (asked + 1);
  const ofArchives = (clients * 1000) / slowestMs;
  const ofCores = (availableParallelism() * ours.requests) / (ours.cpu + ours.harnessCpu);
  console.log(
    `\nbounds of ours: ${Math.round(ofCores)}/s by cores, about ${Math.round(ofArchives)}/s by archives if each lookup asks ${asked.toFixed(1)}\n`,
  );
  if (ours.failures > 0) findings.push(`${ours.failures} lookups have no answer ${where}`);
  if (theirs === undefined) return;
  const ratio = ours.perSecond / theirs.perSecond;
  const possible = (0.9 * Math.min(ofCores, ofArchives)) / theirs.perSecond;
  if (ratio < Math.min(RATIO_GOAL, possible)) {
    findings.push(`${ratio.toFixed(2)}× the rate of MemGator ${where}, not ${RATIO_GOAL}×`);
  }
  if (ours.p99 >= theirs.p99) findings.push(`the p99 is higher than MemGator's ${where}`);
}

/** The share of all mementos that were in the answers. */
function keptOf({ mementos, missedMementos }: Measured): number {
  return mementos / (mementos + missedMementos);
}
