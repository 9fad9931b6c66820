import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MementoMapError, isMementoMapError, quote } from "../../src/errors.ts";

/** How one run of another program went. */
export interface TimedRun {
  readonly seconds: number;
  /** Processor time of the program and all it started, on all cores; undefined if not known. */
  readonly cpuSeconds: number | undefined;
  /** The largest resident set of the program or of any program it started; undefined if not known. */
  readonly peakBytes: number | undefined;
  readonly stdout: string;
}

/** How to run a program. */
export interface TimedOptions {
  /** Variables added to the environment. */
  readonly env?: Readonly<Record<string, string>> | undefined;
}

const PYTHON_METER = `
import resource, subprocess, sys
status = subprocess.call(sys.argv[2:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "w") as report:
    print(used.ru_maxrss, used.ru_utime, used.ru_stime, file=report)
sys.exit(status)
`;

/** Programs that run another one and write to a file what it used: memory, and time twice. */
const METERS: readonly ((report: string) => readonly string[])[] = [
  (report) => ["/usr/bin/time", "--format=%M %U %S", `--output=${report}`, "--"],
  (report) => ["python3", "-c", PYTHON_METER, report],
];

/** macOS counts resident sets in bytes, other systems in KiB. */
const RESIDENT_UNIT = process.platform === "darwin" ? 1 : 1024;

/**
 * Runs a program to its end and measures wall time, processor time and peak memory.
 *
 * The wall time includes starting the program, as its users feel it. The rest comes from GNU time
 * or, where that is not installed, from a Python wrapper; its own start is then part of the wall
 * time, and its own size the least peak it can see. Holds the program's output.
 *
 * @throws {MementoMapError} `MM_IO` if the program cannot be started or does not exit with 0.
 */
export async function timed(
  command: string,
  args: readonly string[],
  options: TimedOptions = {},
): Promise<TimedRun> {
  const scratch = await mkdtemp(join(tmpdir(), "mementomap-bench-"));
  try {
    const report = join(scratch, "peak");
    const meter = await findMeter(report);
    const start = performance.now();
    const stdout = await run([...meter, command, ...args], options);
    const seconds = (performance.now() - start) / 1000;
    if (meter.length === 0) return { seconds, cpuSeconds: undefined, peakBytes: undefined, stdout };
    const [peak, user, system] = (await readFile(report, "utf8")).split(" ").map(Number);
    return { seconds, cpuSeconds: user + system, peakBytes: peak * RESIDENT_UNIT, stdout };
  } finally {
    await rm(scratch, { recursive: true });
  }
}

/** The first meter that works here, or none: BSD's `time` has other options than GNU's. */
async function findMeter(report: string): Promise<readonly string[]> {
  for (const meter of METERS) {
    const prefix = meter(report);
    try {
      await run([...prefix, "true"], {});
      if (existsSync(report)) return prefix;
    } catch (error) {
      if (!isMementoMapError(error)) throw error;
    }
  }
  return [];
}

async function run(
  [command = "", ...args]: readonly string[],
  { env }: TimedOptions,
): Promise<string> {
  const child = spawn(command, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
  const line = [command, ...args].join(" ");
  await new Promise<void>((resolve, reject) => {
    child.on("error", (cause) => {
      reject(new MementoMapError("MM_IO", `cannot start ${quote(line)}`, { cause }));
    });
    child.on("close", (status, signal) => {
      if (status === 0) resolve();
      else {
        const said = bothEnds(Buffer.concat(stderr).toString().trim());
        const end = `ended with ${status ?? signal}`;
        reject(new MementoMapError("MM_IO", `${quote(line)} ${end}: ${said}`));
      }
    });
  });
  return Buffer.concat(stdout).toString();
}

/** The cause of a failure is said at either end: a crash tells it first, a command last. */
function bothEnds(text: string): string {
  return text.length <= 1000 ? text : `${text.slice(0, 500)}\n…\n${text.slice(-500)}`;
}
