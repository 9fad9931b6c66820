import { LF } from "./ascii.ts";

const FOUR_FEEDS = 0x0a0a0a0a;
const LOW_BITS = 0x7f7f7f7f;

/** How many line feeds there are in `bytes`, four at a time. */
export function countLines(bytes: Uint8Array): number {
  let count = 0;
  let at = 0;
  const aligned = Math.min(bytes.length, (4 - (bytes.byteOffset & 3)) & 3);
  while (at < aligned) if (bytes[at++] === LF) count++;
  if (at === bytes.length) return count;
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset + at, (bytes.length - at) >> 2);
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ^ FOUR_FEEDS;
    // The high bit of each byte that was a line feed.
    let feeds = ~(((word & LOW_BITS) + LOW_BITS) | word | LOW_BITS);
    while (feeds !== 0) {
      count++;
      feeds &= feeds - 1;
    }
  }
  for (at += words.length << 2; at < bytes.length; at++) if (bytes[at] === LF) count++;
  return count;
}
