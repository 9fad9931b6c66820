import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readMap } from "../../aggregate/route/kept-map.ts";
import type { RoutedMap } from "../../aggregate/route/routed-map.ts";
import { compactFileToBudget } from "../../map/compact/run/budget-files.ts";
import { generateFiles } from "../../map/generate/generate-files.ts";
import type { MapStreams } from "../../map/lookup/map-sources.ts";
import { withMapOutput } from "../../map/output/map-output.ts";
import { packMap } from "../../map/pack/pack-files.ts";
import type { LookupStream } from "./lookup-stream.ts";
import type { SimulatedArchive } from "./simulated-archives.ts";

/** By the ids of archives. */
export type Maps = ReadonlyMap<string, RoutedMap>;

export type MapKind = "text" | "packed";

interface MapOptions {
  readonly stream: LookupStream;
  readonly archives: readonly SimulatedArchive[];
  /** Ids of archives that have maps; all by default. */
  readonly mapped: readonly string[];
  readonly mapBytes: number;
  /** The folder for scratch files. */
  readonly scratch: string;
  readonly streams: MapStreams;
}

/**
 * Maps of archives. Those of the list are taken as they are, whatever kind they are of; others are made of
 * what the archives hold, in as many bytes.
 */
export async function simulatedMaps(options: MapOptions, kind: MapKind): Promise<Maps> {
  const maps = new Map<string, RoutedMap>();
  for (const archive of options.archives) {
    const { id, map, held } = archive;
    if (options.mapped.length > 0 && !options.mapped.includes(id)) continue;
    if (map === undefined && !held.some((count) => count > 0)) continue;
    const path = map ?? (await madeMap(archive, options, kind));
    maps.set(id, { index: await readMap(path), updatedAt: undefined });
  }
  return maps;
}

/** The path of a map of what an archive holds, until the next is made. */
async function madeMap(
  { held }: SimulatedArchive,
  { stream, scratch, streams, mapBytes }: MapOptions,
  kind: MapKind,
): Promise<string> {
  const [list, all, small] = ["held.surts", "held.ukvs", "small"].map((name) =>
    join(scratch, name),
  );
  const lines = stream.originals.filter((_, place) => held[place] > 0);
  await writeFile(list, `${lines.join("\n")}\n`);
  const output = { stdout: process.stdout, interrupt: streams.interrupt };
  await withMapOutput(all, output, (to) =>
    generateFiles([list], to, { scratch, streams, format: "surts", threads: 1 }),
  );
  if (kind === "packed") {
    const { file } = await packMap(all, { maxBytes: mapBytes, scratch, threads: 1, streams });
    await writeFile(small, file);
  } else {
    await withMapOutput(small, output, (to) =>
      compactFileToBudget(all, to, { budget: { maxBytes: mapBytes }, scratch, streams }),
    );
  }
  return small;
}
