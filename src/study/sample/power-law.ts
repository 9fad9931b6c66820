import type { Random } from "../../bytes/random.ts";

/**
 * Splits a total into whole parts of at least 1, sized by the Zipf-Mandelbrot law, largest first.
 *
 * The sizes depend on the totals only, not on chance: a small sample then has the same shape as a
 * large one. Needs `parts <= total`. The parts add up to the total exactly.
 */
export function zipfSplit(total: number, parts: number): number[] {
  // The shift keeps the largest of many near a tenth of all, as in real archives.
  const shift = Math.min(15, 1 + parts / 8);
  const weights = Array.from({ length: parts }, (_, rank) => (rank + shift) ** -2.5);
  return proportionalSplit(total - parts, weights).map((size) => size + 1);
}

/** Splits a total into whole parts, each within 1 of its weight's share; they add up exactly. */
export function proportionalSplit(total: number, weights: readonly number[]): number[] {
  const sum = weights.reduce((all, weight) => all + weight, 0);
  let seen = 0;
  let given = 0;
  return weights.map((weight, i) => {
    seen += weight;
    const upTo = i === weights.length - 1 ? total : Math.floor((total * seen) / sum);
    const size = upTo - given;
    given = upTo;
    return size;
  });
}

/**
 * The exponent with which {@link drawPowerLaw} has the given mean, when it is not cut off.
 *
 * A mean is the zeta function of its exponent; a mean of 1 or less gives an exponent so high that
 * every draw is 1.
 */
export function exponentForMean(mean: number): number {
  let low = 1.01;
  let high = 40;
  for (let i = 0; i < 50; i++) {
    const middle = (low + high) / 2;
    if (zeta(middle) > mean) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** A whole number k >= 1 with P(k or more) = k^-exponent, cut off at a maximum. */
export function drawPowerLaw(random: Random, exponent: number, maximum: number): number {
  const u = 1 - random.real();
  return Math.min(maximum, Math.floor(u ** (-1 / exponent)));
}

function zeta(exponent: number): number {
  const terms = 64;
  let sum = 0;
  for (let n = 1; n < terms; n++) sum += n ** -exponent;
  // The rest by the Euler-Maclaurin formula.
  return sum + terms ** (1 - exponent) / (exponent - 1) + terms ** -exponent / 2;
}
