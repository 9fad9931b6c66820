// The names of a packed map, as src/packed/packed-map.ts finds them; docs/packed.md says what they are.

import { CLOSE_PAREN, COMMA, QUESTION, SLASH, STAR } from "../shared/bytes";
import {
  HOST_END,
  hostKind,
  IN_SEGMENT,
  LABEL,
  pathEnd,
  pathKind,
  SEGMENT_END,
  SEPARATOR,
  textEnd,
} from "../lookup/plain";
import { extendA, extendB, highOf, lowOf, START_A, START_B } from "../shared/name-hash";
import { contains, fieldOf } from "./filters";

export const OUTCOME_NONE: i32 = 0;
export const OUTCOME_PRESENT: i32 = 1;
export const OUTCOME_VOID: i32 = 2;
/** Not plain: the caller must answer it. */
export const OUTCOME_ODD: i32 = -1;

export const NAME_EXACT: i32 = 0;
export const NAME_ANY_QUERY: i32 = 1;
export const NAME_BELOW: i32 = 2;
export const NAME_HOSTS_BELOW: i32 = 3;
export const NAME_SPREAD: i32 = 4;
export const NAME_SPREAD_ANY_QUERY: i32 = 5;

/** What a descriptor says without any row. */
const HOME: u8 = 1;
const ALL: u8 = 2;
const QUERY: u8 = 4;
const ANY_QUERY: u8 = 8;
const NONE: u8 = 16;
const MAX_DEPTH: i32 = 7;

/** Bytes of the key from its start that the name has, which name it is, and how far above the key. */
export let foundEnd: usize = 0;
export let foundKind: i32 = 0;
export let foundDistance: i32 = 0;
/** The count of the host in the table; -1 if it has none. */
export let hostCount: i32 = -1;

let descriptors: usize = 0;
let descriptorsEnd: usize = 0;
let queries: bool = false;
let fingerprintBits: i32 = 0;
let descriptorBits: i32 = 0;
let countMask: i32 = 0;
let hostWildcards: u32 = 0;
let hostSpreads: u32 = 0;

/** Takes what the head of a map says. Its descriptors are from `first` on. */
export function openNames(
  first: usize,
  count: i32,
  hasQueries: bool,
  fingerprint: i32,
  descriptor: i32,
  countBits: i32,
  wildcards: u32,
  spreads: u32,
): void {
  descriptors = first;
  descriptorsEnd = first + (<usize>count << 3);
  queries = hasQueries;
  fingerprintBits = fingerprint;
  descriptorBits = descriptor;
  countMask = (1 << countBits) - 1;
  hostWildcards = wildcards;
  hostSpreads = spreads;
}

/** States of the hash behind each label, and behind each segment: both halves, and where it ends. */
const MOST_STATES: i32 = 4100;
const labels: usize = memory.data(16 * 4100, 16);
const folders: usize = memory.data(16 * 4100, 16);
/** The page itself may be behind it. */
const lastFolder: usize = folders + 16 * 4098;

@inline
function keepState(state: usize, a: u32, b: u32, end: usize): void {
  store<u32>(state, a);
  store<u32>(state, b, 4);
  store<usize>(state, end, 8);
}

let depth: i32 = 0;
/** Behind the page, and behind its query. */
let pageA: u32 = 0;
let pageB: u32 = 0;
let wholeA: u32 = 0;
let wholeB: u32 = 0;

/**
 * Finds the name that decides about a key of fewer bytes than MOST_STATES.
 *
 * @param host where the `)` of its host is.
 * @param page where its query begins; its end where there is none, as in all maps without queries.
 */
export function findKey(key: usize, host: usize, page: usize, end: usize): i32 {
  readHost(key, host);
  return findPage(key, host, page, end);
}

/** Of the key that `findPlain` read: where its `)` is, where its page and its query end, and what is behind it. */
export let plainHost: usize = 0;
export let plainPage: usize = 0;
export let plainKeyEnd: usize = 0;
export let plainEnd: usize = 0;

