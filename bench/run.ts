// Time and memory of generate, compact and lookup beside what people use today: `npm run bench`.
//
//   npx tsx bench/run.ts [--lines N] [--lookups N] [--held-lookups N] [--rounds N] [--quick]
//
// Everything runs on files of the same sample archive, in one folder, in turn. The results are
// compared before any figure is printed; the bench fails where they differ without a known reason.
import { join } from "node:path";
import { parseArgs } from "node:util";
import { compactionsAgree, lookupsAgree, pipelineAgrees, referenceAgrees } from "./agreement.ts";
import { benchFolder } from "./bench-folder.ts";
import type { Contestant, Standing } from "./contest.ts";
import { contest } from "./contest.ts";
import type { Lookups } from "./corpus.ts";
import { heldLookups, sampleIndex, usualLookups } from "./corpus.ts";
import { machine } from "./machine.ts";
import { markdownTable, megabytes, seconds } from "./markdown-table.ts";
import { mementomap } from "./peers/mementomap.ts";
import type { PythonReference } from "./peers/python-reference.ts";
import { pythonReference } from "./peers/python-reference.ts";
import { unixPipeline } from "./peers/unix-pipeline.ts";

const WEIGHTS = ["--host-weight", "4", "--path-weight", "2"];

interface Sizes {
  readonly lines: number;
  readonly lookups: number;
  readonly heldLookups: number;
  readonly rounds: number;
}

const USUAL: Sizes = { lines: 3_900_000, lookups: 200_000, heldLookups: 1_000_000, rounds: 3 };
/** Shows that the bench runs; its figures say little. */
const QUICK: Sizes = { lines: 50_000, lookups: 5_000, heldLookups: 5_000, rounds: 1 };

/** A task that several programs do, ours first. */
interface Task {
  readonly title: string;
  readonly standings: readonly Standing[];
}

function readSizes(): Sizes {
  const { values } = parseArgs({
    options: {
      lines: { type: "string" },
      lookups: { type: "string" },
      "held-lookups": { type: "string" },
      rounds: { type: "string" },
      quick: { type: "boolean" },
    },
  });
  const usual = values.quick === true ? QUICK : USUAL;
  return {
    lines: Number(values.lines ?? usual.lines),
    lookups: Number(values.lookups ?? usual.lookups),
    heldLookups: Number(values["held-lookups"] ?? usual.heldLookups),
    rounds: Number(values.rounds ?? usual.rounds),
  };
}

async function benchAll(sizes: Sizes, folder: string): Promise<void> {
  const started = machine();
  progress(`sample archive of ${sizes.lines} captures`);
  const index = await sampleIndex(folder, sizes.lines);
  const usual = await usualLookups(folder, sizes.lines, sizes.lookups);
  const held = await heldLookups(folder, index, sizes.lines, sizes.heldLookups);
  const python = await pythonReference(join(folder, "cache"));
  const notes = python.missing === undefined ? [] : [python.missing];
  const tasks = [
    await benchGenerate(index, sizes, folder, python.peer, notes),
    await benchCompact(sizes, folder, python.peer, notes),
  ];
  for (const map of ["ours.ukvs", "ours-4-2.ukvs"]) {
    const where = map === "ours.ukvs" ? "the map" : "the compacted map";
    for (const [lookups, count, which] of [
      [usual, sizes.lookups, "few held"],
      [held, sizes.heldLookups, "all held"],
    ] as const) {
      const title = `${count.toLocaleString("en-US")} lookups in ${where}, ${which}`;
      tasks.push(await benchLookup(title, map, lookups, sizes, folder, python.peer, notes));
    }
  }
  const rounds = `best and median of ${sizes.rounds} rounds in turn`;
  console.log(`${started}; ${rounds}.\n\n${resultTable(tasks)}\n`);
  for (const note of notes) console.log(`- ${note}`);
}

