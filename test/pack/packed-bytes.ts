import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isMementoMapError } from "../../src/errors.ts";
import { packMap, type PackOptions } from "../../src/pack/pack-files.ts";
import { scratchDir } from "../support/scratch.ts";

/** Packs a map given as text; undefined for one that holds nothing. */
export async function packedBytes(
  text: string,
  options: Partial<PackOptions> = {},
  folder: string = scratchDir(),
): Promise<Uint8Array | undefined> {
  const path = join(folder, "map.ukvs");
  await writeFile(path, text);
  try {
    return (await packMap(path, { streams: { stdin: process.stdin }, ...options })).file;
  } catch (error) {
    if (isMementoMapError(error) && error.code === "MM_EMPTY") return undefined;
    throw error;
  }
}
