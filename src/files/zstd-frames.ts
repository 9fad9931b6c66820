import type { ZlibStream } from "./zlib-stream.ts";
import { pump } from "./zlib-stream.ts";

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
