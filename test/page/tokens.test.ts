import { describe, expect, it } from "vitest";
import { DARK, LIGHT, type Palette, TOKEN_STYLE } from "../../src/page/tokens.ts";
import { ALL_SIGHTS, contrast, deltaE, difference } from "./color.ts";

type Pair = readonly [name: string, front: string, back: string];

/** Text, and what it stands on. */
function textPairs(palette: Palette): Pair[] {
  const { paper, card, ink, soft, accent, mark, no, yes } = palette;
  return [
    ["ink on paper", ink, paper],
    ["ink on a card", ink, card],
    ["ink on a mark", ink, mark],
    ["soft on paper", soft, paper],
    ["soft on a card", soft, card],
    ["links on paper", accent, paper],
    ["links on a card", accent, card],
    ["a button", palette["accent-ink"], accent],
    ["the tip of a chart", paper, ink],
    ["yes", yes, palette["yes-paper"]],
    ["no", no, palette["no-paper"]],
    ["calm", palette["calm-ink"], palette.calm],
    ...palette.heat.map((color, i): Pair => [`heat ${i}`, i < 6 ? ink : palette["on-heat"], color]),
  ];
}

/** What must be seen to understand, and what it stands on. */
function markPairs({ card, paper, focus, bar, series, ordered, ...palette }: Palette): Pair[] {
  return [
    ["a bar", bar, card],
    ["the focus on paper", focus, paper],
    ["the focus on a card", focus, card],
    ["the line of a mark", palette["mark-line"], palette.mark],
    ...series.map((color, i): Pair => [`series ${i}`, color, card]),
    ...ordered.map((color, i): Pair => [`step ${i}`, color, card]),
  ];
}

describe.each([
  ["light", LIGHT],
  ["dark", DARK],
])("the %s palette", (_, palette) => {
  it.each(textPairs(palette))("has text that is read: %s", (_name, front, back) => {
    expect(contrast(front, back)).toBeGreaterThanOrEqual(4.5);
  });

  it.each(markPairs(palette))("has marks that are seen: %s", (_name, front, back) => {
    expect(contrast(front, back)).toBeGreaterThanOrEqual(3);
  });

  it.each(ALL_SIGHTS)("has series that differ: %s", (sight) => {
    const { series } = palette;
    const pairs = series.flatMap((a, i) => series.slice(i + 1).map((b) => [a, b] as const));
    const close = pairs.filter(([a, b]) => difference(a, b, sight) < 10);
    expect(close).toEqual([]);
  });

  it.each(ALL_SIGHTS)("has steps and strengths that differ from the next: %s", (sight) => {
    for (const ramp of [palette.ordered, palette.heat.slice(1)]) {
      const steps = ramp.slice(1).map((color, i) => difference(ramp[i] ?? "", color, sight));
      expect(Math.min(...steps)).toBeGreaterThan(3.5);
    }
  });

  it("tells hits, misses and errors apart at a glance", () => {
    const [hit = "", error = ""] = palette.series;
    const miss = palette.series[7] ?? "";
    for (const sight of ALL_SIGHTS) {
      expect(difference(hit, error, sight)).toBeGreaterThan(20);
      expect(difference(hit, miss, sight)).toBeGreaterThan(15);
      expect(difference(error, miss, sight)).toBeGreaterThan(10);
    }
  });
});

describe("the tokens", () => {
  it("have every colour in light, in the dark and on paper", () => {
    for (const name of ["paper", "c7", "o7", "h9", "on-heat"]) {
      expect(TOKEN_STYLE.split(`--${name}:`)).toHaveLength(4);
    }
  });
});

describe("what computes them", () => {
  it("agrees with the examples of WCAG and of Sharma, Wu and Dalal", () => {
    expect(contrast("#000000", "#ffffff")).toBeCloseTo(21);
    expect(contrast("#777777", "#ffffff")).toBeCloseTo(4.48, 2);
    expect(deltaE([50, 2.6772, -79.7751], [50, 0, -82.7485])).toBeCloseTo(2.0425, 4);
    expect(deltaE([50, 2.5, 0], [73, 25, -18])).toBeCloseTo(27.1492, 4);
    expect(deltaE([2.0776, 0.0795, -1.135], [0.9033, -0.0636, -0.5514])).toBeCloseTo(0.9082, 4);
  });
});
