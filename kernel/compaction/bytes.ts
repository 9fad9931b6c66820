// Bytes with a meaning, and searches in them.

export const LF: u8 = 10;
export const SPACE: u8 = 32;
export const CLOSE_PAREN: u8 = 41;
export const STAR: u8 = 42;
export const COMMA: u8 = 44;
export const SLASH: u8 = 47;
export const ZERO: u8 = 48;
export const QUESTION: u8 = 63;

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