/**
 * Reads a key that ends at the first byte that no key has, and finds the name that decides about it.
 * OUTCOME_ODD if it is not plain. Reads and hashes in one pass: as each step of the hash waits for the
 * one before it, the rest costs nothing.
 */
export function findPlain(key: usize): i32 {
  let a = START_A;
  let b = START_B;
  let at = key;
  let label = key;
  for (;;) {
    const byte = load<u8>(at);
    const kind = hostKind(byte);
    a = extendA(a, <u32>byte);
    b = extendB(b, <u32>byte);
    if (kind != LABEL) {
      if (at == label) return OUTCOME_ODD;
      if (kind == HOST_END) break;
      if (kind != SEPARATOR) return OUTCOME_ODD;
      label = at + 1;
    }
    at++;
  }
  if (load<u8>(at, 1) != SLASH) return OUTCOME_ODD;
  plainHost = at;
  takeHost(a, b);
  if (isUnknown()) {
    // Only where it ends has to be known.
    plainPage = pathEnd(at + 1);
    plainEnd = load<u8>(plainPage) == QUESTION ? textEnd(plainPage) : plainPage;
    plainKeyEnd = plainPage;
    return OUTCOME_NONE;
  }
  return readPlainPath() ? findRead(key, plainHost, plainPage, plainKeyEnd) : OUTCOME_ODD;
}

/** Keeps the states of a path, as `readPath` and `readQuery` do; false if it is not plain. */
@inline
function readPlainPath(): bool {
  let state = folders;
  keepState(state, hostA, hostB, plainHost + 1);
  let a = extendA(hostA, <u32>SLASH);
  let b = extendB(hostB, <u32>SLASH);
  pageA = a;
  pageB = b;
  let at = plainHost + 2;
  for (;;) {
    const byte = load<u8>(at);
    const kind = pathKind(byte);
    if (kind != IN_SEGMENT) {
      if (kind != SEGMENT_END) break;
      if (state == lastFolder) return false;
      state += 16;
      keepState(state, a, b, at);
    }
    a = extendA(a, <u32>byte);
    b = extendB(b, <u32>byte);
    at++;
  }
  plainEnd = load<u8>(at) == QUESTION ? textEnd(at) : at;
  plainPage = at;
  state += 16;
  keepState(state, a, b, at);
  // Slashes at the end do not count, nor the segments without a byte between them.
  while (state > folders && load<u8>(plainPage - 1) == SLASH) {
    state -= 16;
    plainPage--;
  }
  depth = <i32>((state - folders) >> 4);
  if (depth > 0) {
    pageA = load<u32>(state);
    pageB = load<u32>(state, 4);
  } else plainPage = plainHost + 2;
  plainKeyEnd = plainPage;
  // A query of no text is none.
  if (!queries || plainEnd - at <= 1) return true;
  if (plainPage < at) return false;
  plainKeyEnd = plainEnd;
  readQuery(plainPage, plainEnd);
  return true;
}

/** The last key that `findAfter` was asked for, and the bytes of its host. */
let lastKey: usize = 0;
let lastHostBytes: i32 = 0;

/**
 * As `findKey`, for a key that begins with the first `shared` bytes of the last one that was asked for here; 0 if
 * there is none.
 */
export function findAfter(key: usize, host: usize, page: usize, end: usize, shared: i32): i32 {
  const hostBytes = <i32>(host - key);
  const isSame = shared > hostBytes && hostBytes == lastHostBytes;
  if (!isSame) readHost(key, host);
  if (isUnknown()) depth = 0;
  else if (isSame) readPathAfter(key, host, page, shared);
  else readPath(host, page);
  lastKey = key;
  lastHostBytes = hostBytes;
  return findInPath(key, host, page, end);
}

/** What is known of the host of a key: the state behind it, and its descriptor, or 0. */
let hostA: u32 = 0;
let hostB: u32 = 0;
let ownDescriptor: usize = 0;
let ownCount: i32 = -1;

