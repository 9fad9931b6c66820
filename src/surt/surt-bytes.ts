import { MementoMapError } from "../errors.ts";
import { canonicalSurt } from "./canonical-surt.ts";

/**
 * Writes the SURT of the URI in `source[start..end)` into `target` at `at`, and returns where it
 * ends. Throws `MM_LIMIT` when the target is too small.
 */
export function surtBytes(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  at: number,
): number {
  const text = canonicalSurt(byteString(source, start, end));
  if (at + text.length > target.length) {
    throw new MementoMapError(
      "MM_LIMIT",
      `a surt of ${text.length} bytes does not fit into ${target.length - at}`,
    );
  }
  for (let i = 0; i < text.length; i++) target[at + i] = text.charCodeAt(i);
  return at + text.length;
}

function byteString(source: Uint8Array, start: number, end: number): string {
  let text = "";
  for (let i = start; i < end; i += 8192) {
    text += String.fromCharCode(...source.subarray(i, Math.min(i + 8192, end)));
  }
  return text;
}
