import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ModelArchive } from "./archive-model.ts";

/** What the fleet is told. */
export type FleetCommand = "count" | "stop";

/** What the fleet says. */
export interface FleetReport {
  /** Where the archives are, in their order. */
  readonly addresses: readonly string[];
  /** What each was asked since the last report. */
  readonly counts: readonly { readonly requests: number; readonly connections: number }[];
}

/** A fleet of model archives that runs in a process of its own. */
export interface Fleet {
  readonly pid: number;
  readonly models: readonly ModelArchive[];
  readonly addresses: readonly string[];
  /** Requests and connections since the fleet began or was last counted, all archives together. */
  count(): Promise<{ requests: number; connections: number }>;
  /** Writes a list of the archives, with a map each where there are maps, and gives its path. */
  list(path: string, maps?: readonly (string | undefined)[]): Promise<string>;
  stop(): Promise<void>;
}

/** Starts the fleet and waits until all its archives listen. */
export async function startFleet(folder: string, models: readonly ModelArchive[]): Promise<Fleet> {
  const config = join(folder, "fleet.json");
  await writeFile(config, JSON.stringify(models));
  const child = fork(fileURLToPath(new URL("fleet.ts", import.meta.url)), [config], {
    execArgv: ["--import", "tsx"],
  });
  const { addresses } = await nextReport(child);
  return {
    pid: child.pid ?? 0,
    models,
    addresses,
    count: async () => {
      const answered = nextReport(child);
      child.send("count" satisfies FleetCommand);
      const { counts } = await answered;
      return {
        requests: counts.reduce((sum, { requests }) => sum + requests, 0),
        connections: counts.reduce((sum, { connections }) => sum + connections, 0),
      };
    },
    list: async (path, maps = []) => {
      const archives = models.map(({ id, name }, i) => ({
        id,
        name,
        timemap: `${addresses[i]}/timemap/`,
        timegate: `${addresses[i]}/timegate/`,
        ...(maps[i] === undefined ? {} : { mementomap: maps[i] }),
      }));
      await writeFile(path, JSON.stringify(archives, undefined, 2));
      return path;
    },
    stop: async () => {
      const ended = once(child, "exit");
      child.send("stop" satisfies FleetCommand);
      await ended;
    },
  };
}

async function nextReport(child: ChildProcess): Promise<FleetReport> {
  const ended = new AbortController();
  const died = once(child, "exit", { signal: ended.signal }).then(() => {
    throw new Error("the fleet ended before it answered");
  });
  died.catch(() => undefined); // also when nobody waits for it any more
  const said = once(child, "message").then(([report]) => report as FleetReport);
  try {
    return await Promise.race([said, died]);
  } finally {
    ended.abort();
  }
}
