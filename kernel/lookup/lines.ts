// Lines of lookups and of answers.

import { CR, LF, ZERO } from "../shared/bytes";

/** `\tabsent\t`, and `\tpresent` before a tab, as bytes. */
export const ABSENT: u64 = 0x09746e6573626109;
export const PRESENT: u64 = 0x746e657365727009;
/** `-\t-\t-\n` */
export const NO_KEY: u64 = 0x0a2d092d092d;

@inline
export function isLineEnd(at: usize): bool {
  const byte = load<u8>(at);
  return byte == LF || (byte == CR && load<u8>(at + 1) == LF);
}

/** Writes a number in decimal digits; returns where it ends. */
@inline
export function writeNumber(target: usize, number: u64): usize {
  let to = target;
  if (number < 10) {
    store<u8>(to++, <u8>number + ZERO);
    return to;
  }
  let unit: u64 = 10;
  while (number / unit >= 10) unit *= 10;
  for (; unit > 0; unit /= 10) store<u8>(to++, <u8>((number / unit) % 10) + ZERO);
  return to;
}
