import { joinBytes, LF } from "../bytes/bytes.ts";
import type { Peeked } from "../bytes/peek.ts";
import { GAP } from "../bytes/damage.ts";
import { HEAD_BYTES } from "./index-input.ts";

/**
 * Looks at the first bytes of a stream, up to the first gap and the last whole line before it,
 * without taking them away. Holds what was looked at.
 */
export async function peekHead(chunks: AsyncIterable<Uint8Array>): Promise<Peeked> {
  const iterator = chunks[Symbol.asyncIterator]();
  const held: Uint8Array[] = [];
  let size = 0;
  let isCut = false;
  while (size < HEAD_BYTES && !isCut) {
    const next = await iterator.next();
    if (next.done === true) break;
    held.push(next.value);
    size += next.value.length;
    isCut = next.value === GAP && size > 0;
  }
  const head = joinBytes(held).subarray(0, HEAD_BYTES);
  return {
    head: isCut ? head.subarray(0, head.lastIndexOf(LF) + 1) : head,
    chunks: all(held, iterator),
    close: async () => {
      await iterator.return?.();
    },
  };
}

async function* all(
  held: Uint8Array[],
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* held.splice(0);
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
      yield next.value;
    }
  } finally {
    await rest.return?.();
  }
}
