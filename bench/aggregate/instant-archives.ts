import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { sampleLookups } from "../../src/study/sample/sample-lookups.ts";
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

/** How long the archives take. */
export interface Slowness {
  /** Each answer takes between these milliseconds. */
  readonly betweenMs: readonly [number, number];
  /** The first archive takes so long instead, if it is not 0. */
  readonly slowMs: number;
}

/** Starts the first twelve archives of the paper's log, with its rates of hits. */
export async function startInstantArchives(
  folder: string,
  originalCount: number,
  slowness: Slowness = { betweenMs: [0, 0], slowMs: 0 },
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
    medianMs: 0,
    spread: 0,
    betweenMs: delayOf(i, slowness),
    errors: 0,
    hangs: 0,
  }));
  const lookups = await writeLookups(join(folder, "lookups.tsv"), originals, models, holdings);
  const maps: string[] = [];
  for (const [i, path] of paths.entries()) {
    const inputs = ["--format", "urls", path];
    maps.push(await makeMap(inputs, join(folder, `${i}.ukvs`), undefined));
  }
  const fleet = await startFleet(folder, models, holdings, originals);
  return {
    fleet,
    list: await fleet.list(join(folder, "archives.json")),
    listWithMaps: await fleet.list(join(folder, "archives-with-maps.json"), maps),
    lookups,
  };
}

function delayOf(place: number, { betweenMs, slowMs }: Slowness): readonly [number, number] {
  return place === 0 && slowMs > 0 ? [slowMs, slowMs] : betweenMs;
}
