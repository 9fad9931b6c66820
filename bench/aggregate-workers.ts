import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import {
  type Contestant,
  findMemGator,
  startMemGator,
  startOurs,
} from "./aggregate/contestants.ts";
import { limitCoreShare } from "./aggregate/core-share.ts";
import { startInstantArchives } from "./aggregate/instant-archives.ts";
import { type LoadResult, runLoad } from "./aggregate/load-process.ts";
import { cpuSeconds } from "./aggregate/process-usage.ts";
import { benchFolder } from "./bench-folder.ts";
import { machine } from "./machine.ts";
import { markdownTable } from "./markdown-table.ts";

/*
 * One process, a worker for each core, and MemGator, in turn on the same twelve archives, which answer
 * after 20 to 60 milliseconds. Ours has its default settings, without maps. No original is asked for
 * twice, except in the last table, where the cache answers. The archives and the clients run on the
 * same cores: what they take from the servers is in the table, and "possible" is the rate at which all
 * cores are busy, or all clients wait for the slowest archive. With `--core-share`, each process of ours
 * may use only that share of a core, so that the archives and the clients take nothing from it; MemGator
 * is not measured then. See bench/README.md.
 */
const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "10" },
    warm: { type: "string", default: "10" },
    rounds: { type: "string", default: "3" },
    clients: { type: "string", default: "50,500" },
    workers: { type: "string", default: String(availableParallelism()) },
    latency: { type: "string", default: "20-60" },
    originals: { type: "string", default: "60000" },
    "core-share": { type: "string", default: "1" },
  },
});

/** Clients ask for these over and over where the cache is to answer. */
const CACHED_ORIGINALS = 500;
const ARCHIVES = 12;
const [leastMs = 0, mostMs = 0] = values.latency.split("-").map(Number);
/** What the slowest of twelve archives takes on average. */
const slowestMs = leastMs + ((mostMs - leastMs) * ARCHIVES) / (ARCHIVES + 1);
const cores = availableParallelism();
/** The share of a core that each process may use. */
const coreShare = Number(values["core-share"]);

interface Measured extends LoadResult {
  readonly cpu: number;
  readonly harnessCpu: number;
}

type Start = () => Promise<Contestant>;

console.log(`${machine()}\n`);
const folder = join(await benchFolder(), "aggregate-workers");
const archives = await startInstantArchives(folder, Number(values.originals), {
  betweenMs: [leastMs, mostMs],
  slowMs: 0,
});
const { fleet, list, lookups } = archives;
const one = `ours, --workers 1`;
const several = `ours, --workers ${values.workers}`;
const findings: string[] = [];
try {
  const memGator = coreShare < 1 ? undefined : findMemGator();
  const ours: Start[] = [
    () => startOurs(one, list, ["--workers", "1"]),
    () => startOurs(several, list, ["--workers", values.workers]),
  ];
  const all = memGator === undefined ? ours : [() => startMemGator(memGator, list), ...ours];
  for (const clients of values.clients.split(",").map(Number)) {
    const best = await measureAll(all, clients, { isCached: false });
    report(`${clients} clients, archives of ${values.latency} ms`, best, clients);
    judge(best, clients);
  }
  const cached = await measureAll(ours, 50, { isCached: true });
  report("50 clients, from the cache", cached, Infinity);
  judge(cached, Infinity);
} finally {
  await fleet.stop();
}
if (findings.length > 0) {
  console.log(`A GOAL IS MISSED: ${findings.join("; ")}`);
  process.exitCode = 1;
}

async function measureAll(
  starts: readonly Start[],
  clients: number,
  { isCached }: { readonly isCached: boolean },
): Promise<Map<string, Measured>> {
  const best = new Map<string, Measured>();
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const start of starts) {
      const [name, measured] = await measure(start, clients, isCached);
      const before = best.get(name);
      if (before === undefined || before.perSecond < measured.perSecond) best.set(name, measured);
    }
  }
  return best;
}

