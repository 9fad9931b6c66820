import { joinBytes } from "./bytes.ts";

/** The beginning of a stream, and the whole stream. */
export interface Peeked<Part = Uint8Array> {
  /** The requested number of bytes; fewer only if the stream is shorter. */
  readonly head: Uint8Array;
  readonly chunks: AsyncIterable<Part>;
  /** Closes a stream whose chunks were not requested. */
  close(): Promise<void>;
}

/** Peeks at the first bytes of a stream without consuming them. Holds those bytes. */
export async function peek(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  length: number,
): Promise<Peeked> {
  let size = 0;
  const { held, all, close } = await peekParts(chunks, (chunk) => (size += chunk.length) >= length);
  return { head: joinBytes(held).subarray(0, length), chunks: all, close };
}

/** Peeks at the parts of a stream until there are enough, without consuming them. */
export async function peekParts<Part>(
  parts: AsyncIterable<Part> | Iterable<Part>,
  isEnough: (part: Part) => boolean,
): Promise<{
  readonly held: readonly Part[];
  readonly all: AsyncIterable<Part>;
  readonly close: () => Promise<void>;
}> {
  const iterator = iterate(parts);
  const held: Part[] = [];
  for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
    // A chunk is valid until the next one is requested.
    held.push(copyOf(next.value));
    if (isEnough(next.value)) break;
  }
  const close = async (): Promise<void> => {
    await iterator.return(undefined);
  };
  return { held, all: rejoined([...held], iterator), close };
}

function copyOf<Part>(part: Part): Part {
  return part instanceof Uint8Array ? (joinBytes([part]) as Part & Uint8Array) : part;
}

async function* iterate<Part>(
  parts: AsyncIterable<Part> | Iterable<Part>,
): AsyncGenerator<Part, void, undefined> {
  yield* parts;
}

async function* rejoined<Part>(
  held: Part[],
  rest: AsyncGenerator<Part, void, undefined>,
): AsyncGenerator<Part, void, undefined> {
  try {
    yield* held.splice(0);
    yield* rest;
  } finally {
    await rest.return();
  }
}
