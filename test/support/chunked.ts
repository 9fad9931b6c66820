import { isChunk, type StreamPart } from "../../src/bytes/damage.ts";

/** Splits bytes into chunks, cycling through the given lengths, as a stream would. */
export async function* chunked(
  bytes: Uint8Array,
  lengths: readonly number[],
): AsyncGenerator<Uint8Array, void, undefined> {
  let at = 0;
  for (let turn = 0; at < bytes.length; turn += 1) {
    const length = lengths[turn % lengths.length];
    yield bytes.slice(at, at + length);
    at += length;
  }
}

/** Joins all chunks of a stream. */
export async function collected(parts: AsyncIterable<StreamPart>): Promise<Uint8Array> {
  const blocks: Uint8Array[] = [];
  for await (const part of parts) if (isChunk(part)) blocks.push(part.slice());
  return Buffer.concat(blocks);
}
