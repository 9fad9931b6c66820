import {
  CLOSE_PAREN,
  byteString,
  COLON,
  COMMA,
  HASH,
  hexValue,
  isDigit,
  PERCENT,
  QUESTION,
  SLASH,
} from "../bytes/bytes.ts";
import { canonicalSurt, orderedQuery } from "./canonical-surt.ts";
import { MementoMapError } from "../errors.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * The SURT of a URI as in CDX files: `http://www.example.com/a?b=1` becomes `com,example)/a?b=1`.
 *
 * Accepts any string and never throws; an empty one gives `-`, as in CDX files. The result is printable ASCII without
 * blanks. Linear time.
 *
 * @example
 * ```ts
 * import { surt } from "mementomap";
 *
 * console.log(surt("http://Www.Foo.Example.COM/a/b?x=y&c=d"));
 * ```
 * ```
 * com,example,foo)/a/b?c=d&x=y
 * ```
 */
export function surt(uri: string): string {
  const bytes = encoder.encode(uri);
  const target = new Uint8Array(bytes.length);
  const end = writePlainUri(bytes, 0, bytes.length, target, 0, PLAIN_SURT);
  return end < 0
    ? canonicalSurt(byteString(bytes, 0, bytes.length))
    : decoder.decode(target.subarray(0, end));
}

/**
 * Writes the SURT of the URI in `source[start..end)` to `target` at `at`, and returns its end.
 *
 * For UTF-8 the result equals `surt()`. Invalid UTF-8 is percent-encoded in paths and queries, and removed from host
 * names. The SURT is printable ASCII and rarely longer than the URI; three times its length plus 64 bytes
 * suffices for all
 * but contrived host names. `source` and `target` must not overlap. Ordinary web addresses take one pass and no
 * allocation.
 *
 * @throws MementoMapError `MM_LIMIT` if the SURT does not fit; the contents of `target` from `at` are then undefined.
 */
export function surtBytes(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  at: number,
): number {
  const plainEnd = writePlainUri(source, start, end, target, at, PLAIN_SURT);
  if (plainEnd >= 0) return plainEnd;

  return writeAscii("SURT", canonicalSurt(byteString(source, start, end)), target, at);
}

/** A sufficient buffer size for the SURT of a URI: percent-encoding at most triples its length. */
export function surtRoom(uriBytes: number): number {
  return 4 * uriBytes + 1024;
}

/**
 * Writes ASCII text to `target` at `at`, and returns its end.
 *
 * @param what the kind of text, for the error
 * @throws MementoMapError `MM_LIMIT` if it does not fit.
 */
export function writeAscii(what: string, text: string, target: Uint8Array, at: number): number {
  if (at + text.length > target.length) {
    throw new MementoMapError(
      "MM_LIMIT",
      `a ${what} of ${text.length} bytes does not fit into ${target.length - at}: use a larger target`,
    );
  }
  for (let i = 0; i < text.length; i++) target[at + i] = text.charCodeAt(i);
  return at + text.length;
}

const [H, T, P, S] = encoder.encode("htps");
const OPEN = 0x28;
const DOT = 0x2e;
const W = 0x77;

/** Not a plain URI: the caller falls back to the full rules. */
const NOT_PLAIN = -1;

// Each table maps a byte to its output byte, or to 0 if it needs further checks.
const HOST_BYTES = lowerCaseTable(/[A-Za-z0-9_.-]/);
const PATH_BYTES = lowerCaseTable(/[!-~]/, "#%/?");
const QUERY_BYTES = lowerCaseTable(/[!-~]/, "#%");
/** In keys, `*` is a wildcard, so it must be escaped otherwise. */
const STAR_FREE_PATH_BYTES = lowerCaseTable(/[!-~]/, "#%/?*");
const STAR_FREE_QUERY_BYTES = lowerCaseTable(/[!-~]/, "#%*");
const HEX_VALUES = Int8Array.from({ length: 256 }, (_, byte) => hexValue(byte));

function lowerCaseTable(accepted: RegExp, except: string = ""): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => {
    const character = String.fromCharCode(byte);
    const isPlain = accepted.test(character) && !except.includes(character);
    return isPlain ? character.toLowerCase().charCodeAt(0) : 0;
  });
}

