// Prints the plan of the house in figures: files, lines, the arrows between folders and their cycles,
// and how many source files one run of each of the four ways of data executes.
//
//   npm run house             the figures of this tree
//   npm run house -- --json   the same as JSON
//   npm run house -- --check  only what must not be: arrows that point to a later room, cycles of folders or files
import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join, normalize } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SOURCE = join(ROOT, "src");
process.chdir(ROOT);

/**
 * The rooms of src: a file imports only from its own room and those before it. Files at the top of src
 * are the entries of the package, except the first, which everything may use.
 */
const ROOMS = [
  "errors interruption",
  "bytes",
  "surt",
  "ukvs",
  "packed",
  "memento",
  "files",
  "threads",
  "http",
  "input",
  "harvest",
  "map",
  "page",
  "publish",
  "aggregate",
  "study",
  "library",
  "index node server",
  "cli",
].map((names) => names.split(" "));

interface SourceFile {
  /** Path below src. */
  readonly path: string;
  readonly lines: number;
  /** Paths below src. */
  readonly imports: readonly string[];
}

async function readSources(): Promise<SourceFile[]> {
  const names = await readdir(SOURCE, { recursive: true });
  const paths = names.filter((name) => name.endsWith(".ts")).toSorted(byCode);
  return Promise.all(
    paths.map(async (path) => {
      const text = await readFile(join(SOURCE, path), "utf8");
      const found = text.matchAll(/\b(?:from|import)\s*\(?\s*"(\.{1,2}\/[^"]+\.ts)"/g);
      const imports = new Set(
        [...found].map(([, name = ""]) => normalize(join(dirname(path), name))),
      );
      return { path, lines: text.split("\n").length - 1, imports: [...imports] };
    }),
  );
}

function byCode(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The folder of a file; a file at the top of src is a folder of its own. */
function folderOf(path: string): string {
  const folder = dirname(path);
  return folder === "." ? path.replace(/\.ts$/, "") : folder;
}

type Graph = ReadonlyMap<string, ReadonlySet<string>>;

function graphOf(files: readonly SourceFile[], nodeOf: (path: string) => string): Graph {
  const graph = new Map<string, Set<string>>();
  for (const { path, imports } of files) {
    const from = nodeOf(path);
    const arrows = graph.get(from) ?? new Set();
    graph.set(from, arrows);
    for (const target of imports) if (nodeOf(target) !== from) arrows.add(nodeOf(target));
  }
  return graph;
}

/** Groups of nodes that can reach each other (Tarjan). */
function cyclesOf(graph: Graph): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const cycles: string[][] = [];
  const visit = (node: string): number => {
    order.set(node, order.size);
    let low = order.size - 1;
    stack.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!order.has(next)) low = Math.min(low, visit(next));
      else if (stack.includes(next)) low = Math.min(low, order.get(next) ?? low);
    }
    lowest.set(node, low);
    if (low === order.get(node)) {
      const group = stack.splice(stack.indexOf(node));
      if (group.length > 1) cycles.push(group.toSorted(byCode));
    }
    return low;
  };
  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return cycles;
}

interface CoveredFunction {
  readonly functionName: string;
  readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
}

/** What merely loading a module executes. */
const LOADING = new Set(["__name", "<static_initializer>"]);

const LINE =
  'com,example)/a 20200101000000 {"url":"http://example.com/a","mime":"text/html","status":"200"}\n';

/** How often a run called each function of the source, by file and place. */
type Calls = ReadonlyMap<string, number>;

