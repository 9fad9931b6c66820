const POLYNOMIAL = 0xedb88320;
/** The powers x^(2^n) modulo the polynomial, its bits reversed as in gzip. */
const POWERS: readonly number[] = powers();

/**
 * The CRC-32 of two stretches of bytes together, from that of each and the length of the second.
 *
 * (The method is that of `crc32_combine` in zlib, which Node does not offer.)
 */
export function combineCrc32(first: number, second: number, secondBytes: number): number {
  let shift = 0x80000000;
  // Each byte multiplies by x^8 = x^(2^3).
  for (let left = secondBytes, n = 3; left > 0; left = Math.floor(left / 2), n++) {
    if (left % 2 === 1) shift = multiply(POWERS[n % 32], shift);
  }
  return (multiply(shift, first) ^ second) >>> 0;
}

function powers(): number[] {
  const list = [0x40000000];
  while (list.length < 32) list.push(multiply(list[list.length - 1], list[list.length - 1]));
  return list;
}

/** The product of two polynomials, modulo that of CRC-32. */
function multiply(a: number, b: number): number {
  let product = 0;
  let factor = b;
  for (let bit = 0x80000000; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= factor;
    factor = (factor & 1) === 0 ? factor >>> 1 : (factor >>> 1) ^ POLYNOMIAL;
  }
  return product >>> 0;
}
