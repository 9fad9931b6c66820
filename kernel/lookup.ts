// Answers batches of lookups from a map in memory, in WebAssembly.
//
// Does for plain maps, `surt frequency` in order and nothing else, and for plain lookups what
// src/map/lookup/answer-lines.ts does with src/map/lookup/memory-index.ts. It gives up a map with any
// other row, and stops before a line that is anything else, which the caller answers itself.
//
// Lookups are answered in groups: the rows they need are far apart, and the processor waits for
// those of a whole group at once.
//
// This is AssemblyScript: TypeScript syntax, WebAssembly semantics. Build: `npm run build`.

import {
  COMMA,
  commonBytes,
  copyText,
  CR,
  LF,
  QUESTION,
  SLASH,
  SPACE,
  STAR,
  ZERO,
} from "./shared/bytes";
import {
  addPage,
  addWildcard,
  findPage,
  findWildcard,
  hashOf,
  openTables,
  pagePlace,
} from "./lookup/table";
import { ABSENT, isLineEnd, NO_KEY, PRESENT, writeNumber } from "./lookup/lines";
import { frequencyEnd, hostEnd, isBound, pathEnd, textEnd } from "./lookup/plain";
import { readEnd, writeKey, writtenHostEnd } from "./lookup/surt";

const PADDING: i32 = 64;
/** Longer lines are left to the caller. */
const MAX_LINE_BYTES: usize = 4096;
/** So that the tables have less than 1 GiB, the most that can be had at once. */
const MAX_ROWS: i32 = 1 << 25;
const GROUP: i32 = 64;
const MINUS: u8 = 45;
const TAB: u8 = 9;

let map: usize = 0;
let mapBytes: i32 = 0;
let hasWildcards: bool = false;

/** Makes room for a map; returns where it goes. */
export function openMap(bytes: i32): usize {
  mapBytes = bytes;
  map = heap.alloc(<usize>(bytes + PADDING));
  return map;
}

/** Rows that wait to be entered: hash and address. */
const waiting: usize = memory.data(16 * 64, 16);

/**
 * Enters the rows from an offset on into the tables. Returns how many there are; -1 where a row is not
 * plain, or not behind the one before it.
 */
export function index(offset: i32): i32 {
  const end = map + <usize>mapBytes;
  const first = map + <usize>offset;
  if (first < end && load<u8>(end - 1) != LF) return -1;
  const rows = countOf(LF, first, end);
  const stars = countOf(STAR, first, end);
  if (rows > MAX_ROWS || stars > rows) return -1;
  openTables(rows - stars, stars);
  hasWildcards = stars > 0;
  let count: i32 = 0;
  let waitingCount: i32 = 0;
  let last: usize = 0;
  let lastLength: i32 = 0;
  /** From the start of the last key to its `)`; 0 where it has none. */
  let lastHost: i32 = 0;
  for (let row = first; row < end; count++) {
    let shared: i32 = 0;
    if (last != 0) {
      shared = commonBytes(last, row, 0, lastLength + 1);
      if (shared > lastLength) return -1;
      if (load<u8>(row + <usize>shared) < load<u8>(last + <usize>shared)) return -1;
    }
    if (lastHost == 0 || shared < lastHost + 2) {
      const host = hostEnd(row, true);
      if (host == 0) return -1;
      lastHost = load<u8>(host) == STAR ? 0 : <i32>(host - row);
      if (lastHost == 0) lastLength = <i32>(host + 1 - row);
    }
    let isWildcard = lastHost == 0;
    if (!isWildcard) {
      const path = row + <usize>(lastHost + 1);
      let keyEnd = pathEnd(path);
      if (load<u8>(keyEnd) == STAR) {
        if (load<u8>(keyEnd - 1) != SLASH) return -1;
        isWildcard = true;
        keyEnd++;
      } else if (load<u8>(keyEnd - 1) == SLASH && keyEnd > path + 1) {
        return -1;
      }
      lastLength = <i32>(keyEnd - row);
    }
    const keyEnd = row + <usize>lastLength;
    if (load<u8>(keyEnd) != SPACE || <usize>lastLength > MAX_LINE_BYTES) return -1;
    const rowEnd = frequencyEnd(keyEnd + 1);
    if (rowEnd == 0 || rowEnd >= end) return -1;
    const hash = hashOf(row, lastLength);
    if (isWildcard) {
      addWildcard(hash, row);
    } else {
      const slot = waiting + <usize>(waitingCount << 4);
      store<u64>(slot, hash);
      store<u64>(slot, <u64>row, 8);
      if (++waitingCount == GROUP) {
        enter(waitingCount);
        waitingCount = 0;
      }
    }
    last = row;
    row = rowEnd + 1;
  }
  enter(waitingCount);
  return count;
}

function enter(count: i32): void {
  const end = waiting + <usize>(count << 4);
  for (let slot = waiting; slot < end; slot += 16) {
    addPage(load<u64>(slot), <usize>load<u64>(slot, 8));
  }
}

