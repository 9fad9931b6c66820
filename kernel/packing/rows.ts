// Takes the rows of a map apart: `key count`.
import { AT, BANG, CLOSE_PAREN, COMMA, LF, OPEN_BRACE, QUOTE, SLASH, SPACE, STAR, ZERO } from "../shared/bytes";
import * as keys from "./keys";

/** As many digits are exact as a double. */
const SAFE_DIGITS: i32 = 15;

/** How many bytes of the last key have no odd one among them. */
let plainBytes: i32 = 0;

/** The last key is one that the caller gave. */
export function forgetPlain(): void {
  plainBytes = 0;
}

/** Takes the row at `start`; returns where the next one begins, or 0 to leave it to the caller. */
export function takeRow(start: usize, end: usize): usize {
  if (isOddFirst(load<u8>(start))) return 0;
  const shared = keys.sharedWith(start, <i32>(end - start));
  // What is plain of the last key is not looked at again.
  let at = plainEnd(start + <usize>min(shared, plainBytes));
  if (at > start && load<u8>(at) == STAR) {
    const before = load<u8>(at - 1);
    if (before == SLASH || before == COMMA) at++;
  }
  const length = <i32>(at - start);
  if (load<u8>(at) != SPACE || length < 2 || length >= keys.MAX_KEY_BYTES) return 0;
  // A home page without its slash is an older spelling.
  if (load<u8>(at - 1) == CLOSE_PAREN) return 0;
  const digits = ++at;
  let count: u64 = 0;
  let byte: u8 = load<u8>(at);
  for (; byte >= ZERO && byte <= ZERO + 9; byte = load<u8>(++at)) {
    count = count * 10 + <u64>(byte - ZERO);
  }
  const width = <i32>(at - digits);
  if (byte != LF || at >= end || width == 0 || width > SAFE_DIGITS) return 0;
  if (!keys.goTo(start, length, min(shared, length))) return 0;
  plainBytes = length - (load<u8>(start + <usize>(length - 1)) == STAR ? 1 : 0);
  keys.addName(<f64>count);
  return at + 1;
}

/** What begins like a header, a quoted key or JSON. */
@inline
function isOddFirst(byte: u8): bool {
  return byte <= SPACE || byte == BANG || byte == QUOTE || byte == AT || byte == OPEN_BRACE || byte == STAR;
}

/** Where the first blank, control character, `*`, or byte that is not ASCII is; up to 15 bytes behind are read. */
@inline
function plainEnd(from: usize): usize {
  const blanks = i8x16.splat(<i8>SPACE);
  const deletes = i8x16.splat(127);
  const stars = i8x16.splat(<i8>STAR);
  let at = from;
  let found: i32 = 0;
  for (;;) {
    const bytes = v128.load(at);
    // As signed numbers, bytes that are not ASCII are negative.
    const odd = v128.or(
      v128.or(i8x16.le_s(bytes, blanks), i8x16.eq(bytes, deletes)),
      i8x16.eq(bytes, stars),
    );
    found = i8x16.bitmask(odd);
    if (found != 0) break;
    at += 16;
  }
  return at + <usize>ctz(found);
}