@inline
function readHost(key: usize, host: usize): void {
  let a = START_A;
  let b = START_B;
  for (let at = key; at <= host; at++) {
    const byte = <u32>load<u8>(at);
    a = extendA(a, byte);
    b = extendB(b, byte);
  }
  takeHost(a, b);
}

/** Hosts that were asked for lately: both halves of the state, the descriptor and the count. */
const KEPT_HOSTS: u32 = 512;
const keptHosts: usize = memory.data(16 * 512, 16);
// No host of this state belongs at the first place: so nothing is found there before it is kept.
store<u32>(keptHosts, 1);

/** Takes the state behind a host, and looks it up, unless that was done lately. */
@inline
function takeHost(a: u32, b: u32): void {
  hostA = a;
  hostB = b;
  const kept = keptHosts + (<usize>((a ^ (b >> 16)) & (KEPT_HOSTS - 1)) << 4);
  if (load<u32>(kept) != a || load<u32>(kept, 4) != b) {
    hostCount = -1;
    store<usize>(kept, findHost(a, b), 8);
    store<i32>(kept, hostCount, 12);
    store<u32>(kept, a);
    store<u32>(kept, b, 4);
  }
  ownDescriptor = load<usize>(kept, 8);
  ownCount = load<i32>(kept, 12);
}

/** Whether no name can decide about the host that was taken. */
@inline
function isUnknown(): bool {
  return ownDescriptor == 0 && (hostWildcards | hostSpreads) == 0;
}

@inline
function findPage(key: usize, host: usize, page: usize, end: usize): i32 {
  if (!isUnknown()) readPath(host, page);
  return findInPath(key, host, page, end);
}

@inline
function findInPath(key: usize, host: usize, page: usize, end: usize): i32 {
  if (isUnknown()) return OUTCOME_NONE;
  if (page < end) readQuery(page, end);
  return findRead(key, host, page, end);
}

/** Finds the name that decides about a key whose states are kept. */
@inline
function findRead(key: usize, host: usize, page: usize, end: usize): i32 {
  hostCount = ownCount;
  const descriptor = ownDescriptor;
  const hasHostNames = (hostWildcards | hostSpreads) != 0;
  if (descriptor != 0) {
    const outcome = findOnHost(descriptor, page, end);
    if (outcome != OUTCOME_NONE || !hasHostNames) return outcome;
  }
  return findAbove(key, host, page, end);
}

/** Keeps the state at the end of each segment: of `/a/b` those of the host, `/a` and `/a/b`. */
@inline
function readPath(host: usize, end: usize): void {
  keepState(folders, hostA, hostB, host + 1);
  pageA = extendA(hostA, <u32>SLASH);
  pageB = extendB(hostB, <u32>SLASH);
  depth = 0;
  if (host + 2 < end) readSegments(folders, host + 2, end);
}

/** The same, with the states of the last key as far as they are those of the first `shared` bytes. */
@inline
function readPathAfter(key: usize, host: usize, end: usize, shared: i32): void {
  const moved = key - lastKey;
  const sharedEnd = key + <usize>shared;
  let kept: i32 = 0;
  store<usize>(folders, host + 1, 8);
  while (kept < depth) {
    const state = folders + (<usize>(kept + 1) << 4);
    const stateEnd = load<usize>(state, 8) + moved;
    if (stateEnd > sharedEnd) break;
    store<usize>(state, stateEnd, 8);
    kept++;
  }
  if (kept == 0 || host + 2 == end) {
    readPath(host, end);
    return;
  }
  // More of this segment may follow, so its end is looked for again.
  const state = folders + (<usize>kept << 4);
  pageA = load<u32>(state);
  pageB = load<u32>(state, 4);
  readSegments(state - 16, load<usize>(state, 8), end);
}

/** Goes on behind the states up to `last`, at `from`, where the state is that of the page. */
@inline
function readSegments(last: usize, from: usize, end: usize): void {
  let state = last;
  let a = pageA;
  let b = pageB;
  for (let at = from; at < end; at++) {
    const byte = <u32>load<u8>(at);
    if (byte == <u32>SLASH) {
      state += 16;
      keepState(state, a, b, at);
    }
    a = extendA(a, byte);
    b = extendB(b, byte);
  }
  state += 16;
  keepState(state, a, b, end);
  depth = <i32>((state - folders) >> 4);
  pageA = a;
  pageB = b;
}

