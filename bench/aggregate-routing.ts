import { mkdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { uniform } from "./aggregate/archive-model.ts";
import {
  type Contestant,
  findMemGator,
  startMemGator,
  startOurs,
} from "./aggregate/contestants.ts";
import { drawHoldings } from "./aggregate/draw-holdings.ts";
import { startFleet } from "./aggregate/fleet-process.ts";
import { cli, makeMap, writeHoldings, writeLookups } from "./aggregate/holdings.ts";
import { type LoadResult, runLoad } from "./aggregate/load-process.ts";
import { lookupStream } from "./aggregate/lookup-stream.ts";
import { PAPER_ARCHIVES } from "./aggregate/paper-archives.ts";
import { benchFolder, madeOnce } from "./bench-folder.ts";
import { machine } from "./machine.ts";
import { markdownTable } from "./markdown-table.ts";

/*
 * What do maps save, and is anything missed? Fourteen archives with the rates of hits and errors of
 * the MementoMap paper's log; the same lookups to MemGator, to ours asking everyone, and to ours
 * with maps of several sizes, and packed ones no larger than the smallest. See bench/README.md.
 */
const { values } = parseArgs({
  options: {
    lookups: { type: "string", default: "6000" },
    clients: { type: "string", default: "16" },
    background: { type: "string", default: "100000" },
    sizes: { type: "string", default: "all,10%,1.5%" },
  },
});

/** How long archives may take to begin an answer: far more than they do, unless they never do. */
const PATIENCE = "2s";
/** Our aggregator without what MemGator does not have: a cache, dormancy and second attempts. */
const PLAIN = ["--cache", "0", "--tolerance", "0", "--headers-timeout", PATIENCE];
const LOG_LINES = 100_000;
const SAVED_GOAL = 0.8;

const folder = join(await benchFolder(), "aggregate-routing");
await mkdir(folder, { recursive: true });
console.log(`${machine()}\n`);

const stream = lookupStream();
const asked = stream.originals.slice(-Number(values.lookups));
const holdings = drawHoldings(stream.originals, asked.length, PAPER_ARCHIVES);
const paths = await writeHoldings(folder, holdings);
const models = PAPER_ARCHIVES.map(({ id, name, errors }) => ({
  id,
  name,
  // A tenth of what real archives take, so that a run ends soon.
  medianMs: 20 + 60 * uniform(id, "", 0),
  spread: 0.6,
  errors,
  hangs: 0.1,
}));
const lookups = await writeLookups(join(folder, "lookups.tsv"), asked, models, holdings);
const hits = holdings.map(
  (held) => asked.filter((original) => held.has(original)).length / asked.length,
);
console.log(
  `${asked.length} lookups, ${new Set(asked).size} of them different: ${stream.name}; ` +
    `rates of hits ${hits.map((rate) => (100 * rate).toFixed(2)).join(", ")} %\n`,
);

// What archives hold that nobody asked for: most of it.
const backgrounds: string[] = [];
for (const [i, { id }] of PAPER_ARCHIVES.entries()) {
  const name = `background-${values.background}-${id}.cdxj`;
  const args = ["sample", "--lines", values.background, "--seed", String(i + 2), "-q", "-o"];
  backgrounds.push(await madeOnce(folder, name, (path) => cli([...args, path])));
}
// What was asked for before the lookups: compaction learns from it what is not wanted here.
const log = join(folder, "log.txt");
const earlier = stream.originals.slice(0, -asked.length).slice(-LOG_LINES);
await writeFile(log, earlier.map((original) => `${original}\n`).join(""));
const sizes = values.sizes.split(",");
const maps: Maps[] = [];
for (const size of sizes) maps.push(await mapsOf(size));
const packed = await packedLike(maps[maps.length - 1]);
const fleet = await startFleet(folder, models, holdings, asked);
const rows: string[][] = [];
let hasFailed = false;
try {
  const list = await fleet.list(join(folder, "archives.json"));
  const memGator = findMemGator();
  if (memGator !== undefined) {
    await row(() => startMemGator(memGator, list, ["-T", PATIENCE]), "");
  }
  const all = await row(
    () => startOurs("ours, asking everyone", list, [...PLAIN, "--no-routing"]),
    "",
  );
  for (const [i, size] of sizes.entries()) {
    const withMaps = await fleet.list(join(folder, `archives-${i}.json`), maps[i].paths);
    const name = size === "all" ? "ours, maps of all keys" : `ours, maps of ${size} of the keys`;
    const routed = await row(() => startOurs(name, withMaps, PLAIN), kilobytes(maps[i].bytes));
    const saved = 1 - routed.upstream / all.upstream;
    if (i === 0 && (saved < SAVED_GOAL || routed.missedMementos > 0 || routed.p50 > all.p50)) {
      hasFailed = true;
    }
  }
  const withPacked = await fleet.list(join(folder, "archives-packed.json"), packed.paths);
  const routed = await row(
    () => startOurs("ours, packed maps", withPacked, PLAIN),
    kilobytes(packed.bytes),
  );
  if (routed.missedMementos > 0 || packed.bytes > maps[maps.length - 1].bytes) hasFailed = true;
} finally {
  await fleet.stop();
}

console.log(
  markdownTable(
    [
      `${values.clients} clients, ${models.length} archives`,
      "all maps",
      "upstream requests",
      "a lookup",
      "fewer",
      "p50",
      "p99",
      "missed mementos",
      "of lookups",
    ],
    rows,
  ),
);
if (hasFailed) {
  console.log("\nA GOAL IS MISSED: 80 % fewer requests, no missed memento, lower latency");
  process.exitCode = 1;
}

interface Maps {
  readonly paths: readonly string[];
  /** Of all together. */
  readonly bytes: number;
}

async function mapsOf(size: string): Promise<Maps> {
  const options = size === "all" ? undefined : ["--relative-cost", size, "--misses", log];
  const label = size.replace("%", "");
  const made: string[] = [];
  for (const [i, path] of paths.entries()) {
    made.push(await makeMap([path, backgrounds[i]], join(folder, `${i}-${label}.ukvs`), options));
  }
  return { paths: made, bytes: await sizeOf(made) };
}

/** The keys of each archive, packed to no more bytes than its map among these has. */
async function packedLike(text: Maps): Promise<Maps> {
  const made: string[] = [];
  for (const [i, path] of paths.entries()) {
    const whole = await makeMap([path, backgrounds[i]], join(folder, `${i}.whole.ukvs`), undefined);
    const file = join(folder, `${i}.packed`);
    const most = String(await sizeOf([text.paths[i]]));
    await cli(["pack", whole, "--max-bytes", most, "--misses", log, "-q", "--force", "-o", file]);
    made.push(file);
  }
  return { paths: made, bytes: await sizeOf(made) };
}

async function sizeOf(files: readonly string[]): Promise<number> {
  const stats = await Promise.all(files.map((path) => stat(path)));
  return stats.reduce((sum, { size }) => sum + size, 0);
}

function kilobytes(bytes: number): string {
  return `${Math.round(bytes / 1000).toLocaleString("en")} kB`;
}

async function row(
  start: () => Promise<Contestant>,
  mapBytes: string,
): Promise<LoadResult & { upstream: number }> {
  const server = await start();
  try {
    await fleet.count();
    const plan = { port: server.port, lookups, clients: Number(values.clients), rampMs: 200 };
    const load = await runLoad(plan);
    const { requests } = await fleet.count();
    console.log(`${server.name}: ${JSON.stringify({ ...load, upstream: requests })}`);
    rows.push([
      server.name,
      mapBytes,
      requests.toLocaleString("en"),
      (requests / load.requests).toFixed(2),
      `${(100 * (1 - requests / (load.requests * models.length))).toFixed(1)} %`,
      `${load.p50.toFixed(0)} ms`,
      `${load.p99.toFixed(0)} ms`,
      String(load.missedMementos),
      String(load.missedLookups + load.failures),
    ]);
    return { ...load, upstream: requests };
  } finally {
    await server.stop();
  }
}
