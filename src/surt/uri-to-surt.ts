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
  ZERO,
} from "../bytes/bytes.ts";
import { canonicalSurt } from "./canonical-surt.ts";
import { MementoMapError } from "../errors.ts";
import { STRIPPED_PAIR, STRIPPED_PARAMETERS } from "./rules.ts";

const MAX_PLAIN_BYTES = 16_384;
const MAX_BYTES_PER_CODE_UNIT = 3;

const encoder = new TextEncoder();
const decoder = new TextDecoder();
// Scratch space of one call at a time.
const uriBytes = new Uint8Array(MAX_PLAIN_BYTES);
const surtScratch = new Uint8Array(MAX_PLAIN_BYTES);

/**
 * The SURT of a URI as CDX files have it: `http://www.example.com/a?b=1` is `com,example)/a?b=1`.
 *
 * Takes any string and never throws; an empty one gives `-`, as in CDX files. The result is
 * printable ASCII without blanks. Linear time.
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
  if (uri.length * MAX_BYTES_PER_CODE_UNIT > MAX_PLAIN_BYTES) {
    const bytes = encoder.encode(uri);
    return canonicalSurt(byteString(bytes, 0, bytes.length));
  }
  const { written } = encoder.encodeInto(uri, uriBytes);
  const end = plainSurt(uriBytes, 0, written, surtScratch, 0, PLAIN_SURT);
  return end < 0
    ? canonicalSurt(byteString(uriBytes, 0, written))
    : decoder.decode(surtScratch.subarray(0, end));
}

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
  const plainEnd = plainSurt(source, start, end, target, at, PLAIN_SURT);
  if (plainEnd >= 0) return plainEnd;

  return writeAscii("SURT", canonicalSurt(byteString(source, start, end)), target, at);
}

/** Room enough for the SURT of a URI of so many bytes: percent-encoding makes three bytes of one at most. */
export function surtRoom(uriBytes: number): number {
  return 4 * uriBytes + 1024;
}

/**
 * Writes the key of an ordinary web address to `target` at `at`, and returns where it ends: the bytes of
 * `surtKey(surt())`. Returns -1 for any other URI, or when the target has less room than the URI has
 * bytes. One pass, no allocation.
 */
export function plainKey(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  at: number,
  hasQueries: boolean,
): number {
  return plainSurt(source, start, end, target, at, hasQueries ? PLAIN_QUERY_KEY : PLAIN_KEY);
}

/**
 * Writes ASCII text to `target` at `at`, and returns where it ends.
 *
 * @param what it is, for the error
 * @throws MementoMapError `MM_LIMIT` when it does not fit
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

const OPEN = 0x28;
const DOT = 0x2e;
const W = 0x77;

/** What is not plain: the caller takes the way that knows all the rules. */
const NOT_PLAIN = -1;

// Each table maps a byte to what is written for it, or to 0 where it needs a closer look.
const HOST_BYTES = lowerCaseTable(/[A-Za-z0-9_.-]/);
const PATH_BYTES = lowerCaseTable(/[!-~]/, "#%/?");
const QUERY_BYTES = lowerCaseTable(/[!-~]/, "#%");
/** In keys a star is a wildcard, and else an escape. */
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

/** What is written as it is, in paths and in queries; without the latter queries are left out. */
interface PlainBytes {
  readonly path: Uint8Array;
  readonly query: Uint8Array | undefined;
}

const PLAIN_SURT: PlainBytes = { path: PATH_BYTES, query: QUERY_BYTES };
const PLAIN_QUERY_KEY: PlainBytes = { path: STAR_FREE_PATH_BYTES, query: STAR_FREE_QUERY_BYTES };
const PLAIN_KEY: PlainBytes = { path: STAR_FREE_PATH_BYTES, query: undefined };

/**
 * The SURT of an ordinary web address, which nearly all of them are: `http` or `https`, a host name
 * in ASCII, no `//` or dot segments, no session ids. One pass, no allocation.
 *
 * Writes to `target` at `at` and returns where the SURT ends. Returns a negative number for any
 * other URI, or when the target has less room than the URI has bytes; then what was written is of
 * no use. A SURT of a plain URI is never longer than the URI.
 */
