import { canonicalSurt } from "./canonical-surt.ts";

const encoder = new TextEncoder();
const CHUNK = 8192;

/**
 * The SURT of a URI as CDX files have it: `http://www.example.com/a?b=1` is `com,example)/a?b=1`.
 *
 * Takes any string and never throws. An empty one gives `-`, as in CDX files.
 */
export function surt(uri: string): string {
  const bytes = encoder.encode(uri);
  let text = "";
  for (let i = 0; i < bytes.length; i += CHUNK) {
    text += String.fromCharCode(...bytes.subarray(i, i + CHUNK));
  }
  return canonicalSurt(text);
}
