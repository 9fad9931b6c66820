// Answers batches of lookups from a packed map in memory, in WebAssembly.
//
// Does for plain lookups what src/map/lookup/packed-answers.ts does with src/packed/packed-map.ts: it
// reads the file as it is (docs/packed.md), after the caller has checked it. It stops before a line
// that is anything else, which the caller answers itself.
//
// This is AssemblyScript: TypeScript syntax, WebAssembly semantics. Build: `npm run build`.

import { copyText, CR, LF, QUESTION, SLASH, SPACE, STAR, COMMA } from "./shared/bytes";
import { textEnd } from "./lookup/plain";
import { ABSENT, isLineEnd, NO_KEY, PRESENT, writeNumber } from "./lookup/lines";
import { readEnd, writeKey, writtenHostEnd } from "./lookup/surt";
import { addFilter as addSet, openFilters } from "./packed/filters";
import {
  findKey,
  findPlain,
  foundDistance,
  foundEnd,
  foundKind,
  hostCount,
  NAME_ANY_QUERY,
  NAME_BELOW,
  NAME_EXACT,
  NAME_SPREAD,
  NAME_SPREAD_ANY_QUERY,
  openNames,
  OUTCOME_NONE,
  OUTCOME_ODD,
  OUTCOME_PRESENT,
  plainEnd,
  plainHost,
  plainKeyEnd,
  plainPage,
} from "./packed/names";
import * as rows from "./packed/rows";

const PADDING: i32 = 64;
/** The last ribbon is read up to two blocks behind its end. */
const MAP_PADDING: i32 = 512;
/** Longer lines are left to the caller. */
const MAX_LINE_BYTES: usize = 4096;
/** Larger counts are not exact numbers. */
const MAX_COUNT_BITS: i32 = 53;
const MINUS: u8 = 45;
const TAB: u8 = 9;

let map: usize = 0;
let key: usize = 0;
let input: usize = 0;
let output: usize = 0;
let outputEnd: usize = 0;
let hasQueries: bool = false;
let countStep: i32 = 0;

/** Makes room for a map, lines and answers; returns where the map goes. Allocates all there is. */
export function openMap(bytes: i32, inputBytes: i32, outputBytes: i32): usize {
  map = heap.alloc(<usize>(bytes + MAP_PADDING));
  key = heap.alloc(MAX_LINE_BYTES + PADDING);
  input = heap.alloc(<usize>(inputBytes + PADDING));
  output = heap.alloc(<usize>(outputBytes + PADDING));
  outputEnd = output + <usize>outputBytes;
  return map;
}

export function inputPointer(): usize {
  return input;
}

export function outputPointer(): usize {
  return output;
}

/**
 * Takes what the head of the map says. Offsets are those in the file; `step` is 0 where hosts have no
 * counts.
 */
export function openHead(
  descriptors: i32,
  descriptorCount: i32,
  data: i32,
  queries: bool,
  fingerprintBits: i32,
  descriptorBits: i32,
  countBits: i32,
  step: i32,
  hostWildcards: u32,
  hostSpreads: u32,
): void {
  const first = map + <usize>descriptors;
  openFilters(map + <usize>data, first + (<usize>descriptorCount << 3));
  openNames(
    first,
    descriptorCount,
    queries,
    fingerprintBits,
    descriptorBits,
    countBits,
    hostWildcards,
    hostSpreads,
  );
  hasQueries = queries;
  countStep = step;
}

