import { describe, expect, it } from "vitest";
import type { Evaluation, TruthSummary } from "../../../src/study/evaluate/evaluation.ts";
import { paperSteps, weightName } from "../../../src/study/evaluate/paper-maps.ts";
import { evaluationText, sweepText } from "../../../src/study/report/evaluation-text.ts";

const COUNTS = {
  lookups: 10,
  truePositives: 5,
  falsePositives: 0,
  trueNegatives: 5,
  falseNegatives: 0,
  accuracy: 0.99996,
};
const MAP: Evaluation = {
  map: "/srv/archives/of-a-university/maps/weights-0.25-0.25.ukvs",
  lines: 1_234_567,
  bytes: 9_999_999_999,
  gzipBytes: 12_345_678,
  relativeCost: 1,
  costBasis: "originals",
  costDivisor: 1_234_567,
  ...COUNTS,
  keyAccuracy: 0.99996,
  uriAccuracy: 0.9,
  uris: { ...COUNTS, lookups: 12, accuracy: 0.9 },
  heldHosts: { keys: COUNTS, uris: COUNTS },
  recall: 0.999999,
  freshness: null,
};
const TRUTH: TruthSummary = { kind: "index", keys: 5, originals: 6, noUris: null };
const LATER = { captures: 4, capturesPresent: 3, newOriginals: 2, newOriginalsPresent: 1 };
const AS_OF = {
  date: "2015",
  ...LATER,
  originals: 3,
  originalsPresent: 2,
  periods: [{ period: "2016-01", ...LATER }],
};

describe("evaluationText", () => {
  it("fits a terminal, whatever maps are called", () => {
    const fresh = { ...MAP, map: "small.ukvs", recall: 1, freshness: 0.25, asOf: AS_OF };
    for (const maps of [[MAP], [MAP, fresh]]) {
      const lines = evaluationText(maps, TRUTH).split("\n");
      expect(lines.filter((line) => line.length > 80)).toEqual([]);
    }
  });

  it("says how much was asked, how much of it is held, and what cost is divided by", () => {
    const text = evaluationText([MAP], TRUTH);
    expect(text).toMatch(/^lookups: 10 keys, 5 of them held, 10 on held hosts$/m);
    expect(text).toMatch(/^lookups: 12 URIs, 5 of them held$/m);
    expect(text).toMatch(/^cost: lines for each of 1,234,567 originals;/m);
    const byKeys = evaluationText([{ ...MAP, costBasis: "keys" }], TRUTH);
    expect(byKeys).toMatch(/^cost: lines for each of 1,234,567 keys;/m);
  });

  it("has no number where nothing is known, and says why", () => {
    const nothing = { ...MAP, keyAccuracy: null, uriAccuracy: null, uris: null };
    const text = evaluationText([nothing], { ...TRUTH, noUris: "only keys" });
    expect(text).toMatch(/ 12,345,678 +- +1\.0000 +0\.9999\n/);
    expect(text).toContain("no accuracy of URIs: only keys");
  });

  it("has a column of freshness where that was asked for", () => {
    expect(evaluationText([MAP], TRUTH)).not.toContain("fresh");
    const fresh = { ...MAP, freshness: 0.25 };
    expect(evaluationText([fresh], TRUTH)).toMatch(/ recall +fresh\n.* 0\.2500\n/);
  });

  it("tells freshness over time", () => {
    const text = evaluationText([{ ...MAP, freshness: 0.5, asOf: AS_OF }], TRUTH);
    expect(text).toMatch(/^2016-01 +4 +75\.00 +2 +50\.00$/m);
  });
});

describe("sweepText", () => {
  it("fits a terminal, and tells inputs apart, for the largest archives", () => {
    const maps = paperSteps().map(({ hostWeight, pathWeight, input }, _, steps) => {
      const from = steps[input];
      const made = {
        input: from === undefined ? "HinfPinf" : weightName(from.hostWeight, from.pathWeight),
        hostWeight,
        pathWeight,
        rollUps: 4_574_305,
        seconds: 8640.12,
      };
      return { ...MAP, lines: 447_107_301, map: weightName(hostWeight, pathWeight), made };
    });
    const lines = sweepText({ ...MAP, map: "HinfPinf" }, maps, TRUTH).split("\n");
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(lines.join("\n")).not.toContain("…");
    const inputs = lines.slice(4, 40).map((line) => line.split(/ +/).slice(0, 2).join(" < "));
    expect(new Set(inputs).size).toBe(36);
    expect(inputs.slice(0, 3)).toEqual(["4/4 < base", "4/2 < 4/4", "4/1 < 4/2"]);
  });
});
