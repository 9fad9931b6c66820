import { readMember, STEP_BYTES } from "./gzip-member.ts";
import type { SearchEffort } from "./search-effort.ts";
import type { StoredWindow } from "./stored-window.ts";

const MAGIC = Buffer.of(0x1f, 0x8b, 0x08);
const SEARCHED_BYTES = 1 << 20;

/**
 * Finds the next gzip member at or behind an offset: bytes that look like one by chance, or are one
 * that is damaged too, do not inflate. Lets go of what was searched. Undefined if there is none, or
 * none within the effort that is left.
 */
export async function findMember(
  stored: StoredWindow,
  offset: number,
  effort: SearchEffort,
): Promise<number | undefined> {
  let from = offset;
  for (;;) {
    from = Math.max(from, effort.nextTry);
    const bytes = await stored.peek(from, SEARCHED_BYTES);
    const found = bytes.indexOf(MAGIC);
    if (found === -1) {
      if (bytes.length < SEARCHED_BYTES) return undefined;
      from += SEARCHED_BYTES - MAGIC.length + 1;
    } else {
      from += found;
      const member = await readMember(stored, from);
      if (member.kind === "whole" || member.kind === "long") return from;
      effort.spend(member.kind === "broken" ? member.tried : STEP_BYTES);
      from += 1;
    }
    stored.dropBefore(from);
  }
}
