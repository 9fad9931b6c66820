import { pipeline, type Transform } from "node:stream";
import {
  brotliDecompressSync,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  gunzipSync,
  inflateRawSync,
  inflateSync,
  type ZlibOptions,
} from "node:zlib";
import { joinBytes } from "../bytes/bytes.ts";
import { holdChunk } from "../bytes/hold-chunk.ts";
import { isMementoMapError, MementoMapError, systemCode } from "../errors.ts";

/** The supported content codings, for `Accept-Encoding`. */
export const ACCEPTED_CODINGS = "gzip, br, deflate";

type Coding = "gzip" | "br" | "deflate";

/** The content coding of a body: undefined for none, "unknown" for an unsupported one. */
export function codingOf(contentEncoding: string | null = ""): Coding | "unknown" | undefined {
  const coding = contentEncoding?.trim().toLowerCase() ?? "";
  if (coding === "" || coding === "identity") return undefined;
  if (coding === "gzip" || coding === "x-gzip") return "gzip";
  return coding === "br" || coding === "deflate" ? coding : "unknown";
}

/** Bodies up to this size are decoded in one call; a stream costs far more. */
const AT_ONCE_BYTES = 64 * 1024;
/** Limit on the result of that call, which blocks the event loop. */
const AT_ONCE_DECODED_BYTES = 1024 * 1024;

/**
 * Decompresses a body. Holds at most 64 KiB of input and 1 MiB of output. The caller limits the total length.
 *
 * @param next returns the next compressed chunk, undefined at the end.
 * @throws MM_HTTP for invalid compressed data.
 */
export async function* decoded(
  next: () => Promise<Uint8Array | undefined>,
  coding: Coding,
): AsyncGenerator<Uint8Array, void, undefined> {
  const start: Uint8Array[] = [];
  let length = 0;
  let chunk = await next();
  while (chunk !== undefined) {
    holdChunk(start, chunk);
    length += chunk.length;
    chunk = length <= AT_ONCE_BYTES ? await next() : undefined;
  }
  const isWhole = length <= AT_ONCE_BYTES;
  if (length === 0) return;
  const head = joinBytes(start);
  // Some servers send raw deflate, without the zlib header that the standard requires.
  const isRaw = coding === "deflate" && (head[0] & 0x0f) !== 8;
  const [decodeSync, createDecoder] = DECODERS[isRaw ? "raw" : coding];
  try {
    const whole = isWhole ? decodedAtOnce(head, decodeSync) : undefined;
    if (whole !== undefined) {
      yield whole;
      return;
    }
    const decoder = createDecoder();
    const compressed = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
      yield head;
      for (let more = await next(); more !== undefined; more = await next()) yield more;
    };
    // Errors surface below, where the decoder is read.
    pipeline(compressed(), decoder, () => undefined);
    yield* decoder as AsyncIterable<Uint8Array>;
  } catch (error) {
    if (isMementoMapError(error)) throw error;
    const options = { cause: error, reason: "bad-encoding" };
    throw new MementoMapError("MM_HTTP", "the body cannot be decompressed", options);
  }
}

type DecodeSync = (bytes: Uint8Array, options: ZlibOptions) => Uint8Array;

/** The synchronous and the streaming decoder of each coding. */
const DECODERS: Readonly<
  Record<Coding | "raw", readonly [sync: DecodeSync, stream: () => Transform]>
> = {
  gzip: [gunzipSync, createGunzip],
  br: [brotliDecompressSync, createBrotliDecompress],
  deflate: [inflateSync, createInflate],
  raw: [inflateRawSync, createInflateRaw],
};

/** Returns undefined if the result exceeds the limit. */
function decodedAtOnce(bytes: Uint8Array, decode: DecodeSync): Uint8Array | undefined {
  try {
    return decode(bytes, { maxOutputLength: AT_ONCE_DECODED_BYTES });
  } catch (error) {
    if (systemCode(error) === "ERR_BUFFER_TOO_LARGE") return undefined;
    throw error;
  }
}
