import fc from "fast-check";
import { cases } from "./cases.ts";

/**
 * Property tests use the same cases in every run, so that failures are caused by changes of the code;
 * `npm run test:all` prints a random seed, and `MEMENTOMAP_SEED` repeats such a run.
 */
fc.configureGlobal({
  seed: Number(process.env["MEMENTOMAP_SEED"] ?? 20_190_602),
  numRuns: cases(100),
});
