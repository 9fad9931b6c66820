import { randomUUID } from "node:crypto";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import * as zlib from "node:zlib";
import { createWriteStream } from "node:fs";
import { sourceChunks } from "../../bytes/byte-source.ts";
import { FileSource } from "../../files/input-file.ts";
import { systemCode } from "../../errors.ts";
import { type Encoding, etagOf, type Representation } from "../../http/reply.ts";
import { checkSignal } from "../../interruption.ts";
import { compressorFor } from "../../files/compress.ts";

/**
 * Compressed copies of maps and pages, each created once and stored in a folder.
 *
 * One copy is created at a time, so that compression never uses more than one core. Existing files
 * are reused: their names contain the digest of the content.
 */
export class EncodedCopies {
  readonly #folder: string;
  readonly #keepsFiles: boolean;
  readonly #copies = new Map<string, Copy>();
  readonly #stopping = new AbortController();
  #queue: Promise<unknown> = Promise.resolve();

  /** With `keepsFiles`, copies stay in the folder for the next run. */
  constructor(folder: string, options: { readonly keepsFiles: boolean }) {
    this.#folder = folder;
    this.#keepsFiles = options.keepsFiles;
  }

  /** The copy if it is ready now. */
  ready(plain: Representation, version: string, encoding: Encoding): Representation | undefined {
    const body = this.#copies.get(version + SUFFIXES[encoding])?.ready;
    return body && { ...plain, body, etag: etagOf(version, encoding), encoding };
  }

  async make(plain: Representation, version: string, encoding: Encoding): Promise<Representation> {
    const name = version + SUFFIXES[encoding];
    const copy = this.#copies.get(name) ?? this.#begin(plain, name, encoding);
    return { ...plain, body: await copy.made, etag: etagOf(version, encoding), encoding };
  }

  /** Cancels pending copies, and waits for them to end. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#queue;
  }

  /** Closes the copies whose names begin with a version, and removes them unless files are kept. */
  async drop(version: string): Promise<void> {
    for (const [name, { made }] of this.#copies) {
      if (!name.startsWith(version)) continue;
      this.#copies.delete(name);
      const source = await made.catch(() => undefined); // reported to its requesters
      await source?.close();
      if (!this.#keepsFiles) await rm(join(this.#folder, name), { force: true });
    }
  }

  /** One copy is made at a time. */
  #begin(plain: Representation, name: string, encoding: Encoding): Copy {
    const made = this.#queue.then(() => this.#open(plain, join(this.#folder, name), encoding));
    const copy: Copy = { made, ready: undefined };
    this.#copies.set(name, copy);
    this.#queue = made.then(
      (source) => (copy.ready = source),
      () => this.#copies.delete(name), // reported to its requesters
    );
    return copy;
  }

  /** Opens the copy of an earlier run, or makes it. */
  async #open(plain: Representation, path: string, encoding: Encoding): Promise<FileSource> {
    checkSignal(this.#stopping.signal);
    try {
      return await FileSource.open(path);
    } catch (error) {
      if (!(error instanceof Error && systemCode(error.cause) === "ENOENT")) throw error;
    }
    return this.#encode(plain, path, encoding);
  }

  async #encode(plain: Representation, path: string, encoding: Encoding): Promise<FileSource> {
    const temporary = `${path}.${randomUUID()}.tmp`;
    try {
      const chunks = sourceChunks(plain.body, { signal: this.#stopping.signal });
      const compressor = compressorFor(`x${SUFFIXES[encoding]}`)?.();
      if (compressor === undefined) throw new Error(`no compressor for ${encoding}`);
      await pipeline(chunks, compressor, createWriteStream(temporary));
      await rename(temporary, path);
    } finally {
      await rm(temporary, { force: true });
    }
    return FileSource.open(path);
  }
}

interface Copy {
  readonly made: Promise<FileSource>;
  ready: FileSource | undefined;
}

const SUFFIXES: Readonly<Record<Encoding, string>> = { gzip: ".gz", zstd: ".zst" };

/** The codings this machine can make, the best first: Node makes zstd from 22.15 on. */
export function availableEncodings(): readonly Encoding[] {
  return "createZstdCompress" in zlib ? ["zstd", "gzip"] : ["gzip"];
}
