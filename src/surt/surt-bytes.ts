import { MementoMapError } from "../errors.ts";
import { byteString } from "./byte-string.ts";
import { canonicalSurt } from "./canonical-surt.ts";
import { plainSurt } from "./plain-surt.ts";

/**
 * Writes the SURT of the URI in `source[start..end)` to `target` at `at`, and returns where it ends.
 *
 * Gives the bytes of `surt()` for UTF-8. Bytes that are not UTF-8 are percent-encoded in paths and
 * queries, and left out of host names. The SURT is printable ASCII, and rarely longer than the URI;
 * three times its length plus 64 bytes is enough for all but contrived host names. `source` and
 * `target` may not overlap. Ordinary web addresses take one pass and no allocation.
 *
 * @throws MementoMapError `MM_LIMIT` when the SURT does not fit; what follows `at` is then undefined.
 */
export function surtBytes(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  at: number,
): number {
  const plainEnd = plainSurt(source, start, end, target, at);
  if (plainEnd >= 0) return plainEnd;

  const text = canonicalSurt(byteString(source, start, end));
  if (at + text.length > target.length) {
    throw new MementoMapError(
      "MM_LIMIT",
      `a SURT of ${text.length} bytes does not fit into ${target.length - at}: use a larger target`,
    );
  }
  for (let i = 0; i < text.length; i++) target[at + i] = text.charCodeAt(i);
  return at + text.length;
}
