// Makes packed maps: takes the names of a map's rows apart and hashes them, and solves ribbons.
//
// A translation of src/map/pack/row-name.ts, host-profiles.ts and name-scan.ts for plain rows, `key count`, and
// of `buildRibbon` in src/packed/ribbon.ts. A row that is not plain is left to the caller, who gives its key back
// with `takeKey`. The comments there explain names and ribbons; here are only those about memory.
//
// This is AssemblyScript: TypeScript syntax, WebAssembly semantics. Build: `npm run build`.
import * as hosts from "./packing/hosts";
import * as keys from "./packing/keys";
import * as lists from "./packing/lists";
import * as ribbon from "./packing/ribbon";
import { forgetPlain, takeRow } from "./packing/rows";

let input: usize = 0;
let rowCount: i32 = 0;

/**
 * Makes room for blocks of `bytes`; returns where they go. Call it once, first.
 *
 * @param partitionBits names are dealt out by so many bits of their place; -1 if they are not wanted.
 */
export function open(bytes: i32, partitionBits: i32, queries: bool, keepsVoids: bool): usize {
  keys.open(queries, keepsVoids, partitionBits >= 0);
  if (partitionBits >= 0) lists.open(partitionBits);
  input = heap.alloc(bytes + 16);
  return input;
}

/**
 * Takes whole lines, from `from` to `length` of the input. Returns where it stopped: at `length`, or at a row
 * that is not plain or not in order.
 */
export function take(from: i32, length: i32): i32 {
  let at = input + <usize>from;
  const end = input + <usize>length;
  // What is behind the last line must not look like a part of it; but it is the caller's.
  const behind = load<u8>(end);
  store<u8>(end, 0);
  while (at < end) {
    const next = takeRow(at, end);
    if (next == 0) break;
    at = next;
    rowCount++;
  }
  store<u8>(end, behind);
  return <i32>(at - input);
}

/** Where the caller puts a key for `takeKey`. */
export function keyRoom(): usize {
  return keys.room;
}

/** Keys must be shorter than this. */
export function maxKeyBytes(): i32 {
  return keys.MAX_KEY_BYTES;
}

/** Takes one key, with the captures of its row; 0 for a void. False if it is not behind the last one. */
export function takeKey(length: i32, captures: f64): bool {
  if (!keys.goTo(keys.room, length, keys.sharedWith(keys.room, length))) return false;
  forgetPlain();
  keys.addName(captures);
  rowCount++;
  return true;
}

/** The last key, to name it in errors. */
export function lastKey(): usize {
  return keys.key;
}

export function lastKeyLength(): i32 {
  return keys.keyLength;
}

/** Hands out what is left. */
export function finish(): void {
  hosts.finish();
  lists.finish();
}

export function rows(): i32 {
  return rowCount;
}

/** Rows that need a place in a filter. */
export function rowNames(): i32 {
  return hosts.rowCount;
}

export function voids(): i32 {
  return hosts.voidCount;
}

export function hasVoids(): bool {
  return hosts.hasVoids;
}

export function hasWildcards(): bool {
  return hosts.hasWildcards;
}

export function hasOlderKeys(): bool {
  return keys.hasOlder;
}

export function hostWildcards(): i32 {
  return hosts.hostWildcards;
}

export function hostSpreads(): i32 {
  return hosts.hostSpreads;
}

/** Pages by their depth, 0 to 7. */
export function depths(): usize {
  return hosts.depths;
}

/** Makes room for the names of a ribbon; the next three say where they go. */
export function openRibbon(names: i32): void {
  ribbon.open(names);
}

export function ribbonLow(): usize {
  return ribbon.low;
}

export function ribbonHigh(): usize {
  return ribbon.high;
}

export function ribbonValues(): usize {
  return ribbon.values;
}

/** Solves a ribbon; returns its slots, or 0 if two names contradict each other. */
export function buildRibbon(names: i32, bits: i32): i32 {
  return ribbon.build(names, bits);
}

/** Asks the last ribbon for all of its names; returns how many get their value. */
export function askRibbon(names: i32, slots: i32, bits: i32): i32 {
  return ribbon.ask(names, slots, bits);
}

export function ribbonSeed(): i32 {
  return ribbon.seed;
}

/** The words of the last ribbon. */
export function ribbonWords(): usize {
  return ribbon.words;
}
