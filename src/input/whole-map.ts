import { checkSize, type MapSize } from "../ukvs/header.ts";

/** How much a map must hold when it is decompressed. */
export interface ExpectedSize {
  readonly stated: MapSize;
  /** Where the last header line ends. */
  readonly bodyOffset: number;
}

/**
 * Gives the chunks of a map on, and refuses one that is over before it holds what it states.
 *
 * @throws MM_CUT
 */
export async function* wholeMap(
  chunks: AsyncIterable<Uint8Array>,
  { stated, bodyOffset }: ExpectedSize,
  source: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    yield chunk;
  }
  checkSize(stated, { bytes: length - bodyOffset }, source);
}
