import fc from "fast-check";
import { cases } from "./cases.ts";

/**
 * Properties are tried with the same cases in every run, so that a change is judged by itself;
 * `npm run test:all` draws a seed and prints it, and `MEMENTOMAP_SEED` repeats that round.
 */
fc.configureGlobal({
  seed: Number(process.env["MEMENTOMAP_SEED"] ?? 20_190_602),
  numRuns: cases(100),
});