async function benchGenerate(
  index: string,
  { lines, rounds }: Sizes,
  folder: string,
  python: PythonReference | undefined,
  notes: string[],
): Promise<Task> {
  progress("generate");
  const [ours, reference, counted] = inFolder(folder, "ours.ukvs", "reference.ukvs", "counted.txt");
  const generate = ["generate", index, "-o", ours];
  const standings = await contest(
    [
      { name: "mementomap", run: () => mementomap(...generate) },
      { name: "mementomap --threads 1", run: () => mementomap(...generate, "--threads", "1") },
      ...some(python, (peer): Contestant => ({
        name: "Python reference",
        run: () => peer.generate(index, reference),
      })),
      { name: "cut, sed, sort, uniq", run: () => unixPipeline(index, counted) },
    ],
    rounds,
  );
  notes.push(pipelineAgrees(ours, counted));
  if (python !== undefined) notes.push(referenceAgrees(ours, reference));
  return { title: `generate, ${lines.toLocaleString("en-US")} lines`, standings };
}

async function benchCompact(
  { rounds }: Sizes,
  folder: string,
  python: PythonReference | undefined,
  notes: string[],
): Promise<Task> {
  progress("compact");
  const [map, ours, reference] = inFolder(
    folder,
    "ours.ukvs",
    "ours-4-2.ukvs",
    "reference-4-2.ukvs",
  );
  const compact = ["compact", ...WEIGHTS, map, "-o", ours];
  const standings = await contest(
    [
      { name: "mementomap", run: () => mementomap(...compact) },
      ...some(python, (peer): Contestant => ({
        name: "Python reference",
        run: () => peer.compact(map, reference),
      })),
    ],
    rounds,
  );
  if (python !== undefined) notes.push(compactionsAgree(ours, reference));
  return { title: "compact the map, 4/2", standings };
}

async function benchLookup(
  title: string,
  mapName: string,
  { uris, surts }: Lookups,
  { rounds }: Sizes,
  folder: string,
  python: PythonReference | undefined,
  notes: string[],
): Promise<Task> {
  progress(title);
  const [map, answers, ofUris] = inFolder(folder, mapName, "answers.tsv", "answers-uris.tsv");
  let printed = "";
  const standings = await contest(
    [
      {
        name: "mementomap --surt",
        run: () => mementomap("lookup", map, "--surt", "--batch", surts, "-o", answers),
      },
      {
        name: "mementomap, of URIs",
        run: () => mementomap("lookup", map, "--batch", uris, "-o", ofUris),
      },
      ...some(python, (peer): Contestant => ({
        name: "Python reference",
        run: async () => {
          const run = await peer.batchLookup(map, surts);
          printed = run.stdout;
          return run;
        },
      })),
    ],
    rounds,
  );
  if (python !== undefined) notes.push(lookupsAgree(answers, printed));
  return { title, standings };
}

function resultTable(tasks: readonly Task[]): string {
  const rows = tasks.flatMap(({ title, standings }) => {
    const [ours] = standings;
    return standings.map((standing, i) => [
      i === 0 ? title : "",
      standing.name,
      seconds(standing.bestSeconds),
      seconds(standing.medianSeconds),
      ratio(standing.bestSeconds, ours.bestSeconds),
      seconds(standing.cpuSeconds),
      ratio(standing.cpuSeconds, ours.cpuSeconds),
      megabytes(standing.peakBytes),
    ]);
  });
  const head = ["task", "program", "best", "median", "ratio", "CPU time", "ratio", "memory"];
  return markdownTable(head, rows, 2);
}

function ratio(theirs: number | undefined, ours: number | undefined): string {
  return theirs === undefined || ours === undefined ? "?" : `${(theirs / ours).toFixed(1)}×`;
}

function inFolder(folder: string, ...names: readonly string[]): string[] {
  return names.map((name) => join(folder, name));
}

function some<T, U>(value: T | undefined, use: (value: T) => U): U[] {
  return value === undefined ? [] : [use(value)];
}

function progress(what: string): void {
  process.stderr.write(`bench: ${what}\n`);
}

await benchAll(readSizes(), await benchFolder());
