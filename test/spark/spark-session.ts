import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { ROOT } from "../support/code-blocks.ts";
import { bundle } from "./bundle.ts";

/** A virtual environment with PySpark: `.ci/install-spark FOLDER` makes one. */
const FOLDER = process.env["MEMENTOMAP_SPARK"] ?? "";

/** The folder of Spark in the virtual environment; undefined where that or Java is missing. */
export const SPARK_HOME: string | undefined = hasJava() ? findSpark() : undefined;

if (SPARK_HOME === undefined) {
  process.stderr.write(
    "Spark: MEMENTOMAP_SPARK names no virtual environment with PySpark, or there is no Java; its tests are skipped\n",
  );
}

function findSpark(): string | undefined {
  const libraries = join(FOLDER, "lib");
  if (FOLDER === "" || !existsSync(libraries)) return undefined;
  return readdirSync(libraries)
    .map((python) => join(libraries, python, "site-packages/pyspark"))
    .find((folder) => existsSync(folder));
}

function hasJava(): boolean {
  try {
    execFileSync("java", ["-version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** The environment of all programs of Spark: Python of the virtual environment, and loopback only. */
export const SPARK_ENVIRONMENT: NodeJS.ProcessEnv = {
  ...process.env,
  PYSPARK_PYTHON: join(FOLDER, "bin/python"),
  PYSPARK_DRIVER_PYTHON: join(FOLDER, "bin/python"),
  PYTHONPATH: join(ROOT, "spark"),
  SPARK_LOCAL_IP: "127.0.0.1",
  SOURCE_DATE_EPOCH: "1700000000",
};

/** Options of spark-submit that all applications of tests have. */
function submitOptions(master: string, settings: Readonly<Record<string, string>>): string[] {
  const all = { "spark.ui.enabled": "false", "spark.log.level": "WARN", ...settings };
  return [
    "--master",
    master,
    "--archives",
    `${bundle()}#mementomap`,
    ...Object.entries(all).flatMap(([name, value]) => ["--conf", `${name}=${value}`]),
  ];
}

interface CommandResult {
  readonly status: number;
  /** What was written to standard error. */
  readonly told: string;
}

/** A Spark application that runs one command after the other; starting one takes seconds. */
export class SparkSession {
  readonly #process: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #reader: Interface;
  #log = "";

  /** @param settings of Spark. */
  constructor(master: string, settings: Readonly<Record<string, string>> = {}) {
    // spark-submit keeps standard input to itself; Python starts it the other way round.
    const submit = [...submitOptions(master, settings), "pyspark-shell"];
    const quoted = submit.map((word) => `"${word}"`).join(" ");
    const started = spawn(join(FOLDER, "bin/python"), [join(ROOT, "test/spark/session.py")], {
      env: { ...SPARK_ENVIRONMENT, PYSPARK_SUBMIT_ARGS: quoted },
      stdio: ["pipe", "pipe", "pipe"],
    });
    started.stderr.on("data", (text: Buffer) => {
      this.#log += text.toString();
    });
    this.#process = started;
    this.#reader = createInterface({ input: started.stdout });
    this.#lines = this.#reader[Symbol.asyncIterator]();
  }

  /** Waits until the application runs. */
  async ready(): Promise<void> {
    await this.#next();
  }

  async run(...args: readonly string[]): Promise<CommandResult> {
    this.#process.stdin?.write(`${JSON.stringify(args)}\n`);
    return JSON.parse(await this.#next()) as CommandResult; // what session.py writes
  }

  /** The process of the driver. */
  get pid(): number {
    return this.#process.pid ?? 0;
  }

  async close(): Promise<void> {
    const isOver = new Promise((resolve) => this.#process.once("exit", resolve));
    this.#process.stdin?.end();
    if (this.#process.exitCode === null) await isOver;
    this.#reader.close();
  }

  async #next(): Promise<string> {
    const { done, value } = await this.#lines.next();
    if (done !== true) return value;
    throw new Error(`the application ended:\n${this.#log.slice(-4000)}`);
  }
}
