import { compareRanges, LF, markLength } from "../bytes/bytes.ts";
import { isMementoMapError } from "../errors.ts";
import { surtKeyBytes } from "../surt/key-bytes.ts";
import { surtBytes } from "../surt/surt.ts";
import { Capture, ROW } from "./capture.ts";
import type { RowParser } from "./capture.ts";
import { isNothing } from "./cdx.ts";
import type { DetectedFormat, KeyTrust } from "./detect.ts";
import { keyedByUri, rowParser } from "./detect.ts";
import { unescapeJson } from "../bytes/json-members.ts";

/** No percent-encoded SURT is longer than this many times its URI. */
const SURT_GROWTH = 3;
/** More would delay every start, and one row in a thousand is looked at later anyhow. */
const ROWS_TO_CHECK = 256;

/**
 * Compares the key column of rows with the SURT of their URI.
 *
 * Both are compared as keys of a map: queries, which map keys do not have, do not matter.
 */
export class KeyCheck {
  readonly #parser: RowParser;
  readonly #capture = new Capture();

  constructor(format: DetectedFormat) {
    this.#parser = rowParser(format, { uri: true, status: false, mime: false });
  }

  /** Whether the row `bytes[start, end)` has the key we make; undefined if it lacks key or URI. */
  agrees(bytes: Uint8Array, start: number, end: number): boolean | undefined {
    const capture = this.#capture;
    capture.knownKeyBytes = 0;
    capture.reset();
    if (this.#parser.parse(bytes, start, end, capture) !== ROW.capture) return undefined;
    const { keyStart, keyEnd, uriStart, uriEnd } = capture;
    if (keyStart === -1 || isNothing(bytes, uriStart, uriEnd)) return undefined;
    const uri = capture.hasEscapes
      ? new TextEncoder().encode(unescapeJson(bytes, uriStart, uriEnd))
      : bytes.subarray(uriStart, uriEnd);
    const surt = new Uint8Array(uri.length * SURT_GROWTH + 64);
    const surtEnd = surtEndOf(uri, surt);
    if (surtEnd === -1) return undefined;
    const ours = new Uint8Array(surtEnd * SURT_GROWTH + 1);
    const oursEnd = surtKeyBytes(surt, 0, surtEnd, ours, 0);
    const theirs = new Uint8Array((keyEnd - keyStart) * SURT_GROWTH + 1);
    const theirsEnd = surtKeyBytes(bytes, keyStart, keyEnd, theirs, 0);
    return compareRanges(ours, 0, oursEnd, theirs, 0, theirsEnd) === 0;
  }
}

/** Writes the SURT of a URI; -1 for the contrived host name whose SURT does not fit. */
function surtEndOf(uri: Uint8Array, target: Uint8Array): number {
  try {
    return surtBytes(uri, 0, uri.length, target, 0);
  } catch (error) {
    if (isMementoMapError(error)) return -1; // such a row tells nothing about the others
    throw error;
  }
}

/**
 * The format to read an index with: keyed by its key column where that can be trusted, and by the
 * URIs otherwise.
 *
 * @param sample whole lines of the index.
 */
export function trustedFormat(
  format: DetectedFormat,
  sample: Uint8Array,
  trust: KeyTrust,
): DetectedFormat {
  const rekeyed = trust === "column" ? undefined : keyedByUri(format);
  if (rekeyed === undefined || trust === "uri") return rekeyed ?? format;
  return format.container !== undefined || keysAgree(format, sample) ? format : rekeyed;
}

/**
 * Whether the key column of an index can be trusted: no row of a sample of whole lines disagrees.
 * Looks at up to 256 rows, evenly spread over the sample.
 */
export function keysAgree(format: DetectedFormat, sample: Uint8Array): boolean {
  const check = new KeyCheck(format);
  const starts: number[] = [];
  for (let at = markLength(sample); at < sample.length; at = lineEnd(sample, at) + 1)
    starts.push(at);
  const step = Math.max(1, Math.ceil(starts.length / ROWS_TO_CHECK));
  for (let i = 0; i < starts.length; i += step) {
    let end = lineEnd(sample, starts[i]);
    if (sample[end - 1] === 0x0d) end--;
    if (end > starts[i] && check.agrees(sample, starts[i], end) === false) return false;
  }
  return true;
}

function lineEnd(bytes: Uint8Array, from: number): number {
  const end = bytes.indexOf(LF, from);
  return end === -1 ? bytes.length : end;
}
