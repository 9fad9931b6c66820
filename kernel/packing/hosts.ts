// The profiles of hosts: what rows each has.

/** A profile: hash, masks, flags and rows as u32, captures as f64; the same in src/map/pack/host-profiles.ts. */
const PROFILE_BYTES: usize = 32;
const PAGE_PROFILES: i32 = 1024;

export const page: usize = memory.data(1024 * 32, 8);
/** The host of keys without one. */
const opaque: usize = memory.data(32, 8);
/** The number that names of such keys have. */
export const OPAQUE: i32 = -1;

/** Pages by their depth. */
export const depths: usize = memory.data(8 * 4, 4);

let inPage: i32 = 0;
let host: i32 = -1;
let profile: usize = 0;
let hasOpaque: bool = false;
export let rowCount: i32 = 0;
export let voidCount: i32 = 0;
export let hasVoids: bool = false;
export let hasWildcards: bool = false;
export let hostWildcards: i32 = 0;
export let hostSpreads: i32 = 0;

const LOW: usize = 0;
const HIGH: usize = 4;
const MASKS: usize = 8;
const FLAGS: usize = 12;
const ROWS: usize = 16;
const CAPTURES: usize = 24;

/** Takes a page of profiles; `isOpaque` for the one of keys without a host. */
@external("env", "takeHosts")
declare function takeHosts(pointer: usize, count: i32, isOpaque: bool): void;

/** Begins the next host. */
export function start(low: u32, high: u32): void {
  if (inPage == PAGE_PROFILES) {
    takeHosts(page, inPage, false);
    inPage = 0;
  }
  profile = page + <usize>inPage * PROFILE_BYTES;
  memory.fill(profile, 0, PROFILE_BYTES);
  store<u32>(profile, low, LOW);
  store<u32>(profile, high, HIGH);
  inPage++;
  host++;
}

/** Goes to the host of keys without one. Call `start` before the next other key. */
export function goToOpaque(low: u32, high: u32): void {
  profile = opaque;
  hasOpaque = true;
  store<u32>(profile, low, LOW);
  store<u32>(profile, high, HIGH);
}

/** The number of the host. */
@inline
export function current(): i32 {
  return profile == opaque ? OPAQUE : host;
}

@inline
export function addCaptures(captures: f64): void {
  store<f64>(profile, load<f64>(profile, CAPTURES) + captures, CAPTURES);
}

@inline
export function addMask(mask: u32): void {
  store<u32>(profile, load<u32>(profile, MASKS) | mask, MASKS);
}

@inline
export function addFlag(flag: u32): void {
  store<u32>(profile, load<u32>(profile, FLAGS) | flag, FLAGS);
}

@inline
export function addRow(): void {
  store<u32>(profile, load<u32>(profile, ROWS) + 1, ROWS);
  rowCount++;
}

@inline
export function addDepth(depth: i32): void {
  const pointer = depths + (<usize>depth << 2);
  store<u32>(pointer, load<u32>(pointer) + 1);
}

export function addVoid(): void {
  voidCount++;
}

export function noteVoid(): void {
  hasVoids = true;
}

export function noteWildcard(): void {
  hasWildcards = true;
}

export function addHostWildcard(bit: i32): void {
  hostWildcards |= bit;
}

export function addSpread(bit: i32): void {
  hostSpreads |= bit;
}

export function finish(): void {
  if (inPage > 0) takeHosts(page, inPage, false);
  inPage = 0;
  if (hasOpaque) takeHosts(opaque, 1, true);
}
