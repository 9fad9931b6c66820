import { COLON, COMMA, HASH, NINE, PERCENT, QUESTION, SLASH, ZERO } from "../bytes/ascii.ts";
import { hexValue } from "./percent-encoding.ts";
import { sortQueryBytes } from "./sort-query-bytes.ts";

const OPEN = 0x28;
const CLOSE = 0x29;
const DOT = 0x2e;
const W = 0x77;

/** What is not plain: the caller takes the way that knows all the rules. */
const NOT_PLAIN = -1;

// Each table maps a byte to what is written for it, or to 0 where it needs a closer look.
const HOST_BYTES = lowerCaseTable(/[A-Za-z0-9_.-]/);
const PATH_BYTES = lowerCaseTable(/[!-~]/, "#%/?");
const QUERY_BYTES = lowerCaseTable(/[!-~]/, "#%");
const HEX_VALUES = Int8Array.from({ length: 256 }, (_, byte) => hexValue(byte));

function lowerCaseTable(accepted: RegExp, except: string = ""): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => {
    const character = String.fromCharCode(byte);
    const isPlain = accepted.test(character) && !except.includes(character);
    return isPlain ? character.toLowerCase().charCodeAt(0) : 0;
  });
}

/**
 * The SURT of an ordinary web address, which nearly all of them are: `http` or `https`, a host name
 * in ASCII, no `//` or dot segments, no session ids. One pass, no allocation.
 *
 * Writes to `target` at `at` and returns where the SURT ends. Returns a negative number for any
 * other URI, or when the target has less room than the URI has bytes; then what was written is of
 * no use. A SURT of a plain URI is never longer than the URI.
 */
export function plainSurt(
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
  target[to++] = CLOSE;
  return writePathAndQuery(source, from, end, target, to);
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
): number {
  let from = start;
  let to = at;
  if (source[from] !== SLASH || from === end) target[to++] = SLASH;
  while (from < end) {
    const byte = source[from];
    const plain = PATH_BYTES[byte];
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
      const escaped = writeEscape(source, from, end, target, to, PATH_BYTES);
      if (escaped === NOT_PLAIN) return NOT_PLAIN;
      const decoded = target[to];
      if ((decoded === DOT || decoded === OPEN) && target[to - 1] === SLASH) return NOT_PLAIN;
      from += 3;
      to = escaped;
    } else if (byte === QUESTION) {
      if (target[to - 1] === SLASH && to - at > 1) to--;
      return writeQuery(source, from + 1, end, target, to);
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
): number {
  let from = start;
  let to = at;
  target[to++] = QUESTION;
  while (from < end) {
    const byte = source[from];
    const plain = QUERY_BYTES[byte];
    if (plain !== 0) {
      target[to++] = plain;
      from++;
    } else if (byte === PERCENT) {
      to = writeEscape(source, from, end, target, to, QUERY_BYTES);
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

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}
