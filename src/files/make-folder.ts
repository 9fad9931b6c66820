import { mkdir, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { ioError, MementoMapError, systemCode } from "../errors.ts";

/**
 * Makes a folder, and those above it, unless it is there.
 *
 * `mkdir` of Node with `recursive` never ends where a file system says of a new folder that its parent
 * does not exist, as `/proc` does.
 *
 * @throws MM_IO
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await makeMissing(resolve(path));
  } catch (error) {
    throw ioError(error, path);
  }
}

async function makeMissing(folder: string): Promise<void> {
  if (await isFolder(folder)) return;
  const parent = dirname(folder);
  if (parent !== folder) await makeMissing(parent);
  try {
    await mkdir(folder);
  } catch (error) {
    // Another process may have made it meanwhile.
    if (systemCode(error) === "EEXIST" && (await isFolder(folder))) return;
    if (systemCode(error) !== "ENOENT") throw error;
    throw new MementoMapError("MM_IO", `no folder can be made in ${parent}`, {
      position: { source: folder },
      cause: error,
    });
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") return false;
    throw error;
  }
}
