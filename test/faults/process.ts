import { type ChildProcess, spawn, type StdioOptions } from "node:child_process";
import { fileURLToPath } from "node:url";

const BIN = fileURLToPath(new URL("../../dist/cli/bin.js", import.meta.url));

/** The built command line as words of a shell. */
const MEMENTOMAP = `'${process.execPath}' '${BIN}'`;

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly ms: number;
}

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
}

export interface World {
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
  readonly stdio?: StdioOptions | undefined;
  /** What limits or changes the process before it starts, in shell: `ulimit -n 32`. */
  readonly under?: string | undefined;
}

/** Starts the built command line. */
export function start(argv: readonly string[], world: World = {}): Running {
  const { under } = world;
  const [program, ...words] =
    under === undefined
      ? [process.execPath, BIN, ...argv]
      : ["bash", "-c", `${under}; exec "$0" "$@"`, process.execPath, BIN, ...argv];
  return watched(
    spawn(program ?? "", words, {
      cwd: world.cwd,
      env: environment(world.env),
      stdio: world.stdio ?? ["ignore", "pipe", "pipe"],
    }),
  );
}

/** Runs it to its end. */
export function run(argv: readonly string[], world?: World): Promise<Ended> {
  return start(argv, world).ended;
}

/** Runs a line of bash in which `mementomap` is the command line. */
export function shell(line: string, world: World = {}): Promise<Ended> {
  const script = `mementomap() { ${MEMENTOMAP} "$@"; }\n${line}`;
  const stdio: StdioOptions = world.stdio ?? ["ignore", "pipe", "pipe"];
  return watched(
    spawn("bash", ["-c", script], { cwd: world.cwd, env: environment(world.env), stdio }),
  ).ended;
}

function environment(more: World["env"]): NodeJS.ProcessEnv {
  // The same bytes at any time.
  return { ...process.env, SOURCE_DATE_EPOCH: "0", ...more };
}

function watched(child: ChildProcess): Running {
  const startedAt = performance.now();
  let [stdout, stderr] = ["", ""];
  child.stdout?.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      resolve({ code, signal, stdout, stderr, ms: performance.now() - startedAt });
    });
  });
  return { child, ended };
}
