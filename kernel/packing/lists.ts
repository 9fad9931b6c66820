// The names of rows, dealt out to lists by kind and by place; lists that are full are handed out.
import { placeOf } from "../shared/name-hash";

/** Bytes of a name: both halves of its hash, and its host. */
const NAME_BYTES: usize = 12;
/** Names of a list; the same in src/map/pack/name-log.ts. */
const LIST_NAMES: i32 = 1024;
const LIST_BYTES: usize = 1024 * 12;

/** Kinds of lists, as in src/map/pack/name-log.ts. */
export const ROWS: i32 = 0;
export const VOIDS: i32 = 1;
export const HOMES: i32 = 2;
export const WHOLES: i32 = 3;
export const WHOLE_VOIDS: i32 = 4;
export const WIDE: i32 = 5;
const KINDS: i32 = 6;

let bits: i32 = 0;
let lists: usize = 0;
let counts: usize = 0;

/** Takes the names of a list. */
@external("env", "takeNames")
declare function takeNames(list: i32, pointer: usize, count: i32): void;

export function open(partitionBits: i32): void {
  bits = partitionBits;
  const count = <usize>(KINDS << bits);
  lists = heap.alloc(count * LIST_BYTES);
  counts = heap.alloc(count * 4);
  memory.fill(counts, 0, count * 4);
}

export function addTo(kind: i32, low: u32, high: u32, host: i32): void {
  const partition: i32 = bits == 0 ? 0 : <i32>(placeOf(low) >> (32 - bits));
  const list = (kind << bits) + partition;
  const at = counts + (<usize>list << 2);
  let count = load<i32>(at);
  const text = lists + <usize>list * LIST_BYTES;
  const name = text + <usize>count * NAME_BYTES;
  store<u32>(name, low);
  store<u32>(name, high, 4);
  store<i32>(name, host, 8);
  count++;
  if (count == LIST_NAMES) {
    takeNames(list, text, count);
    count = 0;
  }
  store<i32>(at, count);
}

export function finish(): void {
  if (counts == 0) return;
  for (let list = 0; list < KINDS << bits; list++) {
    const count = load<i32>(counts + (<usize>list << 2));
    if (count > 0) takeNames(list, lists + <usize>list * LIST_BYTES, count);
    store<i32>(counts + (<usize>list << 2), 0);
  }
}
