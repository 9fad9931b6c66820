import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ModelArchive, mementoCount, outcomeOf } from "./archive-model.ts";

const BIN =
  process.env["MEMENTOMAP_BIN"] ?? fileURLToPath(new URL("../../dist/cli/bin.js", import.meta.url));

/** What each archive holds of the originals that are asked for, in the archives' order. */
export type Holdings = readonly ReadonlySet<string>[];

/** Writes the originals of each archive to a file, one a line, and gives the paths. */
export function writeHoldings(folder: string, holdings: Holdings): Promise<string[]> {
  return Promise.all(
    holdings.map(async (originals, i) => {
      const path = join(folder, `holdings-${i}.txt`);
      await writeFile(path, [...originals].map((original) => `${original}\n`).join(""));
      return path;
    }),
  );
}

/**
 * Writes requests for the TimeMaps of originals, each with the number of mementos that an aggregator
 * finds which asks everyone: those of the archives that hold the original and do not fail for it.
 */
export async function writeLookups(
  path: string,
  originals: readonly string[],
  models: readonly ModelArchive[],
  holdings: Holdings,
): Promise<string> {
  const counts = new Map<string, number>();
  const expected = (original: string): number => {
    let count = counts.get(original);
    if (count === undefined) {
      count = 0;
      for (const [i, model] of models.entries()) {
        if (!holdings[i].has(original) || outcomeOf(model, original) !== "answer") continue;
        count += mementoCount(model.id, original);
      }
      counts.set(original, count);
    }
    return count;
  };
  const lines = originals.map((uri) => `/timemap/link/${uri}\t${expected(uri)}\n`);
  await writeFile(path, lines.join(""));
  return path;
}

/** Makes a map of files of originals or captures, with our command, and compacts it if asked to. */
export async function makeMap(
  inputs: readonly string[],
  path: string,
  compactOptions: readonly string[] | undefined,
): Promise<string> {
  if (compactOptions === undefined) {
    await cli(["generate", ...inputs, "-q", "-o", path]);
    return path;
  }
  const whole = `${path}.whole`;
  await cli(["generate", ...inputs, "-q", "-o", whole]);
  await cli(["compact", whole, ...compactOptions, "-q", "-o", path]);
  return path;
}

/** Runs our command, as built. */
export async function cli(args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [BIN, ...args], { stdio: ["ignore", "ignore", "inherit"] });
  const [status] = (await once(child, "exit")) as [number | null];
  if (status !== 0) throw new Error(`mementomap ${args.join(" ")} ended with ${status}`);
}
