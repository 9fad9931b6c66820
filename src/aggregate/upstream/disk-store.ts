import { createHash } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { ioError, systemCode } from "../../errors.ts";
import { makeFolder } from "../../files/make-folder.ts";
import { removeAbandoned, temporaryPath } from "../../files/scratch.ts";
import { type CachedAnswer, type CacheStore, decodeHead, encodeHead } from "./cache-store.ts";

interface DiskStoreOptions {
  /** Default 1 GiB. */
  readonly maxBytes?: number | undefined;
  /**
   * Told when the disk fails, once until something was written again; without it the first fault is
   * thrown by `close`.
   */
  readonly onError?: ((error: Error) => void) | undefined;
}

/** Bytes that may wait to be written; beyond, answers are not kept. */
const MAX_PENDING_BYTES = 32 * 2 ** 20;
/** Files take whole blocks, whatever they hold. */
const BLOCK_BYTES = 4096;
const SUFFIX = ".answer";

/**
 * Opens a folder of kept answers, making it if there is none.
 *
 * @throws MM_IO
 */
export async function openDiskStore(
  folder: string,
  options: DiskStoreOptions = {},
): Promise<DiskStore> {
  try {
    await makeFolder(folder);
    return new DiskStore(folder, await heldFiles(folder), options);
  } catch (error) {
    throw ioError(error, folder);
  }
}

interface HeldFile {
  readonly name: string;
  readonly bytes: number;
  readonly at: number;
}

/**
 * Keeps answers in a folder, one file each, up to a number of bytes; the oldest is removed first.
 *
 * Files are written under another name and renamed, and carry a checksum: after a kill, or a loss
 * of power, an entry is whole or is not there. Holds a name and a number for each in memory, and
 * answers until they are written. Nothing waits for the disk but those who ask for what is there.
 */
export class DiskStore implements CacheStore {
  readonly #folder: string;
  readonly #maxBytes: number;
  readonly #onError: ((error: Error) => void) | undefined;
  /** Bytes by file, the oldest first. */
  readonly #files = new Map<string, number>();
  readonly #pending = new Map<string, CachedAnswer>();
  #fault: Error | undefined;
  #isFailing = false;
  #bytes = 0;
  #pendingBytes = 0;
  #work: Promise<void> = Promise.resolve();

  constructor(folder: string, held: readonly HeldFile[], options: DiskStoreOptions) {
    this.#folder = folder;
    this.#maxBytes = options.maxBytes ?? 2 ** 30;
    this.#onError = options.onError;
    for (const { name, bytes } of held) {
      this.#files.set(name, bytes);
      this.#bytes += bytes;
    }
    this.#evict();
  }

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#files.size;
  }

  find(key: string): CachedAnswer | undefined | Promise<CachedAnswer | undefined> {
    const name = nameOf(key);
    const pending = this.#pending.get(name);
    if (pending !== undefined) return pending;
    return this.#files.has(name) ? this.#read(name, key) : undefined;
  }

  put(key: string, answer: CachedAnswer): void {
    const bytes = BLOCK_BYTES + answer.body.byteLength;
    if (bytes > this.#maxBytes / 4 || this.#pendingBytes + bytes > MAX_PENDING_BYTES) return;
    const name = nameOf(key);
    this.#pending.set(name, answer);
    this.#pendingBytes += bytes;
    this.#later(async () => {
      try {
        await this.#write(name, key, answer);
      } finally {
        this.#pendingBytes -= bytes;
        if (this.#pending.get(name) === answer) this.#pending.delete(name);
      }
    });
  }

  delete(key: string): void {
    const name = nameOf(key);
    this.#pending.delete(name);
    this.#remove(name);
  }

  /** @throws MM_IO, the first fault that nobody was told. */
  async close(): Promise<void> {
    await this.#work;
    if (this.#fault !== undefined) throw this.#fault;
  }

  async #read(name: string, key: string): Promise<CachedAnswer | undefined> {
    const path = join(this.#folder, name);
    let bytes: Buffer;
    try {
      bytes = await readFile(path);
    } catch (error) {
      this.#forget(name);
      // Another process may have made room.
      if (systemCode(error) !== "ENOENT") this.#report(ioError(error, path));
      return undefined;
    }
    const answer = decodeCacheFile(key, bytes);
    if (answer === undefined) this.#remove(name);
    return answer;
  }

  async #write(name: string, key: string, answer: CachedAnswer): Promise<void> {
    const path = join(this.#folder, name);
    const temporary = temporaryPath(path);
    const parts = encodeCacheFile(key, answer);
    try {
      await mkdir(join(this.#folder, name.slice(0, 2)), { recursive: true });
      const file = await open(temporary, "wx");
      try {
        await file.writev(parts);
      } finally {
        await file.close();
      }
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw ioError(error, path);
    }
    this.#isFailing = false;
    this.#forget(name);
    const bytes = onDisk(parts.reduce((sum, part) => sum + part.byteLength, 0));
    this.#files.set(name, bytes);
    this.#bytes += bytes;
    this.#evict();
  }

  #evict(): void {
    for (const name of this.#files.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#remove(name);
    }
  }

  #remove(name: string): void {
    if (!this.#files.has(name)) return;
    this.#forget(name);
    const path = join(this.#folder, name);
    this.#later(() => rm(path, { force: true }));
  }

  #forget(name: string): void {
    this.#bytes -= this.#files.get(name) ?? 0;
    this.#files.delete(name);
  }

  /** One thing after the other, so that what is removed is not what was written since. */
  #later(work: () => Promise<void>): void {
    this.#work = this.#work.then(work).catch((error: unknown) => {
      this.#report(ioError(error, this.#folder));
    });
  }

  #report(error: Error): void {
    if (this.#onError === undefined) this.#fault ??= error;
    else if (!this.#isFailing) this.#onError(error);
    this.#isFailing = true;
  }
}

