// Measures the structure of src and, in `npm run lint`, checks it: no file imports from a later room, and
// neither folders nor files import each other in a cycle.
//
//   npm run house               lines of code by region, and the files executed by the flows of docs/architecture.md
//   npm run house -- --check    check only
import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SOURCE = join(ROOT, "src");

/**
 * The rooms of src: a file imports only from its own and earlier rooms. Files at the top of src are the
 * entry points of the package, except the first, which may be imported everywhere.
 */
const ROOMS = [
  "errors interruption format",
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
  "lookup",
  "maps",
  "compact",
  "generate",
  "pack",
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
  /** Paths below src. */
  readonly imports: readonly string[];
}

async function readSources(): Promise<SourceFile[]> {
  const names = await readdir(SOURCE, { recursive: true });
  const paths = names.filter((name) => /\.tsx?$/.test(name)).toSorted(byCode);
  return Promise.all(
    paths.map(async (path) => {
      const text = await readFile(join(SOURCE, path), "utf8");
      const found = text.matchAll(/\b(?:from|import)\s*\(?\s*"(\.{1,2}\/[^"]+\.tsx?)"/g);
      const imports = new Set(
        [...found].map(([, name = ""]) => normalize(join(dirname(path), name))),
      );
      return { path, imports: [...imports] };
    }),
  );
}

function byCode(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The folder of a file; a file at the top of src counts as a folder. */
function folderOf(path: string): string {
  const folder = dirname(path);
  return folder === "." ? path.replace(/\.tsx?$/, "") : folder;
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

function roomOf(path: string): number {
  const [name = ""] = path.replace(/\.tsx?$/, "").split("/");
  const room = ROOMS.findIndex((names) => names.includes(name));
  if (room === -1) throw new Error(`src/${path} is not in any room of scripts/house.ts`);
  return room;
}

/** The violations of these rules. */
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
  return [...arrows, ...cycles];
}

const faults = faultsOf(await readSources());
for (const fault of faults) console.error(fault);
process.exitCode = faults.length === 0 ? 0 : 1;
if (!process.argv.includes("--check")) {
  for (const [name, value] of [...(await linesByRegion()), ...(await filesByPath())]) {
    console.log(`${name.padEnd(44)}${String(value).padStart(7)}`);
  }
}

/** Lines that are neither blank nor comments, by region. */
async function linesByRegion(): Promise<[string, number][]> {
  const regions: Record<string, string> = {
    src: "src",
    "  http, memento, aggregate": "src/http src/memento src/aggregate",
    "  study, cli, publish, page, harvest": "src/study src/cli src/publish src/page src/harvest",
    page: "page",
    test: "test",
    "bench, fuzz, scripts": "bench fuzz scripts",
  };
  return Promise.all(
    Object.entries(regions).map(async ([name, folders]): Promise<[string, number]> => {
      const counts = await Promise.all(folders.split(" ").map((folder) => linesBelow(folder)));
      return [`lines: ${name}`, counts.reduce((sum, count) => sum + count, 0)];
    }),
  );
}

async function linesBelow(folder: string): Promise<number> {
  const names = await readdir(join(ROOT, folder), { recursive: true });
  const counts = await Promise.all(
    names
      .filter((name) => /\.(tsx?|css)$/.test(name))
      .map(async (name) => {
        const lines = (await readFile(join(ROOT, folder, name), "utf8")).split("\n");
        return lines.filter((line) => !/^\s*(\/\/|\*|\/\*|$)/.test(line)).length;
      }),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

/** The files outside cli/ of which each command calls a function, not counting those called on import. */
async function filesByPath(): Promise<[string, number][]> {
  const folder = await mkdtemp(join(tmpdir(), "mementomap-house-"));
  const path = (name: string): string => join(folder, name);
  const line = 'com,example)/a 20200101000000 {"url": "http://example.com/a", "status": "200"}\n';
  await writeFile(path("index.cdxj"), line);
  const commands: Record<string, string[]> = {
    "a CDXJ line becomes a row": ["generate", path("index.cdxj"), "-o", path("map.ukvs")],
    "a map is compacted": ["compact", "--host-weight", "4", path("map.ukvs"), "-o", path("c.ukvs")],
    "a URI is looked up": ["lookup", path("map.ukvs"), "http://example.com/a"],
    "a map is packed": ["pack", path("map.ukvs"), "--bits", "8", "-o", path("map.packed")],
  };
  try {
    const imports = (await readSources())
      .filter((file) => !/(^cli\/bin|-worker)\.ts$/.test(file.path))
      .map((file) => `await import(${JSON.stringify(pathToFileURL(join(SOURCE, file.path)))});\n`);
    await writeFile(path("import-all.mjs"), imports);
    const loading = await functionsCalled(folder, [path("import-all.mjs")]);
    const counts: [string, number][] = [];
    for (const [name, args] of Object.entries(commands)) {
      const called = await functionsCalled(folder, [join(SOURCE, "cli/bin.ts"), ...args]);
      const places = [...called].filter((place) => !loading.has(place));
      const files = new Set(places.map((place) => place.replace(/#.*/, "")));
      counts.push([`files executed: ${name}`, files.size]);
      if (process.argv.includes("--files")) console.log([name, ...files].join("\n  "));
    }
    return counts;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The functions of src outside cli/ that a program calls, each as `FILE#OFFSET`. */
async function functionsCalled(folder: string, program: readonly string[]): Promise<Set<string>> {
  const coverage = await mkdtemp(join(folder, "coverage-"));
  const env = { ...process.env, NODE_V8_COVERAGE: coverage };
  const command = ["--import", "tsx", ...program];
  const { status, stderr } = spawnSync(process.execPath, command, { env, encoding: "utf8" });
  if (status !== 0) throw new Error(`${program.join(" ")}: ${stderr}`);
  const places = new Set<string>();
  for (const name of await readdir(coverage)) {
    const report = JSON.parse(await readFile(join(coverage, name), "utf8")) as CoverageReport;
    for (const { url, functions } of report.result) {
      const file = url.replace(pathToFileURL(SOURCE).href, "").replace(/\?.*/, "");
      if (file.includes(":") || file.startsWith("/cli/")) continue;
      for (const { functionName, ranges } of functions) {
        const [range] = ranges;
        const isNamed = functionName !== "" && !functionName.startsWith("<");
        if (isNamed && range !== undefined && range.count > 0) {
          places.add(`src${file}#${range.startOffset}`);
        }
      }
    }
  }
  return places;
}

interface CoverageReport {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly functionName: string;
      readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
    }[];
  }[];
}
