// Is this build as fast as another one? `npm run bench:beside -- --other FOLDER/dist/cli/bin.js`
//
//   npx tsx bench/beside.ts --other BIN [--lines N] [--lookups N] [--rounds N] [--limit 1.05]
//
// Both programs do the same tasks on the same files, in turn. Fails where this build needs more
// than `limit` times the processor time or wall time of the other, both the best of all rounds.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { benchFolder, madeOnce } from "./bench-folder.ts";
import { contest } from "./contest.ts";
import { heldLookups, sampleIndex, usualLookups } from "./corpus.ts";
import { machine } from "./machine.ts";
import { markdownTable, megabytes, seconds } from "./markdown-table.ts";
import { PROGRAM, mementomap } from "./peers/mementomap.ts";
import { timed } from "./peers/timed.ts";

const { values } = parseArgs({
  options: {
    other: { type: "string" },
    lines: { type: "string", default: "3900000" },
    lookups: { type: "string", default: "1000000" },
    rounds: { type: "string", default: "5" },
    limit: { type: "string", default: "1.05" },
    only: { type: "string" },
  },
});
if (values.other === undefined) throw new Error("--other names the program of the other build");
const other = values.other;
const [lines, lookups, rounds] = [values.lines, values.lookups, values.rounds].map(Number);

/** The CDX line with eleven columns of a CDXJ line. */
const CDX_OF_CDXJ = String.raw`sed -E 's/^([^ ]+) ([0-9]+) \{"url": "([^"]*)", "mime": "([^"]*)", "status": "([^"]*)", "digest": "([^"]*)", "length": "([^"]*)", "offset": "([^"]*)", "filename": "([^"]*)"\}$/\1 \2 \3 \4 \5 \6 - - \7 \8 \9/'`;

const folder = await benchFolder();
const inFolder = (name: string): string => join(folder, name);
const [out, answers, tables] = ["out.ukvs", "answers.tsv", "tables.txt"].map((name) =>
  inFolder(`beside-${name}`),
);
const index = await sampleIndex(folder, lines);
const gzip = await madeOnce(folder, `index-${lines}.cdxj.gz`, (path) =>
  shell(`gzip -c`, index, path),
);
const cdx = await madeOnce(folder, `index-${lines}.cdx`, (path) => shell(CDX_OF_CDXJ, index, path));
const map = await madeOnce(folder, `beside-${lines}.ukvs`, (path) =>
  mementomap("generate", index, "-q", "-o", path),
);
const few = await usualLookups(folder, lines, lookups);
const held = await heldLookups(folder, index, lines, lookups);

/** What is timed, and how often within one measurement: short runs are repeated. */
const TASKS: readonly (readonly [name: string, args: readonly string[], times?: number])[] = [
  ["--version", ["--version"], 10],
  ["lookup of one URI", ["lookup", map, "http://example.com/"], 10],
  ["generate from CDXJ", ["generate", index, "-q", "-o", out]],
  ["generate from CDXJ, one thread", ["generate", index, "-q", "--threads", "1", "-o", out]],
  ["generate from CDXJ, gzip", ["generate", gzip, "-q", "-o", out]],
  ["generate from CDX", ["generate", cdx, "-q", "-o", out]],
  [
    "compact by weights",
    ["compact", "--host-weight", "4", "--path-weight", "2", map, "-q", "-o", out],
  ],
  ["compact to 30,000 lines", ["compact", "--max-lines", "30000", map, "-q", "-o", out]],
  ["lookups, few held", ["lookup", map, "--batch", few.uris, "-q", "-o", answers]],
  ["lookups, all held", ["lookup", map, "--batch", held.uris, "-q", "-o", answers]],
  [
    "lookups of SURTs, all held",
    ["lookup", map, "--surt", "--batch", held.surts, "-q", "-o", answers],
  ],
  ["merge of two maps", ["merge", map, map, "-q", "-o", out]],
  ["validate", ["validate", map]],
  ["analyze", ["analyze", index, "-q", "-o", tables]],
];

const rows: string[][] = [];
let slower = 0;
for (const [name, args, times = 1] of TASKS) {
  if (values.only !== undefined && !name.includes(values.only)) continue;
  process.stderr.write(`bench: ${name}\n`);
  const [ours, theirs] = await contest(
    [PROGRAM, other].map((program) => ({
      name: program,
      run: () => repeated(program, args, times),
    })),
    rounds,
  );
  const wall = ours.bestSeconds / theirs.bestSeconds;
  const cpu = (ours.cpuSeconds ?? 0) / (theirs.cpuSeconds ?? 1);
  const failed = Math.min(wall, cpu) > Number(values.limit);
  if (failed) slower++;
  rows.push([
    name,
    seconds(ours.bestSeconds),
    seconds(theirs.bestSeconds),
    wall.toFixed(2),
    cpu.toFixed(2),
    megabytes(ours.peakBytes),
    megabytes(theirs.peakBytes),
    failed ? "slower" : "ok",
  ]);
}
const head = ["task", "this", "other", "wall ratio", "CPU ratio", "memory", "other", ""];
console.log(`${machine()}; best of ${rounds} rounds in turn.\n\n${markdownTable(head, rows)}`);
if (slower > 0) process.exitCode = 1;

/** Runs a program several times in one measurement, by a shell if more than once. */
function repeated(
  program: string,
  args: readonly string[],
  times: number,
): ReturnType<typeof timed> {
  const command = [program, ...args];
  if (times === 1) return timed(process.execPath, command);
  const loop = `for i in $(seq ${times}); do "$0" "$@" || [ $? = 1 ] || exit 2; done`;
  return timed("bash", ["-c", loop, process.execPath, ...command]);
}

/** Runs a filter of the shell from one file to another. */
function shell(filter: string, from: string, to: string): Promise<void> {
  const { status, stderr } = spawnSync("bash", ["-c", `${filter} < "$0" > "$1"`, from, to]);
  if (status !== 0) throw new Error(`${filter}: ${stderr.toString()}`);
  return Promise.resolve();
}