function onDisk(bytes: number): number {
  return Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES;
}

/** Two digits for the folder, so that none gets too large. */
function nameOf(key: string): string {
  const digest = createHash("sha256").update(key).digest("hex");
  return `${digest.slice(0, 2)}/${digest.slice(2)}${SUFFIX}`;
}

/** The files of a folder, the oldest first. Removes what killed processes left half written. */
async function heldFiles(folder: string): Promise<HeldFile[]> {
  const held: HeldFile[] = [];
  for (const sub of await readdir(folder)) {
    if (!/^[\da-f]{2}$/.test(sub)) continue;
    await removeAbandoned(join(folder, sub));
    for (const file of await readdir(join(folder, sub))) {
      if (!file.endsWith(SUFFIX)) continue;
      const found = await stat(join(folder, sub, file)).catch((error: unknown) => {
        // Another process may have made room.
        if (systemCode(error) === "ENOENT") return undefined;
        throw error;
      });
      if (found === undefined) continue;
      held.push({ name: `${sub}/${file}`, bytes: onDisk(found.size), at: found.mtimeMs });
    }
  }
  return held.sort((a, b) => a.at - b.at);
}

/*
 * A kept answer as a file:
 *
 *     mementomap-answer 1 <bytes of head> <bytes of body> <CRC-32 of both, 8 hex digits>\n
 *     <head: see `encodeHead`><body>
 */
const FIRST_LINE = /^mementomap-answer 1 (\d+) (\d+) ([\da-f]{8})\n/;
const MOST_OF_FIRST_LINE = 80;

/** The parts of a file, to be written one after the other. */
function encodeCacheFile(key: string, answer: CachedAnswer): Uint8Array[] {
  const { body } = answer;
  const head = Buffer.from(encodeHead(key, answer), "latin1");
  const sum = crc32(body, crc32(head)).toString(16).padStart(8, "0");
  const first = `mementomap-answer 1 ${head.length} ${body.byteLength} ${sum}\n`;
  return [Buffer.from(first), head, body];
}

/** What a file holds for a key; undefined if it is damaged, cut short, or of another key. */
function decodeCacheFile(key: string, bytes: Buffer): CachedAnswer | undefined {
  const match = FIRST_LINE.exec(bytes.toString("latin1", 0, MOST_OF_FIRST_LINE));
  if (match === null) return undefined;
  const headStart = match[0].length;
  const headEnd = headStart + Number(match[1]);
  if (bytes.length !== headEnd + Number(match[2])) return undefined;
  if (crc32(bytes.subarray(headStart)) !== Number.parseInt(match[3], 16)) return undefined;
  const head = decodeHead(bytes.toString("latin1", headStart, headEnd));
  return head.key === key ? { ...head.answer, body: bytes.subarray(headEnd) } : undefined;
}
