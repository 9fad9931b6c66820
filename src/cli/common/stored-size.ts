import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** How much there is to read in files and folders; undefined where one is a pipe, or not there. */
export async function storedSize(paths: readonly string[]): Promise<number | undefined> {
  let sum = 0;
  for (const path of paths) {
    const size = await sizeOf(path);
    if (size === undefined) return undefined;
    sum += size;
  }
  return sum;
}

async function sizeOf(path: string): Promise<number | undefined> {
  if (path === "-") return undefined;
  const stats = await stat(path).catch(() => undefined); // whoever opens it says what is wrong
  if (stats?.isFile() === true) return stats.size;
  return stats?.isDirectory() === true ? folderSize(path) : undefined;
}

async function folderSize(path: string): Promise<number> {
  const names = await readdir(path).catch(() => []);
  const sizes = await Promise.all(
    names.map(async (name) => (await stat(join(path, name)).catch(() => undefined))?.size ?? 0),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
