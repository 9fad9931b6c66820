import * as fc from "fast-check";

import type { Bound, Count, Frequency } from "../../src/ukvs/frequency.ts";

const bound = fc.constantFrom<Bound>("exact", "atLeast", "atMost", "about");

/** Small values collide and are often 0, where the rules differ; a few are large. */
const value = fc.oneof(
  { weight: 4, arbitrary: fc.nat({ max: 3 }) },
  { weight: 1, arbitrary: fc.nat({ max: 2 ** 50 }) },
);

const count: fc.Arbitrary<Count> = fc.record({ value, bound });

export const frequency: fc.Arbitrary<Frequency> = fc.record(
  { mementos: count, originals: count },
  { requiredKeys: [] },
);
