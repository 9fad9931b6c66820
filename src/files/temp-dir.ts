import { mkdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Interrupt } from "./interrupt.ts";
import { ioError } from "./io-error.ts";
import { ownerMark } from "./owner-mark.ts";
import { removeFolderNow } from "./remove-folder.ts";
import { removeAbandoned } from "./temporary-path.ts";
import { checkSignal } from "../interruption.ts";

export interface TempDirOptions {
  /** The folder to make it in; the system's own for temporary files by default. */
  readonly parent?: string | undefined;
  /** Removes the folder when the process is told to stop. */
  readonly interrupt?: Interrupt | undefined;
}

/**
 * Runs `use` with a fresh scratch folder, and removes it with all it holds afterwards: on success,
 * on error, and on interruption. What killed runs left beside it is removed before.
 *
 * @throws `MM_IO` when the folder cannot be made.
 */
export async function withTempDir<T>(
  options: TempDirOptions,
  use: (path: string) => Promise<T>,
): Promise<T> {
  const parent = options.parent ?? tmpdir();
  await removeAbandoned(parent);
  // Made and registered in one go: an interruption in between would leave it behind.
  checkSignal(options.interrupt?.signal);
  const path = makeIn(parent);
  const release = options.interrupt?.onCleanUp(() => {
    removeFolderNow(path);
  });
  try {
    return await use(path);
  } finally {
    await rm(path, { recursive: true, force: true });
    release?.();
  }
}

/**
 * Makes a scratch folder for as long as its maker wants; who makes it removes it.
 *
 * @throws `MM_IO` when the folder cannot be made.
 */
export async function makeTempDir(parent: string = tmpdir()): Promise<string> {
  await removeAbandoned(parent);
  return makeIn(parent);
}

/** Removes the scratch folders of killed runs; making one does so too. */
export function removeAbandonedScratch(parent: string = tmpdir()): Promise<void> {
  return removeAbandoned(parent);
}

function makeIn(parent: string): string {
  try {
    const path = join(parent, `mementomap${ownerMark("tmp")}`);
    mkdirSync(path, { mode: 0o700 });
    return path;
  } catch (error) {
    throw ioError(error, parent);
  }
}