/** The number of source files with a function that one run called more often than another. */
function filesExecuted(calls: Calls, besides: Calls = new Map()): number {
  const more = [...calls].filter(([place, count]) => count > (besides.get(place) ?? 0));
  return new Set(more.map(([place]) => place.replace(/#.*/, ""))).size;
}

async function callsOf(
  folder: string,
  args: readonly string[],
  during?: (stdout: string) => Promise<void> | undefined,
): Promise<Calls> {
  const coverage = await mkdtemp(join(folder, "coverage-"));
  const child = spawn(process.execPath, ["--import", "tsx", join(SOURCE, "cli/bin.ts"), ...args], {
    env: { ...process.env, NODE_V8_COVERAGE: coverage },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 120_000,
  });
  let [stdout, stderr] = ["", ""];
  let request: Promise<void> | undefined;
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    request ??= during?.(stdout)?.finally(() => child.kill("SIGTERM"));
  });
  const status = await new Promise<number | null>((resolve) => child.on("close", resolve));
  await request;
  if (status !== 0) throw new Error(`${args.join(" ")}: ${stderr}`);
  const calls = new Map<string, number>();
  const prefix = pathToFileURL(SOURCE).href;
  for (const name of await readdir(coverage)) {
    const report = JSON.parse(await readFile(join(coverage, name), "utf8")) as {
      result: { url: string; functions: CoveredFunction[] }[];
    };
    for (const { url, functions } of report.result) {
      if (!url.startsWith(prefix)) continue;
      for (const { functionName, ranges } of functions) {
        const [range] = ranges;
        if (functionName === "" || LOADING.has(functionName) || range === undefined) continue;
        if (range.count > 0)
          calls.set(`${url.replace(/\?.*/, "")}#${range.startOffset}`, range.count);
      }
    }
  }
  return calls;
}

async function get(address: string): Promise<void> {
  const response = await fetch(address);
  await response.text();
  if (response.status !== 200) throw new Error(`${address}: ${response.status}`);
}

/** A TimeMap of one memento, as an archive would send it. */
async function timeMapWay(folder: string): Promise<number> {
  const archive = createServer((_request, response) => {
    response.setHeader("Content-Type", "application/link-format");
    response.end(
      '<http://example.com/>; rel="original",\n<http://a.example/2020/http://example.com/>; rel="memento"; datetime="Wed, 01 Jan 2020 00:00:00 GMT"\n',
    );
  });
  await new Promise<void>((resolve) => archive.listen(0, "127.0.0.1", resolve));
  const { port } = archive.address() as AddressInfo;
  const list = join(folder, "archives.json");
  const base = `http://127.0.0.1:${port}/`;
  await writeFile(
    list,
    JSON.stringify([{ id: "a", name: "A", timemap: `${base}timemap/`, timegate: `${base}gate/` }]),
  );
  const args = ["aggregate", "--serve", "--archives", list, "--port", "0"];
  const options = ["--host", "127.0.0.1", "--allow-private"];
  try {
    const callsFor = (target: string): Promise<Calls> =>
      callsOf(folder, [...args, ...options], (stdout) => {
        const address = /http:\/\/127\.0\.0\.1:\d+/.exec(stdout)?.[0];
        return address === undefined ? undefined : get(address + target);
      });
    const idle = await callsFor("/health");
    return filesExecuted(await callsFor("/timemap/link/http://example.com/"), idle);
  } finally {
    archive.close();
  }
}

async function waysOfData(): Promise<Record<string, number>> {
  const folder = await mkdtemp(join(tmpdir(), "mementomap-house-"));
  try {
    const index = join(folder, "index.cdxj");
    const map = join(folder, "map.ukvs");
    await writeFile(index, LINE);
    const generate = await callsOf(folder, ["generate", index, "-o", map, "--threads", "1"]);
    const compact = await callsOf(folder, [
      "compact",
      "--host-weight",
      "4",
      map,
      "-o",
      join(folder, "small.ukvs"),
    ]);
    const lookup = await callsOf(folder, ["lookup", map, "http://example.com/a"]);
    const timemap = await timeMapWay(folder);
    return {
      "CDXJ line to row": filesExecuted(generate),
      compact: filesExecuted(compact),
      lookup: filesExecuted(lookup),
      "TimeMap request": timemap,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function roomOf(path: string): number {
  const [name = ""] = path.replace(/\.ts$/, "").split("/");
  const room = ROOMS.findIndex((names) => names.includes(name));
  if (room === -1) throw new Error(`src/${path} is in none of the rooms of scripts/house.ts`);
  return room;
}

/** What the plan of the house forbids. */
function faultsOf(sources: readonly SourceFile[]): string[] {
  const arrows = sources.flatMap(({ path, imports }) =>
    imports
      .filter((target) => roomOf(target) > roomOf(path))
      .map((target) => `src/${path} imports src/${target}, which is in a later room`),
  );
  const cycles = [
    ...cyclesOf(graphOf(sources, folderOf)).map((names) => ["folders", ...names]),
    ...cyclesOf(graphOf(sources, (path) => path)).map((names) => ["files", ...names]),
  ].map(([what, ...names]) => `${what} import each other: ${names.join(" ")}`);
  return [...arrows, ...cycles, ...sharedNames(sources)];
}

/** Files that cannot be told apart by their names. */
function sharedNames(sources: readonly SourceFile[]): string[] {
  const pathOf = new Map<string, string>();
  return sources.flatMap(({ path }) => {
    const name = basename(path);
    const other = pathOf.get(name);
    pathOf.set(name, path);
    return other === undefined ? [] : [`src/${other} and src/${path} have the same name`];
  });
}

const files = await readSources();
if (process.argv.includes("--check")) {
  const faults = faultsOf(files);
  for (const fault of faults) console.error(fault);
  process.exit(faults.length === 0 ? 0 : 1);
}
const lines = files.map((file) => file.lines).toSorted((a, b) => a - b);
const importers = new Map<string, number>();
for (const { imports } of files) {
  for (const target of imports) importers.set(target, (importers.get(target) ?? 0) + 1);
}
const folders = graphOf(files, folderOf);
const figures = {
  files: files.length,
  lines: lines.reduce((sum, count) => sum + count, 0),
  medianLines: lines[Math.floor(lines.length / 2)] ?? 0,
  filesWithOneImporter: files.filter(({ path }) => importers.get(path) === 1).length,
  imports: files.reduce((sum, { imports }) => sum + imports.length, 0),
  folders: folders.size,
  folderArrows: [...folders.values()].reduce((sum, targets) => sum + targets.size, 0),
  folderCycles: cyclesOf(folders),
  fileCycles: cyclesOf(graphOf(files, (path) => path)),
  filesExecuted: await waysOfData(),
};

if (process.argv.includes("--json")) {
  console.log(JSON.stringify(figures, undefined, 2));
} else {
  for (const [name, value] of Object.entries(figures)) {
    if (Array.isArray(value)) {
      console.log(`${name.padEnd(22)} ${value.length}`);
      for (const item of value) console.log(`  ${Array.isArray(item) ? item.join(" ") : item}`);
    } else if (typeof value === "object") {
      for (const [way, count] of Object.entries(value)) {
        console.log(`${`executed: ${way}`.padEnd(28)} ${String(count)}`);
      }
    } else console.log(`${name.padEnd(22)} ${value}`);
  }
}
