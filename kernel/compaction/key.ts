// Going from one key to the next.
import { CLOSE_PAREN, copyText, SLASH } from "../shared/bytes";
import { hostEnd, isKeyByte, key, keyLength, NONE } from "./nodes";
import { leave } from "./walk";

/**
 * Makes the text at `start` the key, which shares its first `shared` bytes with the last one, and closes
 * the nodes it is not in; false to give up.
 */
@inline
export function goTo(start: usize, length: i32, shared: i32): bool {
  if (!leave(shared, load<u8>(start + <usize>shared))) return false;
  copyText(key + <usize>shared, start + <usize>shared, length - shared);
  keyLength = length;
  if (shared <= hostEnd + 1 || hostEnd == NONE) hostEnd = findHostEnd(length);
  return true;
}

function findHostEnd(length: i32): i32 {
  for (let i = 0; i < length; i++) {
    if (isKeyByte(i, CLOSE_PAREN) && (i + 1 == length || isKeyByte(i + 1, SLASH))) return i;
  }
  return NONE;
}
