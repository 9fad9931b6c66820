import { MementoMapError } from "../errors.ts";
import { type DamageLog, GAP } from "../bytes/damage.ts";

/**
 * A stream that must be whole, because what it holds makes no sense in part.
 *
 * @throws MM_BAD_INPUT at a gap.
 */
export async function* unbroken(
  chunks: AsyncIterable<Uint8Array>,
  source: string,
  damage: DamageLog,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of chunks) {
    if (chunk === GAP) {
      const what = damage.first[0]?.message ?? "the compressed data is damaged";
      throw new MementoMapError("MM_BAD_INPUT", `${what}; this format cannot be read in part`, {
        position: { source },
      });
    }
    if (chunk.length > 0) yield chunk;
  }
}