@inline
function readQuery(page: usize, end: usize): void {
  wholeA = pageA;
  wholeB = pageB;
  for (let at = page; at < end; at++) {
    const byte = <u32>load<u8>(at);
    wholeA = extendA(wholeA, byte);
    wholeB = extendB(wholeB, byte);
  }
}

@inline
function found(outcome: i32, kind: i32, end: usize, distance: i32): i32 {
  foundKind = kind;
  foundEnd = end;
  foundDistance = distance;
  return outcome;
}

function findOnHost(descriptor: usize, page: usize, end: usize): i32 {
  const flags = load<u8>(descriptor, 4);
  const width = <i32>load<u8>(descriptor, 5);
  const wideWidth = <i32>load<u8>(descriptor, 6);
  const hasQuery = page < end;
  if (depth == 0 && !hasQuery && (flags & HOME) != 0) {
    return found(OUTCOME_PRESENT, NAME_EXACT, end, 0);
  }
  // The page itself.
  const bit: u8 = 1 << <u8>min(depth, MAX_DEPTH);
  const isRow = hasQuery ? (flags & QUERY) != 0 : (load<u8>(descriptor) & bit) != 0;
  const mayBeVoid = (load<u8>(descriptor, 2) & bit) != 0;
  if (isRow || mayBeVoid) {
    const outcome = hasQuery
      ? ask(wholeA, wholeB, isRow, mayBeVoid, width)
      : ask(pageA, pageB, isRow, mayBeVoid, width);
    if (outcome != OUTCOME_NONE) return found(outcome, NAME_EXACT, end, 0);
  }
  let distance: i32 = 0;
  if (queries) {
    distance = 1;
    const isAny = (flags & ANY_QUERY) != 0;
    if (isAny || mayBeVoid) {
      const outcome = askAny(pageA, pageB, QUESTION, isAny, mayBeVoid, wideWidth);
      if (outcome != OUTCOME_NONE) return found(outcome, NAME_ANY_QUERY, page, distance);
    }
  }
  // What is below it, and below each folder above it.
  const wildcards = load<u8>(descriptor, 1);
  const voids = load<u8>(descriptor, 3);
  const isAll = (flags & ALL) != 0;
  if ((wildcards | voids) != 0) {
    for (let at = depth; at >= (isAll ? 1 : 0); at--) {
      const mask: u8 = 1 << <u8>min(at, MAX_DEPTH);
      if (((wildcards | voids) & mask) == 0) continue;
      const state = folders + (<usize>at << 4);
      const outcome = askAny(
        load<u32>(state),
        load<u32>(state, 4),
        SLASH,
        (wildcards & mask) != 0,
        (voids & mask) != 0,
        wideWidth,
      );
      if (outcome != OUTCOME_NONE) {
        return found(outcome, NAME_BELOW, load<usize>(state, 8), distance + depth - at + 1);
      }
    }
  }
  if (!isAll) return OUTCOME_NONE;
  return found(OUTCOME_PRESENT, NAME_BELOW, load<usize>(folders, 8), distance + depth + 1);
}