async function measure(
  start: Start,
  clients: number,
  isCached: boolean,
): Promise<[string, Measured]> {
  const server = await start();
  const unlimit = coreShare < 1 ? await limitCoreShare(server.pid, coreShare) : undefined;
  try {
    const first = isCached ? CACHED_ORIGINALS : undefined;
    const plan = { port: server.port, lookups, clients, rampMs: 100, first };
    await runLoad({ ...plan, seconds: Number(values.warm) });
    const skip = isCached ? 0 : Math.floor(Number(values.originals) / 2);
    const before = await cpuSeconds(server.pid);
    const fleetBefore = await cpuSeconds(fleet.pid);
    const load = await runLoad({ ...plan, skip, seconds: Number(values.seconds) });
    const cpu = (await cpuSeconds(server.pid)) - before;
    const harnessCpu = (await cpuSeconds(fleet.pid)) - fleetBefore + load.cpuSeconds;
    return [server.name, { ...load, cpu, harnessCpu }];
  } finally {
    await server.stop();
    await unlimit?.();
  }
}

/** The rate at which all cores that a server can use are busy, or all clients wait for archives. */
function possible(name: string, { requests, cpu, harnessCpu }: Measured, clients: number): number {
  const ofCores = (cores * requests) / (cpu + harnessCpu);
  const ofProcesses = ((name === one ? 1 : Number(values.workers)) * coreShare * requests) / cpu;
  const ofArchives = clients === Infinity ? Infinity : (clients * 1000) / slowestMs;
  return Math.min(ofCores, name === "MemGator" ? Infinity : ofProcesses, ofArchives);
}

function report(title: string, best: ReadonlyMap<string, Measured>, clients: number): void {
  const memGator = best.get("MemGator")?.perSecond;
  const single = best.get(one)?.perSecond;
  const micros = (seconds: number, { requests }: Measured): string =>
    `${((seconds / requests) * 1e6).toFixed(0)} µs`;
  const rows = Array.from(best, ([name, load]) => [
    name,
    Math.round(load.perSecond).toLocaleString("en"),
    Math.round(possible(name, load, clients)).toLocaleString("en"),
    timesOf(load.perSecond, memGator),
    timesOf(load.perSecond, single),
    `${load.p50.toFixed(0)} ms`,
    `${load.p99.toFixed(0)} ms`,
    micros(load.cpu, load),
    micros(load.harnessCpu, load),
    String(load.failures + load.missedMementos),
  ]);
  const heads =
    "TimeMaps/s,possible,of MemGator,of one process,p50,p99,CPU each,others' CPU,missed";
  console.log(`${markdownTable([title, ...heads.split(",")], rows)}\n`);
}

function timesOf(rate: number, other: number | undefined): string {
  return other === undefined ? "" : `${(rate / other).toFixed(2)}×`;
}

/** Goals hold as far as this machine lets them: nobody can be faster than what is possible. */
function judge(best: ReadonlyMap<string, Measured>, clients: number): void {
  const [mg, single, many] = ["MemGator", one, several].map((name) => best.get(name));
  const where = clients === Infinity ? "from the cache" : `with ${clients} clients`;
  for (const [name, { failures, missedMementos }] of best) {
    if (failures + missedMementos > 0) findings.push(`${name} missed something ${where}`);
  }
  if (single === undefined || many === undefined || one === several) return;
  const most = possible(several, many, clients);
  const wanted = Math.min(1.7 * single.perSecond, 0.9 * most);
  if (many.perSecond < wanted) {
    const ratio = (many.perSecond / single.perSecond).toFixed(2);
    findings.push(`${several} has ${ratio}× the rate of one process ${where}`);
  }
  if (mg === undefined) return;
  if (many.perSecond < Math.min(3 * mg.perSecond, 0.9 * most)) {
    const ratio = (many.perSecond / mg.perSecond).toFixed(2);
    findings.push(`${several} has ${ratio}× the rate of MemGator ${where}`);
  }
  if (many.p99 >= mg.p99) findings.push(`the p99 is higher than MemGator's ${where}`);
}