function countOf(byte: u8, start: usize, end: usize): i32 {
  const wanted = i8x16.splat(<i8>byte);
  let count: i32 = 0;
  let at = start;
  for (; at + 16 <= end; at += 16) {
    count += popcnt(i8x16.bitmask(i8x16.eq(v128.load(at), wanted)));
  }
  for (; at < end; at++) if (load<u8>(at) == byte) count++;
  return count;
}

let keys: usize = 0;
let wildcard: usize = 0;
let input: usize = 0;
let output: usize = 0;
let outputEnd: usize = 0;

/** Makes room for lines and answers. Nothing else is allocated after it. */
export function openBuffers(inputBytes: i32, outputBytes: i32): void {
  keys = heap.alloc(<usize>GROUP * (MAX_LINE_BYTES + PADDING));
  wildcard = heap.alloc(MAX_LINE_BYTES + PADDING);
  input = heap.alloc(<usize>(inputBytes + PADDING));
  output = heap.alloc(<usize>(outputBytes + PADDING));
  outputEnd = output + <usize>outputBytes;
}

export function inputPointer(): usize {
  return input;
}

export function outputPointer(): usize {
  return output;
}

/** Where to put a key to find; it may have `maxKeyBytes`, and no key of the map has more. */
export function keyPointer(): usize {
  return wildcard;
}

export function maxKeyBytes(): usize {
  return MAX_LINE_BYTES;
}

/** The offset of the row of exactly this key, or -1. */
export function find(length: i32): i32 {
  const hash = hashOf(wildcard, length);
  const row =
    length > 0 && load<u8>(wildcard + <usize>(length - 1)) == STAR
      ? findWildcard(hash, wildcard, length)
      : findPage(hash, wildcard, length);
  return row == 0 ? -1 : <i32>(row - map);
}

/** A lookup of a group. */
@unmanaged
class Lookup {
  line: usize;
  lineEnd: usize;
  key: usize;
  keyEnd: usize;
  hostEnd: usize;
  row: usize;
  hash: u64;
  /** The number of its line. */
  number: i32;
}

const group: usize = memory.data(64 * 64, 16);

@inline
function lookupAt(i: i32): Lookup {
  return changetype<Lookup>(group + <usize>(i << 6));
}

let written: usize = 0;
let askedCount: i32 = 0;
let presentCount: i32 = 0;
let isOdd: bool = false;

/** Where the answers end. */
export function writtenEnd(): usize {
  return written;
}

/** How many lines were answered. */
export function asked(): i32 {
  return askedCount;
}

/** How many of them are present. */
export function present(): i32 {
  return presentCount;
}

/** Whether it stopped because of a line that the caller must answer, not for want of room. */
export function stoppedAtOddLine(): bool {
  return isOdd;
}

/**
 * Answers lines of the input up to `end`, which is behind a line feed, and writes from `target` on.
 * Returns how many lines it got through, blank lines included, which have no answer.
 */
export function answer(start: usize, end: usize, target: usize, isSurt: bool): i32 {
  written = target;
  askedCount = 0;
  presentCount = 0;
  isOdd = false;
  let at = start;
  let lines: i32 = 0;
  while (at < end && !isOdd) {
    let count: i32 = 0;
    let key = keys;
    while (at < end && count < GROUP) {
      const first = load<u8>(at);
      if (first == LF || (first == CR && load<u8>(at + 1) == LF)) {
        at += first == LF ? 1 : 2;
        lines++;
        continue;
      }
      const lookup = lookupAt(count);
      lookup.line = at;
      lookup.number = lines;
      if (!(isSurt ? readSurt(lookup) : readUri(lookup, key))) {
        isOdd = true;
        break;
      }
      key = lookup.keyEnd + <usize>PADDING;
      lookup.hash = hashOf(lookup.key, <i32>(lookup.keyEnd - lookup.key));
      at = load<u8>(lookup.lineEnd) == LF ? lookup.lineEnd + 1 : lookup.lineEnd + 2;
      lines++;
      count++;
    }
    const full = answerGroup(count);
    if (full >= 0) {
      isOdd = false;
      return full;
    }
  }
  return lines;
}

/** Answers a group; returns the line there is no more room for, or -1. */
function answerGroup(count: i32): i32 {
  for (let i: i32 = 0; i < count; i++) {
    const lookup = lookupAt(i);
    lookup.row = <usize>load<u64>(pagePlace(lookup.hash));
  }
  for (let i: i32 = 0; i < count; i++) {
    const lookup = lookupAt(i);
    lookup.row = findPage(lookup.hash, lookup.key, <i32>(lookup.keyEnd - lookup.key));
  }
  for (let i: i32 = 0; i < count; i++) {
    const lookup = lookupAt(i);
    const lineLength = lookup.lineEnd - lookup.line;
    if (written + 2 * lineLength + 128 > outputEnd) return lookup.number;
    if (lookup.row != 0) write(lookup, lookup.row, <i32>(lookup.keyEnd - lookup.key), 0);
    else if (!hasWildcards || !walk(lookup)) writeAbsent(lookup);
  }
  return -1;
}

