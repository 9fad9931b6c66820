// The hash of names: docs/packed.md, section 4.

export const START_A: u32 = 0x811c9dc5;
export const START_B: u32 = 0x2c1b3c6d;

@inline
export function extendA(a: u32, byte: u32): u32 {
  return (a ^ byte) * 0x01000193;
}

@inline
export function extendB(b: u32, byte: u32): u32 {
  return (b ^ byte) * 0x85ebca6b;
}

@inline
export function mix(value: u32): u32 {
  let x = value;
  x = (x ^ (x >> 16)) * 0x85ebca6b;
  x = (x ^ (x >> 13)) * 0xc2b2ae35;
  return x ^ (x >> 16);
}

@inline
export function lowOf(a: u32, b: u32): u32 {
  return mix(a + b * 0x9e3779b1);
}

@inline
export function highOf(b: u32, low: u32): u32 {
  return mix(b ^ low);
}

/** Says which shard a name belongs to; spread evenly. */
@inline
export function placeOf(low: u32): u32 {
  return mix(low ^ 0x3c6ef372);
}

/** The hash that says where in a ribbon the coefficients of a name begin. */
@inline
export function startHash(low: u32, high: u32, seed: u32): u32 {
  return mix(low ^ ((seed + 1) * 0x9e3779b1)) ^ high;
}

/** The coefficients of a name in a ribbon, 32 at a time. */
@inline
export function firstCoefficients(low: u32, high: u32, seed: u32): u32 {
  return mix(high * 0x9e3779b1 + low + seed) | 1;
}

@inline
export function lastCoefficients(low: u32, high: u32, seed: u32): u32 {
  return mix((low * 0x85ebca77) ^ (high + seed * 0xc2b2ae3d));
}
