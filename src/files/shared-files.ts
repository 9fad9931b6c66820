import { readdir, readFile, rm, stat } from "node:fs/promises";
import { closeSync, openSync, rmSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { checkSignal, type Interrupt } from "../interruption.ts";
import { outputError, withOutput } from "./output-file.ts";
import { ioError, MementoMapError, systemCode } from "../errors.ts";
import { isTemporaryOf, removeIfAbandoned, temporaryPath } from "./scratch.ts";

/** Reads a small JSON file; undefined if it is missing or malformed. */
export async function readJson<T>(path: string): Promise<T | undefined> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return undefined;
    throw ioError(error, path);
  });
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as T; // written by this program
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // It is only a cache: start over.
    await rm(path, { force: true });
    return undefined;
  }
}

/** Atomically writes a small JSON file that only its owner can read: URLs in it may have passwords. */
export async function writeJson(
  path: string,
  value: unknown,
  interrupt?: Interrupt,
): Promise<void> {
  await withOutput(path, { stdout: process.stdout, interrupt, isPrivate: true }, (output) =>
    output.write(new TextEncoder().encode(`${JSON.stringify(value)}\n`)),
  );
}

/**
 * Locks `path` against other runs until the returned function is called, with `.NAME.….lock` next to
 * it.
 *
 * Each run creates its own lock file, then looks for others, so two runs never both succeed. (Two that
 * start at the same moment may both fail.) The lock of a killed run is removed by the next one.
 *
 * @throws MM_IO when another run holds a lock, or the lock cannot be created.
 */
export async function lockFile(path: string, interrupt?: Interrupt): Promise<() => void> {
  const target = resolve(path);
  const own = temporaryPath(target, "lock");
  checkSignal(interrupt?.signal);
  make(own, path);
  const remove = (): void => rmSync(own, { force: true });
  const release = interrupt?.onCleanUp(remove);
  const unlock = (): void => {
    remove();
    release?.();
  };
  try {
    for (const other of await otherLocks(own, target)) {
      if (await removeIfAbandoned(other)) continue;
      throw new MementoMapError(
        "MM_IO",
        `in use by another run; wait for it to finish, or remove ${basename(other)} if there is none`,
        { position: { source: path } },
      );
    }
    return unlock;
  } catch (error) {
    unlock();
    throw ioError(error, path);
  }
}

async function otherLocks(own: string, target: string): Promise<string[]> {
  const folder = dirname(target);
  const names = await readdir(folder);
  return names
    .map((name) => join(folder, name))
    .filter((path) => path !== own && isTemporaryOf(target, path, "lock"));
}

function make(lock: string, path: string): void {
  try {
    closeSync(openSync(lock, "wx"));
  } catch (error) {
    throw outputError(error, path);
  }
}

/** Identifies a version of a file. */
export interface FileStamp {
  readonly size: number;
  readonly mtimeMs: number;
  readonly ino: number;
}

/** @throws MM_IO when the file does not exist. */
export async function stampOf(path: string): Promise<FileStamp> {
  const { size, mtimeMs, ino } = await stat(path).catch((error: unknown) => {
    throw ioError(error, path);
  });
  return { size, mtimeMs, ino };
}

/** As {@link stampOf}; undefined if the file does not exist. */
export async function stampIfThere(path: string): Promise<FileStamp | undefined> {
  try {
    return await stampOf(path);
  } catch (error) {
    if (error instanceof Error && systemCode(error.cause) === "ENOENT") return undefined;
    throw error;
  }
}
