import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Archive } from "../../src/aggregate/route/archive.ts";
import { ROOT } from "./code-blocks.ts";
import { scratchDir } from "./scratch.ts";
import { type ProcessResult, spawnCli } from "./spawn-cli.ts";

/** An aggregator in a process of its own. */
export interface AggregateProcess {
  readonly url: string;
  readonly kill: (signal: NodeJS.Signals) => void;
  readonly done: Promise<ProcessResult>;
  /** Standard error so far. */
  readonly said: () => string;
}

/** Starts `mementomap aggregate --serve` on a free port until the test ends. */
export async function aggregateProcess(
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<AggregateProcess> {
  const line = ["aggregate", "--serve", "--port", "0", ...argv];
  const { child, done } = spawnCli(line, undefined, env);
  onTestFinished(() => void child.kill("SIGKILL"));
  let stderr = "";
  child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout?.once("data", (chunk: Buffer) => resolve(chunk.toString().trim()));
    void done.then((result) => reject(new Error(result.stderr)));
  });
  return { url, kill: (signal) => void child.kill(signal), done, said: () => stderr };
}

/** The settings of `deploy/aggregator.example.json`. */
export function exampleSettings(): Readonly<Record<string, unknown>> {
  const text = readFileSync(`${ROOT}deploy/aggregator.example.json`, "utf8");
  return JSON.parse(text) as Record<string, unknown>; // an object, or the tests fail
}

/** Starts an aggregator of these archives with the example settings. */
export function exampleProcess(
  archives: readonly { readonly archive: Archive }[],
): Promise<AggregateProcess> {
  const settings = join(scratchDir(), "aggregator.json");
  writeFileSync(settings, JSON.stringify({ ...exampleSettings(), archives: writeList(archives) }));
  return aggregateProcess(["--config", settings]);
}

/** Writes an archive list; returns its path. */
export function writeList(
  archives: readonly { readonly archive: Archive }[],
  path: string = join(scratchDir(), "archives.json"),
): string {
  writeFileSync(path, JSON.stringify(archives.map(({ archive }) => archive)));
  return path;
}
