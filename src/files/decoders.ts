import { once } from "node:events";
import type { Transform } from "node:stream";
import { asError, MementoMapError } from "../errors.ts";

/** A decoder of node:zlib. */
export type ZlibStream = Transform & {
  /** Bytes that were decoded, not merely written. */
  readonly bytesWritten: number;
};

/**
 * Feeds a decoder, and gives out what comes. Stops asking for chunks once the decoder has had
 * enough; the one asked for last may not have been written then.
 *
 * Passes on the errors of both.
 */
export async function* pump(
  decoder: ZlibStream,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const closed = new Promise<void>((resolve) => {
    decoder.once("close", resolve);
  });
  const feed = async (): Promise<void> => {
    for await (const chunk of chunks) {
      if (decoder.readableEnded || decoder.destroyed) return;
      if (!decoder.write(chunk)) await Promise.race([once(decoder, "drain"), closed]);
    }
    decoder.end();
  };
  const feeding = feed().catch((error: unknown) => {
    decoder.destroy(asError(error));
  });
  try {
    for await (const chunk of decoder) {
      // A zlib stream is not in object mode: what it gives are Buffers.
      yield chunk as Uint8Array;
    }
    await feeding;
  } finally {
    decoder.destroy();
  }
}

/**
 * Decodes zstd frames one after another. Node's own decoder stops at the end of a frame, and leaves
 * what follows: the next frame, in files that were written in parallel or joined.
 *
 * Holds what was read and not decoded yet. Passes on the errors of the decoder.
 */
export async function* decodeFrames(
  makeDecoder: () => ZlibStream,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const input = new FrameInput(chunks);
  try {
    while (await input.hasMore()) {
      const decoder = makeDecoder();
      yield* pump(decoder, input.chunksFor(decoder));
      input.endFrame(decoder.bytesWritten);
    }
  } finally {
    await input.close();
  }
}

/** Chunks for one frame after another; what a frame did not need, the next one gets. */
class FrameInput {
  readonly #iterator: AsyncIterator<Uint8Array>;
  /** Chunks that the decoder of this frame has got, and which it may not have decoded yet. */
  #given: Uint8Array[] = [];
  /** How much of the frame comes before them. */
  #givenAt = 0;
  /** Chunks that nobody has got. */
  #waiting: Uint8Array[] = [];

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#iterator = chunks[Symbol.asyncIterator]();
  }

  async hasMore(): Promise<boolean> {
    while (this.#waiting.length === 0) {
      const result = await this.#iterator.next();
      if (result.done === true) return false;
      if (result.value.length > 0) this.#waiting.push(result.value);
    }
    return true;
  }

  /** Chunks for the decoder of a frame, who may stop asking when it has all of the frame. */
  async *chunksFor(decoder: ZlibStream): AsyncGenerator<Uint8Array, void, undefined> {
    while (await this.hasMore()) {
      this.#dropBefore(decoder.bytesWritten);
      const chunk = this.#waiting.shift() as Uint8Array; // there is one
      this.#given.push(chunk);
      yield chunk;
    }
  }

  /** Ends a frame of this many bytes. */
  endFrame(bytes: number): void {
    this.#dropBefore(bytes);
    const [first, ...others] = this.#given;
    if (first !== undefined) {
      this.#waiting = [first.subarray(bytes - this.#givenAt), ...others, ...this.#waiting];
    }
    this.#given = [];
    this.#givenAt = 0;
  }

  async close(): Promise<void> {
    await this.#iterator.return?.();
  }

  #dropBefore(offset: number): void {
    let count = 0;
    for (const { length } of this.#given) {
      if (this.#givenAt + length > offset) break;
      this.#givenAt += length;
      count++;
    }
    if (count > 0) this.#given.splice(0, count);
  }
}

/** What zstd itself takes unless it is told to take more, and what Node's decoder takes. */
const MAX_WINDOW_BYTES = 2 ** 27;
const MAGIC_BYTES = 4;
const DICTIONARY_ID_BYTES = [0, 1, 2, 4];
const BLOCK_HEADER_BYTES = 3;
const CHECKSUM_BYTES = 4;
const RUN_BLOCK = 1;

/** What of a stream of frames comes next. */
type Place = "frame" | "header" | "skippable" | "block" | "unknown";