function plainSurt(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  at: number,
  plainBytes: PlainBytes,
): number {
  const pathAt = writePlainHost(source, start, end, target, at);
  if (pathAt === NOT_PLAIN) return NOT_PLAIN;
  return writePathAndQuery(source, pathStart, end, target, pathAt, plainBytes);
}

/** Where the path of the URI begins of which {@link writePlainHost} wrote the host last. */
let pathStart = 0;

export function afterPlainHost(): number {
  return pathStart;
}

/**
 * Writes the host of an ordinary web address, and the `)` behind it, as {@link plainKey} does; returns
 * where it ends, or -1. {@link writePlainPath} goes on from {@link afterPlainHost}.
 */
export function writePlainHost(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  at: number,
): number {
  if (target.length - at < end - start || source[end - 1] <= 0x20) return NOT_PLAIN;
  const hostStart = afterWebScheme(source, start, end);
  if (hostStart === NOT_PLAIN) return NOT_PLAIN;
  const hostEnd = endOfHost(source, hostStart, end);
  if (hostEnd === NOT_PLAIN) return NOT_PLAIN;
  let to = writeHost(source, afterWww(source, hostStart, hostEnd), hostEnd, target, at);
  let from = hostEnd;
  if (source[from] === COLON && from < end) {
    const portEnd = endOfPort(source, from + 1, end);
    if (portEnd === NOT_PLAIN) return NOT_PLAIN;
    const isHttps = hostStart - start === "https://".length;
    if (!isDefaultPort(source, from + 1, portEnd, isHttps)) {
      while (from < portEnd) target[to++] = source[from++];
    }
    from = portEnd;
  }
  target[to++] = CLOSE_PAREN;
  pathStart = from;
  return to;
}

/** Writes the path of a URI as it is in a key, and its query in a map with queries; returns where it ends, or -1. */
export function writePlainPath(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  at: number,
  hasQueries: boolean,
): number {
  const plainBytes = hasQueries ? PLAIN_QUERY_KEY : PLAIN_KEY;
  return writePathAndQuery(source, start, end, target, at, plainBytes);
}

function afterWebScheme(source: Uint8Array, start: number, end: number): number {
  if (
    end - start < 8 ||
    source[start] !== 0x68 ||
    source[start + 1] !== 0x74 ||
    source[start + 2] !== 0x74 ||
    source[start + 3] !== 0x70
  ) {
    return NOT_PLAIN;
  }
  const colon = source[start + 4] === 0x73 ? start + 5 : start + 4;
  return source[colon] === COLON && source[colon + 1] === SLASH && source[colon + 2] === SLASH
    ? colon + 3
    : NOT_PLAIN;
}

