import { joinBytes } from "./bytes.ts";

/** Longer chunks stay as they are. */
const SHORT = 4096;

/**
 * Adds a chunk to those that are held. Short ones are joined with those before them that are no longer: a peer that
 * sends byte by byte would have a hundred times as much held otherwise.
 *
 * No byte is copied more than a dozen times.
 */
export function holdChunk(held: Uint8Array[], chunk: Uint8Array): void {
  let last = chunk;
  for (let before = held.at(-1); before !== undefined; before = held.at(-1)) {
    if (last.length >= SHORT || before.length > last.length) break;
    held.pop();
    last = joinBytes([before, last]);
  }
  held.push(last);
}