/**
 * Follows the frames of zstd data (RFC 8878), and refuses those that need more than 128 MiB to be
 * decoded: a decoder sets that much aside, and may copy all of it for every block.
 *
 * The decoder finds all other faults.
 */
export class ZstdWindowCheck {
  readonly #source: string;
  #place: Place = "frame";
  readonly #head: number[] = [];
  /** Bytes of the head that are needed to go on. */
  #needed = MAGIC_BYTES + 1;
  #skip = 0;
  #hasChecksum = false;

  constructor(source: string) {
    this.#source = source;
  }

  /** Takes the next bytes, however they are cut. @throws MM_LIMIT */
  take(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length && this.#place !== "unknown";) {
      if (this.#skip > 0) {
        const skipped = Math.min(this.#skip, bytes.length - at);
        this.#skip -= skipped;
        at += skipped;
      } else {
        this.#head.push(bytes[at]);
        at++;
        if (this.#head.length === this.#needed) this.#step();
      }
    }
  }

  #step(): void {
    const head = this.#head;
    switch (this.#place) {
      case "frame":
        return this.#startFrame();
      case "header":
        this.#hasChecksum = (head[4] & 4) !== 0;
        this.#checkWindow();
        return this.#expect("block", BLOCK_HEADER_BYTES);
      case "skippable":
        this.#skip = littleEndian(head, MAGIC_BYTES, 4);
        return this.#expect("frame", MAGIC_BYTES + 1);
      case "block": {
        const header = littleEndian(head, 0, BLOCK_HEADER_BYTES);
        this.#skip = ((header >> 1) & 3) === RUN_BLOCK ? 1 : header >> 3;
        if ((header & 1) === 0) return this.#expect("block", BLOCK_HEADER_BYTES);
        if (this.#hasChecksum) this.#skip += CHECKSUM_BYTES;
        return this.#expect("frame", MAGIC_BYTES + 1);
      }
      case "unknown":
    }
  }

  #startFrame(): void {
    const magic = littleEndian(this.#head, 0, MAGIC_BYTES);
    if (magic === 0xfd2fb528) {
      const { windowBytes, dictionaryBytes, sizeBytes } = frameLayout(this.#head[4]);
      this.#place = "header";
      this.#needed = MAGIC_BYTES + 1 + windowBytes + dictionaryBytes + sizeBytes;
      if (this.#needed === this.#head.length) this.#step();
    } else if ((magic & 0xfffffff0) >>> 0 === 0x184d2a50) {
      this.#place = "skippable";
      this.#needed = MAGIC_BYTES + 4;
    } else {
      this.#place = "unknown";
    }
  }

  #expect(place: Place, bytes: number): void {
    this.#place = place;
    this.#needed = bytes;
    this.#head.length = 0;
  }

  #checkWindow(): void {
    const head = this.#head;
    const { windowBytes, dictionaryBytes, sizeBytes } = frameLayout(head[4]);
    const descriptor = head[MAGIC_BYTES + 1];
    const base = 2 ** (10 + (descriptor >> 3));
    // Without a window of its own, a frame is decoded into one of its size.
    const window =
      windowBytes === 1
        ? base + (base / 8) * (descriptor & 7)
        : littleEndian(head, MAGIC_BYTES + 1 + dictionaryBytes, sizeBytes);
    if (window <= MAX_WINDOW_BYTES) return;
    throw new MementoMapError(
      "MM_LIMIT",
      `the zstd data needs ${window} bytes of memory to be decompressed, and ` +
        `${MAX_WINDOW_BYTES} are allowed; decompress it first if you trust it`,
      { position: { source: this.#source } },
    );
  }
}

/** How many bytes each part of a frame header has, by its descriptor. */
function frameLayout(descriptor: number): {
  readonly windowBytes: number;
  readonly dictionaryBytes: number;
  readonly sizeBytes: number;
} {
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const sizeFlag = descriptor >> 6;
  return {
    windowBytes: isSingleSegment ? 0 : 1,
    dictionaryBytes: DICTIONARY_ID_BYTES[descriptor & 3],
    sizeBytes: sizeFlag === 0 ? Number(isSingleSegment) : 2 ** sizeFlag,
  };
}

function littleEndian(bytes: readonly number[], start: number, length: number): number {
  let value = 0;
  for (let i = length - 1; i >= 0; i--) value = value * 256 + bytes[start + i];
  return value;
}
