import { joinBytes } from "./bytes.ts";

/** The beginning of a stream, and the whole stream. */
export interface Peeked<Part = Uint8Array> {
  /** As many bytes as were asked for; fewer only where the stream has no more. */
  readonly head: Uint8Array;
  readonly chunks: AsyncIterable<Part>;
  /** Lets go of a stream whose chunks were not asked for. */
  close(): Promise<void>;
}

/** Looks at the first bytes of a stream without taking them away. Holds what was looked at. */
export async function peek(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  length: number,
): Promise<Peeked> {
  let size = 0;
  const { held, all, close } = await peekParts(chunks, (chunk) => (size += chunk.length) >= length);
  return { head: joinBytes(held).subarray(0, length), chunks: all, close };
}

/** Looks at the parts of a stream until there are enough, without taking them away. */
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
    // A chunk is valid until the next is asked for.
    held.push(copied(next.value));
    if (isEnough(next.value)) break;
  }
  const close = async (): Promise<void> => {
    await iterator.return(undefined);
  };
  return { held, all: rejoined([...held], iterator), close };
}

function copied<Part>(part: Part): Part {
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
