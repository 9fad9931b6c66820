import { describe, expect, it } from "vitest";
import { fitHeaps, meanChildren, reductionQuotient } from "../../../src/study/analyze/histogram.ts";

const ALL_KEYS = 1_138_923_169;

/** Rows of the paper's table host-path-depth-stats: count, sum, RedQ, parents, children, MeanChld. */
const DEPTHS = `
H1         973 1,138,923,169 1.00000          1         973    973.00
H2   2,068,333 1,138,916,690 0.99818        904   2,068,333  2,287.98
H3   2,158,880   630,309,184 0.55153    253,091   2,158,880      8.53
H4   1,329,137   201,308,887 0.17559    148,589   1,329,137      8.95
H5     245,881    39,396,636 0.03438     31,635     245,881      7.77
H6     103,579    17,571,552 0.01534     16,496     103,579      6.28
H7      34,380     9,636,427 0.00843     10,061      34,380      3.42
H8      69,829     6,383,484 0.00554     15,359      69,829      4.55
H9      55,811     2,660,591 0.00229     55,811      55,811      1.00
H10+        10            62 0.00000         10          10      1.00
P0   5,841,503 1,138,923,169 0.99487  5,841,503   5,841,503      1.00
P1 145,687,459 1,134,466,338 0.86817  5,828,059 145,687,459     25.00
P2 290,761,965 1,021,443,935 0.64156 40,130,355 290,761,965      7.25
P3 392,635,328   795,954,162 0.35412 79,234,027 392,635,328      4.96
P4 215,251,988   461,498,975 0.21621 66,059,544 215,251,988      3.26
P5 158,256,277   287,069,088 0.11310 48,163,114 158,256,277      3.29
P6  91,334,214   159,584,909 0.05993 33,776,599  91,334,214      2.70
P7  60,099,825    91,006,216 0.02714 24,201,781  60,099,825      2.48
P8  31,101,768    45,186,916 0.01237 14,890,308  31,101,768      2.09
P9  18,601,197    23,008,116 0.00387  9,233,634  18,601,197      2.01
P10  6,817,122     7,455,014 0.00056  3,206,260   6,817,122      2.13
P11+   858,772       858,856 0.00000    222,432     392,565      1.76
`;

/** Years of the paper's table yearly-dist: URI-R, URI-R+, URI-M, URI-M+, Dup. %, gamma, gamma+. */
const YEARS = `
1996     110,531     111,303     126,600     127,569  0.00 1.15 1.15
1997     466,515     563,734     847,783     975,352  3.02 1.82 1.73
1998     447,042     928,112     747,114   1,722,466 18.49 1.67 1.86
2000   1,710,099   2,874,152  13,413,518  16,369,978 20.43 7.84 5.70
2008 113,915,969 166,926,098 174,996,303 333,338,928  9.12 1.54 2.00
2016 719,889,903 1,999,522,571 1,353,786,928 4,921,121,037 39.46 1.88 2.46
`;

function cells(table: string): { name: string; values: number[] }[] {
  return table
    .trim()
    .split("\n")
    .map((line) => {
      const [name = "", ...rest] = line.split(/\s+/);
      return { name, values: rest.map((text) => Number(text.replaceAll(",", ""))) };
    });
}

describe("the paper's tables", () => {
  it.each(cells(DEPTHS))("gives RedQ and MeanChld of $name back", ({ values }) => {
    const [count = 0, sum = 0, redQ, parents = 0, children = 0, mean] = values;
    // As printed: five decimals and two.
    expect(Number(reductionQuotient(sum, count, ALL_KEYS).toFixed(5))).toBe(redQ);
    expect(Number(meanChildren(children, parents).toFixed(2))).toBe(mean);
  });

  it("gives gamma and the cumulative gamma of years back", () => {
    for (const { values } of cells(YEARS)) {
      const [originals = 1, allOriginals = 1, mementos = 0, allMementos = 0, , gamma, all] = values;
      expect(Number((mementos / originals).toFixed(2))).toBe(gamma);
      expect(Number((allMementos / allOriginals).toFixed(2))).toBe(all);
    }
  });
});

describe("fitHeaps", () => {
  it("finds the law that points were made from", () => {
    const points = [1, 10, 500, 20_000].map((x) => ({ x, y: 3.5 * x ** 0.71 }));
    const fit = fitHeaps(points);
    expect(fit?.k).toBeCloseTo(3.5, 8);
    expect(fit?.beta).toBeCloseTo(0.71, 8);
    expect(fit?.r2).toBeCloseTo(1, 8);
  });

  it("has no law for fewer than two different points", () => {
    expect(fitHeaps([{ x: 3, y: 3 }])).toBeUndefined();
    expect(
      fitHeaps([
        { x: 3, y: 3 },
        { x: 3, y: 4 },
      ]),
    ).toBeUndefined();
  });

  it("grows slower than mementos for the paper's years, as Heaps' law says", () => {
    const points = cells(YEARS).map(({ values }) => ({ x: values[3] ?? 0, y: values[1] ?? 0 }));
    const fit = fitHeaps(points);
    expect(fit?.beta).toBeGreaterThan(0.9);
    expect(fit?.beta).toBeLessThan(1);
  });
});
