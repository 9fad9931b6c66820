import { createHash, type Hash } from "node:crypto";
import { CR, LF } from "../../bytes/bytes.ts";
import { startsHeader } from "../../ukvs/header.ts";

const HEAD_BYTES = 64 * 1024;

/** What is known of a map that was read. */
export interface ReadMap {
  readonly digest: string;
  /** The digest of its records; see `RecordsDigest`. */
  readonly recordsDigest: string;
  readonly bytes: number;
  readonly start: Uint8Array;
}

/** Notes what passes: the first bytes, the digest of all, and that of the records. */
export class MapReader {
  readonly #all = createHash("sha256");
  readonly #records: RecordsDigest;
  readonly #parts: Uint8Array[] = [];
  #bytes = 0;

  /** @param records takes the records too, of all pages. */
  constructor(records?: Hash) {
    this.#records = new RecordsDigest(records);
  }

  async *passing(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of chunks) {
      this.take(chunk);
      yield chunk;
    }
  }

  take(chunk: Uint8Array): void {
    this.#all.update(chunk);
    if (this.#bytes < HEAD_BYTES) this.#parts.push(chunk.slice(0, HEAD_BYTES));
    this.#bytes += chunk.length;
    this.#records.take(chunk);
  }

  finish(): ReadMap {
    return {
      digest: this.#all.digest("hex"),
      recordsDigest: this.#records.finish(),
      bytes: this.#bytes,
      start: Buffer.concat(this.#parts).subarray(0, HEAD_BYTES),
    };
  }
}

/**
 * The digest of the lines behind the headers, as they are written now: without blank lines, CR, and
 * with an end of the last line. A map may have them otherwise, and its pages have not.
 */
class RecordsDigest {
  readonly #hash: Hash;
  readonly #isShared: boolean;
  #isLineStart = true;
  #isInHeaders = true;
  #hasCr = false;

  constructor(shared?: Hash) {
    this.#hash = shared ?? createHash("sha256");
    this.#isShared = shared !== undefined;
  }

  take(chunk: Uint8Array): void {
    let at = 0;
    while (at < chunk.length) {
      const newline = chunk.indexOf(LF, at);
      const end = newline === -1 ? chunk.length : newline;
      if (this.#hasCr && end > at) this.#write(Uint8Array.of(CR));
      if (end > at) this.#hasCr = chunk[end - 1] === CR;
      const text = chunk.subarray(at, this.#hasCr && end > at ? end - 1 : end);
      if (text.length > 0) this.#write(text);
      if (newline === -1) return;
      this.#endLine();
      at = newline + 1;
    }
  }

  /** The digest, unless others go on with it. */
  finish(): string {
    this.#endLine();
    return this.#isShared ? "" : this.#hash.digest("hex");
  }

  #write(text: Uint8Array): void {
    if (this.#isLineStart) this.#isInHeaders &&= startsHeader(text[0]);
    this.#isLineStart = false;
    if (!this.#isInHeaders) this.#hash.update(text);
  }

  #endLine(): void {
    if (!this.#isLineStart && !this.#isInHeaders) this.#hash.update("\n");
    this.#isLineStart = true;
    this.#hasCr = false;
  }
}
