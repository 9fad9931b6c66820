// Bytes with a meaning, and searches in them.

export const LF: u8 = 10;
export const CR: u8 = 13;
export const SPACE: u8 = 32;
export const BANG: u8 = 33;
export const QUOTE: u8 = 34;
export const CLOSE_PAREN: u8 = 41;
export const STAR: u8 = 42;
export const COMMA: u8 = 44;
export const SLASH: u8 = 47;
export const ZERO: u8 = 48;
export const COLON: u8 = 58;
export const QUESTION: u8 = 63;
export const AT: u8 = 64;
export const OPEN_BRACKET: u8 = 91;
export const BACKSLASH: u8 = 92;
export const OPEN_BRACE: u8 = 123;

/** How many of the first `limit` bytes of two texts are the same, eight at a time. */
@inline
export function commonBytes(a: usize, b: usize, from: i32, limit: i32): i32 {
  let i: i32 = from;
  while (i + 8 <= limit) {
    const difference = load<u64>(a + <usize>i) ^ load<u64>(b + <usize>i);
    if (difference != 0) return i + <i32>(ctz(difference) >> 3);
    i += 8;
  }
  while (i < limit && load<u8>(a + <usize>i) == load<u8>(b + <usize>i)) i++;
  return i;
}

/** Texts longer than this are worth a call to copy them. */
const CALL_BYTES: i32 = 256;

/** Copies a text; up to 7 bytes behind it may be read and written too. */
@inline
export function copyText(target: usize, source: usize, length: i32): void {
  if (length > CALL_BYTES) {
    memory.copy(target, source, <usize>length);
    return;
  }
  for (let i: i32 = 0; i < length; i += 8) {
    store<u64>(target + <usize>i, load<u64>(source + <usize>i));
  }
}

/** Where the first blank, control character or question mark is; up to 15 bytes behind it are read. */
@inline
export function findKeyEnd(from: usize): usize {
  const blanks = i8x16.splat(<i8>SPACE);
  const questions = i8x16.splat(<i8>QUESTION);
  let at = from;
  let found: i32 = 0;
  for (;;) {
    const bytes = v128.load(at);
    found = i8x16.bitmask(
      v128.or(i8x16.le_u(bytes, blanks), i8x16.eq(bytes, questions)),
    );
    if (found != 0) break;
    at += 16;
  }
  return at + <usize>ctz(found);
}

/** The number of line feeds in `length` bytes, sixteen at a time. */
export function countLines(start: usize, length: i32): i32 {
  const feeds = i8x16.splat(<i8>LF);
  const end = start + <usize>length;
  let at = start;
  let count: i32 = 0;
  for (; at + 16 <= end; at += 16) {
    count += popcnt(i8x16.bitmask(i8x16.eq(v128.load(at), feeds)));
  }
  for (; at < end; at++) if (load<u8>(at) == LF) count++;
  return count;
}
