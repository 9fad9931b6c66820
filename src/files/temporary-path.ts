import { lstat, readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { systemCode } from "./io-error.ts";
import { isAbandoned, isMark, isMarked, ownerMark } from "./owner-mark.ts";

/** What file systems allow for a name, less what is added to it here. */
const MAX_NAME_BYTES = 255 - 48;

/**
 * A hidden name in the folder of `path`, for what will be renamed to it.
 *
 * Nobody else has it, but it is no secret: make the file or folder so that it must be new. It says
 * which process made it, so that {@link removeAbandoned} finds what a killed one left behind.
 */
export function temporaryPath(path: string, ending: "tmp" | "lock" = "tmp"): string {
  return `${stem(path)}${ownerMark(ending)}`;
}

/** Whether `other` is a name of {@link temporaryPath} for `path`. */
export function isTemporaryOf(path: string, other: string, ending: "tmp" | "lock"): boolean {
  const start = stem(path);
  if (!other.startsWith(start) || !other.endsWith(`.${ending}`)) return false;
  return isMark(other.slice(start.length));
}

/**
 * Removes what killed processes left in a folder under names of {@link temporaryPath}: files and
 * folders of this user whose process is gone.
 *
 * Nothing depends on it, so what cannot be read or removed stays.
 */
export async function removeAbandoned(folder: string): Promise<void> {
  const names = await readdir(folder).catch(unlessSystem([]));
  for (const name of names.filter(isMarked)) await removeIfAbandoned(join(folder, name));
}

/** Folders that this process has looked through. */
const swept = new Set<string>();

/** {@link removeAbandoned} for many outputs in one folder: only the first looks. */
export async function sweepOnce(folder: string): Promise<void> {
  if (swept.has(folder)) return;
  swept.add(folder);
  await removeAbandoned(folder);
}

/** Whether a marked file or folder was removed, because its process is gone. */
export async function removeIfAbandoned(path: string): Promise<boolean> {
  const found = await lstat(path).catch(unlessSystem(undefined));
  if (found === undefined) return true;
  // What others put into a shared folder is theirs.
  if (found.uid !== (process.getuid?.() ?? found.uid)) return false;
  if (!isAbandoned(basename(path), found.mtimeMs)) return false;
  await rm(path, { recursive: true, force: true }).catch(unlessSystem(undefined));
  return true;
}

function stem(path: string): string {
  const name = basename(path);
  const isLong = Buffer.byteLength(name) > MAX_NAME_BYTES;
  // Characters have at most four bytes, and none is cut in two.
  const start = isLong
    ? Array.from(name)
        .slice(0, MAX_NAME_BYTES / 4)
        .join("")
    : name;
  return join(dirname(path), `.${start}`);
}

function unlessSystem<T>(fallback: T): (error: unknown) => T {
  return (error) => {
    if (systemCode(error) === undefined) throw error;
    return fallback;
  };
}
