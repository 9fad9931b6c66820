import { LF } from "../bytes/bytes.ts";

const BLOCK_BYTES = 1 << 22;

/** Whole lines in a buffer of their own, which can be moved to another thread. */
export interface LineBlock {
  readonly buffer: ArrayBuffer;
  readonly length: number;
}

/** Gathers chunks into large blocks of whole lines; the last line may lack its end. */
export async function* lineBlocks(
  chunks: AsyncIterable<Uint8Array>,
  maxLineBytes: number,
): AsyncGenerator<LineBlock, void, undefined> {
  let block = Buffer.allocUnsafeSlow(BLOCK_BYTES + maxLineBytes);
  let filled = 0;
  for await (const chunk of chunks) {
    let taken = 0;
    while (taken < chunk.length) {
      const size = Math.min(chunk.length - taken, block.length - filled);
      block.set(chunk.subarray(taken, taken + size), filled);
      filled += size;
      taken += size;
      if (filled < BLOCK_BYTES) continue;
      let length = block.lastIndexOf(LF, filled - 1) + 1;
      if (length === 0) {
        if (filled < block.length) continue;
        // Longer than a line may be: whoever reads the block says so, and knows the line number.
        length = filled;
      }
      const next = Buffer.allocUnsafeSlow(BLOCK_BYTES + maxLineBytes);
      block.copy(next, 0, length, filled);
      yield { buffer: block.buffer, length };
      filled -= length;
      block = next;
    }
  }
  if (filled > 0) yield { buffer: block.buffer, length: filled };
}
