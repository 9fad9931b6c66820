import { join } from "node:path";
import { parseArgs } from "node:util";
import {
  BARE,
  type Contestant,
  findMemGator,
  startBare,
  startMemGator,
  startOurs,
} from "./aggregate/contestants.ts";
import { startInstantArchives } from "./aggregate/instant-archives.ts";
import { type LoadResult, runLoad } from "./aggregate/load-process.ts";
import { cpuSeconds, residentBytes } from "./aggregate/process-usage.ts";
import { benchFolder } from "./bench-folder.ts";
import { machine } from "./machine.ts";
import { markdownTable, megabytes } from "./markdown-table.ts";

/*
 * How many TimeMaps a second come from twelve archives: MemGator, ours asking everyone, and ours with
 * maps, one after the other on the same archives. They answer at once; with `--latency 20-60` after
 * that many milliseconds, and with `--slow 3000` one of them after 3,000. Ours then has its default
 * settings, without maps; no original is asked for twice, so that no cache answers. With `--bare`, a
 * program is measured, too, that does only what every aggregator must. See bench/README.md.
 */
const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "10" },
    rounds: { type: "string", default: "2" },
    clients: { type: "string", default: "50" },
    originals: { type: "string", default: "60000" },
    latency: { type: "string", default: "0-0" },
    slow: { type: "string", default: "0" },
    warm: { type: "string", default: "3" },
    bare: { type: "boolean", default: false },
  },
});

const [least = 0, most = 0] = values.latency.split("-").map(Number);
const slowMs = Number(values.slow);
const isInstant = most === 0 && slowMs === 0;
/** How many times MemGator's rate the others reach, in the order they are measured. */
const GOALS = isInstant ? [1, 1, 5] : slowMs > 0 ? [1, 1] : [1, 3];
/** Our aggregator without what MemGator does not have. */
const LIKE_MEMGATOR = ["--no-routing", "--cache", "0"];

interface Measured extends LoadResult {
  readonly upstream: number;
  readonly connections: number;
  readonly cpu: number;
  readonly fleetCpu: number;
  readonly memory: number;
}

console.log(`${machine()}\n`);
const folder = join(await benchFolder(), "aggregate-throughput");
const archives = await startInstantArchives(folder, Number(values.originals), {
  betweenMs: [least, most],
  slowMs,
});
const { fleet, list, listWithMaps, lookups } = archives;
const best = new Map<string, Measured>();
try {
  const memGator = findMemGator();
  const contestants: (() => Promise<Contestant>)[] = [
    ...(memGator === undefined ? [] : [() => startMemGator(memGator, list)]),
    ...(isInstant
      ? [
          () => startOurs("ours, asking everyone", list, LIKE_MEMGATOR),
          () => startOurs("ours, with maps", listWithMaps, ["--cache", "0"]),
        ]
      : [() => startOurs("ours, by default", list)]),
    ...(values.bare ? [() => startBare(list)] : []),
  ];
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const start of contestants) {
      const [name, measured] = await measure(start);
      const before = best.get(name);
      if (before === undefined || before.perSecond < measured.perSecond) best.set(name, measured);
    }
  }
} finally {
  await fleet.stop();
}

const isCompared = best.has("MemGator");
const reference = [...best.values()][0]?.perSecond ?? Number.NaN;
const findings = Array.from(best, ([name, load], i) => {
  // It says nothing of what it found.
  if (name === BARE) return "";
  // While a slow archive's limit grows, answers may come without it; they say so.
  if (load.failures > 0 || (slowMs === 0 && load.missedMementos > 0))
    return `${name} missed something`;
  const ratio = load.perSecond / reference;
  const goal = isCompared ? Math.min(GOALS[i], Math.max(1, 0.9 * boundOfArchives())) : 0;
  return ratio < goal
    ? `${name} has ${ratio.toFixed(2)}× the rate of MemGator, not ${goal.toFixed(1)}×`
    : "";
}).filter((finding) => finding !== "");
console.log(
  markdownTable(
    [
      `${values.clients} clients, ${fleet.models.length} archives`,
      "TimeMaps/s",
      "ratio",
      "p50",
      "p99",
      "upstream requests each",
      "server CPU each",
      "archives' CPU each",
      "memory",
      "missed",
    ],
    Array.from(best, ([name, load]) => [
      name,
      Math.round(load.perSecond).toLocaleString("en"),
      `${(load.perSecond / reference).toFixed(2)}×`,
      `${load.p50.toFixed(1)} ms`,
      `${load.p99.toFixed(1)} ms`,
      (load.upstream / load.requests).toFixed(2),
      `${((load.cpu / load.requests) * 1e6).toFixed(0)} µs`,
      `${((load.fleetCpu / load.requests) * 1e6).toFixed(0)} µs`,
      megabytes(load.memory),
      name === BARE ? "" : String(load.missedMementos + load.failures),
    ]),
  ),
);

if (findings.length > 0) {
  console.log(`\nA GOAL IS MISSED: ${findings.join("; ")}`);
  process.exitCode = 1;
}

/** How many times MemGator's rate is possible at all: nobody is faster than the slowest of the archives. */
function boundOfArchives(): number {
  const slowest = least + ((most - least) * fleet.models.length) / (fleet.models.length + 1);
  return slowest === 0 ? Infinity : (Number(values.clients) * 1000) / slowest / reference;
}

async function measure(start: () => Promise<Contestant>): Promise<[string, Measured]> {
  const server = await start();
  try {
    const plan = { port: server.port, lookups, clients: Number(values.clients), rampMs: 100 };
    await runLoad({ ...plan, seconds: Number(values.warm) }); // until it is warm
    await fleet.count();
    const before = await cpuSeconds(server.pid);
    const fleetBefore = await cpuSeconds(fleet.pid);
    const skip = Math.floor(Number(values.originals) / 2);
    const load = await runLoad({ ...plan, skip, seconds: Number(values.seconds) });
    const { requests, connections } = await fleet.count();
    const cpu = (await cpuSeconds(server.pid)) - before;
    const fleetCpu = (await cpuSeconds(fleet.pid)) - fleetBefore;
    const memory = await residentBytes(server.pid);
    const measured = { ...load, upstream: requests, connections, cpu, fleetCpu, memory };
    console.log(`${server.name}: ${JSON.stringify(measured)}`);
    return [server.name, measured];
  } finally {
    await server.stop();
  }
}