/** Takes a line that holds a SURT; false if it is not plain. */
@inline
function readSurt(lookup: Lookup): bool {
  const line = lookup.line;
  if (load<u8>(line) == MINUS) return false;
  const host = hostEnd(line, false);
  if (host == 0) return false;
  let end = pathEnd(host + 1);
  let key = end;
  if (load<u8>(end) == QUESTION) end = textEnd(end);
  if (!isLineEnd(end) || end - line > MAX_LINE_BYTES) return false;
  while (key > host + 2 && load<u8>(key - 1) == SLASH) key--;
  lookup.key = line;
  lookup.keyEnd = key;
  lookup.hostEnd = host;
  lookup.lineEnd = end;
  return true;
}

/** Takes a line that holds a URI, whose key goes to `target`; false if it is not plain. */
@inline
function readUri(lookup: Lookup, target: usize): bool {
  const line = lookup.line;
  const keyEnd = writeKey(line, target, MAX_LINE_BYTES);
  if (keyEnd == 0) return false;
  let end = readEnd;
  if (load<u8>(end) > SPACE) end = textEnd(end);
  if (!isLineEnd(end) || end - line > MAX_LINE_BYTES) return false;
  lookup.key = target;
  lookup.keyEnd = keyEnd;
  lookup.hostEnd = writtenHostEnd;
  lookup.lineEnd = end;
  return true;
}

/** Looks for wildcards above a key, the most specific first, and writes what the first one says. */
function walk(lookup: Lookup): bool {
  const length = <i32>(lookup.keyEnd - lookup.key);
  const host = <i32>(lookup.hostEnd - lookup.key);
  copyText(wildcard, lookup.key, length);
  let distance: i32 = 0;
  if (length > host + 2) {
    distance++;
    store<u8>(wildcard + <usize>length, SLASH);
    if (tryWildcard(lookup, length + 1, distance)) return true;
  }
  for (let at = length; at > host + 1; at--) {
    if (load<u8>(lookup.key + <usize>(at - 1)) != SLASH) continue;
    distance++;
    if (tryWildcard(lookup, at, distance)) return true;
  }
  for (let at = host; at > 0; at--) {
    if (at != host && load<u8>(lookup.key + <usize>at) != COMMA) continue;
    // Beside each wildcard of hosts there is a key that spreads a path over them, which no map has here.
    distance += isTopLevel(lookup.key, at) ? 1 : 2;
    store<u8>(wildcard + <usize>at, COMMA);
    if (tryWildcard(lookup, at + 1, distance)) return true;
  }
  return false;
}

@inline
function isTopLevel(key: usize, length: i32): bool {
  for (let i: i32 = 0; i < length; i++) if (load<u8>(key + <usize>i) == COMMA) return false;
  return true;
}

@inline
function tryWildcard(lookup: Lookup, prefix: i32, distance: i32): bool {
  store<u8>(wildcard + <usize>prefix, STAR);
  const row = findWildcard(hashOf(wildcard, prefix + 1), wildcard, prefix + 1);
  if (row == 0) return false;
  write(lookup, row, prefix + 1, distance);
  return true;
}

@inline
function writeLine(lookup: Lookup): usize {
  const length = <i32>(lookup.lineEnd - lookup.line);
  copyText(written, lookup.line, length);
  askedCount++;
  return written + <usize>length;
}

@inline
function writeAbsent(lookup: Lookup): void {
  const to = writeLine(lookup);
  store<u64>(to, ABSENT);
  store<u64>(to, NO_KEY, 8);
  written = to + 14;
}

@inline
function write(lookup: Lookup, row: usize, keyLength: i32, distance: i32): void {
  let to = writeLine(lookup);
  const frequency = row + <usize>(keyLength + 1);
  if (isZero(frequency)) {
    store<u64>(to, ABSENT);
    to += 8;
  } else {
    store<u64>(to, PRESENT);
    store<u8>(to, TAB, 8);
    to += 9;
    presentCount++;
  }
  copyText(to, row, keyLength);
  to += <usize>keyLength;
  store<u8>(to++, TAB);
  for (let at = frequency; ; at++) {
    const byte = load<u8>(at);
    if (byte == LF) break;
    store<u8>(to++, byte);
  }
  store<u8>(to++, TAB);
  to = writeNumber(to, <u64>distance);
  store<u8>(to++, LF);
  written = to;
}

/** Whether a frequency says absent: its count of mementos is 0. */
@inline
function isZero(frequency: usize): bool {
  let at = frequency;
  if (load<u8>(at) != ZERO) return false;
  while (load<u8>(at) == ZERO) at++;
  if (isBound(load<u8>(at))) at++;
  return load<u8>(at) == LF || load<u8>(at) == SLASH;
}
