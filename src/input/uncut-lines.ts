import { LF } from "../bytes/bytes.ts";
import { wholeLines } from "../bytes/lines.ts";
import { type DamageLog, GAP, MEMBER } from "../bytes/damage.ts";

export interface UncutLinesOptions {
  readonly source: string;
  readonly maxLineBytes: number;
  readonly damage: DamageLog;
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
export async function* uncutLines(
  chunks: AsyncIterable<Uint8Array>,
  { source, maxLineBytes, damage }: UncutLinesOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const stretches = new Stretches(chunks, damage);
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
  readonly #iterator: AsyncIterator<Uint8Array>;
  readonly #damage: DamageLog;
  #areMembersLines = true;
  #lastByte = LF;

  constructor(chunks: AsyncIterable<Uint8Array>, damage: DamageLog) {
    this.#iterator = chunks[Symbol.asyncIterator]();
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
      const chunk = result.value;
      if (chunk === GAP) {
        this.#lastByte = LF;
        return;
      }
      if (chunk === MEMBER) this.#areMembersLines &&= this.#lastByte === LF;
      if (chunk.length === 0) continue;
      this.#lastByte = chunk[chunk.length - 1];
      const from = isCut ? chunk.indexOf(LF) + 1 : 0;
      if (isCut && from === 0) continue;
      if (isCut) this.#damage.cutLines++;
      isCut = false;
      yield chunk.subarray(from);
    }
  }

  async close(): Promise<void> {
    await this.#iterator.return?.();
  }
}
