// Keys in byte order: their shape, and the hashes of their names.
import { CLOSE_PAREN, COLON, COMMA, commonBytes, copyText, OPEN_BRACKET, QUESTION, SLASH, STAR } from "../shared/bytes";
import { extendA, extendB, highOf, lowOf, START_A, START_B } from "../shared/name-hash";
import * as hosts from "./hosts";
import { addTo, HOMES, ROWS, VOIDS, WHOLE_VOIDS, WHOLES, WIDE } from "./lists";

export const MAX_KEY_BYTES: i32 = 65536;
const NONE: i32 = -1;
/** The deepest rows that have a bit of their own. */
const MAX_DEPTH: i32 = 7;

const FLAG_HOME: u32 = 1;
const FLAG_ALL: u32 = 2;
const FLAG_QUERY: u32 = 4;
const FLAG_ANY_QUERY: u32 = 8;
const FLAG_NONE: u32 = 16;

/** The last key; and for each of its bytes, the state of the hash before it and how many slashes precede it. */
export const key: usize = memory.data(65536 + 16, 16);
export let keyLength: i32 = 0;
const states: usize = memory.data((65536 + 1) * 12, 16);
const STATE_BYTES: usize = 12;
/** Where a caller puts keys. */
export const room: usize = memory.data(65536 + 16, 16);

/** Where the `)` of the key is, its length if there is none; and its `?` behind that, or its length. */
let hostEnd: i32 = 0;
let pageEnd: i32 = 0;
/** The end of the name of the host of the last key that was added; NONE before the first. */
let nameEnd: i32 = NONE;
/** How many bytes the key has in common with the last key that was added. */
let sharedWithAdded: i32 = 0;
let hasQueries: bool = false;
let keepsVoids: bool = true;
/** Whether names are wanted; otherwise only hosts are hashed, and there are no states. */
let hasNames: bool = true;
/** Whether some key is spelled as older maps spell keys. */
export let hasOlder: bool = false;

export function open(queries: bool, voids: bool, names: bool): void {
  hasQueries = queries;
  keepsVoids = voids;
  hasNames = names;
  store<u32>(states, START_A);
  store<u32>(states, START_B, 4);
  store<u32>(states, 0, 8);
}

/** How many bytes a text has in common with the last key. */
@inline
export function sharedWith(start: usize, length: i32): i32 {
  return commonBytes(start, key, 0, min(keyLength, length));
}

/** Reads a key that has its first `shared` bytes in common with the last one; false if it is not behind that. */
export function goTo(start: usize, length: i32, shared: i32): bool {
  if (shared == length) return false;
  if (shared < keyLength && load<u8>(start + <usize>shared) < load<u8>(key + <usize>shared)) return false;
  sharedWithAdded = min(sharedWithAdded, shared);
  // Whether the `)/` is one that the keys share.
  const isSameHost = shared > hostEnd + 1;
  if (!isSameHost) findHostEnd(start, length, max(0, shared - 1));
  if (!isSameHost || pageEnd >= shared) pageEnd = NONE;
  if (hasNames) readFrom(start, length, shared);
  else readUnhashed(start, length, shared);
  keyLength = length;
  if (pageEnd == NONE) pageEnd = length;
  return true;
}

function findHostEnd(start: usize, length: i32, from: i32): void {
  let at = from;
  while (at < length) {
    if (
      load<u8>(start + <usize>at) == CLOSE_PAREN &&
      (at + 1 == length || load<u8>(start + <usize>at + 1) == SLASH)
    ) {
      break;
    }
    at++;
  }
  hostEnd = at;
}

/** Goes on with the hash where the key differs from the last one. */
@inline
function readFrom(start: usize, length: i32, shared: i32): void {
  let state = states + <usize>shared * STATE_BYTES;
  let a = load<u32>(state);
  let b = load<u32>(state, 4);
  let slashes = load<u32>(state, 8);
  for (let at = shared; at < length; at++) {
    const byte = load<u8>(start + <usize>at);
    store<u8>(key + <usize>at, byte);
    a = extendA(a, <u32>byte);
    b = extendB(b, <u32>byte);
    if (byte == SLASH) slashes++;
    else if (byte == QUESTION && pageEnd == NONE && at > hostEnd) pageEnd = at;
    state += STATE_BYTES;
    store<u32>(state, a);
    store<u32>(state, b, 4);
    store<u32>(state, slashes, 8);
  }
}

