// Finds the keys of CDXJ lines, in WebAssembly.
//
// Does for plain lines, `surt datetime {json}`, what src/map/generate/index-reader.ts does with
// src/input/cdxj.ts and the KeyScanner: lines that have the same key of host and path become one
// run. It stops before the first line that is anything else, which the caller reads itself.
// Filters by what the JSON block says work too, as far as the caller has taught it: see
// cdxj/row-filter.ts.
//
// This is AssemblyScript: TypeScript syntax, WebAssembly semantics. Build: `npm run build`.

import {
  BACKSLASH,
  CLOSE_PAREN,
  COMMA,
  commonBytes,
  CR,
  LF,
  QUESTION,
  QUOTE,
  SLASH,
  SPACE,
  STAR,
  ZERO,
} from "./shared/bytes";
import { isOutside } from "./cdxj/date-range";
import { UNKNOWN, verdictOf } from "./cdxj/row-filter";

export { learnDate } from "./cdxj/date-range";
export { lessonPointer, maxLessonBytes } from "./cdxj/lesson";
export { closeLayout, forget, learnGap, learnTail, learnWord, openLayout } from "./cdxj/row-filter";
export { forgetSuspects, learnSuspect } from "./cdxj/suspects";

const MAX_RUNS: i32 = 4096;
const RUN_BYTES: usize = 16;

const BANG: u8 = 33;
const COLON: u8 = 58;
const AT: u8 = 64;
const UPPER_A: u8 = 65;
const UPPER_Z: u8 = 90;
const LOWER_H: u8 = 104;
const LOWER_R: u8 = 114;
const LOWER_U: u8 = 117;
const OPEN_BRACE: u8 = 123;
const DELETE: u8 = 127;

const MIN_DATE_DIGITS: i32 = 4;
const MAX_DATE_DIGITS: i32 = 17;

/** A run: offset of its key, length, lines, bytes shared with the run before; four i32 each. */
const runTable: usize = memory.data(16 * 4096, 16);
let runCount: i32 = 0;
let lineCount: i32 = 0;
let revisitCount: i32 = 0;
/** Whether the line whose end was found last is of a revisit. */
let isRevisit: bool = false;

/**
 * Bits of a verdict: a revisit, and reasons to leave a row out; the first one counts. What the
 * others are, the caller knows.
 */
const IS_REVISIT: i32 = 1;
const IS_OUTSIDE: i32 = 4;
const MAX_REASONS: i32 = 7;
const rejectedTable: usize = memory.data(4 * 7, 4);

/** Makes room for `bytes` of lines; returns where they go. */
export function open(bytes: i32): usize {
  return heap.alloc(bytes + 64);
}

export function runsPointer(): usize {
  return runTable;
}

export function maxRuns(): i32 {
  return MAX_RUNS;
}

export function runs(): i32 {
  return runCount;
}

export function lines(): i32 {
  return lineCount;
}

/** Of the lines in runs, those whose MIME type is that of revisits. */
export function revisits(): i32 {
  return revisitCount;
}

/** Lines left out for a reason, counted from 0; they are in no run. */
export function rejected(reason: i32): i32 {
  return load<i32>(rejectedTable + <usize>(reason * 4));
}

/**
 * Takes lines of `[start, end)`, at most `maxLines`; returns where it stopped. With `isFiltered`
 * the values of each row decide whether it counts.
 */
