import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type LearntReason,
  learntReasonText,
  readLearntReason,
} from "../../../src/aggregate/learn/learnt-reason.ts";

const reasons: fc.Arbitrary<LearntReason> = fc.oneof(
  fc.record({ kind: fc.constantFrom("had-it" as const, "lacked-it" as const, "unknown" as const) }),
  fc.record({
    kind: fc.constant("others" as const),
    hits: fc.nat(),
    asked: fc.nat(),
    prefix: fc.option(fc.string({ minLength: 1, unit: "binary" }), { nil: undefined }),
  }),
);

describe("the text of a learnt reason", () => {
  it("is read again as what it says, whatever is in a prefix", () => {
    fc.assert(
      fc.property(reasons, (reason) => {
        expect(readLearntReason(learntReasonText(reason))).toEqual(reason);
      }),
    );
  });

  it("is not found in other texts", () => {
    expect(readLearntReason("the archive is no longer listed")).toBeUndefined();
    expect(readLearntReason("3 of 4 lookups found everything")).toBeUndefined();
  });
});
