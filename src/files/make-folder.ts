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

async function makeMissing(folder: string, hasParent = false): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    const code = systemCode(error);
    if (code === "EEXIST" && (await stat(folder)).isDirectory()) return;
    if (code !== "ENOENT") throw error;
    const parent = dirname(folder);
    if (hasParent) {
      throw new MementoMapError("MM_IO", `no folder can be made in ${parent}`, {
        position: { source: folder },
      });
    }
    await makeMissing(parent);
    await makeMissing(folder, true);
  }
}
