import { join } from "node:path";
import { FileSource } from "../files/input-file.ts";
import { ScratchSpill, withTempDir } from "../files/scratch.ts";
import type { Interrupt } from "../interruption.ts";
import { withMapOutput } from "./map-output.ts";
import { mergeMaps } from "./merge-maps.ts";

/**
 * Runs `use` with the canonical form of a map: merged alone, into a scratch file.
 * Messages refer to it by the name of the map.
 *
 * @throws as mergeMaps, and MM_IO
 */
export function withCanonicalMap<T>(
  source: FileSource,
  interrupt: Interrupt | undefined,
  use: (canonical: FileSource) => Promise<T>,
): Promise<T> {
  return withTempDir({ interrupt }, async (folder) => {
    const path = join(folder, "canonical.ukvs");
    const streams = { stdout: process.stdout, isScratch: true, force: true };
    const spill = new ScratchSpill(join(folder, "sorted"));
    try {
      const signal = interrupt?.signal;
      await withMapOutput(path, streams, (map) => mergeMaps([source], map, { signal, spill }));
    } finally {
      spill.close();
    }
    const canonical = await FileSource.open(path, source.name);
    try {
      return await use(canonical);
    } finally {
      await canonical.close();
    }
  });
}
