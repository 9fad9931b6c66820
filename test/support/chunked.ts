/** Gives bytes in pieces of the lengths given, over and over, as a stream would. */
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

/** Joins all that a stream gives. */
export async function collected(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const blocks: Uint8Array[] = [];
  for await (const chunk of chunks) blocks.push(chunk.slice());
  return Buffer.concat(blocks);
}