export function scan(
  start: usize,
  end: usize,
  maxLines: i32,
  maxLineBytes: i32,
  isFiltered: bool,
): usize {
  runCount = 0;
  lineCount = 0;
  revisitCount = 0;
  memory.fill(rejectedTable, 0, 4 * MAX_REASONS);
  let run = runTable - RUN_BYTES;
  let last: usize = 0;
  let lastLength: i32 = -1;
  let lastRow: i32 = -1;
  let hostEnd: i32 = -1;
  let plain: i32 = 0;
  let at = start;
  while (at < end && lineCount < maxLines) {
    const first = load<u8>(at);
    if (first == BANG || first == AT || first <= SPACE) break;

    const room = <i32>(end - at);
    const shared = lastLength > 0 ? commonBytes(at, last, 0, lastLength < room ? lastLength : room) : 0;
    let keyEnd = at + <usize>shared;
    while (keyEnd < end && load<u8>(keyEnd) > SPACE) keyEnd++;
    const length = <i32>(keyEnd - at);
    const block = dateEnd(keyEnd, end);
    if (block == 0) break;
    if (hasOtherUri(block)) break;
    const lineEnd = isFiltered ? findFeed(block, end) : findLineEnd(block, end);
    if (lineEnd >= end || <i32>(lineEnd - at) > maxLineBytes) break;

    // The key of the row, as KeyScanner finds it.
    const isSameKey = shared == length && length == lastLength;
    let row = lastRow;
    let keyPlain = plain;
    let keyHostEnd = hostEnd;
    if (!isSameKey) {
      let known = shared < plain ? shared : plain;
      if (hostEnd == -1 || known < hostEnd + 2) {
        if (first == QUOTE || first == OPEN_BRACE || first == CLOSE_PAREN || first == COMMA) break;
        if (isOtherScheme(at, first, length)) break;
        known = 0;
        keyHostEnd = -1;
      }
      let isPlain = true;
      let i = known;
      for (; i < length; i++) {
        const byte = load<u8>(at + <usize>i);
        if (byte > QUESTION) {
          if (byte >= DELETE || (byte <= UPPER_Z && keyHostEnd == -1 && byte >= UPPER_A)) {
            isPlain = false;
            break;
          }
        } else if (byte == STAR) {
          isPlain = false;
          break;
        } else if (byte == QUESTION) {
          break;
        } else if (keyHostEnd == -1) {
          if (byte == CLOSE_PAREN) {
            const place = at + <usize>i;
            isPlain = i + 1 < length && load<u8>(place, 1) == SLASH && load<u8>(place - 1) != COMMA;
            if (!isPlain) break;
            keyHostEnd = i;
          } else if (byte == SLASH) {
            isPlain = false;
            break;
          }
        }
      }
      if (!isPlain || keyHostEnd == -1) break;
      keyPlain = i;
      row = i;
      while (row > keyHostEnd + 2 && load<u8>(at + <usize>(row - 1)) == SLASH) row--;
    }

    let verdict = 0;
    if (isFiltered) {
      const hasReturn = load<u8>(lineEnd - 1) == CR;
      verdict = verdictOf(block, hasReturn ? lineEnd - 1 : lineEnd);
      if (verdict == UNKNOWN) break;
      isRevisit = (verdict & IS_REVISIT) != 0;
    }
    const date = keyEnd + 1;
    if (isOutside(date, <i32>(block - 1 - date))) verdict |= IS_OUTSIDE;
    if (verdict > IS_REVISIT) {
      const count = rejectedTable + <usize>(4 * (ctz(verdict & ~IS_REVISIT) - 1));
      store<i32>(count, load<i32>(count) + 1);
      lineCount++;
      at = lineEnd + 1;
      continue;
    }

    if (row == lastRow && shared >= row) {
      store<i32>(run, load<i32>(run, 8) + 1, 8);
    } else {
      if (runCount == MAX_RUNS) break;
      runCount++;
      run += RUN_BYTES;
      let common = shared < row ? shared : row;
      if (lastRow < common) common = lastRow;
      store<i32>(run, <i32>(at - start));
      store<i32>(run, row, 4);
      store<i32>(run, 1, 8);
      store<i32>(run, common > 0 ? common : 0, 12);
      lastRow = row;
    }
    last = at;
    lastLength = length;
    plain = keyPlain;
    hostEnd = keyHostEnd;
    lineCount++;
    if (isRevisit) revisitCount++;
    at = lineEnd + 1;
  }
  return at;
}

/** Where the JSON block begins behind ` datetime `, or 0 if that is not what follows. */
function dateEnd(start: usize, end: usize): usize {
  if (start >= end || load<u8>(start) != SPACE) return 0;
  let at = start + 1;
  let byte = load<u8>(at);
  while (byte >= ZERO && byte <= ZERO + 9) byte = load<u8>(++at);
  const digits = <i32>(at - start) - 1;
  if (digits < MIN_DATE_DIGITS || digits > MAX_DATE_DIGITS || byte != SPACE) return 0;
  if (at + 1 >= end || load<u8>(at + 1) != OPEN_BRACE) return 0;
  return at + 1;
}

/** Whether a block begins with a URI that may not be of the web. */
function hasOtherUri(block: usize): bool {
  if (load<u8>(block, 2) != LOWER_U || load<u8>(block, 5) != QUOTE) return false;
  return load<u8>(block + (load<u8>(block, 7) == SPACE ? 9 : 8)) != LOWER_H;
}

/** `dns:`, `urn:`, `warcinfo:`, `filedesc:`, `metadata:`, `whois:`, and a few that look like them. */
function isOtherScheme(key: usize, first: u8, length: i32): bool {
  if (first == 100 || first == LOWER_U) return length > 3 && load<u8>(key, 3) == COLON;
  if (first != 119 && first != 102 && first != 109) return false;
  return (length > 8 && load<u8>(key, 8) == COLON) || (length > 5 && load<u8>(key, 5) == COLON);
}

/** The next line feed, sixteen bytes at a time; `end` or more if there is none. */
function findFeed(start: usize, end: usize): usize {
  const feed = i8x16.splat(LF);
  for (let at = start; at < end; at += 16) {
    const found = i8x16.bitmask(i8x16.eq(v128.load(at), feed));
    if (found != 0) return at + <usize>ctz(found);
  }
  return end;
}

/**
 * The next line feed, as `findFeed` finds it. Tells `isRevisit` on the way: to go over the bytes
 * once more would cost more.
 */
function findLineEnd(start: usize, end: usize): usize {
  const feed = i8x16.splat(LF);
  const slash = i8x16.splat(SLASH);
  const letter = i8x16.splat(LOWER_R);
  isRevisit = false;
  let at = start;
  while (at < end) {
    const block = v128.load(at);
    const found = i8x16.bitmask(i8x16.eq(block, feed));
    const pairs = v128.and(i8x16.eq(block, slash), i8x16.eq(v128.load(at, 1), letter));
    let slashes = i8x16.bitmask(pairs);
    if (found != 0) slashes &= (found & -found) - 1;
    for (; slashes != 0; slashes &= slashes - 1) {
      if (isRevisitType(at + <usize>ctz(slashes))) isRevisit = true;
    }
    if (found != 0) return at + <usize>ctz(found);
    at += 16;
  }
  return end;
}

/** Whether a slash is that of `"warc/revisit"` or `"warc\/revisit"`, which is a type and no URI. */
function isRevisitType(slash: usize): bool {
  if (load<u64>(slash, 1) != 0x2274697369766572) return false; // revisit"
  const type = slash - (load<u8>(slash - 1) == BACKSLASH ? 5 : 4);
  return load<u32>(type) == 0x63726177 && load<u8>(type - 1) == QUOTE; // warc
}
