import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { createWriteStream } from "node:fs";
import { mkdir, open, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { benchFolder, madeOnce } from "./bench-folder.ts";
import { machine } from "./machine.ts";
import { markdownTable, megabytes } from "./markdown-table.ts";
import { timed } from "./peers/timed.ts";

/*
 * How many lookups a second does `serve` answer on one core, and how much memory do both sides take
 * to serve and fetch a map of 1 GB? Beside it OutbackCDX, asked for the same URIs, if
 * OUTBACKCDX_JAR names it. See bench/README.md.
 */
const BIN =
  process.env["MEMENTOMAP_BIN"] ?? fileURLToPath(new URL("../dist/cli/bin.js", import.meta.url));
const PORT = 18_611;
const URL_HERE = `http://127.0.0.1:${PORT}`;
const BATCH_LINES = 10_000;

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "10" },
    lines: { type: "string", default: "1000000" },
    only: { type: "string" },
    "large-rows": { type: "string", default: "25000000" },
  },
});

const folder = await benchFolder();
console.log(`${machine()}\n`);
if (values.only !== "large") await load();
if (values.only !== "load") await large(Number(values["large-rows"]));

async function load(): Promise<void> {
  if (spawnSync("wrk", ["-v"]).error !== undefined) {
    console.log("wrk is not installed, so there is no load: apt-get install wrk");
    return;
  }
  const { lines } = values;
  const index = await madeOnce(folder, `serve-${lines}.cdxj`, (path) =>
    cli("sample", "--lines", lines, "-q", "-o", path),
  );
  const map = await madeOnce(folder, `serve-${lines}.ukvs`, (path) =>
    cli("generate", index, "-q", "-o", path),
  );
  const uris = await madeOnce(folder, `serve-${lines}.txt`, (path) =>
    cli("sample", "--lines", lines, "--uris", "20000", "-q", "-o", path),
  );
  const batch = join(folder, "serve-batch.txt");
  const all = (await readFile(uris, "utf8")).trimEnd().split("\n");
  await writeFile(batch, `${all.slice(0, BATCH_LINES).join("\n")}\n`);
  const rows: string[][] = [];
  const server = await serve([map, "--memory", "1g", "--log", "events"]);
  try {
    await wrk(server, single(uris, "/lookup?url="), 16, "3"); // until the code is compiled
    rows.push(await measured("serve, single", server, single(uris, "/lookup?url="), 16, 1));
    rows.push(await measured("serve, batches", server, batches(batch), 4, BATCH_LINES));
  } finally {
    await stopped(server);
  }
  const jar = process.env["OUTBACKCDX_JAR"];
  if (jar === undefined)
    console.log("OutbackCDX is not compared with: OUTBACKCDX_JAR is not set\n");
  else rows.push(await outback(jar, index, uris));
  const head = ["", "lookups/s", "p50", "p99", "server CPU", "lookups per CPU second"];
  console.log(`${markdownTable(head, rows)}\n`);
}

async function outback(jar: string, index: string, uris: string): Promise<string[]> {
  const data = join(folder, "outback");
  await rm(data, { recursive: true, force: true });
  await mkdir(data);
  const args = ["-jar", jar, "-d", data, "-p", String(PORT), "-b", "127.0.0.1"];
  const server = await onOneCore("java", args, "/");
  try {
    const file = await open(index);
    let block = "";
    for await (const line of file.readLines()) {
      block += `${cdxLine(line)}\n`;
      if (block.length < 4e6) continue;
      await post(block);
      block = "";
    }
    await post(block);
    const lua = single(uris, "/bench?limit=1&url=");
    await wrk(server, lua, 16, "5");
    return await measured("OutbackCDX, single", server, lua, 16, 1);
  } finally {
    await stopped(server);
  }
}

async function post(body: string): Promise<void> {
  const response = await fetch(`${URL_HERE}/bench`, { method: "POST", body });
  if (!response.ok)
    throw new Error(`OutbackCDX answered ${response.status}: ${await response.text()}`);
}

/** A line of CDXJ as one of CDX with eleven columns. */
function cdxLine(line: string): string {
  const [surt = "", time = "", ...json] = line.split(" ");
  const {
    url,
    mime = "-",
    status = "-",
    digest = "-",
  } = JSON.parse(json.join(" ")) as Record<string, string>;
  return `${surt} ${time} ${url} ${mime} ${status} ${digest} - - 100 0 a.warc.gz`;
}

interface Running {
  readonly child: ChildProcess;
  readonly pid: number;
}

function serve(args: readonly string[]): Promise<Running> {
  return onOneCore(process.execPath, [BIN, "serve", ...args, "--port", String(PORT)], "/health");
}

/** Starts a server on the first core; the generator gets the second. */
async function onOneCore(program: string, args: readonly string[], path: string): Promise<Running> {
  const child = spawn("taskset", ["-c", "0", program, ...args], { stdio: "ignore" });
  for (let turn = 0; turn < 3000; turn += 1) {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}`);
    const isUp = await fetch(URL_HERE + path).then(
      async (response) => (await response.text()).length >= 0,
      () => false,
    );
    if (isUp) return { child, pid: child.pid ?? 0 };
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${program} did not begin to answer`);
}

