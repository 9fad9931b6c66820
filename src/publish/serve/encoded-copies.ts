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
 * Compressed copies of maps and pages, each made once and kept in a folder.
 *
 * One copy is made at a time, so that compressing never takes more than one core. A file that is
 * there already is used: the names hold the digest of the content.
 */
export class EncodedCopies {
  readonly #folder: string;
  readonly #keepsFiles: boolean;
  readonly #made = new Map<string, Promise<Copy>>();
  readonly #ready = new Map<string, Copy>();
  readonly #stopping = new AbortController();
  #queue: Promise<unknown> = Promise.resolve();

  /** With `keepsFiles`, copies stay in the folder for the next run. */
  constructor(folder: string, options: { readonly keepsFiles: boolean }) {
    this.#folder = folder;
    this.#keepsFiles = options.keepsFiles;
  }

  /** The copy if it is ready now. */
  ready(plain: Representation, version: string, encoding: Encoding): Representation | undefined {
    const copy = this.#ready.get(version + SUFFIXES[encoding]);
    return copy === undefined ? undefined : encoded(plain, copy, version, encoding);
  }

  async make(plain: Representation, version: string, encoding: Encoding): Promise<Representation> {
    const name = version + SUFFIXES[encoding];
    let copy = this.#made.get(name);
    if (copy === undefined) {
      copy = this.#inTurn(() => this.#write(plain, name, encoding));
      this.#made.set(name, copy);
      copy.catch(() => this.#made.delete(name));
    }
    return encoded(plain, await copy, version, encoding);
  }

  /** Gives up what is being made, and waits until nothing is. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#queue;
  }

  /** Closes the copies whose names begin with a version, and removes them unless files are kept. */
  async drop(version: string): Promise<void> {
    for (const [name, copy] of this.#made) {
      if (!name.startsWith(version)) continue;
      this.#made.delete(name);
      this.#ready.delete(name);
      await copy.then(
        async ({ source, path }) => {
          await source.close();
          if (!this.#keepsFiles) await rm(path, { force: true });
        },
        () => undefined, // reported to those who asked for it
      );
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#queue.then(work);
    this.#queue = turn.catch(() => undefined); // reported to those who asked for it
    return turn;
  }

  async #write(plain: Representation, name: string, encoding: Encoding): Promise<Copy> {
    checkSignal(this.#stopping.signal);
    const path = join(this.#folder, name);
    const kept = await FileSource.open(path).catch((error: unknown) => {
      if (error instanceof Error && systemCode(error.cause) === "ENOENT") return undefined;
      throw error;
    });
    const source = kept ?? (await this.#encode(plain, path, encoding));
    const copy = { source, path };
    this.#ready.set(name, copy);
    return copy;
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
  readonly source: FileSource;
  readonly path: string;
}

function encoded(
  plain: Representation,
  { source }: Copy,
  version: string,
  encoding: Encoding,
): Representation {
  return { ...plain, body: source, etag: etagOf(version, encoding), encoding };
}

const SUFFIXES: Readonly<Record<Encoding, string>> = { gzip: ".gz", zstd: ".zst" };

/** The codings this machine can make, the best first: Node makes zstd from 22.15 on. */
export function availableEncodings(): readonly Encoding[] {
  return "createZstdCompress" in zlib ? ["zstd", "gzip"] : ["gzip"];
}