/** Refuses empty labels, and hosts that could be an address: those whose last label is a number. */
function endOfHost(source: Uint8Array, start: number, end: number): number {
  let labelStart = start;
  let at = start;
  for (; at < end; at++) {
    const byte = source[at];
    if (byte === DOT) {
      if (at === labelStart) return NOT_PLAIN;
      labelStart = at + 1;
    } else if (HOST_BYTES[byte] === 0) {
      if (byte === SLASH || byte === COLON || byte === QUESTION || byte === HASH) break;
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

/** Refuses what is not written the one canonical way. */
function endOfPort(source: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && isDigit(source[at])) at++;
  const digits = at - start;
  if (digits === 0 || digits > 4 || source[start] === ZERO) return NOT_PLAIN;
  const next = source[at];
  return at === end || next === SLASH || next === QUESTION || next === HASH ? at : NOT_PLAIN;
}

function isDefaultPort(source: Uint8Array, start: number, end: number, isHttps: boolean): boolean {
  let port = 0;
  for (let i = start; i < end; i++) port = port * 10 + source[i] - ZERO;
  return port === (isHttps ? 443 : 80);
}

function writePathAndQuery(
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
      // A segment that starts with a dot may be a dot segment, one with `(` a session id.
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
  if (to === at + 1) return at;
  return sortQueryBytes(target, at + 1, to) ? to : NOT_PLAIN;
}

/** Writes an escape in lower case, or what it stands for if that is a plain byte. */
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

const AMPERSAND = 0x26;
const EQUALS = 0x3d;

const MAX_PARAMETERS = 64;
const MAX_LENGTH = 4096;

// Scratch space of one call at a time. Parameter i ends before the byte at `starts[i + 1] - 1`.
const starts = new Int32Array(MAX_PARAMETERS + 1);
const order = new Int32Array(MAX_PARAMETERS);
const copy = new Uint8Array(MAX_LENGTH);

/**
 * Sorts the parameters of the canonical query in `bytes[start..end)` in place, in the order of
 * `sortQuery`. Returns false, with the bytes untouched, for a query that may hold a session id, or
 * has more parameters or bytes than the scratch space.
 */
function sortQueryBytes(bytes: Uint8Array, start: number, end: number): boolean {
  let count = 0;
  starts[0] = start;
  for (let i = start; i < end; i++) {
    const byte = bytes[i];
    if (byte === AMPERSAND) {
      if (++count === MAX_PARAMETERS) return false;
      starts[count] = i + 1;
    } else if (byte === EQUALS && mayBeStripped(bytes, i)) {
      return false;
    }
  }
  starts[++count] = end + 1;
  if (isSorted(bytes, count)) return true;
  if (end - start > MAX_LENGTH) return false;

  for (let i = 0; i < count; i++) {
    let j = i;
    for (; j > 0 && compareParameters(bytes, order[j - 1], i) > 0; j--) {
      order[j] = order[j - 1];
    }
    order[j] = i;
  }
  for (let i = start; i < end; i++) copy[i - start] = bytes[i];
  let to = start;
  for (let i = 0; i < count; i++) {
    if (i > 0) bytes[to++] = AMPERSAND;
    const parameter = order[i];
    const last = starts[parameter + 1] - 1 - start;
    for (let from = starts[parameter] - start; from < last; from++) {
      bytes[to++] = copy[from];
    }
  }
  return true;
}

/** The ends of names that may be those of parameters that are left out, and the letters behind them. */
const STRIPPED_ENDS = [
  ...STRIPPED_PARAMETERS,
  ...STRIPPED_PAIR.map((name) => ({ name, letters: 0 })),
].map(({ name, letters }) => ({ letters, ...lastTwo(name) }));

function lastTwo(name: string): { readonly last: number; readonly before: number } {
  return { last: name.charCodeAt(name.length - 1), before: name.charCodeAt(name.length - 2) };
}

/** Whether the name before an `=` may be that of a parameter that is left out. */
function mayBeStripped(bytes: Uint8Array, equals: number): boolean {
  for (const { letters, last, before } of STRIPPED_ENDS) {
    const at = equals - 1 - letters;
    if (bytes[at] === last && bytes[at - 1] === before) return true;
  }
  return false;
}

function isSorted(bytes: Uint8Array, count: number): boolean {
  for (let i = 1; i < count; i++) if (compareParameters(bytes, i - 1, i) > 0) return false;
  return true;
}

function compareParameters(bytes: Uint8Array, a: number, b: number): number {
  const endA = starts[a + 1] - 1;
  const endB = starts[b + 1] - 1;
  let i = starts[a];
  let j = starts[b];
  // The end of a name comes before every byte of a longer one, and before its own `=`.
  for (let equalsRank = 0; ; i++, j++) {
    const rankA = i === endA ? -1 : rank(bytes[i], equalsRank);
    const rankB = j === endB ? -1 : rank(bytes[j], equalsRank);
    if (rankA !== rankB) return rankA - rankB;
    if (rankA === -1) return 0;
    if (rankA === 0) equalsRank = EQUALS;
  }
}

function rank(byte: number, equalsRank: number): number {
  return byte === EQUALS ? equalsRank : byte;
}
