import { byteString } from "./byte-string.ts";
import { canonicalSurt } from "./canonical-surt.ts";
import { plainSurt } from "./plain-surt.ts";

const MAX_PLAIN_BYTES = 16_384;
const MAX_BYTES_PER_CODE_UNIT = 3;

const encoder = new TextEncoder();
const decoder = new TextDecoder();
// Scratch space of one call at a time.
const source = new Uint8Array(MAX_PLAIN_BYTES);
const target = new Uint8Array(MAX_PLAIN_BYTES);

/**
 * The SURT of a URI as CDX files have it: `http://www.example.com/a?b=1` is `com,example)/a?b=1`.
 *
 * Takes any string and never throws; an empty one gives `-`, as in CDX files. The result is
 * printable ASCII without blanks. Linear time.
 */
export function surt(uri: string): string {
  if (uri.length * MAX_BYTES_PER_CODE_UNIT > MAX_PLAIN_BYTES) {
    const bytes = encoder.encode(uri);
    return canonicalSurt(byteString(bytes, 0, bytes.length));
  }
  const { written } = encoder.encodeInto(uri, source);
  const end = plainSurt(source, 0, written, target, 0);
  return end < 0
    ? canonicalSurt(byteString(source, 0, written))
    : decoder.decode(target.subarray(0, end));
}
