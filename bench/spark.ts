// Maps from Spark beside maps of one machine: `npm run bench:spark`.
//
//   npx tsx bench/spark.ts [--lines 4000000,16000000,50000000] [--cores 2] [--no-udf] [--no-skew]
//
// Makes and compacts maps of sample indexes by `generate` and `compact`, and by Spark on as many cores, and
// compares the bytes. Processor time is that of all processes; the start of Spark is told apart. Beside it, the job
// that a Spark user would write (peers/spark_udf.py), on the smallest index, and an index of the same number of lines
// of which a tenth are of one domain. MEMENTOMAP_SPARK names a virtual environment: .ci/install-spark makes one.
// Fails where the bytes differ or a limit is broken.
import { execFileSync, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { copyFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { SPARK_ENVIRONMENT, SPARK_HOME, SparkSession } from "../test/spark/spark-session.ts";
import { benchFolder, madeOnce } from "./bench-folder.ts";
import { sampleIndex } from "./corpus.ts";
import { machine } from "./machine.ts";
import { markdownTable, megabytes, seconds } from "./markdown-table.ts";
import { PROGRAM } from "./peers/mementomap.ts";
import { timed } from "./peers/timed.ts";

const LEAST_SHARE = 0.6;
const MOST_FOR_SKEW = 1.3;
const LEAST_AHEAD_OF_UDF = 3;
/** Fixed costs of small runs hide what is measured. */
const LINES_FOR_LIMITS = 50_000_000;
const TICKS_PER_SECOND = 100;

const { values } = parseArgs({
  options: {
    lines: { type: "string", default: "4000000,16000000,50000000" },
    cores: { type: "string", default: "2" },
    "no-udf": { type: "boolean", default: false },
    "no-skew": { type: "boolean", default: false },
  },
});
if (SPARK_HOME === undefined)
  throw new Error("there is no Spark; .ci/install-spark FOLDER installs it");
const cores = Number(values.cores);
const master = `local[${cores}]`;
const folder = await benchFolder();
const at = (name: string): string => join(folder, name);

/** Processor seconds of a process, of all it has started, and of those that are over. */
function processorTime(root: number): number {
  const parents = new Map<number, { parent: number; ticks: number }>();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    try {
      const [, rest = ""] = readFileSync(`/proc/${name}/stat`, "utf8").split(/\) (?=[A-Z] )/);
      const fields = rest.split(" ").map(Number);
      const ticks = fields.slice(11, 15).reduce((sum, value) => sum + value, 0);
      parents.set(Number(name), { parent: fields[1], ticks });
    } catch {
      continue; // it is over
    }
  }
  const isOfRoot = (pid: number): boolean => {
    for (let at = pid; at > 1; at = parents.get(at)?.parent ?? 0) if (at === root) return true;
    return false;
  };
  let ticks = 0;
  for (const [pid, process] of parents) if (isOfRoot(pid)) ticks += process.ticks;
  return ticks / TICKS_PER_SECOND;
}

interface Measured {
  readonly wall: number;
  readonly processor: number;
}

async function locally(index: string): Promise<Measured> {
  const env = { SOURCE_DATE_EPOCH: "1700000000" };
  const threads = ["--threads", values.cores, "-q"];
  const whole = at("spark-whole.ukvs");
  const made = await timed(
    process.execPath,
    [PROGRAM, "generate", index, ...threads, "-o", whole],
    { env },
  );
  const small = ["compact", whole, ...threads, "-o", at("spark-local.ukvs")];
  const compacted = await timed(process.execPath, [PROGRAM, ...small], { env });
  return {
    wall: made.seconds + compacted.seconds,
    processor: (made.cpuSeconds ?? Number.NaN) + (compacted.cpuSeconds ?? Number.NaN),
  };
}

async function inSession(
  session: SparkSession,
  index: string,
): Promise<Measured & { shuffled: number }> {
  const before = processorTime(session.pid);
  const startedAt = performance.now();
  const output = ["--compact", "-o", at("spark-spark.ukvs"), "--force"];
  const { status, told } = await session.run("generate", index, ...output);
  const wall = (performance.now() - startedAt) / 1000;
  if (status !== 0) throw new Error(told);
  const figures = JSON.parse(told.slice(told.indexOf("{"))) as { bytesShuffled: number };
  execFileSync("cmp", [at("spark-spark.ukvs"), at("spark-local.ukvs")]);
  return { wall, processor: processorTime(session.pid) - before, shuffled: figures.bytesShuffled };
}

