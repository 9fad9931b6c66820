// Checks the plan of the house: no file imports from a later room, and neither folders nor files import
// each other in a circle.
//
//   npm run house
import { readdir, readFile } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SOURCE = join(ROOT, "src");

/**
 * The rooms of src: a file imports only from its own room and those before it. Files at the top of src
 * are the entries of the package, except the first, which everything may use.
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

/** The folder of a file; a file at the top of src is a folder of its own. */
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
  return [...arrows, ...cycles];
}

const faults = faultsOf(await readSources());
for (const fault of faults) console.error(fault);
process.exit(faults.length === 0 ? 0 : 1);
