import { HASH, LF, SPACE } from "../bytes/ascii.ts";
import { wholeLines } from "../bytes/whole-lines.ts";
import { surtKey, uriKey } from "../surt/key.ts";

/** A SURT has its `)` before any slash; a URI has none there, but for user names nobody has. */
const A_SURT = /^[^/?#]*\)(\/|$)/;

/**
 * The keys of a list of lookups, in the order of the list: one URI or SURT a line. What stands
 * behind the first blank, such as a count, is ignored, and so are empty lines and those that start
 * with `#`.
 *
 * Gives the keys of a block of lines at a time. Holds one block.
 */
export async function* lookupListKeys(
  chunks: AsyncIterable<Uint8Array>,
  source: string,
): AsyncGenerator<string[], void, undefined> {
  const decoder = new TextDecoder();
  for await (const block of wholeLines(chunks, source)) {
    const keys: string[] = [];
    forEachLookup(block, (start, end) => {
      keys.push(lookupKey(decoder.decode(block.subarray(start, end))));
    });
    yield keys;
  }
}

/** Visits the URIs and SURTs in a block of whole lines of such a list. */
export function forEachLookup(
  block: Uint8Array,
  visit: (start: number, end: number) => void,
): void {
  const { length } = block;
  let at = 0;
  while (at < length) {
    while (at < length && block[at] <= SPACE) at++; // line ends too
    const start = at;
    while (at < length && block[at] > SPACE) at++;
    if (at > start && block[start] !== HASH) visit(start, at);
    while (at < length && block[at] !== LF) at++;
  }
}

/** The key of a URI, or of what is a SURT already: `com,cnn)/a`. */
export function lookupKey(text: string): string {
  return A_SURT.test(text) ? surtKey(text) : uriKey(text);
}
