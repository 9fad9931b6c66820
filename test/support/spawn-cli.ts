import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const BIN = fileURLToPath(new URL("../../src/cli/bin.ts", import.meta.url));

/** The command line as a process of its own, run from source. */
export const CLI_COMMAND: readonly string[] = [
  process.execPath,
  "--import",
  import.meta.resolve("tsx"),
  BIN,
];

export interface ProcessResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts the command line; `done` resolves when it has ended. */
export function spawnCli(argv: readonly string[]): {
  child: ChildProcess;
  done: Promise<ProcessResult>;
} {
  const [program = "", ...before] = CLI_COMMAND;
  return watch(spawn(program, [...before, ...argv], { stdio: ["pipe", "pipe", "pipe"] }));
}

/** Runs a line of shell in which `mementomap` is the command line. */
export function spawnShell(line: string): Promise<ProcessResult> {
  const words = CLI_COMMAND.map((word) => `'${word}'`).join(" ");
  const script = `mementomap() { ${words} "$@"; }\n${line}`;
  return watch(spawn("bash", ["-c", script], { stdio: ["ignore", "pipe", "pipe"] })).done;
}

function watch(child: ChildProcess): { child: ChildProcess; done: Promise<ProcessResult> } {
  let stdout = "";
  let stderr = "";
  child.stdout?.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const done = new Promise<ProcessResult>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      resolve({ code, signal, stdout, stderr });
    });
  });
  return { child, done };
}
