import { joinBytes, MARK_BYTES, markLength } from "./bytes.ts";

/** The beginning of a stream, and the whole stream. */
export interface Peeked<Part = Uint8Array> {
  /** As many bytes as were asked for; fewer only where the stream has no more. */
  readonly head: Uint8Array;
  /** All chunks, the first ones joined. */
  readonly chunks: AsyncIterable<Part>;
  /** Lets go of a stream whose chunks were not asked for. */
  close(): Promise<void>;
}

/** Looks at the first bytes of a stream without taking them away. Holds what was looked at. */
export async function peek(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  length: number,
): Promise<Peeked> {
  const iterator = iterate(chunks);
  const parts: Uint8Array[] = [];
  let size = 0;
  while (size < length) {
    const next = await iterator.next();
    if (next.done === true) break;
    parts.push(next.value.slice());
    size += next.value.length;
  }
  const first = joinBytes(parts);
  return {
    head: first.subarray(0, length),
    chunks: rejoined(first, iterator),
    close: async () => {
      await iterator.return(undefined);
    },
  };
}

async function* iterate(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield* chunks;
}

async function* rejoined(
  first: Uint8Array,
  rest: AsyncGenerator<Uint8Array, void, undefined>,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    if (first.length > 0) yield first;
    yield* rest;
  } finally {
    await rest.return();
  }
}

/** A text without the byte order mark that it may begin with. Holds its first chunk. */
export async function* withoutMark(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const text = await peek(chunks, MARK_BYTES);
  let skipped = markLength(text.head);
  for await (const chunk of text.chunks) {
    yield skipped === 0 ? chunk : chunk.subarray(skipped);
    skipped = 0;
  }
}
