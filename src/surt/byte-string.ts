const CHUNK = 8192;

/** The bytes of `source[start..end)` as a string with one char code for each. */
export function byteString(source: Uint8Array, start: number, end: number): string {
  let text = "";
  for (let i = start; i < end; i += CHUNK) {
    text += String.fromCharCode(...source.subarray(i, Math.min(i + CHUNK, end)));
  }
  return text;
}