@inline
function readUnhashed(start: usize, length: i32, shared: i32): void {
  copyText(key + <usize>shared, start + <usize>shared, length - shared);
  if (pageEnd != NONE) return;
  const question = findByte(QUESTION, max(shared, hostEnd + 1), length);
  if (question < length) pageEnd = question;
}

/** Where the key has a byte first, from `from` on; `end` if not before that. */
@inline
function findByte(byte: u8, from: i32, end: i32): i32 {
  const wanted = i8x16.splat(<i8>byte);
  let at = from;
  while (at < end) {
    const found = i8x16.bitmask(i8x16.eq(v128.load(key + <usize>at), wanted));
    if (found != 0) return min(end, at + <i32>ctz(found));
    at += 16;
  }
  return end;
}

/** How often the key has a slash in `[from, end)`. */
@inline
function countSlashes(from: i32, end: i32): i32 {
  const slashes = i8x16.splat(<i8>SLASH);
  let count: i32 = 0;
  let at = from;
  for (; at + 16 <= end; at += 16) {
    count += popcnt(i8x16.bitmask(i8x16.eq(v128.load(key + <usize>at), slashes)));
  }
  if (at >= end) return count;
  const last = i8x16.bitmask(i8x16.eq(v128.load(key + <usize>at), slashes));
  return count + popcnt(last & ((1 << (end - at)) - 1));
}

@inline
function byteAt(at: i32): u8 {
  return load<u8>(key + <usize>at);
}

@inline
function endsInWildcard(end: i32, separator: u8): bool {
  return end >= 2 && byteAt(end - 1) == STAR && byteAt(end - 2) == separator;
}

/** The slashes in `[from, end)`. */
@inline
function slashesIn(from: i32, end: i32): i32 {
  if (!hasNames) return countSlashes(from, end);
  const states8 = states + 8;
  return load<i32>(states8 + <usize>end * STATE_BYTES) - load<i32>(states8 + <usize>from * STATE_BYTES);
}

/** Adds the key that was read last. */
export function addName(captures: f64): void {
  const length = keyLength;
  const isVoid = captures == 0;
  const isOpaque = hostEnd == length && !(length > 2 && endsInWildcard(length, COMMA));
  const isHostWildcard = hostEnd == length && !isOpaque;
  const isSpread = hostEnd < length && endsInWildcard(hostEnd, COMMA);
  const page: i32 = hostEnd == length ? length : pageEnd;
  // A void of a query says nothing of the page.
  if (isVoid && (!keepsVoids || (!hasQueries && page < length))) return;
  const isPathWildcard = hostEnd < length && !isSpread && endsInWildcard(length, SLASH);
  const isAnyQuery = length - page == 2 && byteAt(page + 1) == STAR;
  if (isVoid) hosts.noteVoid();
  else if (isPathWildcard || isHostWildcard || isSpread || isAnyQuery) hosts.noteWildcard();

  if (isOpaque) hasOlder = hasOlder || isOlderOpaque(length);
  else if (page < length) hasOlder = hasOlder || hasSlashBeforeQuery(page);
  const hostNameEnd: i32 = isOpaque ? 0 : isHostWildcard ? length : hostEnd + 1;
  enterHost(hostNameEnd, isOpaque);
  hosts.addCaptures(captures);
  if (isHostWildcard) {
    hosts.addHostWildcard(labelBit(length - 2));
    hosts.addFlag(isVoid ? FLAG_NONE : FLAG_ALL);
    addAt(isVoid ? WHOLE_VOIDS : WHOLES, length);
    return;
  }
  if (isSpread) hosts.addSpread(labelBit(hostEnd - 2));
  let depth: i32 = isOpaque ? 1 : slashesIn(hostEnd + 1, page);
  if (!isOpaque && (isPathWildcard || page - hostEnd <= 2)) depth = max(0, depth - 1);
  addRow(isVoid, isPathWildcard, isAnyQuery, isSpread, depth, page);
}

