// Ribbons: src/packed/ribbon.ts has the same in TypeScript, and explains them.
import { firstCoefficients, lastCoefficients, startHash } from "../shared/name-hash";

const BAND: i32 = 64;
const BLOCK_SLOTS: i32 = 32;
const FIRST_SLACK: f64 = 0.025;
const SEEDS_TO_GROWTH: i32 = 2;
const MAX_BITS: i32 = 32;

export let low: usize = 0;
export let high: usize = 0;
export let values: usize = 0;
export let words: usize = 0;
export let seed: i32 = 0;
let room: i32 = 0;
let slotRoom: i32 = 0;
/** For each slot, the coefficients and the value of the equation that begins there. */
let coefficients: usize = 0;
let results: usize = 0;
/** For each bit, the slots behind the current one that coefficients can reach. */
const reached: usize = memory.data(32 * 8, 8);

/** Room that is too small stays unused: it is doubled each time. */
export function open(names: i32): void {
  if (names <= room) return;
  room = max(names, 2 * room);
  low = heap.alloc(<usize>room * 4);
  high = heap.alloc(<usize>room * 4);
  values = heap.alloc(<usize>room * 4);
}

function openSlots(slots: i32): void {
  if (slots <= slotRoom) return;
  slotRoom = max(slots, 2 * slotRoom);
  coefficients = heap.alloc(<usize>slotRoom * 8);
  results = heap.alloc(<usize>slotRoom * 4);
  words = heap.alloc(<usize>(slotRoom / BLOCK_SLOTS) * <usize>MAX_BITS * 4);
}

export function build(names: i32, bits: i32): i32 {
  let slots = slotsFor(<f64>names * (1 + FIRST_SLACK));
  for (let attempt: i32 = 0; slots < 2 * names + 64 * BAND; attempt++) {
    openSlots(slots);
    memory.fill(coefficients, 0, <usize>slots * 8);
    seed = attempt % SEEDS_TO_GROWTH;
    if (addAll(names, slots)) {
      solve(slots, bits);
      return slots;
    }
    if (seed == SEEDS_TO_GROWTH - 1) slots += BLOCK_SLOTS * <i32>Math.ceil(<f64>slots / 3200);
  }
  return 0;
}

function slotsFor(count: f64): i32 {
  return max(BAND, BLOCK_SLOTS * <i32>Math.ceil(count / <f64>BLOCK_SLOTS)) + BLOCK_SLOTS;
}

function addAll(names: i32, slots: i32): bool {
  for (let i: i32 = 0; i < names; i++) {
    const a = load<u32>(low + (<usize>i << 2));
    const b = load<u32>(high + (<usize>i << 2));
    if (!add(startOf(a, b, slots), coefficientsOf(a, b), load<u32>(values + (<usize>i << 2)))) return false;
  }
  return true;
}

@inline
function startOf(a: u32, b: u32, slots: i32): i32 {
  return <i32>((<u64>startHash(a, b, <u32>seed) * <u64>(slots - BAND + 1)) >> 32);
}

@inline
function coefficientsOf(a: u32, b: u32): u64 {
  const last = <u64>lastCoefficients(a, b, <u32>seed);
  return <u64>firstCoefficients(a, b, <u32>seed) | (last << 32);
}

@inline
function add(start: i32, all: u64, value: u32): bool {
  let at = <usize>start;
  let bits = all;
  let rest = value;
  let there = load<u64>(coefficients + (at << 3));
  while (there != 0) {
    bits ^= there;
    rest ^= load<u32>(results + (at << 2));
    if (bits == 0) return rest == 0;
    const shift = ctz(bits);
    bits >>= shift;
    at += <usize>shift;
    there = load<u64>(coefficients + (at << 3));
  }
  store<u64>(coefficients + (at << 3), bits);
  store<u32>(results + (at << 2), rest);
  return true;
}

function solve(slots: i32, bits: i32): void {
  memory.fill(words, 0, <usize>(slots / BLOCK_SLOTS) * <usize>bits * 4);
  memory.fill(reached, 0, <usize>bits << 3);
  for (let at: i32 = slots - 1; at >= 0; at--) {
    const block = words + ((<usize>(at >> 5) * <usize>bits) << 2);
    const own = load<u64>(coefficients + (<usize>at << 3));
    const mask: u32 = 1 << (at & 31);
    // A slot that nothing determines is 0.
    const isFixed: u64 = own == 0 ? 0 : 1;
    const value = load<u32>(results + (<usize>at << 2));
    for (let bit: i32 = 0; bit < bits; bit++) {
      const pointer = reached + (<usize>bit << 3);
      const behind = load<u64>(pointer) << 1;
      const set = ((popcnt(behind & own) ^ <u64>(value >> bit)) & 1) & isFixed;
      store<u64>(pointer, behind | set);
      const word = block + (<usize>bit << 2);
      store<u32>(word, load<u32>(word) | (mask & (0 - <u32>set)));
    }
  }
}

/** Asks the last ribbon for all names, as readers do; returns how many get their value. */
export function ask(names: i32, slots: i32, bits: i32): i32 {
  let found: i32 = 0;
  for (let i: i32 = 0; i < names; i++) {
    const a = load<u32>(low + (<usize>i << 2));
    const b = load<u32>(high + (<usize>i << 2));
    const start = startOf(a, b, slots);
    const all = coefficientsOf(a, b);
    const shift = <u64>(start & 31);
    // The coefficients lie in three blocks.
    const first = <u32>(all << shift);
    const second = <u32>((all << shift) >> 32);
    const third = shift == 0 ? 0 : <u32>(all >> (64 - shift));
    const step = <usize>bits << 2;
    const block = words + <usize>(start >> 5) * step;
    const thirdBlock = third == 0 ? block : block + 2 * step;
    let value: u32 = 0;
    for (let bit: i32 = 0; bit < bits; bit++) {
      const at = <usize>bit << 2;
      const picked =
        (load<u32>(block + at) & first) ^
        (load<u32>(block + step + at) & second) ^
        (load<u32>(thirdBlock + at) & third);
      value |= (popcnt(picked) & 1) << bit;
    }
    if (value == load<u32>(values + (<usize>i << 2))) found++;
  }
  return found;
}
