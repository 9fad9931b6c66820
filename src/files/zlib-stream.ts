import { once } from "node:events";
import type { Transform } from "node:stream";

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
    decoder.destroy(error instanceof Error ? error : new Error(String(error)));
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