async function stopped({ child }: Running): Promise<void> {
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await ended;
}

function single(uris: string, path: string): string {
  return `
local uris = {}
for line in io.lines(${JSON.stringify(uris)}) do uris[#uris + 1] = line end
local i = 0
request = function()
  i = i % #uris + 1
  return wrk.format("GET", ${JSON.stringify(path)} .. uris[i])
end
`;
}

function batches(path: string): string {
  return `
wrk.method = "POST"
wrk.path = "/lookup"
wrk.body = io.open(${JSON.stringify(path)}):read("*a")
`;
}

interface Load {
  readonly requests: number;
  readonly perSecond: number;
  readonly p50: string;
  readonly p99: string;
  readonly cpuSeconds: number;
}

async function wrk(
  { pid }: Running,
  lua: string,
  connections: number,
  seconds: string,
): Promise<Load> {
  const script = join(folder, "serve.lua");
  await writeFile(script, lua);
  const before = await cpuSeconds(pid);
  const args = [
    "-c",
    "1",
    "wrk",
    "-t1",
    `-c${connections}`,
    `-d${seconds}`,
    "--latency",
    "-s",
    script,
    URL_HERE,
  ];
  const { stdout } = spawnSync("taskset", args, { encoding: "utf8" });
  if (/Non-2xx/.test(stdout)) throw new Error(`the server refused requests:\n${stdout}`);
  const figure = (pattern: RegExp): string => pattern.exec(stdout)?.[1] ?? "?";
  return {
    requests: Number(figure(/(\d+) requests in/)),
    perSecond: Number(figure(/Requests\/sec:\s+([\d.]+)/)),
    p50: figure(/50%\s+(\S+)/),
    p99: figure(/99%\s+(\S+)/),
    cpuSeconds: (await cpuSeconds(pid)) - before,
  };
}

async function measured(
  name: string,
  server: Running,
  lua: string,
  connections: number,
  lookups: number,
): Promise<string[]> {
  const load = await wrk(server, lua, connections, values.seconds);
  return [
    name,
    count(load.perSecond * lookups),
    load.p50,
    load.p99,
    `${load.cpuSeconds.toFixed(1)} s of ${values.seconds}`,
    count((load.requests * lookups) / load.cpuSeconds),
  ];
}

function count(value: number): string {
  return Math.round(value).toLocaleString("en");
}

/** Processor time of a process, in user and system mode, at 100 ticks a second. */
async function cpuSeconds(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, "utf8")).replace(/^.*\) /, "").split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function large(rows: number): Promise<void> {
  const map = await madeOnce(folder, `large-${rows}.ukvs`, (path) => writeLargeMap(path, rows));
  const { size } = await stat(map);
  const target = join(folder, "large-fetched.ukvs");
  await rm(target, { force: true });
  const server = await serve([map, "--log", "events"]);
  try {
    const readyPeak = await peakBytes(server.pid);
    const fetched = await timed(process.execPath, [
      BIN,
      "fetch",
      URL_HERE,
      "--force",
      "-q",
      "-o",
      target,
    ]);
    const peak = await peakBytes(server.pid);
    const looked = await timed(process.execPath, [
      BIN,
      "fetch",
      URL_HERE,
      "--lookup",
      "http://s01234567.com/a/1/and-some-more-path",
    ]);
    console.log(
      `${markdownTable(
        ["a map of " + megabytes(size), "seconds", "peak memory"],
        [
          ["serve, until it answers", "", megabytes(readyPeak)],
          ["serve, after the fetch", "", megabytes(peak)],
          [
            "fetch: download, check, replace",
            fetched.seconds.toFixed(1),
            megabytes(fetched.peakBytes),
          ],
          ["fetch --lookup", looked.seconds.toFixed(1), megabytes(looked.peakBytes)],
        ],
      )}\n`,
    );
    const isSame = spawnSync("cmp", [map, target]).status === 0;
    console.log(isSame ? "the fetched map is the same, byte for byte" : "THE FETCHED MAP DIFFERS");
    if (!isSame) process.exitCode = 1;
  } finally {
    await stopped(server);
    await rm(target, { force: true });
  }
}

async function peakBytes(pid: number): Promise<number> {
  const [, peak = "0"] =
    /VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(peak) * 1024;
}

/** Sorted rows of about 42 bytes. */
async function writeLargeMap(path: string, rows: number): Promise<void> {
  const lines = function* (): Generator<string, void, undefined> {
    yield '!context ["https://git.io/mementomap"]\n!fields {"keys":["surt"],"values":["frequency"]}\n';
    yield '!id {"uri":"http://127.0.0.1/"}\n!meta {"name":"A large map","type":"MementoMap"}\n';
    let block = "";
    for (let row = 0; row < rows; row += 1) {
      const site = String(Math.floor(row / 4)).padStart(8, "0");
      block += `com,s${site})/a/${row % 4}/and-some-more-path ${(row % 97) + 1}\n`;
      if (block.length < 1e6) continue;
      yield block;
      block = "";
    }
    yield block;
  };
  await pipeline(lines, createWriteStream(path));
}

function cli(...args: readonly string[]): Promise<unknown> {
  return timed(process.execPath, [BIN, ...args]);
}
