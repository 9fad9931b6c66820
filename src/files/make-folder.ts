import { mkdir, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { ioError, MementoMapError, systemCode } from "../errors.ts";

/**
 * Creates a folder and its parents, unless it exists.
 *
 * Node's `mkdir` with `recursive` never returns on file systems such as `/proc`, which report that the
 * parent of a new folder does not exist.
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

async function makeMissing(folder: string, hasParent = false): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    const code = systemCode(error);
    if (code === "EEXIST" && (await stat(folder)).isDirectory()) return;
    if (code !== "ENOENT") throw error;
    const parent = dirname(folder);
    if (hasParent) {
      throw new MementoMapError("MM_IO", `cannot create a folder in ${parent}`, {
        position: { source: folder },
      });
    }
    await makeMissing(parent);
    await makeMissing(folder, true);
  }
}
