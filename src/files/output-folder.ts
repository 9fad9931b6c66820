import { mkdirSync } from "node:fs";
import { readdir, rename, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { MementoMapError } from "../errors.ts";
import type { Interrupt } from "./interrupt.ts";
import { ioError, outputError, systemCode } from "./io-error.ts";
import { removeFolderNow } from "./remove-folder.ts";
import { syncFolder } from "./sync-folder.ts";
import { sweepOnce, temporaryPath } from "./temporary-path.ts";
import { checkSignal } from "../interruption.ts";

/**
 * Runs `use` with a fresh folder that appears under `path` when it returns, and never when it
 * throws or is interrupted: the folder is there with all its files, or not at all.
 *
 * @throws `MM_IO` when there is something under `path` other than an empty folder, or when the
 * folder cannot be made.
 */
export async function withOutputFolder<T>(
  path: string,
  options: { readonly interrupt?: Interrupt | undefined },
  use: (folder: string) => Promise<T>,
): Promise<T> {
  await refuseContent(path);
  const target = resolve(path);
  await sweepOnce(dirname(target));
  const temporary = temporaryPath(target);
  // Made and registered in one go: an interruption in between would leave it behind.
  checkSignal(options.interrupt?.signal);
  make(temporary, path);
  const release = options.interrupt?.onCleanUp(() => {
    removeFolderNow(temporary);
  });
  try {
    const result = await use(temporary);
    await show(temporary, target).catch((error: unknown) => {
      throw ioError(error, path);
    });
    return result;
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    throw error;
  } finally {
    release?.();
  }
}

/** What is in the folder is on the disk before its name is there. */
async function show(temporary: string, target: string): Promise<void> {
  await syncFolder(temporary);
  await rename(temporary, target);
  await syncFolder(dirname(target));
}

function make(folder: string, path: string): void {
  try {
    mkdirSync(folder);
  } catch (error) {
    throw outputError(error, path);
  }
}

async function refuseContent(path: string): Promise<void> {
  const names = await readdir(path).catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return [];
    throw ioError(error, path);
  });
  if (names.length === 0) return;
  throw new MementoMapError("MM_IO", "is there already and not empty; name a new folder", {
    position: { source: path },
  });
}
