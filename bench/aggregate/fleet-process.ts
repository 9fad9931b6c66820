import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { ModelArchive } from "./archive-model.ts";
import { writeFleetPlan } from "./fleet-plan.ts";
import type { Holdings } from "./holdings.ts";
import { nativeProgram } from "./native/native-program.ts";

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

/**
 * Starts the fleet and waits until all its archives listen.
 *
 * @param originals what they may be asked for; they have nothing of anything else.
 */
export async function startFleet(
  folder: string,
  models: readonly ModelArchive[],
  holdings: Holdings,
  originals: Iterable<string>,
): Promise<Fleet> {
  const child = spawn(await nativeProgram("fleet"), [String(models.length)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const said = async (): Promise<string> => {
    const { value, done } = await lines.next();
    if (done === true) throw new Error("the fleet ended before it answered");
    return value;
  };
  const addresses = (await said()).split(" ").map((port) => `http://127.0.0.1:${port}`);
  const plan = join(folder, "fleet.plan");
  writeFleetPlan(plan, { models, holdings, addresses, originals: [...new Set(originals)] });
  child.stdin.write(`${plan}\n`);
  await said();
  return {
    pid: child.pid ?? 0,
    models,
    addresses,
    count: async () => {
      child.stdin.write("count\n");
      const [requests = 0, connections = 0] = (await said()).split(" ").map(Number);
      return { requests, connections };
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
      child.stdin.end();
      await ended;
    },
  };
}
