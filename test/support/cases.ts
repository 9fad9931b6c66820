/**
 * The number of cases of a property test. `count` applies to `npm run test:all`; `npm test` runs a quarter
 * of them, always with the same seed. `MEMENTOMAP_CASES=5` runs five times as many.
 */
export function cases(count: number): number {
  return Math.ceil(count * Number(process.env["MEMENTOMAP_CASES"] ?? 0.25));
}
