import { peek } from "./peek.ts";

/** U+FEFF in UTF-8, with which some programs begin a text. It belongs to no line. */
const MARK = [0xef, 0xbb, 0xbf] as const;

/** How many bytes the byte order mark takes with which a text begins: three, or none. */
export function markLength(text: Uint8Array): number {
  return MARK.every((byte, i) => text[i] === byte) ? MARK.length : 0;
}

/** A text without the byte order mark that it may begin with. Holds its first chunk. */
export async function* withoutMark(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const text = await peek(chunks, MARK.length);
  let skipped = markLength(text.head);
  for await (const chunk of text.chunks) {
    yield skipped === 0 ? chunk : chunk.subarray(skipped);
    skipped = 0;
  }
}
