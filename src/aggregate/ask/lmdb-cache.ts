import { createHash } from "node:crypto";
import { closeSync, existsSync, openSync, readSync, rmSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Database } from "lmdb";
import { asError, ioError, systemCode } from "../../errors.ts";
import type { Cache } from "./cache.ts";

/** Change the name when the format of entries changes. */
const FILE = "answers-1.mdb";
const CURRENT = "current";
/** LMDB crashes the process if the disk is full, so this much of it is left free. */
const FREE_BYTES = 16 * 2 ** 20;

interface LmdbCacheOptions {
  readonly maxBytes: number;
  /** Called when an answer cannot be cached. */
  readonly onError: (error: Error) => void;
}

/**
 * A cache in a folder, which is shared by processes and survives restarts; undefined if the optional package `lmdb` is
 * not installed. The file is created with the first answer; a damaged one is replaced.
 *
 * It has two generations: new entries go to one; when that has half of the bytes, the other is emptied and takes its
 * place.
 */
export async function lmdbCache(
  folder: string,
  { maxBytes, onError }: LmdbCacheOptions,
): Promise<Cache | undefined> {
  const lmdb = await import("lmdb").catch(() => undefined);
  if (lmdb === undefined) return undefined;
  const path = join(folder, FILE);
  // Only before it is opened: other processes may use it afterwards.
  if (isDamaged(path)) {
    rmSync(path, { force: true });
    rmSync(`${path}-lock`, { force: true });
  }
  let isClosed = false;
  /** Bytes written by this process since it last checked the size. */
  let written = 0;

  const open = () => {
    if (existsSync(folder)) needRoom(folder, 0);
    const root = lmdb.open({ path, noSubdir: true, maxDbs: 4 });
    const generations = ["even", "odd"].map((name) =>
      root.openDB<Uint8Array, Uint8Array>({ name, encoding: "binary", keyEncoding: "binary" }),
    );
    return { root, generations };
  };
  let database: ReturnType<typeof open> | undefined;
  const opened = (): typeof database => {
    if (database !== undefined || isClosed) return database;
    try {
      database = open();
    } catch (error) {
      isClosed = true;
      onError(asError(error));
    }
    return database;
  };
  const currentOf = ({ root }: ReturnType<typeof open>): number =>
    root.get(CURRENT) === 1 ? 1 : 0;

  const write = async (key: string, bytes: Uint8Array): Promise<void> => {
    const all = opened();
    if (all === undefined) return;
    needRoom(folder, bytes.length);
    let current = currentOf(all);
    const half = maxBytes / 2;
    written += bytes.length;
    if (written > half / 16) {
      written = 0;
      if (bytesOf(all.generations[current]) > half) {
        current = 1 - current;
        await all.generations[current].clearAsync();
        await all.root.put(CURRENT, current);
      }
    }
    await all.generations[current].put(hashOf(key), bytes);
  };

  return {
    get(key) {
      const all = opened();
      if (all === undefined) return undefined;
      const [hash, current] = [hashOf(key), currentOf(all)];
      return all.generations[current].get(hash) ?? all.generations[1 - current].get(hash);
    },
    set(key, bytes) {
      write(key, bytes).catch((error: unknown) => {
        // The cause of a failed commit is a promise whose rejection would end the process.
        const { commitError } = error as { readonly commitError?: Promise<unknown> };
        commitError?.catch(() => undefined);
        if (!isClosed) onError(asError(error));
      });
    },
    async close() {
      isClosed = true;
      await database?.root.close();
    },
  };
}

/** @throws MM_IO if the disk has too little free space. */
function needRoom(folder: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize >= FREE_BYTES + bytes) return;
  throw ioError(Object.assign(new Error("the disk is full"), { code: "ENOSPC" }), folder);
}

const PAGE_BYTES = 4096;
const MAGIC = 0xbe_ef_c0_de;
const MAGIC_AT = 24;

/**
 * Whether the file is not a database. LMDB does not check, and crashes the process on a foreign or truncated file; an
 * empty one is about to be written by another process.
 */
function isDamaged(path: string): boolean {
  let file: number;
  try {
    const { size } = statSync(path);
    if (size % PAGE_BYTES !== 0) return true;
    if (size === 0) return false;
    file = openSync(path, "r");
  } catch (error) {
    return systemCode(error) !== "ENOENT";
  }
  const head = Buffer.alloc(MAGIC_AT + 4);
  readSync(file, head, 0, head.length, 0);
  closeSync(file);
  return head.readUInt32LE(MAGIC_AT) !== MAGIC;
}

/** LMDB limits keys to 1,978 bytes. */
function hashOf(key: string): Uint8Array {
  return createHash("sha256").update(key).digest();
}

/** Longer values are stored on overflow pages. */
function bytesOf(generation: Database<Uint8Array, Uint8Array>): number {
  const stats = generation.getStats() as Readonly<Record<string, number | undefined>>;
  const { treeBranchPageCount = 0, treeLeafPageCount = 0, overflowPages = 0 } = stats;
  return (treeBranchPageCount + treeLeafPageCount + overflowPages) * PAGE_BYTES;
}
