import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * The built command line. Node 20 runs no TypeScript in worker threads, so that what uses more than
 * one thread is tested as it is shipped; `npm test` builds first.
 */
const BUILT_CLI: string = fileURLToPath(new URL("../../dist/cli/bin.js", import.meta.url));

export const isBuilt: boolean = existsSync(BUILT_CLI);

export interface BuiltResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Started {
  readonly child: ChildProcess;
  readonly done: Promise<BuiltResult>;
}

export interface BuiltWorld {
  /** Written to standard input. */
  readonly stdin?: Uint8Array | undefined;
  /** Leaves standard input open behind what was written to it. */
  readonly keepsOpen?: boolean | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** Starts the built command line. */
export function startBuilt(argv: readonly string[], world: BuiltWorld = {}): Started {
  const { stdin, keepsOpen = false, env = {} } = world;
  const child = spawn(process.execPath, [BUILT_CLI, ...argv], {
    stdio: [stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  const [out, err]: [Buffer[], Buffer[]] = [[], []];
  child.stdout?.on("data", (chunk: Buffer) => out.push(chunk));
  child.stderr?.on("data", (chunk: Buffer) => err.push(chunk));
  // A process that fails early does not read all of its input.
  child.stdin?.on("error", () => undefined);
  if (keepsOpen) child.stdin?.write(stdin ?? "");
  else child.stdin?.end(stdin);
  const done = new Promise<BuiltResult>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      const [stdout, stderr] = [Buffer.concat(out).toString(), Buffer.concat(err).toString()];
      resolve({ code, stdout, stderr });
    });
  });
  return { child, done };
}

export function runBuilt(argv: readonly string[], world?: BuiltWorld): Promise<BuiltResult> {
  return startBuilt(argv, world).done;
}
