// A hash table from keys to their rows, which stay where they are in the map.

import { commonBytes, SPACE } from "../shared/bytes";

const MULTIPLIER: u64 = 0x9e3779b97f4a7c15;
const FINISHER: u64 = 0xbf58476d1ce4e5b9;

/** Places and their mask: half of the hash and the address of a row each, 0 where there is none. */
let pages: usize = 0;
let pageMask: u64 = 0;
let wildcards: usize = 0;
let wildcardMask: u64 = 0;

/** Makes tables for this many keys, at most half full. */
export function openTables(pageCount: i32, wildcardCount: i32): void {
  pageMask = placesFor(pageCount) - 1;
  pages = heap.alloc(<usize>((pageMask + 1) << 3));
  wildcardMask = placesFor(wildcardCount) - 1;
  wildcards = heap.alloc(<usize>((wildcardMask + 1) << 3));
}

function placesFor(keys: i32): u64 {
  let places: u64 = 16;
  while (places < <u64>keys * 2) places <<= 1;
  return places;
}

/** The hash of a key; up to 7 bytes behind it are read. */
@inline
export function hashOf(key: usize, length: i32): u64 {
  let hash: u64 = <u64>length * FINISHER;
  let at = key;
  let rest = length;
  for (; rest >= 8; rest -= 8, at += 8) {
    hash = (hash ^ load<u64>(at)) * MULTIPLIER;
    hash ^= hash >> 32;
  }
  if (rest > 0) {
    const mask: u64 = ~(<u64>-1 << (<u64>rest << 3));
    hash = (hash ^ (load<u64>(at) & mask)) * MULTIPLIER;
    hash ^= hash >> 32;
  }
  hash *= FINISHER;
  return hash ^ (hash >> 29);
}

/** Where the row of a page would be; reading it first lets the processor wait for many at once. */
@inline
export function pagePlace(hash: u64): usize {
  return pages + <usize>((hash & pageMask) << 3);
}

/** The row of a page, or 0. */
@inline
export function findPage(hash: u64, key: usize, length: i32): usize {
  return find(pages, pageMask, hash, key, length);
}

/** The row of a key that ends in `*`, or 0. */
@inline
export function findWildcard(hash: u64, key: usize, length: i32): usize {
  return find(wildcards, wildcardMask, hash, key, length);
}

@inline
function find(table: usize, mask: u64, hash: u64, key: usize, length: i32): usize {
  const half = <u32>(hash >> 32);
  let place = hash & mask;
  let found = load<u64>(table + <usize>(place << 3));
  while (found != 0 && (<u32>found != half || !isKey(<usize>(found >> 32), key, length))) {
    place = (place + 1) & mask;
    found = load<u64>(table + <usize>(place << 3));
  }
  return <usize>(found >> 32);
}

@inline
function isKey(row: usize, key: usize, length: i32): bool {
  return (
    load<u8>(row + <usize>length) == SPACE && commonBytes(row, key, 0, length) == length
  );
}

/** Adds a page that is not in its table. */
@inline
export function addPage(hash: u64, row: usize): void {
  add(pages, pageMask, hash, row);
}

/** Adds a key that ends in `*` and is not in its table. */
@inline
export function addWildcard(hash: u64, row: usize): void {
  add(wildcards, wildcardMask, hash, row);
}

@inline
function add(table: usize, mask: u64, hash: u64, row: usize): void {
  let place = hash & mask;
  while (load<u64>(table + <usize>(place << 3)) != 0) place = (place + 1) & mask;
  store<u64>(table + <usize>(place << 3), (<u64>row << 32) | (hash >> 32));
}
