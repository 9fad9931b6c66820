import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Observation } from "../../../src/aggregate/learn/learner.ts";
import {
  ObservationBatch,
  readObservations,
} from "../../../src/aggregate/learn/observation-batch.ts";

const optional = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(values, { nil: undefined });
const number = fc.double({ noNaN: true });

const OBSERVATIONS: fc.Arbitrary<Observation> = fc.record({
  archive: fc.constantFrom("ia", "loc", "arquivo", "ärchiv"),
  surt: fc.string({ unit: "grapheme", maxLength: 300 }),
  mementos: fc.nat(),
  propensity: number,
  logit: optional(number),
  isAside: fc.boolean(),
  isOutside: fc.boolean(),
  mapLikelihood: optional(number),
  map: fc.constantFrom(undefined, "absent", "listed", "covered"),
  time: optional(number),
});

describe("observations for other processes", () => {
  it("are read as they were added, batch after batch", () => {
    const batch = new ObservationBatch();
    fc.assert(
      fc.property(fc.array(OBSERVATIONS, { maxLength: 200 }), (observations) => {
        for (const observation of observations) batch.add(observation);
        expect(batch.isEmpty).toBe(observations.length === 0);
        const sent = structuredClone(batch.take());
        expect([...readObservations(sent)]).toEqual(observations);
        expect(batch.isEmpty).toBe(true);
      }),
    );
  });

  it("have defaults for what was left out", () => {
    const batch = new ObservationBatch();
    batch.add({ archive: "ia", surt: "com,example)/", mementos: 2 });
    const [read] = readObservations(batch.take());
    expect(read).toEqual({
      archive: "ia",
      surt: "com,example)/",
      mementos: 2,
      propensity: 1,
      isAside: false,
      isOutside: false,
    });
  });
});
