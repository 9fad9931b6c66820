import { describe, expect, it } from "vitest";
import { loadPublicSuffix, suffixLabels } from "../../../../src/map/compact/budget/tree-survey.ts";

describe("suffixLabels", () => {
  it.each([
    ["com,cnn", 1],
    ["uk,co,bbc,www", 2],
    ["uk,bl", 1],
    ["com", 1],
    ["localhost", 1],
    ["11,2,250,10", 3],
    ["jp,kobe,city", 2],
    ["jp,kobe,a,b", 3],
  ])("%s has %i labels that name no site", (host, labels) => {
    expect(suffixLabels(host, loadPublicSuffix())).toBe(labels);
  });
});