/** Asks for `X,*)/path` and `X,*` from the host up. */
function findAbove(key: usize, host: usize, page: usize, end: usize): i32 {
  let count: i32 = 0;
  let keyA = START_A;
  let keyB = START_B;
  for (let at = key; at <= host; at++) {
    const byte = <u32>load<u8>(at);
    if (byte == <u32>COMMA || at == host) {
      keepState(labels + (<usize>count << 4), keyA, keyB, at);
      count++;
    }
    keyA = extendA(keyA, byte);
    keyB = extendB(keyB, byte);
  }
  let distance = (queries ? 2 : 1) + depth;
  for (let at = count - 1; at >= 0; at--) {
    const state = labels + (<usize>at << 4);
    const mask: u32 = 1 << <u32>min(at + 1, 31);
    const a = extendA(extendA(load<u32>(state), <u32>COMMA), <u32>STAR);
    const b = extendB(extendB(load<u32>(state, 4), <u32>COMMA), <u32>STAR);
    distance++;
    if ((hostSpreads & mask) != 0) {
      const outcome = findSpread(a, b, host, page, end, load<usize>(state, 8), distance);
      if (outcome != OUTCOME_NONE) return outcome;
    }
    if (at > 0) distance++;
    if ((hostWildcards & mask) == 0) continue;
    const outcome = hostWildcard(a, b);
    if (outcome != OUTCOME_NONE) {
      return found(outcome, NAME_HOSTS_BELOW, load<usize>(state, 8), distance);
    }
  }
  return OUTCOME_NONE;
}

/** Asks for `X,*)/path`, given the state of `X,*`. */
function findSpread(
  domainA: u32,
  domainB: u32,
  host: usize,
  page: usize,
  end: usize,
  nameEnd: usize,
  distance: i32,
): i32 {
  let a = extendA(domainA, <u32>CLOSE_PAREN);
  let b = extendB(domainB, <u32>CLOSE_PAREN);
  const descriptor = findHost(a, b);
  if (descriptor == 0) return OUTCOME_NONE;
  const mayBeVoid = load<u8>(descriptor, 2) != 0;
  const width = <i32>load<u8>(descriptor, 5);
  let spreadA: u32 = 0;
  let spreadB: u32 = 0;
  for (let at = host + 1; at < end; at++) {
    if (at == page) {
      spreadA = a;
      spreadB = b;
    }
    const byte = <u32>load<u8>(at);
    a = extendA(a, byte);
    b = extendB(b, byte);
  }
  const outcome = ask(a, b, true, mayBeVoid, width);
  if (outcome != OUTCOME_NONE) return found(outcome, NAME_SPREAD, nameEnd, distance);
  if (!queries) return OUTCOME_NONE;
  if (page < end) {
    a = spreadA;
    b = spreadB;
  }
  const any = askAny(a, b, QUESTION, true, mayBeVoid, <i32>load<u8>(descriptor, 6));
  return any == OUTCOME_NONE ? any : found(any, NAME_SPREAD_ANY_QUERY, nameEnd, distance);
}

/** Without a table, host wildcards are rows. */
function hostWildcard(a: u32, b: u32): i32 {
  if (fingerprintBits == 0) return ask(a, b, true, true, <i32>load<u8>(descriptors, 6));
  const descriptor = findHost(a, b);
  if (descriptor == 0) return OUTCOME_NONE;
  return (load<u8>(descriptor, 4) & NONE) == 0 ? OUTCOME_PRESENT : OUTCOME_VOID;
}

/** The descriptor of a host, or 0; sets `hostCount`. */
function findHost(a: u32, b: u32): usize {
  // Without a table all hosts have one descriptor.
  if (fingerprintBits == 0) return descriptors;
  const low = lowOf(a, b);
  const value = fieldOf(low, highOf(b, low), fingerprintBits);
  if (value < 0) return 0;
  const descriptor = descriptors + (<usize>(value & ((1 << descriptorBits) - 1)) << 3);
  // A number that no descriptor has shows that the host is not in the table.
  if (descriptor >= descriptorsEnd) return 0;
  hostCount = (value >> descriptorBits) & countMask;
  return descriptor;
}

/** Asks for the name that a separator and a star end. */
@inline
function askAny(a: u32, b: u32, separator: u8, rows: bool, voids: bool, width: i32): i32 {
  const nameA = extendA(extendA(a, <u32>separator), <u32>STAR);
  return ask(nameA, extendB(extendB(b, <u32>separator), <u32>STAR), rows, voids, width);
}

function ask(a: u32, b: u32, rows: bool, voids: bool, width: i32): i32 {
  const low = lowOf(a, b);
  return contains(low, highOf(b, low), rows, voids, width);
}
