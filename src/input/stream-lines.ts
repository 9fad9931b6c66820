import { joinBytes, LF } from "../bytes/bytes.ts";
import { type DamageLog, isChunk, type StreamPart } from "../bytes/damage.ts";
import { wholeLines } from "../bytes/lines.ts";
import { type Peeked, withoutMark } from "../bytes/peek.ts";
import { MementoMapError } from "../errors.ts";
import type { RowSourceOptions } from "./rows.ts";

/** The first bytes of an index, from which its format is detected. */
export const HEAD_BYTES: number = 1 << 18;

/** The text of a stream of lines, without what damage has left of a line. */
export function textOf(
  parts: AsyncIterable<StreamPart>,
  options: Pick<RowSourceOptions, "source" | "maxLineBytes" | "damage">,
): AsyncIterable<Uint8Array> {
  const { source, damage } = options;
  return withoutMark(
    damage === undefined ? unbroken(parts, source) : uncutLines(parts, options, damage),
  );
}

/**
 * A stream that must be whole, because what it holds makes no sense in part.
 *
 * @throws MM_BAD_INPUT at a gap.
 */
export async function* unbroken(
  parts: AsyncIterable<StreamPart>,
  source: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const part of parts) {
    if (isChunk(part)) {
      yield part;
    } else if (part.kind === "gap") {
      const message = `${part.damage.message}; this format cannot be read in part`;
      throw new MementoMapError("MM_BAD_INPUT", message, { position: { source } });
    }
  }
}

/**
 * The whole lines of a stream with gaps, without what gaps have left of a line: that is counted as
 * cut. Holds one chunk and the longest line.
 *
 * Behind a gap the first line is whole where all members before the gap ended with a line, as in
 * files that are written in blocks of lines; else it is the end of a line that is lost.
 *
 * @throws MM_LIMIT for a line longer than `maxLineBytes`.
 */
async function* uncutLines(
  parts: AsyncIterable<StreamPart>,
  { source, maxLineBytes }: Pick<RowSourceOptions, "source" | "maxLineBytes">,
  damage: DamageLog,
): AsyncGenerator<Uint8Array, void, undefined> {
  const stretches = new Stretches(parts, damage);
  try {
    while (stretches.hasMore) {
      for await (const lines of wholeLines(stretches.next(), source, maxLineBytes)) {
        if (stretches.hasMore && lines.at(-1) !== LF) damage.cutLines++;
        else yield lines;
      }
    }
  } finally {
    await stretches.close();
  }
}

/** The chunks between gaps. */
class Stretches {
  /** Whether a gap, and not the end of the stream, has ended the stretch given last. */
  hasMore = true;
  readonly #iterator: AsyncIterator<StreamPart>;
  readonly #damage: DamageLog;
  #areMembersLines = true;
  #lastByte = LF;

  constructor(parts: AsyncIterable<StreamPart>, damage: DamageLog) {
    this.#iterator = parts[Symbol.asyncIterator]();
    this.#damage = damage;
  }

  async *next(): AsyncGenerator<Uint8Array, void, undefined> {
    let isCut = !this.#areMembersLines;
    for (;;) {
      const result = await this.#iterator.next();
      if (result.done === true) {
        this.hasMore = false;
        return;
      }
      const part = result.value;
      if (!isChunk(part)) {
        if (part.kind === "member") {
          this.#areMembersLines &&= this.#lastByte === LF;
          continue;
        }
        this.#lastByte = LF;
        return;
      }
      if (part.length === 0) continue;
      this.#lastByte = part[part.length - 1];
      const from = isCut ? part.indexOf(LF) + 1 : 0;
      if (isCut && from === 0) continue;
      if (isCut) this.#damage.cutLines++;
      isCut = false;
      yield part.subarray(from);
    }
  }

  async close(): Promise<void> {
    await this.#iterator.return?.();
  }
}

/**
 * Looks at the first bytes of a stream, up to the first gap and the last whole line before it,
 * without taking them away. Holds what was looked at.
 */
export async function peekHead<Part extends StreamPart>(
  parts: AsyncIterable<Part>,
): Promise<Peeked<Part>> {
  const iterator = parts[Symbol.asyncIterator]();
  const held: Part[] = [];
  const chunks: Uint8Array[] = [];
  let size = 0;
  let isCut = false;
  while (size < HEAD_BYTES && !isCut) {
    const next = await iterator.next();
    if (next.done === true) break;
    const part: StreamPart = next.value;
    held.push(next.value);
    if (isChunk(part)) {
      chunks.push(part);
      size += part.length;
    } else {
      isCut = part.kind === "gap" && size > 0;
    }
  }
  const head = joinBytes(chunks).subarray(0, HEAD_BYTES);
  return {
    head: isCut ? head.subarray(0, head.lastIndexOf(LF) + 1) : head,
    chunks: rejoined(held, iterator),
    close: async () => {
      await iterator.return?.();
    },
  };
}

/** What was taken from an iterator, and the rest. */
export async function* rejoined<Part>(
  held: Part[],
  rest: AsyncIterator<Part>,
): AsyncGenerator<Part, void, undefined> {
  try {
    yield* held.splice(0);
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
      yield next.value;
    }
  } finally {
    await rest.return?.();
  }
}
