import { writeFileSync } from "node:fs";
import { Agent, get } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import type { LocalArchive } from "./aggregating.ts";
import { scratchDir } from "./scratch.ts";
import { type ProcessResult, spawnCli } from "./spawn-cli.ts";

export const WAIT = { timeout: 30_000, interval: 50 };

export interface LogLine {
  readonly msg: string;
  readonly worker?: number;
  readonly pid?: number;
}

export interface Workers {
  readonly url: string;
  readonly metrics: string | undefined;
  readonly pid: number;
  /** Standard error so far. */
  readonly lines: () => LogLine[];
  readonly stdout: () => string;
  readonly kill: (signal: NodeJS.Signals) => void;
  readonly done: Promise<ProcessResult>;
}

export function listOf(archives: readonly LocalArchive[]): string {
  const path = join(scratchDir(), "archives.json");
  writeFileSync(path, listText(archives));
  return path;
}

export function listText(archives: readonly LocalArchive[]): string {
  return JSON.stringify(
    archives.map(({ archive: { id, name, timemap, timegate } }) => ({
      id,
      name,
      timemap,
      timegate,
    })),
  );
}

/** Starts the service with two workers and waits until both serve. */
export async function twoWorkers(argv: readonly string[]): Promise<Workers> {
  const { child, done } = spawnCli([
    "aggregate",
    ..."--serve --json --port 0 --workers 2".split(" "),
    ...argv,
  ]);
  onTestFinished(() => void child.kill("SIGKILL"));
  let stdout = "";
  let stderr = "";
  child.stdout?.on("data", (text: Buffer) => (stdout += text.toString()));
  child.stderr?.on("data", (text: Buffer) => (stderr += text.toString()));
  const lines = (): LogLine[] =>
    stderr
      .slice(0, stderr.lastIndexOf("\n") + 1)
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as LogLine);
  let ended: ProcessResult | undefined;
  void done.then((result) => (ended = result));
  await expect
    .poll(() => {
      if (ended !== undefined) throw new Error(ended.stderr);
      return pidsOf(lines()).length;
    }, WAIT)
    .toBe(2);
  const { url, metrics } = JSON.parse(stdout) as { url: string; metrics?: string };
  const kill = (signal: NodeJS.Signals): void => void child.kill(signal);
  return { url, metrics, pid: child.pid ?? 0, lines, stdout: () => stdout, kill, done };
}

/** The process ids of workers, in the order in which they started serving. */
export function pidsOf(lines: readonly LogLine[]): number[] {
  return lines.flatMap(({ msg, pid }) => (msg === "worker ready" && pid ? [pid] : []));
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** A client on a single keep-alive connection. */
export function oneConnection(): (
  url: string,
  headers?: Readonly<Record<string, string>>,
) => Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  return (url, headers = {}) =>
    new Promise((resolve, reject) => {
      get(url, { agent, headers }, (response) => {
        response.resume();
        response.on("end", () => resolve(response.statusCode ?? 0));
        response.on("error", reject);
      }).on("error", reject);
    });
}

/** The outcome of a request on its own connection. */
export function newConnection(url: string): Promise<"answered" | "cut" | "late"> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, timeout: 15_000 }, (response) => {
      response.resume();
      response.on("end", () => resolve("answered"));
      response.on("error", () => resolve("cut"));
    });
    request.on("error", () => resolve("cut"));
    request.on("timeout", () => {
      resolve("late");
      request.destroy();
    });
  });
}

export async function metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const line = text.split("\n").find((each) => each.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1));
}
