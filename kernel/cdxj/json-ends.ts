// Where values of JSON end.

import { BACKSLASH, COMMA, QUOTE, SPACE } from "../shared/bytes";

const CLOSE_BRACE: u8 = 125;

/** The quote that ends a string; `end` or more if there is none. */
@inline
export function stringEnd(from: usize, end: usize): usize {
  const quotes = i8x16.splat(QUOTE);
  const backslashes = i8x16.splat(BACKSLASH);
  let at = from;
  while (at < end) {
    const bytes = v128.load(at);
    const found = i8x16.bitmask(v128.or(i8x16.eq(bytes, quotes), i8x16.eq(bytes, backslashes)));
    if (found == 0) {
      at += 16;
      continue;
    }
    at += <usize>ctz(found);
    if (load<u8>(at) == QUOTE) return at;
    at += 2;
  }
  return end;
}

/** The offset behind a number, `true`, `false` or `null`; `end` if it is anything else. */
export function bareEnd(from: usize, end: usize): usize {
  for (let at = from; at < end; at++) {
    const byte = load<u8>(at);
    if (byte <= SPACE || byte == COMMA || byte == CLOSE_BRACE) return at == from ? end : at;
    if (!isBare(byte)) return end;
  }
  return end;
}

/** Letters, digits, `+`, `-` and `.`. */
function isBare(byte: u8): bool {
  const lower = byte | 32;
  if (lower >= 97 && lower <= 122) return true;
  return byte == 43 || byte == 45 || byte == 46 || (byte >= 48 && byte <= 57);
}
