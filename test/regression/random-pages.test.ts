import { fitQuality } from "../../src/format.ts";
import { describe, expect, it } from "vitest";
import { analyzeIndex } from "../study/analyze/analyze-index.ts";
import { surt } from "../../src/surt/uri-to-surt.ts";

describe("pages drawn at random", () => {
  it("are not drawn by the end of their URI alone", async () => {
    // A hundred stories, each with a page for every one of a hundred months, captured at once.
    const lines = Array.from({ length: 10_000 }, (_, i) => {
      const url = `http://a.com/${1000 + Math.floor(i / 100)}/the-long-story-${100 + (i % 100)}.html`;
      return `${surt(url)} 20150101000000 {"url":"${url}","mime":"text/html","status":"200"}\n`;
    });
    const chunks = [new TextEncoder().encode(lines.join(""))];
    const { captures } = await analyzeIndex([{ name: "stories", chunks }], { samples: 10 });
    const stories = captures.samples.map((text) => /story-\d+/.exec(JSON.stringify(text))?.[0]);
    expect(stories).toHaveLength(10);
    expect(new Set(stories).size).toBeGreaterThan(5);
  });
});

describe("how well a law fits", () => {
  it("is not told from three points", () => {
    expect(fitQuality({ r2: 1, points: 3 })).toBe("3 points are too few for R2");
    expect(fitQuality({ r2: 0.9984, points: 4 })).toBe("R2 0.998");
  });
});
