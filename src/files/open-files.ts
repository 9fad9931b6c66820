import { readdirSync, readFileSync } from "node:fs";

/** How many files and connections the process may have open at a time; Infinity where that is not known. */
export function mostOpenFiles(): number {
  try {
    const [, most] =
      /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "latin1")) ?? [];
    return Number(most ?? Infinity);
  } catch {
    return Infinity; // not Linux
  }
}

/** How many more it may open. */
export function roomForFiles(): number {
  const most = mostOpenFiles();
  return most === Infinity ? most : most - readdirSync("/proc/self/fd").length;
}

let reserved = 0;

/**
 * Keeps files for connections of clients, which others leave to them. Of several servers, that for the
 * most clients counts: the others are for monitoring, or for other workers.
 */
export function reserveFiles(count: number): void {
  reserved = Math.max(reserved, count);
}

/** Files beside connections to clients and to archives: maps, logs, a cache. */
const OTHER_FILES = 4;

/**
 * Of so many files, those for connections to archives: all but those that are kept for clients, and half at
 * least, because a client needs a connection to each archive.
 */
export function filesForArchives(room: number, kept: number = reserved): number {
  return Math.max(1, Math.floor(room - Math.min(kept, room / 2)) - OTHER_FILES);
}
