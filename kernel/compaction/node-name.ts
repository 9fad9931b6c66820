// The hash that names a node: src/map/compact/budget/budget-survey.ts, continued from the parent's.
import { HASH_A, HASH_B, key, node, NONE, PARENT, TEXT_END } from "./nodes";

/** Hashes the text of a node; its parent has the hash of the beginning. */
export function hashNode(index: i32): void {
  const pointer = node(index);
  const parent = load<i32>(pointer, PARENT);
  let a: u32 = 0x811c9dc5;
  let b: u32 = 0x2c1b3c6d;
  let at: i32 = 0;
  if (parent != NONE) {
    const above = node(parent);
    a = load<u32>(above, HASH_A);
    b = load<u32>(above, HASH_B);
    at = load<i32>(above, TEXT_END);
  }
  for (const end = load<i32>(pointer, TEXT_END); at < end; at++) {
    const byte = <u32>load<u8>(key + <usize>at);
    a = a * 0x9e3779b1 + byte;
    b = (b ^ byte) * 0x85ebca77 + 1;
  }
  store<u32>(pointer, a, HASH_A);
  store<u32>(pointer, b, HASH_B);
}

/** The name: 53 bits. */
export function nameOf(index: i32): u64 {
  let a = load<u32>(node(index), HASH_A);
  let b = load<u32>(node(index), HASH_B);
  a = (a ^ (a >> 16)) * 0x7feb352d;
  b = (b ^ (b >> 15)) * 0x2c1b3c6d;
  return ((<u64>(a ^ (a >> 15))) << 21) + <u64>((b ^ (b >> 12)) >> 11);
}
