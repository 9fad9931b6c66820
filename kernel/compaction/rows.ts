// Takes the rows of a map apart: `key count`, where the key is a page or a wildcard.
import {
  AT, BANG, COMMA, commonBytes, LF, OPEN_BRACE, QUESTION, QUOTE, SLASH, SPACE, STAR, ZERO,
} from "../shared/bytes";
import { goTo } from "./key";
import { hasMisses, takeMissesBefore } from "./misses";
import {
  DEPTH, HOST, hostEnd, isKeyByte, key, keyLength, LAYER, MAX_KEY_BYTES, node, NONE, PATH, TEXT_END,
} from "./nodes";
import { maxPathDepth } from "./policy";
import * as rollUp from "./roll-up";
import * as survey from "./survey";
import { ancestor, enter, isSurvey, push, setLeaf } from "./walk";

/** Takes the row at `start`; returns where the next one begins, or 0 to give up. */
export function takeRow(start: usize, end: usize): usize {
  const room = <i32>(end - start);
  let shared = commonBytes(start, key, 0, min(keyLength, room));
  // What begins like a header or JSON, and a key that goes on behind a wildcard.
  if (shared == 0 ? isOddFirst(load<u8>(start)) : load<u8>(start + <usize>shared - 1) == STAR) return 0;
  // The end of the key, the count, the end of the line.
  let at = plainEnd(start + <usize>shared);
  if (load<u8>(at) == STAR && at > start && isSeparator(load<u8>(at - 1))) at++;
  const length = <i32>(at - start);
  let byte: u8 = load<u8>(at);
  if (byte != SPACE || length > MAX_KEY_BYTES || length < 2) return 0;
  at++;
  const digits = at;
  let count: u64 = 0;
  for (byte = load<u8>(at); byte >= ZERO && byte <= ZERO + 9; byte = load<u8>(++at)) {
    count = count * 10 + <u64>(byte - ZERO);
  }
  const width = <i32>(at - digits);
  if (byte != LF || at >= end || width > 15 || count == 0) return 0;
  const lineEnd = at + 1;

  if (shared >= length) return 0;
  if (shared < keyLength && load<u8>(start + <usize>shared) < load<u8>(key + <usize>shared)) return 0;
  if (isSurvey && hasMisses()) {
    shared = takeMissesBefore(start, length, shared);
    if (shared == NONE) return 0;
  }
  if (!goTo(start, length, shared) || !takeKey(shared, <f64>count)) return 0;
  if (isSurvey) return lineEnd;
  return rollUp.appendLine(start, lineEnd) ? lineEnd : 0;
}

/**
 * Where the first byte is that needs a closer look: a blank, a control character, a question mark, a
 * `*`, or what is not ASCII. Up to 15 bytes behind it are read.
 */
@inline
function plainEnd(from: usize): usize {
  const blanks = i8x16.splat(<i8>SPACE);
  const questions = i8x16.splat(<i8>QUESTION);
  const stars = i8x16.splat(<i8>STAR);
  const tildes = i8x16.splat(0x7e);
  let at = from;
  let found: i32 = 0;
  for (;;) {
    const bytes = v128.load(at);
    // As signed bytes, what is not ASCII is below all others.
    const outside = v128.or(i8x16.le_s(bytes, blanks), i8x16.gt_s(bytes, tildes));
    const marks = v128.or(i8x16.eq(bytes, questions), i8x16.eq(bytes, stars));
    found = i8x16.bitmask(v128.or(outside, marks));
    if (found != 0) break;
    at += 16;
  }
  return at + <usize>ctz(found);
}

@inline
function isOddFirst(byte: u8): bool {
  return byte == BANG || byte == AT || byte == QUOTE || byte == OPEN_BRACE;
}

@inline
function isSeparator(byte: u8): bool {
  return byte == COMMA || byte == SLASH;
}

/** Takes the key of a row; false to give up. */
@inline
function takeKey(shared: i32, count: f64): bool {
  const length = keyLength;
  const isWildcard = isKeyByte(length - 1, STAR);
  if (hostEnd == NONE) {
    if (!isWildcard || length < 3 || !isKeyByte(length - 2, COMMA)) return false;
    return takeWildcard(shared, length - 2, length - 2, count);
  }
  // `com,cnn)` as older maps have it, and `X,*)/p`.
  if (hostEnd + 1 == length) return false;
  if (hostEnd >= 1 && isKeyByte(hostEnd - 1, STAR)) return false;
  if (isWildcard && isKeyByte(length - 2, SLASH)) {
    return takeWildcard(shared, hostEnd, length - 2, count);
  }
  if (hostEnd + 2 != length) return takePage(shared, length, count);
  const root = enter(shared, hostEnd, hostEnd + 1);
  if (root == NONE) return false;
  if (isSurvey) survey.addOwnRow(root);
  else rollUp.addOwnRow(root, count);
  return true;
}

/**
 * Whether no folder in `key[from, end)` can have a wildcard behind the key, which would count its pages: no byte is
 * before `*`, or is one.
 */
@inline
function isBehindWildcards(from: i32, end: i32): bool {
  const stars = i8x16.splat(<i8>STAR);
  for (let at = from; at < end; at += 16) {
    let found = i8x16.bitmask(i8x16.le_s(v128.load(key + <usize>at), stars));
    if (end - at < 16) found &= (1 << (end - at)) - 1;
    if (found != 0) return false;
  }
  return true;
}

function takePage(shared: i32, length: i32, count: f64): bool {
  if (!isSurvey && rollUp.isSettled()) {
    // Folders below a node that is rolled up decide nothing: what is open may count their pages.
    const above = ancestor(length);
    if (load<u8>(node(above), LAYER) != HOST && isBehindWildcards(load<i32>(node(above), TEXT_END), length)) {
      rollUp.addLeaf(above, count);
      setLeaf(length, above, load<i32>(node(above), DEPTH) + 1);
      return true;
    }
  }
  let folderEnd = length - 1;
  while (!isKeyByte(folderEnd, SLASH)) folderEnd--;
  const folder = enter(shared, hostEnd, folderEnd);
  if (folder == NONE) return false;
  const depth = load<i32>(node(folder), DEPTH) + 1;
  if (!isSurvey) {
    if (depth >= maxPathDepth) {
      rollUp.markPresent(folder);
      const page = push(length, PATH, depth, folder, false);
      if (page == NONE) return false;
      rollUp.addDeepPage(page, count);
      return true;
    }
    rollUp.addLeaf(folder, count);
  }
  setLeaf(length, folder, depth);
  return true;
}

function takeWildcard(shared: i32, end: i32, nodesEnd: i32, count: f64): bool {
  const base = enter(shared, end, nodesEnd);
  if (base == NONE) return false;
  if (isSurvey) survey.addWildcard(base);
  else rollUp.addWildcard(base, count);
  return true;
}
