// How generate scales: `npm run bench:scale`.
//
//   npx tsx bench/scale.ts [--lines 50000000] [--small 4000000]
//
// Makes two sample indexes, each as eight gzip files, and measures generate with --memory 512m:
// the throughput of the large one beside that of the small one, one core beside two, and DuckDB
// doing the same job in SQL. Fails if a limit is broken. Where DuckDB is: MEMENTOMAP_DUCKDB names
// a file beside its node_modules.
import { spawn } from "node:child_process";
import { createReadStream, existsSync } from "node:fs";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { MementoMapError } from "../src/errors.ts";
import { benchFolder } from "./bench-folder.ts";
import { machine } from "./machine.ts";
import { markdownTable, megabytes, seconds } from "./markdown-table.ts";
import { timed } from "./peers/timed.ts";
import type { TimedRun } from "./peers/timed.ts";

const PROGRAM = fileURLToPath(new URL("../dist/cli/bin.js", import.meta.url));
const DUCKDB = fileURLToPath(new URL("peers/duckdb.mjs", import.meta.url));
const FILES = 8;
const MEMORY_BYTES = 512 * 2 ** 20;
const LEAST_SHARE_OF_THROUGHPUT = 0.8;
const LEAST_SPEED_UP = 1.6;
const LEAST_AHEAD_OF_DUCKDB = 1.5;

interface Corpus {
  readonly lines: number;
  readonly files: readonly string[];
}

async function makeCorpus(folder: string, lines: number): Promise<Corpus> {
  const place = join(folder, `scale-${lines}`);
  if (!existsSync(place)) {
    const unfinished = `${place}.unfinished`;
    await rm(unfinished, { recursive: true, force: true });
    await mkdir(unfinished, { recursive: true });
    const perFile = Math.ceil(lines / FILES);
    await shell(
      `"${process.execPath}" "${PROGRAM}" sample -q --lines ${lines} | ` +
        `split -l ${perFile} --filter='gzip -3 > $FILE.cdxj.gz' - "${unfinished}/part-"`,
    );
    await rename(unfinished, place);
  }
  const names = await readdir(place);
  return { lines, files: names.map((name) => join(place, name)) };
}

function shell(line: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn("bash", ["-o", "pipefail", "-c", line], { stdio: "inherit" });
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve();
      else reject(new MementoMapError("MM_IO", `could not make the index: exit ${code}`));
    });
  });
}

/** Runs generate on some cores of the machine; it does not see the others. */
function generate(
  corpus: Corpus,
  target: string,
  cores: number,
  ...options: string[]
): Promise<TimedRun> {
  const argv = ["generate", "-q", "--threads", String(cores), "--memory", "512m", ...options];
  const program = [process.execPath, PROGRAM, ...argv, ...corpus.files, "-o", target];
  const [command = "", ...args] = [
    ...(process.platform === "linux" ? ["taskset", "-c", `0-${cores - 1}`] : []),
    ...program,
  ];
  return timed(command, args);
}

/** Millions of lines a second, and a second of processor time. */
function rates(lines: number, run: TimedRun): string[] {
  const rate = (time: number | undefined): string =>
    time === undefined ? "?" : `${(lines / time / 1e6).toFixed(2)} M`;
  return [rate(run.seconds), rate(run.cpuSeconds)];
}

function perCore({ lines }: Corpus, { cpuSeconds = Number.NaN }: TimedRun): number {
  return lines / cpuSeconds;
}

async function countRows(path: string): Promise<{ rows: number; captures: number }> {
  let [rows, captures] = [0, 0];
  for await (const line of createInterface({ input: createReadStream(path) })) {
    if (line.startsWith("!")) continue;
    rows++;
    captures += Number(line.slice(line.lastIndexOf(" ") + 1));
  }
  return { rows, captures };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      lines: { type: "string", default: "50000000" },
      small: { type: "string", default: "4000000" },
    },
  });
  console.log(`${machine()}\n`);
  const folder = await benchFolder();
  const small = await makeCorpus(folder, Number(values.small));
  const large = await makeCorpus(folder, Number(values.lines));
  const target = join(folder, "scale.ukvs");
  const runs: [string, number, TimedRun][] = [];
  const measure = async (
    name: string,
    lines: number,
    run: Promise<TimedRun>,
  ): Promise<TimedRun> => {
    const result = await run;
    runs.push([name, lines, result]);
    return result;
  };
  const ofSmall = await measure("2 cores", small.lines, generate(small, target, 2));
  const ofLarge = await measure("2 cores", large.lines, generate(large, target, 2));
  const onOne = await measure("1 core", large.lines, generate(large, target, 1));
  const filtered = await measure(
    "2 cores, --status 200",
    large.lines,
    generate(large, target, 2, "--status", "200"),
  );
  const ours = await countRows(target);
  const duckTarget = join(folder, "scale.duckdb.txt");
  const duckdb = await timed(process.execPath, [DUCKDB, duckTarget, ...large.files]).catch(
    (error: unknown) => {
      console.log(
        `DuckDB did not run: ${error instanceof Error ? error.message : String(error)}\n`,
      );
    },
  );
  if (duckdb !== undefined) runs.push(["DuckDB, 2 threads, the same filter", large.lines, duckdb]);
  console.log(
    markdownTable(
      ["run", "lines", "wall", "processor", "peak", "lines/s", "lines/processor s"],
      runs.map(([name, lines, run]) => [
        name,
        String(lines),
        seconds(run.seconds),
        seconds(run.cpuSeconds),
        megabytes(run.peakBytes),
        ...rates(lines, run),
      ]),
    ),
  );
  const faults: string[] = [];
  const check = (name: string, value: number, isGood: boolean): void => {
    console.log(`${isGood ? "ok  " : "FAIL"} ${name}: ${value.toFixed(2)}`);
    if (!isGood) faults.push(name);
  };
  console.log("");
  const share = perCore(large, ofLarge) / perCore(small, ofSmall);
  check("throughput per core, large to small", share, share >= LEAST_SHARE_OF_THROUGHPUT);
  const peak = (ofLarge.peakBytes ?? Number.NaN) / MEMORY_BYTES;
  check("peak memory of --memory", peak, peak <= 1);
  const speedUp = onOne.seconds / ofLarge.seconds;
  check("speed-up on two cores", speedUp, speedUp >= LEAST_SPEED_UP);
  if (duckdb !== undefined) {
    const theirs = await countRows(duckTarget);
    check(
      "captures found by DuckDB and by us",
      theirs.captures / ours.captures,
      theirs.captures === ours.captures,
    );
    const ahead = duckdb.seconds / filtered.seconds;
    check("times faster than DuckDB", ahead, ahead >= LEAST_AHEAD_OF_DUCKDB);
  }
  if (faults.length > 0) process.exitCode = 1;
}

await main();
