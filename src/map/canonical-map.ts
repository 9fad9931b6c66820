import { join } from "node:path";
import { mergeMaps, type MergeOptions } from "./merge.ts";
import { FileSource } from "../files/input-file.ts";
import { withMapOutput } from "./output/map-output.ts";

/**
 * Runs `use` with a map in the form that writers produce: the map merged alone, in a file of the
 * folder `scratch`. Messages call it as the map.
 *
 * @throws as mergeMaps, and MM_IO
 */
export async function withCanonicalMap<T>(
  source: FileSource,
  scratch: string,
  options: MergeOptions,
  use: (canonical: FileSource) => Promise<T>,
): Promise<T> {
  const path = join(scratch, "canonical.ukvs");
  const streams = { stdout: process.stdout, isScratch: true, force: true };
  await withMapOutput(path, streams, (output) => mergeMaps([source], output, options));
  const canonical = await FileSource.open(path, source.name);
  try {
    return await use(canonical);
  } finally {
    await canonical.close();
  }
}
