import { type Transform } from "node:stream";
import { holdChunk } from "../bytes/hold-chunk.ts";
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

/** Content codings that can be undone, and asked for. */
export const ACCEPTED_CODINGS = "gzip, br, deflate";

export type Coding = "gzip" | "br" | "deflate";

/** Takes what comes out of a decoder; like a receiver of answers, without the head. */
export interface DecodedReceiver {
  onDecoded(chunk: Uint8Array): boolean;
  onDecodedEnd(): void;
  onUndecodable(error: Error): void;
  /** The decoder can take more. */
  onDecoderReady(): void;
}

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
  #isStopped = false;

  constructor(coding: Coding, receiver: DecodedReceiver) {
    this.#coding = coding;
    this.#receiver = receiver;
  }

  /** Whether more can be taken at once; else `onDecoderReady` tells when. */
  write(chunk: Uint8Array): boolean {
    if (this.#stream !== undefined) return this.#stream.write(chunk);
    holdChunk(this.#start, chunk);
    this.#startBytes += chunk.length;
    if (this.#startBytes <= AT_ONCE_BYTES) return true;
    return !this.#open().writableNeedDrain;
  }

  end(): void {
    if (this.#stream !== undefined) {
      this.#stream.end();
      return;
    }
    if (this.#startBytes === 0) {
      this.#receiver.onDecodedEnd();
      return;
    }
    const decoded = this.#decodeAtOnce();
    if (decoded === undefined) {
      this.#open().end();
    } else if (decoded instanceof Error) {
      this.#receiver.onUndecodable(decoded);
    } else {
      if (decoded.length > 0) this.#receiver.onDecoded(decoded);
      if (!this.#isStopped) this.#receiver.onDecodedEnd();
    }
  }

  resume(): void {
    this.#stream?.resume();
  }

  /** Releases everything; the receiver is not called any more. */
  stop(): void {
    this.#isStopped = true;
    this.#stream?.destroy();
  }

  /** Undefined when that would be too much to do at once. */
  #decodeAtOnce(): Uint8Array | Error | undefined {
    const [only] = this.#start;
    const whole = this.#start.length === 1 ? only : Buffer.concat(this.#start);
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
    const stream = this.#newStream();
    this.#stream = stream;
    stream.on("data", (chunk: Uint8Array) => {
      if (!this.#isStopped && !this.#receiver.onDecoded(chunk)) stream.pause();
    });
    stream.once("end", () => {
      if (!this.#isStopped) this.#receiver.onDecodedEnd();
    });
    stream.on("error", (error) => {
      if (!this.#isStopped) this.#receiver.onUndecodable(error);
    });
    stream.on("drain", () => {
      if (!this.#isStopped) this.#receiver.onDecoderReady();
    });
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
