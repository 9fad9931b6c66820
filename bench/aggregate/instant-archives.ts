import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { sampleLookups } from "../../src/sample/sample-lookups.ts";
import { uniform } from "./archive-model.ts";
import { type Fleet, startFleet } from "./fleet-process.ts";
import { makeMap, writeHoldings, writeLookups } from "./holdings.ts";
import { PAPER_ARCHIVES } from "./paper-archives.ts";

/** Twelve archives that answer at once, and lookups of originals that are all different. */
export interface InstantArchives {
  readonly fleet: Fleet;
  /** The list of the archives, without maps. */
  readonly list: string;
  /** The list of the archives, each with a map of all it holds. */
  readonly listWithMaps: string;
  readonly lookups: string;
}

/** Starts the first twelve archives of the paper's log, with its rates of hits. */
export async function startInstantArchives(
  folder: string,
  originalCount: number,
): Promise<InstantArchives> {
  await mkdir(folder, { recursive: true });
  const originals = [...new Set(sampleLookups({ lines: 200_000, count: originalCount }))];
  const twelve = PAPER_ARCHIVES.slice(0, 12);
  const holdings = twelve.map(
    ({ id, hits }) => new Set(originals.filter((original) => uniform(id, original, 0) < hits)),
  );
  const paths = await writeHoldings(folder, holdings);
  const models = twelve.map(({ id, name }, i) => ({
    id,
    name,
    holdings: paths[i],
    medianMs: 0,
    spread: 0,
    errors: 0,
    hangs: 0,
  }));
  const lookups = await writeLookups(join(folder, "lookups.tsv"), originals, models, holdings);
  const maps: string[] = [];
  for (const [i, path] of paths.entries()) {
    const inputs = ["--format", "urls", path];
    maps.push(await makeMap(inputs, join(folder, `${i}.ukvs`), undefined));
  }
  const fleet = await startFleet(folder, models);
  return {
    fleet,
    list: await fleet.list(join(folder, "archives.json")),
    listWithMaps: await fleet.list(join(folder, "archives-with-maps.json"), maps),
    lookups,
  };
}
