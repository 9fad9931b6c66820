// Time and memory of generate and compact over growing inputs: `npm run bench:memory`.
//
//   npx tsx bench/memory.ts [--lines N,N,N] [--quick]
//
// The time should grow with the lines and the memory should not. Each index is read sorted, as it
// is made, and shuffled, which makes generate sort it. Both maps must be the same. Fails if a
// limit is broken.
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { MementoMapError } from "../src/errors.ts";
import { benchFolder, madeOnce } from "./bench-folder.ts";
import { machine } from "./machine.ts";
import { markdownTable, megabytes, seconds } from "./markdown-table.ts";
import { mementomap } from "./peers/mementomap.ts";
import { timed } from "./peers/timed.ts";
import type { TimedRun } from "./peers/timed.ts";
import { shuffleLines } from "./shuffle-lines.ts";

const USUAL_LINES = "1000000,4000000,16000000";
const QUICK_LINES = "20000,80000";
const GENERATE_MEMORY = "256m";
const MOST_GENERATE_BYTES = 256 * 2 ** 20;
const MOST_COMPACT_BYTES = 150e6;

interface Measured {
  readonly task: string;
  readonly lines: number;
  readonly run: TimedRun;
  readonly mostBytes: number;
}

function readLineCounts(): number[] {
  const { values } = parseArgs({
    options: { lines: { type: "string" }, quick: { type: "boolean" } },
  });
  const lines = values.lines ?? (values.quick === true ? QUICK_LINES : USUAL_LINES);
  return lines.split(",").map(Number);
}

async function measure(folder: string, lines: number): Promise<Measured[]> {
  progress(`sample archive of ${lines} captures`);
  const index = await madeOnce(folder, `index-${lines}.cdxj`, (path) =>
    mementomap("sample", "--lines", String(lines), "-o", path),
  );
  const { size } = await stat(index);
  const shuffled = await madeOnce(folder, `shuffled-${lines}.cdxj`, (path) =>
    shuffleLines(index, size, path),
  );
  const map = join(folder, "memory.ukvs");
  const mapOfShuffled = join(folder, "memory-shuffled.ukvs");
  const compacted = join(folder, "memory-compacted.ukvs");
  progress(`generate and compact ${lines}`);
  const sorted = await generate(index, map);
  const unsorted = await generate(shuffled, mapOfShuffled);
  await requireSameRows(map, mapOfShuffled);
  const compact = await mementomap("compact", map, "-o", compacted);
  const rows = await countRows(map);
  return [
    { task: "generate", lines, run: sorted, mostBytes: MOST_GENERATE_BYTES },
    { task: "generate, shuffled", lines, run: unsorted, mostBytes: MOST_GENERATE_BYTES },
    { task: "compact its map", lines: rows, run: compact, mostBytes: MOST_COMPACT_BYTES },
  ];
}

function generate(index: string, map: string): Promise<TimedRun> {
  return mementomap("generate", "--memory", GENERATE_MEMORY, index, "-o", map);
}

/** Both maps have the same rows; only the header, with the date of the index, may differ. */
async function requireSameRows(map: string, other: string): Promise<void> {
  const script = `cmp <(grep -v '^!' "$1") <(grep -v '^!' "$2")`;
  await timed("bash", ["-c", script, "bash", map, other]);
}

async function countRows(map: string): Promise<number> {
  const { stdout } = await timed("grep", ["-vc", "^!", map]);
  return Number(stdout);
}

function resultTable(results: readonly Measured[]): string {
  const tasks = [...new Set(results.map(({ task }) => task))];
  const rows = tasks.flatMap((task) =>
    results
      .filter((result) => result.task === task)
      .map(({ lines, run, mostBytes }, i) => [
        i === 0 ? task : "",
        lines.toLocaleString("en-US"),
        seconds(run.seconds),
        Math.round(lines / run.seconds).toLocaleString("en-US"),
        seconds(run.cpuSeconds),
        megabytes(run.peakBytes),
        megabytes(mostBytes),
      ]),
  );
  return markdownTable(["task", "lines", "time", "lines/s", "CPU time", "memory", "limit"], rows);
}

function progress(what: string): void {
  process.stderr.write(`bench: ${what}\n`);
}

const started = machine();
const folder = await benchFolder();
const results: Measured[] = [];
for (const lines of readLineCounts()) results.push(...(await measure(folder, lines)));
console.log(`${started}; generate with --memory ${GENERATE_MEMORY}.\n\n${resultTable(results)}`);
const broken = results.filter(({ run, mostBytes }) => (run.peakBytes ?? 0) > mostBytes);
if (broken.length > 0) {
  const names = broken.map(({ task, lines }) => `${task} of ${lines} lines`).join(", ");
  throw new MementoMapError("MM_LIMIT", `more memory than the limit: ${names}`);
}
