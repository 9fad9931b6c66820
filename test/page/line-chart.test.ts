import { expect, it } from "vitest";
import { keySvg } from "../../src/page/chart/drawing.ts";
import { lineChart } from "../../src/page/chart/line-chart.ts";

it("draws sixteen lines that differ by colour or marker, and keys that differ as they do", () => {
  const series = Array.from({ length: 16 }, (_, i) => ({
    name: "policy",
    points: [1, 2].map((x) => ({ x, y: i + x })),
  }));
  const { legend = [], marks } = lineChart({ x: { name: "x" }, y: { name: "y" }, series });
  expect(new Set(legend.map(keySvg)).size).toBe(16);
  const looks = Array.from(
    marks.matchAll(/class="dot (c\d) solid"[^>]* d="([^"]*)"/g),
    ([, color, outline]) => `${color} ${outline}`,
  );
  expect(new Set(looks).size).toBe(16);
});
