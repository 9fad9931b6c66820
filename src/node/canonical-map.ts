import { open } from "node:fs/promises";
import { join } from "node:path";
import { mergeMaps, type MergeOptions } from "../map/merge.ts";
import { FileSource } from "./file-source.ts";
import { ioError, systemCode } from "./io-error.ts";

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
  try {
    const file = await open(path, "wx");
    try {
      await mergeMaps([source], { write: (bytes) => file.writeFile(bytes) }, options);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw systemCode(error) === undefined ? error : ioError(error, path);
  }
  const canonical = await FileSource.open(path, source.name);
  try {
    return await use(canonical);
  } finally {
    await canonical.close();
  }
}
