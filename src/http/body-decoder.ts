import type { Transform } from "node:stream";
import {
  brotliDecompressSync,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  gunzipSync,
  inflateRawSync,
  inflateSync,
} from "node:zlib";
import { holdChunk } from "../bytes/hold-chunk.ts";

/** Content codings that can be undone, and asked for. */
export const ACCEPTED_CODINGS = "gzip, br, deflate";

type Coding = "gzip" | "br" | "deflate";

/** The coding of a body, undefined where it has none, "unknown" where it cannot be undone. */
export function codingOf(contentEncoding: string | undefined): Coding | "unknown" | undefined {
  switch (contentEncoding?.trim().toLowerCase()) {
    case undefined:
    case "":
    case "identity":
      return undefined;
    case "gzip":
    case "x-gzip":
      return "gzip";
    case "br":
      return "br";
    case "deflate":
      return "deflate";
    default:
      return "unknown";
  }
}

/** Takes what comes out of a decoder. */
export interface DecodedReceiver {
  onDecoded(chunk: Uint8Array): void;
  onDecodedEnd(): void;
  onUndecodable(error: Error): void;
  /** The decoder can take more. */
  onDecoderReady(): void;
}

/** Bodies that end within this are decoded at once, without a stream, which costs far more. */
const AT_ONCE_BYTES = 64 * 1024;
/** And only to this many bytes: nothing else happens meanwhile. */
const AT_ONCE_DECODED_BYTES = 1024 * 1024;

/**
 * Decompresses a body. Holds at most 64 KiB of it, and 1 MiB of what it becomes; how long that may
 * get in all is for the receiver to say.
 */
export class BodyDecoder {
  readonly #coding: Coding;
  readonly #receiver: DecodedReceiver;
  #start: Uint8Array[] = [];
  #startBytes = 0;
  #stream: Transform | undefined;

  constructor(coding: Coding, receiver: DecodedReceiver) {
    this.#coding = coding;
    this.#receiver = receiver;
  }

  /** Whether more can be taken at once; else `onDecoderReady` tells when. */
  write(chunk: Uint8Array): boolean {
    if (this.#stream !== undefined) return this.#stream.write(chunk);
    holdChunk(this.#start, chunk);
    this.#startBytes += chunk.length;
    return this.#startBytes <= AT_ONCE_BYTES || !this.#open().writableNeedDrain;
  }

  end(): void {
    if (this.#stream !== undefined) {
      this.#stream.end();
      return;
    }
    const decoded = this.#startBytes === 0 ? new Uint8Array() : this.#decodeAtOnce();
    if (decoded === undefined) {
      this.#open().end();
    } else if (decoded instanceof Error) {
      this.#receiver.onUndecodable(decoded);
    } else {
      if (decoded.length > 0) this.#receiver.onDecoded(decoded);
      this.#receiver.onDecodedEnd();
    }
  }

  /** Releases everything. */
  stop(): void {
    this.#stream?.destroy();
  }

  /** Undefined when that would be too much to do at once. */
  #decodeAtOnce(): Uint8Array | Error | undefined {
    const whole = this.#start.length === 1 ? this.#start[0] : Buffer.concat(this.#start);
    try {
      const options = { maxOutputLength: AT_ONCE_DECODED_BYTES };
      if (this.#coding === "gzip") return gunzipSync(whole, options);
      if (this.#coding === "br") return brotliDecompressSync(whole, options);
      return hasZlibHeader(whole) ? inflateSync(whole, options) : inflateRawSync(whole, options);
    } catch (error) {
      // zlib throws errors only, this one when the limit is passed.
      const fault = error as NodeJS.ErrnoException;
      return fault.code === "ERR_BUFFER_TOO_LARGE" ? undefined : fault;
    }
  }

  #open(): Transform {
    const receiver = this.#receiver;
    const stream = this.#newStream();
    this.#stream = stream;
    stream.on("data", (chunk: Uint8Array) => receiver.onDecoded(chunk));
    stream.once("end", () => receiver.onDecodedEnd());
    stream.on("error", (error) => receiver.onUndecodable(error));
    stream.on("drain", () => receiver.onDecoderReady());
    for (const chunk of this.#start) stream.write(chunk);
    this.#start = [];
    return stream;
  }

  #newStream(): Transform {
    if (this.#coding === "gzip") return createGunzip();
    if (this.#coding === "br") return createBrotliDecompress();
    return hasZlibHeader(this.#start[0]) ? createInflate() : createInflateRaw();
  }
}

/** Some servers send deflate without the frame of zlib that the standard asks for. */
function hasZlibHeader(bytes: Uint8Array): boolean {
  return (bytes[0] & 0x0f) === 8;
}
