/**
 * How many cases a property is tried with. `count` is that of `npm run test:all`; `npm test` tries a
 * quarter of them, with the same seed every time. `MEMENTOMAP_CASES=5` tries five times as many.
 */
export function cases(count: number): number {
  return Math.ceil(count * Number(process.env["MEMENTOMAP_CASES"] ?? 0.25));
}
