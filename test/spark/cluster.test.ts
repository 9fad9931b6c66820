import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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
      const bin = join(ROOT, "dist/cli/bin.js");
      const env = SPARK_ENVIRONMENT;
      const run = (...args: readonly string[]): Buffer =>
        execFileSync(process.execPath, [bin, ...args, "-q"], { env, stdio: "pipe" });
      run("generate", at("index.cdxj"), "-o", at("local.ukvs"));
      run("compact", at("local.ukvs"), "-o", at("local-small.ukvs"));
    });

    afterAll(async () => {
      await session?.close();
      for (const { child } of started) child.kill("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    });

    const size = (): string => String(Math.ceil(readFileSync(at("index.cdxj")).length / 4));
    /** Makes the map in the cluster; whether it has the bytes of one machine. */
    const make = async (name: string): Promise<boolean> => {
      const cut = ["--split-size", size(), "--ranges", "2", "--compact"];
      const result = await session?.run("generate", at("index.cdxj"), ...cut, "-o", at(name));
      if (result?.status !== 0) throw new Error(result?.told);
      return readFileSync(at(name)).equals(readFileSync(at("local-small.ukvs")));
    };

    it("makes the map of one machine", async () => {
      expect(await make("whole.ukvs")).toBe(true);
    });
  },
);
