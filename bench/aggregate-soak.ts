import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Contestant, startOurs } from "./aggregate/contestants.ts";
import { startInstantArchives } from "./aggregate/instant-archives.ts";
import { runLoad } from "./aggregate/load-process.ts";
import { growthOf, sampleMemory } from "./aggregate/memory-samples.ts";
import { residentBytes } from "./aggregate/process-usage.ts";
import { benchFolder } from "./bench-folder.ts";
import { machine } from "./machine.ts";
import { markdownTable, megabytes } from "./markdown-table.ts";

/*
 * Does our aggregator survive a crowd of clients, and does its memory stay flat for long? With maps
 * and with a cache, as it is run by default. Fails where one is not so. See bench/README.md.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    crowd: { type: "string", default: "10000" },
    "crowd-seconds": { type: "string", default: "30" },
    clients: { type: "string", default: "50" },
    originals: { type: "string", default: "200000" },
  },
});

/** Descriptors for all but the clients: archives, maps, files. */
const OTHER_DESCRIPTORS = 1000;
/** The crowd comes within this time: a queue of the kernel for new connections is soon full. */
const CROWD_RAMP_MS = 10_000;
/** Memory grows by less than this share of itself over the second half of the run. */
const MAX_GROWTH = 0.05;
/** In less time the heap has not yet found its size, and nothing is judged. */
const MIN_JUDGED_MINUTES = 5;

console.log(`${machine()}\n`);
const folder = join(await benchFolder(), "aggregate-soak");
const { fleet, listWithMaps, lookups } = await startInstantArchives(
  folder,
  Number(values.originals),
);
const rows: string[][] = [];
try {
  const server = await startOurs("ours", listWithMaps);
  try {
    await crowd(server);
    await soak(server);
  } finally {
    await server.stop();
  }
} finally {
  await fleet.stop();
}
console.log(
  markdownTable(
    ["", "clients", "seconds", "requests/s", "p50", "p99", "without an answer", "memory"],
    rows,
  ),
);

async function crowd(server: Contestant): Promise<void> {
  const descriptors = execFileSync("sh", ["-c", "ulimit -n"], { encoding: "utf8" }).trim();
  const room = descriptors === "unlimited" ? Infinity : Number(descriptors) - OTHER_DESCRIPTORS;
  const clients = Math.min(Number(values.crowd), room);
  console.log(`a process may open ${descriptors} files here, so ${clients} clients come at once`);
  const load = await runLoad({
    port: server.port,
    lookups,
    clients,
    seconds: Number(values["crowd-seconds"]),
    rampMs: CROWD_RAMP_MS,
  });
  console.log(`crowd: ${JSON.stringify(load)}`);
  rows.push([
    "a crowd",
    clients.toLocaleString("en"),
    load.seconds.toFixed(0),
    Math.round(load.perSecond).toLocaleString("en"),
    `${load.p50.toFixed(0)} ms`,
    `${load.p99.toFixed(0)} ms`,
    String(load.failures),
    megabytes(await residentBytes(server.pid)),
  ]);
  const health = await fetch(`http://127.0.0.1:${server.port}/health`);
  if (health.status !== 200 || load.failures > 0 || load.requests < clients) {
    fail(`the crowd was not served: ${load.failures} without an answer, health ${health.status}`);
  }
}

async function soak(server: Contestant): Promise<void> {
  const minutes = Number(values.minutes);
  const memory = sampleMemory(server.pid);
  const load = await runLoad({
    port: server.port,
    lookups,
    clients: Number(values.clients),
    seconds: minutes * 60,
    rampMs: 100,
  });
  const samples = memory.stop();
  const later = samples.slice(Math.floor(samples.length / 2));
  const last = later.at(-1)?.bytes ?? 0;
  const growth = (growthOf(later) * (minutes * 60)) / 2 / last;
  const course = Array.from({ length: 11 }, (_, i) =>
    megabytes(samples[Math.floor((i / 10) * (samples.length - 1))]?.bytes),
  );
  console.log(`soak: ${JSON.stringify(load)}`);
  console.log(`memory in its course: ${course.join(", ")}`);
  console.log(`growth over the second half: ${(growth * 100).toFixed(1)} %\n`);
  rows.push([
    "a soak",
    values.clients,
    load.seconds.toFixed(0),
    Math.round(load.perSecond).toLocaleString("en"),
    `${load.p50.toFixed(1)} ms`,
    `${load.p99.toFixed(1)} ms`,
    String(load.failures),
    megabytes(last),
  ]);
  if (load.failures > 0) fail(`${load.failures} requests had no answer`);
  if (load.missedMementos > 0) fail(`${load.missedMementos} mementos were missed`);
  if (minutes >= MIN_JUDGED_MINUTES && growth > MAX_GROWTH) fail("memory grows");
}

function fail(what: string): void {
  console.log(`A GOAL IS MISSED: ${what}`);
  process.exitCode = 1;
}