/** Adds a filter: of rows at their bits, of hosts at 33 or of voids at 34. */
export function addFilter(set: i32, firstShard: i32, shards: i32, bits: i32): void {
  addSet(set, firstShard, shards, bits);
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

/** Of the line that was read last: its end, its key, and where the host and the page of the key end. */
let lineEnd: usize = 0;
let keyStart: usize = 0;
let keyHost: usize = 0;
let keyPage: usize = 0;
let keyEnd: usize = 0;

/**
 * Answers lines of the input up to `end`, which is behind a line feed, and writes from `target` on.
 * Returns how many lines it got through, blank lines included, which have no answer.
 */
export function answer(start: usize, end: usize, target: usize, isSurt: bool): i32 {
  written = target;
  askedCount = 0;
  presentCount = 0;
  isOdd = false;
  let lines: i32 = 0;
  for (let at = start; at < end; lines++) {
    const first = load<u8>(at);
    if (first == LF || (first == CR && load<u8>(at + 1) == LF)) {
      at += first == LF ? 1 : 2;
      continue;
    }
    const outcome = isSurt ? findSurtLine(at) : findUriLine(at);
    if (outcome == OUTCOME_ODD) {
      isOdd = true;
      return lines;
    }
    if (written + 3 * (lineEnd - at) + 128 > outputEnd) return lines;
    copyText(written, at, <i32>(lineEnd - at));
    written += lineEnd - at;
    write(outcome);
    askedCount++;
    at = load<u8>(lineEnd) == LF ? lineEnd + 1 : lineEnd + 2;
  }
  return lines;
}

/** Looks up the first `length` bytes of the input, a SURT; OUTCOME_ODD if it is not plain. */
export function findSurt(length: i32): i32 {
  const end = input + <usize>length;
  store<u8>(end, LF);
  const outcome = findSurtLine(input);
  return lineEnd == end ? outcome : OUTCOME_ODD;
}

/** The same for a URI. */
export function findUri(length: i32): i32 {
  const end = input + <usize>length;
  store<u8>(end, LF);
  const outcome = findUriLine(input);
  return lineEnd == end ? outcome : OUTCOME_ODD;
}

/** How many rows of the last call of `askRows` are not present. */
export function absent(): i32 {
  return rows.absentCount;
}

/**
 * Asks for the keys of the rows, `key count`, from `from` to `length` of the input, as pages. Returns where it
 * stopped: at `length`, or at a row that is not plain, or is a void. The map must not have voids.
 */
export function askRows(from: i32, length: i32): i32 {
  const end = input + <usize>length;
  // What is behind the last row must not look like a part of it; but it is the caller's.
  const behind = load<u8>(end);
  store<u8>(end, 0);
  const at = rows.ask(input + <usize>from, end, hasQueries);
  store<u8>(end, behind);
  return <i32>(at - input);
}

/** Finds what decides about a line that holds a SURT; OUTCOME_ODD if it is not plain. */
@inline
function findSurtLine(line: usize): i32 {
  if (load<u8>(line) == MINUS) return OUTCOME_ODD;
  const outcome = findPlain(line);
  if (outcome == OUTCOME_ODD) return OUTCOME_ODD;
  if (!isLineEnd(plainEnd) || plainEnd - line > MAX_LINE_BYTES) return OUTCOME_ODD;
  keyStart = line;
  keyHost = plainHost;
  keyPage = plainPage;
  keyEnd = plainKeyEnd;
  lineEnd = plainEnd;
  return outcome;
}

/** The same for a URI. */
@inline
function findUriLine(line: usize): i32 {
  return readUri(line) ? findKey(keyStart, keyHost, keyPage, keyEnd) : OUTCOME_ODD;
}

/** Takes a line that holds a URI; false if it is not plain. */
@inline
function readUri(line: usize): bool {
  const last = writeKey(line, key, MAX_LINE_BYTES);
  if (last == 0) return false;
  let end = readEnd;
  if (hasQueries && load<u8>(end) == QUESTION) return false;
  if (load<u8>(end) > SPACE) end = textEnd(end);
  if (!isLineEnd(end) || end - line > MAX_LINE_BYTES) return false;
  keyStart = key;
  keyHost = writtenHostEnd;
  keyPage = last;
  keyEnd = last;
  lineEnd = end;
  return true;
}

/** Writes what is behind the input. */
@inline
function write(outcome: i32): void {
  let to = written;
  if (outcome == OUTCOME_PRESENT) {
    store<u64>(to, PRESENT);
    store<u8>(to, TAB, 8);
    to += 9;
    presentCount++;
  } else {
    store<u64>(to, ABSENT);
    to += 8;
    if (outcome == OUTCOME_NONE) {
      store<u64>(to, NO_KEY);
      written = to + 6;
      return;
    }
  }
  const nameBytes = <i32>(foundEnd - keyStart);
  copyText(to, keyStart, nameBytes);
  to = writeNameEnd(to + <usize>nameBytes);
  store<u8>(to++, TAB);
  to = outcome == OUTCOME_PRESENT ? writeCaptures(to) : writeNumber(to, 0);
  store<u8>(to++, TAB);
  to = writeNumber(to, <u64>foundDistance);
  store<u8>(to++, LF);
  written = to;
}

/** Writes what the name has behind the first bytes of the key. */
@inline
function writeNameEnd(target: usize): usize {
  if (foundKind == NAME_EXACT) return target;
  if (foundKind == NAME_BELOW) return writeAny(target, SLASH);
  if (foundKind == NAME_ANY_QUERY) return writeAny(target, QUESTION);
  const to = writeAny(target, COMMA);
  if (foundKind != NAME_SPREAD && foundKind != NAME_SPREAD_ANY_QUERY) return to;
  const pathBytes = <i32>((foundKind == NAME_SPREAD ? keyEnd : keyPage) - keyHost);
  copyText(to, keyHost, pathBytes);
  const end = to + <usize>pathBytes;
  return foundKind == NAME_SPREAD ? end : writeAny(end, QUESTION);
}

@inline
function writeAny(target: usize, separator: u8): usize {
  store<u8>(target, separator);
  store<u8>(target, STAR, 1);
  return target + 2;
}

/** The texts of small counts, written when they are first needed: the bytes of each, and these. */
const TEXT_BYTES: usize = 24;
const MOST_TEXTS: i32 = 256;
const texts: usize = memory.data(24 * 256, 16);

/** Writes the most captures that the host may have. */
@inline
function writeCaptures(target: usize): usize {
  if (countStep == 0 || hostCount < 0) {
    store<u8>(target, SLASH);
    return target + 1;
  }
  if (hostCount >= MOST_TEXTS) return writeBound(target);
  const text = texts + TEXT_BYTES * <usize>hostCount;
  if (load<u8>(text) == 0) store<u8>(text, <u8>(writeBound(text + 1) - text - 1));
  const length = <i32>load<u8>(text);
  copyText(target, text + 1, length);
  return target + <usize>length;
}

function writeBound(target: usize): usize {
  const bits = min(<i64>MAX_COUNT_BITS, <i64>countStep * (<i64>hostCount + 1));
  const to = writeNumber(target, (<u64>1 << <u64>bits) - 1);
  store<u8>(to, MINUS);
  return to + 1;
}
