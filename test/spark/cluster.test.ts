import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sampleIndex } from "../../src/study/sample/sample-archive.ts";
import { ROOT } from "../support/code-blocks.ts";
import { until } from "../support/until.ts";
import { SPARK_ENVIRONMENT, SPARK_HOME, SparkSession } from "./spark-session.ts";

const LINES = Number(process.env["MEMENTOMAP_SPARK_LINES"] ?? 50_000);

let folder = "";
const at = (name: string): string => join(folder, name);

/** A master or a worker; `told` waits for what it writes to its log. */
function daemon(name: string, ...args: readonly string[]): Daemon {
  const scratch = at(`scratch-${name}`);
  mkdirSync(scratch);
  const child = spawn(join(SPARK_HOME ?? "", "bin/spark-class"), args, {
    env: { ...SPARK_ENVIRONMENT, SPARK_LOCAL_DIRS: scratch, SPARK_WORKER_DIR: at(`work-${name}`) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  child.stderr.on("data", (text: Buffer) => {
    log += text.toString();
  });
  const told = async (pattern: RegExp): Promise<string> => {
    await until(() => pattern.test(log), 120_000);
    return pattern.exec(log)?.[1] ?? "";
  };
  return { child, told };
}

interface Daemon {
  readonly child: ChildProcess;
  readonly told: (pattern: RegExp) => Promise<string>;
}

describe.skipIf(SPARK_HOME === undefined || process.platform !== "linux")(
  "a cluster of one master and two workers",
  () => {
    const started: Daemon[] = [];
    let session: SparkSession | undefined;

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), "mementomap-test-"));
      writeFileSync(at("index.cdxj"), Buffer.concat([...sampleIndex({ lines: LINES })]));
      const here = ["--host", "127.0.0.1"];
      const deploy = "org.apache.spark.deploy";
      const ports = ["--port", "0", "--webui-port", "0"];
      const master = daemon("master", `${deploy}.master.Master`, ...here, ...ports);
      started.push(master);
      const address = await master.told(/Starting Spark master at (spark:\S+)/);
      const workers = ["one", "two"].map((name) =>
        daemon(name, `${deploy}.worker.Worker`, ...here, "--cores", "1", "--memory", "1g", address),
      );
      started.push(...workers);
      for (const worker of workers) await worker.told(/(Successfully registered with master)/);
      session = new SparkSession(address, {
        "spark.executor.memory": "512m",
        "spark.network.timeout": "60s",
        "spark.executor.heartbeatInterval": "5s",
      });
      await session.ready();
      run("generate", at("index.cdxj"), "-o", at("local.ukvs"));
    });

    afterAll(async () => {
      await session?.close();
      for (const { child } of started) child.kill("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    });

    const run = (...args: readonly string[]): Buffer =>
      execFileSync(process.execPath, [join(ROOT, "dist/cli/bin.js"), ...args, "-q"], {
        env: SPARK_ENVIRONMENT,
        stdio: "pipe",
      });
    const size = (): string => String(Math.ceil(readFileSync(at("index.cdxj")).length / 4));
    /** Makes the map in the cluster; whether it has the bytes of one machine. */
    const make = async (name: string, ...more: readonly string[]): Promise<boolean> => {
      const cut = ["--split-size", size(), "--ranges", "2", ...more];
      const result = await session?.run("generate", at("index.cdxj"), ...cut, "-o", at(name));
      if (result?.status !== 0) throw new Error(result?.told);
      const parts = readdirSync(at(name)).map((part) => join(at(name), part));
      run("merge", ...parts.toSorted(), "-o", at("merged.ukvs"), "--force");
      return readFileSync(at("merged.ukvs")).equals(readFileSync(at("local.ukvs")));
    };

    it("makes the map of one machine", async () => {
      expect(await make("whole")).toBe(true);
    });

    /** `mementomap`, but the first task that merges a range is hit while it runs. */
    const fatal = (name: string, hit: string): string => {
      const program = at(`${name}.sh`);
      const lines = [
        "#!/bin/sh",
        `case " $* " in *" --range "*) if mkdir '${at(`${name}.done`)}' 2>/dev/null; then`,
        "  task=$PPID",
        "  executor=$task",
        `  until [ "$(ps -o comm= -p $executor)" = java ]; do executor=$(ps -o ppid= -p $executor | tr -d ' '); done`,
        "  worker=$(ps -o ppid= -p $executor | tr -d ' ')",
        `  kill -9 ${hit}`,
        "fi;; esac",
        `exec '${process.execPath}' '${join(ROOT, "dist/cli/bin.js")}' "$@"`,
      ];
      writeFileSync(program, `${lines.join("\n")}\n`, { mode: 0o755 });
      return program;
    };

    // The last one leaves a cluster of one worker.
    it.each([
      ["a task that is killed", "$task"],
      ["an executor that is lost", "$executor"],
      ["a worker that is lost with its executor", "$worker $executor"],
    ])("makes the same map in spite of %s", async (what, hit) => {
      const name = what.replaceAll(" ", "-");
      expect(await make(name, "--executable", fatal(name, hit))).toBe(true);
      expect(existsSync(at(`${name}.done`))).toBe(true);
    });
  },
);
