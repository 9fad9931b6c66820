import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fitQuality } from "../../../src/format.ts";
import { surt } from "../../../src/surt/uri-to-surt.ts";
import type { Analysis } from "../../../src/study/analyze/analysis.ts";
import type { AnalyzeIndexOptions } from "./analyze-index.ts";
import { analyzeIndex } from "./analyze-index.ts";
import { generateMap } from "../../../src/generate/generate-map.ts";
import { isMalformedMime } from "../../../src/study/analyze/summarize.ts";
import type { Row } from "./index-rows.ts";
import { asCdx, asCdxj, rows } from "./index-rows.ts";
import { countBy, keyOf, naive, originalOf } from "./naive-analysis.ts";
import { cases } from "../../support/cases.ts";

async function analyze(text: string, options: AnalyzeIndexOptions = {}): Promise<Analysis> {
  const chunks = [new TextEncoder().encode(text)];
  return analyzeIndex([{ name: "test", chunks }], { top: 1000, memoryBytes: 1 << 20, ...options });
}

/** Checks a claim about the analysis of any rows. */
async function forAll(check: (analysis: Analysis, rows: Row[]) => void): Promise<void> {
  await fc.assert(
    fc.asyncProperty(rows, fc.boolean(), async (list, isCdxj) => {
      const text = isCdxj ? asCdxj(list) : asCdx(list);
      check(await analyze(text, { format: isCdxj ? "cdxj" : "cdx" }), list);
    }),
    { numRuns: cases(60) },
  );
}

