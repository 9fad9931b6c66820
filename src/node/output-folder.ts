import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { MementoMapError } from "../errors.ts";
import type { Interrupt } from "./interrupt.ts";
import { ioError, systemCode } from "./io-error.ts";

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
  const temporary = join(dirname(target), `.${basename(target)}.${randomUUID()}.tmp`);
  await mkdir(temporary).catch((error: unknown) => {
    throw ioError(error, path);
  });
  const release = options.interrupt?.onCleanUp(() => {
    rmSync(temporary, { recursive: true, force: true });
  });
  try {
    const result = await use(temporary);
    await rename(temporary, target).catch((error: unknown) => {
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
