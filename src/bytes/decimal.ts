import { ZERO } from "./ascii.ts";

/** How many digits a non-negative integer has. */
export function decimalLength(value: number): number {
  let width = 1;
  for (let rest = value; rest >= 10; rest = Math.floor(rest / 10)) width++;
  return width;
}

/** Writes a non-negative integer in decimal at `at`; returns the offset behind it. */
export function writeDecimal(value: number, target: Uint8Array, at: number): number {
  if (value < 10) {
    target[at] = ZERO + value;
    return at + 1;
  }
  const width = decimalLength(value);
  let rest = value;
  for (let i = at + width - 1; i >= at; i--) {
    const quotient = Math.floor(rest / 10);
    target[i] = ZERO + (rest - quotient * 10);
    rest = quotient;
  }
  return at + width;
}
