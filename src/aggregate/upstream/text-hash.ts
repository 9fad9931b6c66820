/** A number of 32 bits for a text; with another seed another one. */
export function textHash(text: string, seed: number): number {
  let hash = seed;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x0100_0193);
  }
  return (hash ^ (hash >>> 15)) >>> 0;
}
