import { createHash } from "node:crypto";
import { closeSync, existsSync, openSync, readSync, rmSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Database, RootDatabase } from "lmdb";
import { asError, ioError } from "../../errors.ts";
import type { Cache } from "./cache.ts";

/** Another name where the form of entries changes. */
const FILE = "answers-1.mdb";
const GENERATIONS = ["even", "odd"] as const;
const CURRENT = "current";

interface LmdbCacheOptions {
  readonly maxBytes: number;
  /** Told when an answer cannot be kept. */
  readonly onError?: ((error: Error) => void) | undefined;
}

/**
 * A cache in a folder, which several processes share and which survives restarts; undefined where the optional package
 * `lmdb` is not installed. Its file is made when the first answer comes; one that is damaged is begun anew.
 */
export async function lmdbCache(
  folder: string,
  options: LmdbCacheOptions,
): Promise<Cache | undefined> {
  const lmdb = await import("lmdb").catch(() => undefined);
  if (lmdb === undefined) return undefined;
  const path = join(folder, FILE);
  const open = (): RootDatabase => {
    if (!isDatabase(path)) {
      rmSync(path, { force: true });
      rmSync(`${path}-lock`, { force: true });
    }
    return lmdb.open({ path, noSubdir: true, maxDbs: 4 });
  };
  return new LmdbCache(folder, open, options);
}

/** LMDB ends the process where the disk is full; so this much of it is left free. */
const FREE_BYTES = 16 * 2 ** 20;

/** @throws MM_IO where there is too little room for as many bytes. */
function needRoom(folder: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize >= FREE_BYTES + bytes) return;
  throw ioError(Object.assign(new Error("the disk is full"), { code: "ENOSPC" }), folder);
}

const PAGE_BYTES = 4096;
const MAGIC = 0xbe_ef_c0_de;
const MAGIC_AT = 24;

/** LMDB does not look itself, and ends the process where it reads another file, or one that was cut. */
function isDatabase(path: string): boolean {
  let file: number;
  try {
    if (statSync(path).size % PAGE_BYTES !== 0) return false;
    file = openSync(path, "r");
  } catch {
    return false;
  }
  const head = Buffer.alloc(MAGIC_AT + 4);
  readSync(file, head, 0, head.length, 0);
  closeSync(file);
  return head.readUInt32LE(MAGIC_AT) === MAGIC;
}

/**
 * Two generations: what is new goes to one; when that has half of the bytes, the other is emptied, and takes its place.
 */
class LmdbCache implements Cache {
  readonly #folder: string;
  readonly #open: () => RootDatabase;
  readonly #options: LmdbCacheOptions;
  #database: OpenDatabase | undefined;
  #isClosed = false;
  /** Bytes that this process wrote since it last looked how many there are. */
  #written = 0;

  constructor(folder: string, open: () => RootDatabase, options: LmdbCacheOptions) {
    this.#folder = folder;
    this.#open = open;
    this.#options = options;
  }

  get(key: string): Uint8Array | undefined {
    const database = this.#opened();
    if (database === undefined) return undefined;
    const hash = hashOf(key);
    const { generations } = database;
    const current = currentOf(database);
    return generations[current].get(hash) ?? generations[1 - current].get(hash);
  }

  set(key: string, bytes: Uint8Array): void {
    const database = this.#opened();
    if (database === undefined) return;
    this.#write(database, key, bytes).catch((error: unknown) => {
      if (!this.#isClosed) this.#options.onError?.(asError(error));
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#database?.root.close();
  }

  #opened(): OpenDatabase | undefined {
    if (this.#database !== undefined || this.#isClosed) return this.#database;
    try {
      if (existsSync(this.#folder)) needRoom(this.#folder, 0);
      const root = this.#open();
      const generations = GENERATIONS.map((name) =>
        root.openDB<Uint8Array, Uint8Array>({ name, encoding: "binary", keyEncoding: "binary" }),
      );
      this.#database = { root, generations };
    } catch (error) {
      this.#isClosed = true;
      this.#options.onError?.(asError(error));
    }
    return this.#database;
  }

  async #write(database: OpenDatabase, key: string, bytes: Uint8Array): Promise<void> {
    needRoom(this.#folder, bytes.length);
    const { root, generations } = database;
    const half = this.#options.maxBytes / 2;
    this.#written += bytes.length;
    let current = currentOf(database);
    if (this.#written > half / 16) {
      this.#written = 0;
      if (bytesOf(generations[current]) > half) {
        current = 1 - current;
        await generations[current].clearAsync();
        await root.put(CURRENT, current);
      }
    }
    await generations[current].put(hashOf(key), bytes);
  }
}

interface OpenDatabase {
  readonly root: RootDatabase;
  readonly generations: readonly Database<Uint8Array, Uint8Array>[];
}

function currentOf({ root }: OpenDatabase): number {
  return root.get(CURRENT) === 1 ? 1 : 0;
}

/** LMDB takes keys of 1,978 bytes at most. */
function hashOf(key: string): Uint8Array {
  return createHash("sha256").update(key).digest();
}

/** Longer values have pages of their own. */
function bytesOf(generation: Database<Uint8Array, Uint8Array>): number {
  const stats = generation.getStats() as Readonly<Record<string, number | undefined>>;
  const {
    treeBranchPageCount = 0,
    treeLeafPageCount = 0,
    overflowPages = 0,
    pageSize = PAGE_BYTES,
  } = stats;
  return (treeBranchPageCount + treeLeafPageCount + overflowPages) * pageSize;
}