function addRow(
  isVoid: bool,
  isPathWildcard: bool,
  isAnyQuery: bool,
  isSpread: bool,
  depth: i32,
  page: i32,
): void {
  const bit: u32 = 1 << min(depth, MAX_DEPTH);
  const end = hasQueries ? keyLength : page;
  if (isVoid) {
    hosts.addMask(bit << (isPathWildcard ? 24 : 16));
    hosts.addVoid();
    addAt(VOIDS, end);
    return;
  }
  if (!isPathWildcard) hosts.addDepth(min(depth, MAX_DEPTH));
  const hasQuery = hasQueries && page < keyLength;
  if (hasQuery) {
    hosts.addFlag(isAnyQuery ? FLAG_ANY_QUERY : FLAG_QUERY);
  } else if (depth == 0 && !isSpread) {
    hosts.addFlag(isPathWildcard ? FLAG_ALL : FLAG_HOME);
    addAt(isPathWildcard ? WHOLES : HOMES, end);
    return;
  } else {
    hosts.addMask(bit << (isPathWildcard ? 8 : 0));
  }
  hosts.addRow();
  addAt(isPathWildcard || (hasQuery && isAnyQuery) ? WIDE : ROWS, end);
}

/** Goes to the host `key[0, end)`. */
@inline
function enterHost(end: i32, isOpaque: bool): void {
  const isSame = end == nameEnd && sharedWithAdded >= end;
  sharedWithAdded = keyLength;
  if (isSame) return;
  nameEnd = end;
  if (!hasNames) hashHost(end);
  const state = states + <usize>end * STATE_BYTES;
  const low = lowOf(load<u32>(state), load<u32>(state, 4));
  const high = highOf(load<u32>(state, 4), low);
  if (isOpaque) {
    hosts.goToOpaque(low, high);
    return;
  }
  hosts.start(low, high);
  hasOlder = hasOlder || isOlderHost(end);
}

/** Whether `key[0, end)` is the name of a host as older maps spell it, or as no SURT of a host has it. */
function isOlderHost(end: i32): bool {
  let own: i32 = byteAt(end - 1) == CLOSE_PAREN ? end - 1 : end;
  if (endsInWildcard(own, COMMA)) own -= 2;
  if (own == 0 || byteAt(0) == COMMA || byteAt(own - 1) == COMMA) return true;
  let colons: i32 = 0;
  let isBracketed = false;
  for (let at: i32 = 0; at < own; at++) {
    const byte = byteAt(at);
    if (byte == CLOSE_PAREN || byte == SLASH || byte == QUESTION) return true;
    if (byte == OPEN_BRACKET) isBracketed = true;
    else if (byte == COLON && !isBracketed) colons++;
  }
  // An address of IPv6, perhaps with a port.
  return colons > 1;
}

/**
 * Whether a key without a host has a query in a map without queries, is that of a home page without its slash, with a
 * query, or is `,*`: all of a host without a name.
 */
function isOlderOpaque(length: i32): bool {
  const query = findByte(QUESTION, 0, length);
  if (query < length) return !hasQueries || (query > 0 && byteAt(query - 1) == CLOSE_PAREN);
  return length == 2 && endsInWildcard(length, COMMA);
}

/** Whether the page has a slash before its query, and is not the home page, which has one anyway. */
function hasSlashBeforeQuery(query: i32): bool {
  return query > hostEnd + 2 && byteAt(query - 1) == SLASH;
}

/** Keeps the state behind the host `key[0, end)`. */
function hashHost(end: i32): void {
  let a = START_A;
  let b = START_B;
  for (let at: i32 = 0; at < end; at++) {
    a = extendA(a, <u32>byteAt(at));
    b = extendB(b, <u32>byteAt(at));
  }
  const state = states + <usize>end * STATE_BYTES;
  store<u32>(state, a);
  store<u32>(state, b, 4);
}

/** Adds the name `key[0, end)`, if names are wanted. */
@inline
function addAt(kind: i32, end: i32): void {
  if (!hasNames) return;
  const state = states + <usize>end * STATE_BYTES;
  const low = lowOf(load<u32>(state), load<u32>(state, 4));
  addTo(kind, low, highOf(load<u32>(state, 4), low), hosts.current());
}

/** The bit for the number of labels in `key[0, end)`. */
function labelBit(end: i32): i32 {
  let labels: i32 = 1;
  for (let at: i32 = 0; at < end; at++) if (byteAt(at) == COMMA) labels++;
  return 1 << min(labels, 31);
}
