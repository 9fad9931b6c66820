// The open nodes of the key tree, and the key they are prefixes of.

// The fields of a node, as offsets into NODE_BYTES. The first ones are for both kinds of work.
export const NODE_BYTES: usize = 128;
export const TEXT_END: usize = 0;
export const DEPTH: usize = 4;
export const PARENT: usize = 8;
export const LAYER: usize = 12;
export const SEPARATOR: usize = 13;
export const CHILDREN: usize = 16;
/** The state of the hash that names the node, behind its last byte. */
export const HASH_A: usize = 20;
export const HASH_B: usize = 24;

export const HOST: u8 = 0;
export const ROOT: u8 = 1;
export const PATH: u8 = 2;

export const NONE: i32 = -1;
export const MAX_NODES: i32 = 4096;
export const MAX_KEY_BYTES: i32 = 1 << 16;

const nodes: usize = memory.data(128 * 4096, 16);
export const key: usize = memory.data((1 << 16) + 16, 16);

/** Open nodes. */
export let size: i32 = 0;
export let keyLength: i32 = 0;
/** Where the host of the key ends, or NONE for a host wildcard. */
export let hostEnd: i32 = NONE;

/** The page taken last, while it is not known whether anything is below it. */
export let leafEnd: i32 = NONE;
export let leafParent: i32 = NONE;
export let leafDepth: i32 = 0;

@inline
export function node(index: i32): usize {
  return nodes + <usize>index * NODE_BYTES;
}

@inline
export function isKeyByte(at: i32, byte: u8): bool {
  return load<u8>(key + <usize>at) == byte;
}

@inline
export function increase(pointer: usize, by: i32): void {
  store<i32>(pointer, load<i32>(pointer) + by);
}
