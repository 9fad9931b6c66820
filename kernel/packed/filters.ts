// The filters that names are in, as src/packed/ribbon.ts has them.

import { firstCoefficients, lastCoefficients, mix, placeOf, startHash } from "../shared/name-hash";

/** `value · size / 2^32`. */
@inline
function scale(value: u32, size: u32): u32 {
  return <u32>((<u64>value * <u64>size) >> 32);
}

/** Rows at their bits, hosts and voids behind them: the first shard, how many there are, and bits. */
const sets: usize = memory.data(16 * 35, 16);
const HOSTS: i32 = 33;
const VOIDS: i32 = 34;

let words: usize = 0;
let directory: usize = 0;

/** Takes where the words of all shards, and the directory of these, are. */
export function openFilters(wordsStart: usize, directoryStart: usize): void {
  words = wordsStart;
  directory = directoryStart;
}

/** Adds a filter: of rows at their bits, of hosts at 33 or of voids at 34. */
export function addFilter(set: i32, firstShard: i32, shards: i32, bits: i32): void {
  const at = sets + (<usize>set << 4);
  store<i32>(at, firstShard);
  store<i32>(at, shards, 4);
  store<i32>(at, bits, 8);
}

/** What the table of hosts has for a name, above its fingerprint; -1 where it is not in it. */
export function fieldOf(low: u32, high: u32, fingerprintBits: i32): i32 {
  return valueOf(HOSTS, low, high, fingerprintBits);
}

/** 1 if a name is among the rows, 2 if it is among the voids, else 0. */
@inline
export function contains(low: u32, high: u32, rows: bool, voids: bool, width: i32): i32 {
  if (rows) {
    const eighth = <i32>(mix(high ^ 0x165667b1) >> 29);
    const bits = (width >> 3) + (eighth < (width & 7) ? 1 : 0);
    if (bits == 0 || valueOf(bits, low, high, bits) >= 0) return 1;
  }
  return voids && valueOf(VOIDS, low, high, 32) >= 0 ? 2 : 0;
}

function valueOf(set: i32, low: u32, high: u32, checkedBits: i32): i32 {
  const at = sets + (<usize>set << 4);
  const shards = load<u32>(at, 4);
  if (shards == 0) return -1;
  const shard = load<u32>(at) + scale(placeOf(low), shards);
  const bits = load<i32>(at, 8);
  const entry = directory + (<usize>shard << 4);
  const seed = load<u32>(entry, 8);
  const start = scale(startHash(low, high, seed), load<u32>(entry, 4) - 63);
  const a = firstCoefficients(low, high, seed);
  const b = lastCoefficients(low, high, seed);
  const shift = start & 31;
  const first = i32x4.splat(<i32>(a << shift));
  // In two steps, because a shift by 32 is one by 0.
  const second = i32x4.splat(<i32>((b << shift) | ((a >> 1) >> (31 - shift))));
  const third = i32x4.splat(<i32>((b >> 1) >> (31 - shift)));
  const check = mix(low + high * 0x27d4eb2f);
  const blockBytes = <usize>bits << 2;
  let block = words + ((<usize>load<u32>(entry) + <usize>(start >> 5) * <usize>bits) << 2);
  const checked: u32 = checkedBits >= bits ? 0xffffffff : (1 << checkedBits) - 1;
  let value: u32 = 0;
  // Eight bits at a time. Bits behind the last are those of another block, and not looked at.
  for (let bit: i32 = 0; bit < bits; bit += 8, block += 32) {
    const low4 = halved(block, blockBytes, first, second, third);
    const high4 = halved(block + 16, blockBytes, first, second, third);
    let x = i8x16.shuffle(low4, high4, 2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23, 26, 27, 30, 31);
    // The highest bit of each half word becomes the parity of all bits of its word.
    x = v128.xor(x, i16x8.shl(x, 8));
    x = v128.xor(x, i16x8.shl(x, 4));
    x = v128.xor(x, i16x8.shl(x, 2));
    x = v128.xor(x, i16x8.shl(x, 1));
    const found = <u32>i16x8.bitmask(x) << bit;
    const rest = bits - bit;
    const mine: u32 = rest >= 8 ? 255 << bit : ((1 << rest) - 1) << bit;
    value |= found & mine;
    if (((found ^ check) & mine & checked) != 0) return -1;
  }
  return checkedBits >= bits ? 0 : <i32>(value >> checkedBits);
}

/** The slots of four bits that the coefficients of a name choose, in the upper half of each word. */
@inline
function halved(block: usize, blockBytes: usize, first: v128, second: v128, third: v128): v128 {
  const x = v128.xor(
    v128.xor(
      v128.and(v128.load(block), first),
      v128.and(v128.load(block + blockBytes), second),
    ),
    v128.and(v128.load(block + 2 * blockBytes), third),
  );
  return v128.xor(x, i32x4.shl(x, 16));
}