describe("analyzeIndex, beside a naive computation", () => {
  it("counts mementos, originals, keys, hosts and addresses", async () => {
    await forAll(({ index }, list) => {
      const { mementos, originals, keys, hosts, ips: ipAddresses } = naive(list);
      expect(index).toMatchObject({ mementos, originals, keys, hosts, ipAddresses });
      const dates = list.map((row) => row.datetime).filter((date) => /^\d{6}02/.test(date));
      const valid = dates.filter((date) => date.length === 14 && date.slice(4, 6) !== "13");
      expect(index.first).toBe(valid.reduce((a, b) => (a < b ? a : b), valid[0] ?? ""));
      expect(index.last).toBe(valid.reduce((a, b) => (a > b ? a : b), ""));
    });
  });

  it("describes the distribution of mementos over originals", async () => {
    await forAll(({ distribution, top }, list) => {
      const { counts, median, gini, perOriginal } = naive(list);
      expect(distribution.count).toBe(counts.length);
      expect(distribution.max).toBe(counts.at(-1) ?? 0);
      expect(distribution.median).toBe(median);
      expect(distribution.gini).toBeCloseTo(gini, 10);
      const mean = counts.length === 0 ? 0 : list.length / counts.length;
      expect(distribution.mean).toBeCloseTo(mean, 10);
      const listed = new Map(top.originals.map(({ surt, mementos }) => [surt, mementos]));
      expect(listed).toEqual(perOriginal);
      expect(top.originals.map(({ mementos }) => mementos)).toEqual(counts.toReversed());
      const largest = distribution.concentration.map(({ x, y }) => [x, y]);
      for (const [x = 0, y = 0] of largest) {
        const share = counts.slice(counts.length - Math.round(x * counts.length));
        expect(y).toBeCloseTo(share.reduce((a, b) => a + b, 0) / Math.max(list.length, 1), 10);
      }
    });
  });

  it("finds where the share of mementos and the share of originals add up to one", async () => {
    await forAll(({ distribution: { paretoShare } }, list) => {
      const counts = naive(list).counts.toReversed();
      if (counts.length === 0) return;
      // The curve is made of straight lines between originals.
      const at = paretoShare * counts.length;
      const whole = counts.slice(0, Math.floor(at)).reduce((a, b) => a + b, 0);
      const part = (at - Math.floor(at)) * (counts[Math.floor(at)] ?? 0);
      expect(paretoShare + (whole + part) / list.length).toBeCloseTo(1, 8);
    });
  });

  it("makes the yearly table", async () => {
    await forAll(({ years }, list) => {
      const expected = naive(list).years;
      expect(years.map((row) => ({ ...row, ok: row.statusShares[0] }))).toMatchObject(expected);
      for (const row of years) {
        expect(row.gamma).toBeCloseTo(row.mementos / row.originals, 10);
        expect(row.statusShares.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 10);
      }
    });
  });

  it("makes the tables of depths", async () => {
    await forAll(({ depths, exactDepths }, list) => {
      const { hostDepths, pathDepths, hostsByDepth, keysByPathDepth } = naive(list);
      for (const row of exactDepths) {
        expect(row.hosts).toBe(hostsByDepth.get(row.depth) ?? 0);
        expect(row.keysByPath).toBe(keysByPathDepth.get(row.depth) ?? 0);
      }
      const expected = [
        ...hostDepths.map((row, i) => ({ depth: `H${i + 1}`, ...row })),
        ...pathDepths.map((row, i) => ({ depth: `P${i}`, ...row })),
      ];
      expect(depths.map(({ depth }) => depth)).toEqual(expected.map(({ depth }) => depth));
      for (const [i, row] of depths.entries()) {
        const { count, sum, max, mean, median, standardDeviation, parents } = expected[i] ?? row;
        expect(row.count).toBe(count);
        expect(row.sum).toBe(sum);
        expect(row.max).toBe(max);
        expect(row.mean).toBeCloseTo(mean, 10);
        expect(row.median).toBe(median);
        expect(row.standardDeviation).toBeCloseTo(standardDeviation, 8);
        expect(row.reductionQuotient).toBeCloseTo(expected[i]?.reductionQuotient ?? 0, 10);
        expect(row.parents).toBe(row.depth === "P0" ? count : parents);
        expect(row.children).toBe(count);
        expect(row.meanChildren).toBeCloseTo(count / row.parents, 10);
      }
    });
  });

  it("draws the reduction curves through true points", async () => {
    await forAll(({ reduction }, list) => {
      const { pathDepths, hostDepths, keys } = naive(list);
      for (const [curves, tables, first] of [
        [reduction.pathGlobal, pathDepths, 0],
        [reduction.hostGlobal, hostDepths, 1],
      ] as const) {
        for (const { depth, points } of curves) {
          const sizes = tables[Number(depth.slice(1)) - first]?.sizes.toReversed() ?? [];
          for (const { x, y } of points) {
            const saved = sizes.slice(0, x).reduce((sum, size) => sum + size - 1, 0);
            expect(y).toBeCloseTo(saved / keys, 10);
          }
          expect(points.at(-1)?.x).toBe(sizes.length);
        }
      }
      for (const { depth, points } of reduction.pathIncremental) {
        const families = pathDepths[Number(depth.slice(1))]?.families ?? [];
        families.sort((a, b) => b - a);
        const children = families.reduce((a, b) => a + b, 0);
        for (const { x, y } of points) {
          const saved = families.slice(0, x).reduce((sum, size) => sum + size - 1, 0);
          expect(y).toBeCloseTo(saved / children, 10);
        }
      }
    });
  });

  it("ranks top-level domains, hosts and sub-trees", async () => {
    await forAll(({ tlds, top }, list) => {
      const found = new Map(
        tlds.rows.map(({ tld, originals, mementos }) => [tld, [originals, mementos]]),
      );
      expect(found).toEqual(naive(list).tlds);
      const shares = [...tlds.rows, tlds.ipAddresses, tlds.other];
      const sum = shares.reduce((total, row) => total + row.mementos, 0);
      expect(sum).toBe(list.length);
      for (const row of [...top.hosts, ...top.domains, ...top.paths]) {
        const covered = list.filter((capture) => isCovered(keyOf(capture), row.name));
        expect([row.name, row.mementos]).toEqual([row.name, covered.length]);
        expect(row.originals).toBe(new Set(covered.map(originalOf)).size);
        expect(row.keys).toBe(new Set(covered.map(keyOf)).size);
        const largest = Math.max(...countBy(covered, originalOf).values());
        expect(row.largestOriginal).toBe(largest);
      }
    });
  });

  it("makes the grids of MIME types, statuses, paths, queries and months", async () => {
    await forAll(({ captures, malformed }, list) => {
      const html = captures.mimeStatus.find(({ group }) => group === "HTML")?.counts[0] ?? 0;
      const isHtml = (row: Row): boolean => /^(text\/)?html;?$/.test(row.mime);
      const isOk = (row: Row): boolean => /^2\d\d$/.test(row.status);
      expect(html).toBe(list.filter((row) => isHtml(row) && isOk(row)).length);
      const all = captures.mimeStatus.flatMap(({ counts }) => counts);
      expect(all.reduce((a, b) => a + b, 0)).toBe(list.length);
      expect(captures.pathQuery).toEqual(naiveGrid(list));
      for (const { year, months } of captures.yearMonth) {
        for (const [month, count] of months.entries()) {
          const prefix = `${year}${String(month).padStart(2, "0")}`;
          if (month === 0) continue;
          expect(count).toBe(list.filter((row) => row.datetime.startsWith(prefix)).length);
        }
      }
      const malformedMimes = list.filter((row) => isMalformedMime(row.mime)).length;
      expect(malformed.mimeTypes.count).toBe(malformedMimes);
      expect(malformed.statusCodes.count).toBe(
        list.filter((row) => !/^([1-5]\d\d|-)$/.test(row.status)).length,
      );
    });
  });

  it("says the same of any order, in one run or many", async () => {
    await fc.assert(
      fc.asyncProperty(rows, fc.infiniteStream(fc.nat()), async (list, numbers) => {
        const order = list.map((row) => ({ row, at: numbers.next().value ?? 0 }));
        order.sort((a, b) => a.at - b.at);
        const shuffled = asCdx(order.map(({ row }) => row));
        const sorted = asCdx(list.toSorted((a, b) => (a.surt < b.surt ? -1 : 1)));
        const [a, b] = await Promise.all([
          analyze(shuffled, { format: "cdx" }),
          analyze(sorted, { format: "cdx" }),
        ]);
        expect({ ...a, method: undefined }).toEqual({ ...b, method: undefined });
      }),
      { numRuns: cases(40) },
    );
  });

  it("counts what is malformed, with examples", async () => {
    const { malformed, index } = await analyze(
      [
        " CDX N b a m s k r M S V g",
        "com,a)/x 20041301000000 http://a.com/x text/html 200 D - - 1 2 f",
        "com,a)/y 20040101000000 http://a.com/%zz text 20x D - - 1 2 f",
        "com,a)/z 20040101000000 ftp://a.com/z text/html 200 D - - 1 2 f",
        "com,a!)/z 20040101000000 http://a!.com/z text/html 200 D - - 1 2 f",
        "com,a)/z never http://a.com/z text/html 200 D - - 1 2 f",
        "",
      ].join("\n"),
    );
    expect(index.lines.bad).toBe(1);
    expect(malformed.lines[0]?.fault).toMatch(/datetime/);
    expect(malformed.lines[0]?.examples[0]).toMatch(/^com,a\)\/z never/);
    expect(malformed.datetimes).toEqual([
      { fault: "no such month", count: 1, examples: ["20041301000000"] },
    ]);
    expect(malformed.mimeTypes.examples).toEqual([{ value: "text", count: 1 }]);
    expect(malformed.statusCodes.examples).toEqual([{ value: "20x", count: 1 }]);
  });

  it("leaves nothing out for lists that are empty, as generate does", async () => {
    const text = "com,a)/ 20040101000000 http://a.com/ text/html 200 D - - 1 2 f\n";
    for (const filter of [
      { status: [], mime: [] },
      { status: [], from: "2004" },
    ]) {
      expect((await analyze(text, { filter })).index.mementos).toBe(1);
      const source = { name: "test", chunks: [new TextEncoder().encode(text)] };
      expect((await generateMap([source], { filter })).counts.captures).toBe(1);
    }
  });

  it("has an answer for an empty index", async () => {
    const { index, distribution, years } = await analyze("");
    expect(index.mementos).toBe(0);
    expect(distribution.gini).toBe(0);
    expect(years).toEqual([]);
  });
});

function isCovered(key: string, wildcard: string): boolean {
  const stem = wildcard.slice(0, -2);
  if (wildcard.endsWith(",*")) return key.startsWith(`${stem},`) || key.startsWith(`${stem})`);
  return key === stem || key === `${stem}/` || key.startsWith(`${stem}/`);
}

function naiveGrid(list: readonly Row[]): number[][] {
  const grid = Array.from({ length: 6 }, () => Array.from({ length: 6 }, () => 0));
  for (const { surt } of list) {
    const [path = "", query = ""] = surt.split("?");
    const segments =
      path
        .split(")/")[1]
        ?.split("/")
        .filter((segment) => segment !== "") ?? [];
    const parameters = query.split("&").filter((parameter) => parameter !== "");
    const row = grid[Math.min(segments.length, 5)];
    if (row !== undefined) row[Math.min(parameters.length, 5)] += 1;
  }
  return grid;
}

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
