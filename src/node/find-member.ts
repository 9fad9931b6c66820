import { readMember } from "./gzip-member.ts";
import type { StoredWindow } from "./stored-window.ts";

const MAGIC = Buffer.of(0x1f, 0x8b, 0x08);
const SEARCHED_BYTES = 1 << 20;

/**
 * Finds the next gzip member at or behind an offset: bytes that look like one by chance, or are one
 * that is damaged too, do not inflate. Lets go of what was searched. Undefined if there is none.
 */
export async function findMember(
  stored: StoredWindow,
  offset: number,
): Promise<number | undefined> {
  let from = offset;
  for (;;) {
    const bytes = await stored.peek(from, SEARCHED_BYTES);
    const found = bytes.indexOf(MAGIC);
    if (found === -1) {
      if (bytes.length < SEARCHED_BYTES) return undefined;
      from += SEARCHED_BYTES - MAGIC.length + 1;
    } else {
      from += found;
      const { kind } = await readMember(stored, from);
      if (kind === "whole" || kind === "long") return from;
      from += 1;
    }
    stored.dropBefore(from);
  }
}
