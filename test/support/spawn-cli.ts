import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const BIN = fileURLToPath(new URL("../../dist/cli/bin.js", import.meta.url));

/** The built command line in a separate process, as users run it. */
const CLI_COMMAND: readonly string[] = [process.execPath, BIN];

export interface ProcessResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Starts the command line, optionally in `folder` and with additional environment variables; `done`
 * resolves when it has exited.
 */
export function spawnCli(
  argv: readonly string[],
  folder?: string,
  env: Readonly<Record<string, string>> = {},
): {
  child: ChildProcess;
  done: Promise<ProcessResult>;
} {
  checkBuilt();
  const [program = "", ...before] = CLI_COMMAND;
  return watch(
    spawn(program, [...before, ...argv], {
      cwd: folder,
      env: { ...process.env, ...env },
      stdio: ["pipe", "pipe", "pipe"],
    }),
  );
}

/** Runs a shell command line in which `mementomap` is available. */
export function spawnShell(line: string): Promise<ProcessResult> {
  checkBuilt();
  const words = CLI_COMMAND.map((word) => `'${word}'`).join(" ");
  const script = `mementomap() { ${words} "$@"; }\n${line}`;
  return watch(spawn("bash", ["-c", script], { stdio: ["ignore", "pipe", "pipe"] })).done;
}

/** `npm test` builds first; running vitest by hand does not. */
function checkBuilt(): void {
  if (!existsSync(BIN)) throw new Error("run `npm run build` first: these tests start dist/");
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
