/** A law of two parameters goes through two points, and close to any three. */
const LEAST_POINTS = 4;

/** How well a law fits: `R2 0.998`; or that there are too few points to tell. */
export function fitQuality(
  { r2, points }: { readonly r2: number; readonly points: number },
  name: string = "R2",
): string {
  return points < LEAST_POINTS
    ? `${points} points are too few for ${name}`
    : `${name} ${r2.toFixed(3)}`;
}
