import { joinBytes } from "./bytes.ts";

/** Longer chunks are not joined. */
const SHORT = 4096;

/**
 * Appends a chunk to a list. Short chunks are joined with preceding ones that are not longer: otherwise
 * a peer that sends byte by byte would make us hold a hundred times as much.
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
