import { joinBytes } from "../src/bytes/bytes.ts";

/**
 * Makes an input smaller for as long as it fails in the same way: removes ever smaller parts, then
 * turns bytes into `a` (delta debugging). Gives up refining after `maxTries`.
 */
export async function minimised(
  input: Uint8Array,
  fails: (candidate: Uint8Array) => Promise<boolean>,
  maxTries: number = 2000,
): Promise<Uint8Array> {
  let smallest = input;
  let tries = 0;
  const accept = async (candidate: Uint8Array): Promise<boolean> => {
    tries++;
    if (!(await fails(candidate))) return false;
    smallest = candidate;
    return true;
  };
  for (let part = Math.ceil(input.length / 2); part >= 1 && tries < maxTries;) {
    let removed = false;
    for (let at = 0; at < smallest.length && tries < maxTries;) {
      const candidate = joinBytes([smallest.subarray(0, at), smallest.subarray(at + part)]);
      if (await accept(candidate)) removed = true;
      else at += part;
    }
    if (part === 1 && !removed) break;
    if (part > 1) part = Math.ceil(part / 2);
  }
  for (let at = 0; at < smallest.length && tries < maxTries; at++) {
    if (smallest[at] === 0x61) continue;
    const candidate = smallest.slice();
    candidate[at] = 0x61;
    await accept(candidate);
  }
  return smallest;
}
