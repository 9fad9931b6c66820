import { CLOSE_PAREN, COMMA, DELETE, QUESTION, QUOTE, SLASH, SPACE, STAR } from "../bytes/bytes.ts";

// A one-pass check for plain keys, nearly all of them. Other keys may still be valid and need the full rules.

/** Plain bytes of host labels, queries and paths. */
const HOST = bytesOf((byte) => /[a-z\d_.:-]/.test(String.fromCharCode(byte)));
const QUERY = bytesOf((byte) => byte > SPACE && byte < DELETE && byte !== STAR);
const PATH = bytesOf((byte) => QUERY[byte] === 1 && byte !== QUESTION && byte !== QUOTE);

function bytesOf(isMember: (byte: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (isMember(byte) ? 1 : 0));
}

/** The offset of `)` if the key is plain up to the following `/`, or of `*` in `com,a,*`; -1 otherwise. */
export function plainHostEnd(bytes: Uint8Array, start: number, end: number): number {
  let labelStart = start;
  let at = start;
  for (;;) {
    while (at < end && HOST[bytes[at]] === 1) at++;
    if (at === labelStart || at >= end) return -1;
    if (bytes[at] === CLOSE_PAREN) return bytes[at + 1] === SLASH && at + 1 < end ? at : -1;
    if (bytes[at] !== COMMA) return -1;
    at++;
    labelStart = at;
    if (bytes[at] === STAR) return at;
  }
}

/** The end of a key whose path begins at `start` and is plain before `from`; -1 if the rest is not plain. */
export function plainPathEnd(bytes: Uint8Array, start: number, from: number, end: number): number {
  let at = from;
  while (at < end && PATH[bytes[at]] === 1) at++;
  if (bytes[at] === STAR) return bytes[at - 1] === SLASH ? at + 1 : -1;
  return bytes[at - 1] === SLASH && at > start + 1 ? -1 : at;
}

/**
 * The end of the key in a SURT that begins with its key unchanged, as nearly all do. Returns -1 if `surtKey()`
 * may change
 * a byte: use `surtKeyBytes` then.
 */
export function keyEndInSurt(
  bytes: Uint8Array,
  start: number,
  end: number,
  queries: boolean = false,
): number {
  const hostEnd = plainHostEnd(bytes, start, end);
  if (hostEnd === -1 || bytes[hostEnd] === STAR) return -1;
  let pathEnd = hostEnd + 2;
  while (pathEnd < end && PATH[bytes[pathEnd]] === 1) pathEnd++;
  if (pathEnd < end && bytes[pathEnd] !== QUESTION) return -1;
  let keyEnd = pathEnd;
  while (keyEnd > hostEnd + 2 && bytes[keyEnd - 1] === SLASH) keyEnd--;
  if (!queries || pathEnd + 1 >= end) return keyEnd;
  if (keyEnd < pathEnd) return -1;
  for (let at = pathEnd; at < end; at++) if (QUERY[bytes[at]] === 0) return -1;
  return end;
}
