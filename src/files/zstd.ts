import { Decompress } from "fzstd";
import { badInput, MementoMapError, overLimit } from "../errors.ts";

/** A zstd block of 4 bytes may expand to 128 KiB; small steps limit the output per step. */
const STEP_BYTES = 4096;
/** The default limit of zstd. */
const MAX_WINDOW_BYTES = 2 ** 27;
const FRAME_MAGIC = 0xfd2fb528;
const SKIPPABLE_MAGIC = 0x184d2a50;
const DICTIONARY_ID_BYTES = [0, 1, 2, 4];
const CHECKSUM_BYTES = 4;
const RUN_BLOCK = 1;

/**
 * Decompresses a sequence of zstd frames. Holds the window of a frame, at most 128 MiB.
 *
 * The decoder is written in JavaScript and does not verify frame checksums. (Node's decoder does, from
 * Node 24 on; that of Node 22 accepts truncated data, and Node 20 has none.)
 *
 * @throws MM_BAD_INPUT for data that is truncated, damaged or followed by other data, MM_LIMIT
 */
export async function* unzstd(
  chunks: AsyncIterable<Uint8Array>,
  source: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  const check = checkWindows(source);
  check.next();
  let ready: Uint8Array[] = [];
  const decoder = new Decompress((block) => {
    if (block.length > 0) ready.push(block);
  });
  const push = (bytes: Uint8Array, isLast: boolean): Uint8Array[] => {
    ready = [];
    try {
      decoder.push(bytes, isLast);
    } catch (cause) {
      const what = cause instanceof Error ? cause.message : String(cause);
      const message = `the zstd data is truncated or damaged (${what})`;
      throw badInput(source, message, cause);
    }
    return ready;
  };
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += STEP_BYTES) {
      const step = chunk.subarray(at, at + STEP_BYTES);
      check.next(step);
      yield* push(step, false);
    }
  }
  yield* push(new Uint8Array(0), true);
}

/**
 * Parses the frames of zstd data (RFC 8878) incrementally, and rejects those that need more than
 * 128 MiB to decode: the decoder allocates that much, and may copy all of it for every block. All other
 * errors are left to the decoder.
 */
function* checkWindows(source: string): Generator<void, void, Uint8Array> {
  let bytes: Uint8Array = new Uint8Array(0);
  let at = 0;
  function* skip(count: number): Generator<void, void, Uint8Array> {
    at += count;
    while (at >= bytes.length) {
      at -= bytes.length;
      bytes = yield;
    }
  }
  /** The next bytes as a little-endian number. */
  function* number(length: number): Generator<void, number, Uint8Array> {
    let value = 0;
    for (let i = 0; i < length; i++) {
      yield* skip(0);
      value += bytes[at++] * 256 ** i;
    }
    return value;
  }
  for (;;) {
    const magic = yield* number(4);
    if ((magic & 0xfffffff0) >>> 0 === SKIPPABLE_MAGIC) {
      yield* skip(yield* number(4));
      continue;
    }
    if (magic !== FRAME_MAGIC) return;
    const descriptor = yield* number(1);
    const hasWindow = (descriptor & 0x20) === 0;
    const sizeFlag = descriptor >> 6;
    const windowByte = hasWindow ? yield* number(1) : 0;
    yield* number(DICTIONARY_ID_BYTES[descriptor & 3]);
    const size = yield* number(sizeFlag === 0 ? Number(!hasWindow) : 2 ** sizeFlag);
    const base = 2 ** (10 + (windowByte >> 3));
    // Without an explicit window, a frame is decoded into one of its size.
    const window = hasWindow ? base + (base / 8) * (windowByte & 7) : size;
    if (window > MAX_WINDOW_BYTES) throw tooLarge(window, source);
    let header = 0;
    while ((header & 1) === 0) {
      header = yield* number(3);
      yield* skip(((header >> 1) & 3) === RUN_BLOCK ? 1 : header >> 3);
    }
    if ((descriptor & 4) !== 0) yield* skip(CHECKSUM_BYTES);
  }
}

function tooLarge(window: number, source: string): MementoMapError {
  return overLimit(
    source,
    `decompressing the zstd data takes ${window} bytes of memory, and the limit is ` +
      `${MAX_WINDOW_BYTES}; decompress it first if you trust it`,
  );
}
