import { readdirSync, readFileSync } from "node:fs";

/** The limit on open files and connections of the process; Infinity if unknown. */
export function mostOpenFiles(): number {
  try {
    const [, most] =
      /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "latin1")) ?? [];
    return Number(most ?? Infinity);
  } catch {
    return Infinity; // not Linux
  }
}

/** The number of files that may still be opened. */
export function roomForFiles(): number {
  const most = mostOpenFiles();
  return most === Infinity ? most : most - readdirSync("/proc/self/fd").length;
}

let reserved = 0;

/**
 * Reserves files for client connections. If there are several servers, the maximum counts: the others
 * are for monitoring, or for other workers.
 */
export function reserveFiles(count: number): void {
  reserved = Math.max(reserved, count);
}

/** Files other than connections to clients and archives: maps, logs, a cache. */
const OTHER_FILES = 4;

/**
 * The number of files for connections to archives: all except those reserved for clients, but at least
 * half, because each client needs a connection to each archive.
 */
export function filesForArchives(room: number, forClients: number = reserved): number {
  return Math.max(1, Math.floor(room - Math.min(forClients, room / 2)) - OTHER_FILES);
}
