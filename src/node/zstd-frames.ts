import { once } from "node:events";
import type { Transform } from "node:stream";

/** A decoder of node:zlib. */
export type ZlibStream = Transform & {
  /** Bytes that were decoded, not merely written. */
  readonly bytesWritten: number;
};

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
    while (await input.hasMore()) yield* decodeFrame(makeDecoder(), input);
  } finally {
    await input.close();
  }
}

async function* decodeFrame(
  decoder: ZlibStream,
  input: FrameInput,
): AsyncGenerator<Uint8Array, void, undefined> {
  const closed = new Promise<void>((resolve) => {
    decoder.once("close", resolve);
  });
  const feed = async (): Promise<void> => {
    for (;;) {
      const chunk = await input.next(decoder.bytesWritten);
      if (decoder.readableEnded || decoder.destroyed) return;
      if (chunk === undefined) break;
      if (!decoder.write(chunk)) await Promise.race([once(decoder, "drain"), closed]);
    }
    decoder.end();
  };
  const feeding = feed().catch((error: unknown) => {
    decoder.destroy(error instanceof Error ? error : new Error(String(error)));
  });
  try {
    for await (const chunk of decoder) {
      // A zlib stream is not in object mode: what it gives are Buffers.
      yield chunk as Uint8Array;
    }
    await feeding;
    input.endFrame(decoder.bytesWritten);
  } finally {
    decoder.destroy();
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

  /** The next chunk of a frame of which so many bytes were decoded. */
  async next(decoded: number): Promise<Uint8Array | undefined> {
    this.#dropBefore(decoded);
    if (!(await this.hasMore())) return undefined;
    const chunk = this.#waiting.shift();
    if (chunk !== undefined) this.#given.push(chunk);
    return chunk;
  }

  /** Ends a frame of so many bytes. */
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