/** Plain bytes in paths and queries; without `query`, queries are omitted. */
export interface PlainBytes {
  readonly path: Uint8Array;
  readonly query: Uint8Array | undefined;
}

const PLAIN_SURT: PlainBytes = { path: PATH_BYTES, query: QUERY_BYTES };
const PLAIN_QUERY_KEY: PlainBytes = { path: STAR_FREE_PATH_BYTES, query: STAR_FREE_QUERY_BYTES };
const PLAIN_KEY: PlainBytes = { path: STAR_FREE_PATH_BYTES, query: undefined };

/** The plain bytes of a key with or without its query. */
export function plainKeyBytes(hasQueries: boolean): PlainBytes {
  return hasQueries ? PLAIN_QUERY_KEY : PLAIN_KEY;
}

/**
 * Writes the SURT or key of an ordinary web address, as nearly all are: `http` or `https`, an ASCII host name
 * without a
 * port, no `//` or dot segments. One pass.
 *
 * Writes to `target` at `at` and returns the end, which is never beyond the length of the URI. Returns -1 for any
 * other
 * URI, or if the target has less room than the URI has bytes; the output is then undefined.
 */
export function writePlainUri(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  at: number,
  plainBytes: PlainBytes,
): number {
  const pathAt = writePlainHost(source, start, end, target, at);
  if (pathAt === NOT_PLAIN) return NOT_PLAIN;
  return writePlainPath(source, pathStart, end, target, pathAt, plainBytes);
}

/** The start of the path in the URI last passed to {@link writePlainHost}. */
let pathStart = 0;

export function afterPlainHost(): number {
  return pathStart;
}

/**
 * Writes the host of an ordinary web address and the `)` after it, like {@link writePlainUri}; returns the end,
 * or -1.
 * {@link writePlainPath} continues from {@link afterPlainHost}.
 */
export function writePlainHost(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  at: number,
): number {
  if (target.length - at < end - start || source[end - 1] <= 0x20) return NOT_PLAIN;
  const hostStart = webHostStart(source, start, end);
  if (hostStart === NOT_PLAIN) return NOT_PLAIN;
  const hostEnd = endOfHost(source, hostStart, end);
  if (hostEnd === NOT_PLAIN) return NOT_PLAIN;
  const to = writeHost(source, afterWww(source, hostStart, hostEnd), hostEnd, target, at);
  target[to] = CLOSE_PAREN;
  pathStart = hostEnd;
  return to + 1;
}

/** The start of the host in a URI with `http://` or `https://`; -1 for others. */
export function webHostStart(source: Uint8Array, start: number, end: number): number {
  const isHttp =
    source[start] === H &&
    source[start + 1] === T &&
    source[start + 2] === T &&
    source[start + 3] === P;
  if (!isHttp) return NOT_PLAIN;
  const colon = source[start + 4] === S ? start + 5 : start + 4;
  const isWeb =
    source[colon] === COLON && source[colon + 1] === SLASH && source[colon + 2] === SLASH;
  return isWeb && colon + 3 < end ? colon + 3 : NOT_PLAIN;
}

/**
 * The end of the host, or -1 for empty labels, ports, and possible IP addresses (the last label starts with a
 * digit).
 */
function endOfHost(source: Uint8Array, start: number, end: number): number {
  let labelStart = start;
  let at = start;
  for (; at < end; at++) {
    const byte = source[at];
    if (byte === DOT) {
      if (at === labelStart) return NOT_PLAIN;
      labelStart = at + 1;
    } else if (HOST_BYTES[byte] === 0) {
      if (byte === SLASH || byte === QUESTION || byte === HASH) break;
      return NOT_PLAIN;
    }
  }
  return at === labelStart || isDigit(source[labelStart]) ? NOT_PLAIN : at;
}

function afterWww(source: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < start + 3) if ((source[at++] | 0x20) !== W) return start;
  while (at < end && isDigit(source[at])) at++;
  return at < end && source[at] === DOT ? at + 1 : start;
}

