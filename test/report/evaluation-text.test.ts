import { describe, expect, it } from "vitest";
import type { Evaluation } from "../../src/evaluate/evaluation.ts";
import { evaluationText } from "../../src/report/evaluation-text.ts";

const MAP: Evaluation = {
  map: "/srv/archives/of-a-university/maps/weights-0.25-0.25.ukvs",
  lines: 1_234_567,
  bytes: 9_999_999_999,
  gzipBytes: 12_345_678,
  relativeCost: 1,
  lookups: 10,
  truePositives: 5,
  falsePositives: 0,
  trueNegatives: 5,
  falseNegatives: 0,
  accuracy: 0.99996,
  recall: 0.999999,
  freshness: null,
};

describe("evaluationText", () => {
  it("fits a terminal, whatever maps are called", () => {
    const fresh = { ...MAP, map: "small.ukvs", recall: 1, freshness: 0.25 };
    for (const maps of [[MAP], [MAP, fresh]]) {
      const lines = evaluationText(maps, maps).split("\n");
      expect(lines.filter((line) => line.length > 80)).toEqual([]);
      expect(lines).toHaveLength(3 + maps.length + 1);
    }
  });

  it("has a column of freshness where that was asked for", () => {
    expect(evaluationText([MAP], [MAP])).not.toContain("fresh");
    const fresh = { ...MAP, freshness: 0.25 };
    expect(evaluationText([fresh], [fresh])).toMatch(/ recall +fresh\n.* 0\.2500\n$/);
  });
});
