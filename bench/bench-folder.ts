import { existsSync } from "node:fs";
import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Where benches keep their files: `MEMENTOMAP_BENCH_DIR`, or a folder that git ignores. */
export async function benchFolder(): Promise<string> {
  const named = process.env["MEMENTOMAP_BENCH_DIR"];
  const folder = named ?? fileURLToPath(new URL("scratch", import.meta.url));
  await mkdir(folder, { recursive: true });
  return folder;
}

/**
 * The path of a file in a folder; makes the file first if it is not there.
 *
 * `make` writes to another name, so that a file that is there is whole.
 */
export async function madeOnce(
  folder: string,
  name: string,
  make: (path: string) => Promise<unknown>,
): Promise<string> {
  const path = join(folder, name);
  if (!existsSync(path)) {
    const unfinished = `${path}.unfinished`;
    await make(unfinished);
    await rename(unfinished, path);
  }
  return path;
}