function writeHost(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  at: number,
): number {
  let to = at;
  let labelEnd = end;
  for (let dot = end - 1; dot >= start; dot--) {
    if (source[dot] !== DOT) continue;
    for (let i = dot + 1; i < labelEnd; i++) target[to++] = HOST_BYTES[source[i]];
    target[to++] = COMMA;
    labelEnd = dot;
  }
  for (let i = start; i < labelEnd; i++) target[to++] = HOST_BYTES[source[i]];
  return to;
}

/** Writes the path of an ordinary web address, and its query unless omitted; returns the end, or -1. */
export function writePlainPath(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  at: number,
  { path: pathBytes, query: queryBytes }: PlainBytes,
): number {
  let from = start;
  let to = at;
  if (source[from] !== SLASH || from === end) target[to++] = SLASH;
  while (from < end) {
    const byte = source[from];
    const plain = pathBytes[byte];
    if (plain !== 0) {
      // A leading dot may begin a dot segment, `(` a session id.
      if ((plain === DOT || plain === OPEN) && target[to - 1] === SLASH) return NOT_PLAIN;
      target[to++] = plain;
      from++;
    } else if (byte === SLASH) {
      if (target[to - 1] === SLASH) return NOT_PLAIN;
      target[to++] = SLASH;
      from++;
    } else if (byte === PERCENT) {
      const escaped = writeEscape(source, from, end, target, to, pathBytes);
      if (escaped === NOT_PLAIN) return NOT_PLAIN;
      const decoded = target[to];
      if ((decoded === DOT || decoded === OPEN) && target[to - 1] === SLASH) return NOT_PLAIN;
      from += 3;
      to = escaped;
    } else if (byte === QUESTION) {
      if (target[to - 1] === SLASH && to - at > 1) to--;
      return queryBytes === undefined
        ? to
        : writeQuery(source, from + 1, end, target, to, queryBytes);
    } else if (byte === HASH) {
      break;
    } else {
      return NOT_PLAIN;
    }
  }
  return target[to - 1] === SLASH && to - at > 1 ? to - 1 : to;
}

function writeQuery(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  at: number,
  queryBytes: Uint8Array,
): number {
  let from = start;
  let to = at;
  target[to++] = QUESTION;
  while (from < end) {
    const byte = source[from];
    const plain = queryBytes[byte];
    if (plain !== 0) {
      target[to++] = plain;
      from++;
    } else if (byte === PERCENT) {
      to = writeEscape(source, from, end, target, to, queryBytes);
      if (to === NOT_PLAIN) return NOT_PLAIN;
      from += 3;
    } else if (byte === HASH) {
      break;
    } else {
      return NOT_PLAIN;
    }
  }
  return to === at + 1 ? at : orderQuery(target, at, to);
}

/** Removes session ids from the query in `bytes[start, end)` and sorts it; returns the end. */
function orderQuery(bytes: Uint8Array, start: number, end: number): number {
  const written = byteString(bytes, start + 1, end);
  const query = orderedQuery(written);
  if (query === written) return end;
  return query === "" ? start : writeAscii("query", query, bytes, start + 1);
}

/** Writes an escape in lower case, or the decoded byte if it is plain. */
function writeEscape(
  source: Uint8Array,
  from: number,
  end: number,
  target: Uint8Array,
  at: number,
  plainBytes: Uint8Array,
): number {
  if (from + 2 >= end) return NOT_PLAIN;
  const high = source[from + 1];
  const low = source[from + 2];
  const highValue = HEX_VALUES[high];
  const lowValue = HEX_VALUES[low];
  if (highValue < 0 || lowValue < 0) return NOT_PLAIN;
  const byte = highValue * 16 + lowValue;
  const plain = plainBytes[byte];
  if (plain !== 0) {
    target[at] = plain;
    return at + 1;
  }
  if (byte > 0x20 && byte < 0x7f && byte !== HASH) return NOT_PLAIN;
  target[at] = PERCENT;
  // Digits have this bit set already.
  target[at + 1] = high | 0x20;
  target[at + 2] = low | 0x20;
  return at + 3;
}