/** The job of peers/spark_udf.py, without its start. */
async function byFunction(index: string): Promise<Measured & { surt: string }> {
  const python = SPARK_ENVIRONMENT["PYSPARK_PYTHON"] ?? "python3";
  const script = new URL("peers/spark_udf.py", import.meta.url).pathname;
  const child = spawn(python, [script, index, at("spark-udf")], {
    env: {
      ...SPARK_ENVIRONMENT,
      PYSPARK_SUBMIT_ARGS: `--master ${master} --conf spark.ui.enabled=false pyspark-shell`,
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  await lines.next();
  const before = processorTime(child.pid ?? 0);
  const { value } = await lines.next();
  const processor = processorTime(child.pid ?? 0) - before;
  child.stdin.end();
  const told = JSON.parse(String(value)) as { seconds: number; surt: string };
  await rm(at("spark-udf"), { recursive: true, force: true });
  return { wall: told.seconds, processor, surt: told.surt };
}

/** Captures of a page in a sample archive, on average. */
const CAPTURES_OF_A_PAGE = 4;

/** The same number of lines, a tenth of them of one domain, of as many pages as others have. */
async function skewedIndex(lines: number): Promise<string> {
  return madeOnce(folder, `skewed-${lines}.cdxj`, async (path) => {
    const big = lines / 10;
    await copyFile(await sampleIndex(folder, lines - big), path);
    for (let done = 0; done < big; done += 10_000) {
      const rows = Array.from({ length: Math.min(10_000, big - done) }, (_, j) => {
        const i = done + j;
        const number = Math.floor(i / CAPTURES_OF_A_PAGE);
        const host = `h${Math.floor((i * 3000) / big)}`;
        const page = `${number % 97}/${number}.html`;
        const rest = `"mime": "text/html", "status": "200", "digest": "sha1:SKEWEDSKEWEDSKEWEDSKEWEDSKEWEDSK", "length": "4321", "offset": "${i * 4321}", "filename": "IAH-20140101000000-00000-skewed.arc.gz"`;
        return `zz,big,${host})/${page} 201401010000${10 + (i % CAPTURES_OF_A_PAGE)} {"url": "http://${host}.big.zz/${page}", ${rest}}\n`;
      });
      await writeFile(path, rows.join(""), { flag: "a" });
    }
  });
}

const rows: string[][] = [];
const failures: string[] = [];
const row = (name: string, { wall, processor }: Measured, lines: number, more = ""): void => {
  const rate = `${Math.round(lines / processor / 1000)} k`;
  rows.push([name, seconds(wall), seconds(processor), rate, more]);
  process.stderr.write(`${rows.at(-1)?.join(", ") ?? ""}\n`);
};
const session = new SparkSession(master);
try {
  const startedAt = performance.now();
  await session.ready();
  const start = {
    wall: (performance.now() - startedAt) / 1000,
    processor: processorTime(session.pid),
  };
  rows.push(["start of Spark", seconds(start.wall), seconds(start.processor), "", ""]);
  const sizes = values.lines.split(",").map(Number);
  for (const lines of sizes) {
    const index = await sampleIndex(folder, lines);
    process.stderr.write(`bench: ${lines} lines\n`);
    const local = await locally(index);
    const spark = await inSession(session, index);
    const share = local.processor / spark.processor;
    const million = `${lines / 1e6} M lines`;
    row(`${million}, one machine`, local, lines);
    const more = `${Math.round(share * 100)} %, ${megabytes(spark.shuffled)} shuffled`;
    row(`${million}, Spark`, spark, lines, more);
    if (lines >= LINES_FOR_LIMITS && share < LEAST_SHARE) failures.push(`${million}: ${more}`);
  }
  const lines = Math.max(...sizes);
  if (!values["no-skew"]) {
    process.stderr.write("bench: skewed\n");
    const even = await inSessionOf(lines);
    const index = await skewedIndex(lines);
    const local = await locally(index);
    const skewed = await inSession(session, index);
    const times = skewed.processor / even.processor;
    const million = `${lines / 1e6} M lines, skewed`;
    row(`${million}, one machine`, local, lines);
    row(`${million}, Spark`, skewed, lines, `${times.toFixed(2)} × even`);
    if (times > MOST_FOR_SKEW) failures.push(`skewed: ${times.toFixed(2)} × even`);
  }
  if (!values["no-udf"]) {
    process.stderr.write("bench: DataFrames\n");
    const least = Math.min(...sizes);
    const even = await inSessionOf(least);
    const udf = await byFunction(await sampleIndex(folder, least));
    const times = udf.processor / even.processor;
    const more = `${times.toFixed(1)} × Spark with mementomap`;
    row(`${least / 1e6} M lines, DataFrames and ${udf.surt}`, udf, least, more);
    if (times < LEAST_AHEAD_OF_UDF) failures.push(`DataFrames: ${more}`);
  }
} finally {
  await session.close();
}

async function inSessionOf(lines: number): Promise<Measured> {
  const index = await sampleIndex(folder, lines);
  await locally(index);
  return inSession(session, index);
}

process.stdout.write(`${machine()}\n\n`);
const head = ["", "wall time", "processor time", "lines a second and core", ""];
process.stdout.write(`${markdownTable(head, rows)}\n`);
if (failures.length > 0) throw new Error(`limits are broken: ${failures.join("; ")}`);
