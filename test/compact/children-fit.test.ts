import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type DepthChildren,
  DepthCounter,
  fitChildren,
  fitPowerLaw,
} from "../../src/compact/children-fit.ts";
import { byBytes } from "../support/compaction-oracle.ts";

/** Table "host-path-depth-stats" of the paper. */
const PAPER = `
Depth   Parents     Children    MeanChld
H1            1          973      973.00
H2          904    2,068,333    2,287.98
H3      253,091    2,158,880        8.53
H4      148,589    1,329,137        8.95
H5       31,635      245,881        7.77
H6       16,496      103,579        6.28
H7       10,061       34,380        3.42
H8       15,359       69,829        4.55
H9       55,811       55,811        1.00
H10+         10           10        1.00
P0    5,841,503    5,841,503        1.00
P1    5,828,059  145,687,459       25.00
P2   40,130,355  290,761,965        7.25
P3   79,234,027  392,635,328        4.96
P4   66,059,544  215,251,988        3.26
P5   48,163,114  158,256,277        3.29
P6   33,776,599   91,334,214        2.70
P7   24,201,781   60,099,825        2.48
P8   14,890,308   31,101,768        2.09
P9    9,233,634   18,601,197        2.01
P10   3,206,260    6,817,122        2.13
P11+    222,432      392,565        1.76
`;

function paperRows(byMean: boolean): DepthChildren[] {
  const [, ...lines] = PAPER.trim().replaceAll(",", "").split("\n");
  return lines.map((line) => {
    const [depth = "", parents, children, mean] = line.split(/ +/);
    const counts = byMean ? [1, mean] : [parents, children];
    return { depth, parents: Number(counts[0]), children: Number(counts[1]) };
  });
}

describe("fitting the paper's table", () => {
  it("gives the paper's four constants from its column of means", () => {
    const { hostPower, pathPower } = fitChildren(paperRows(true));
    expect(hostPower?.a).toBeCloseTo(16.329, 2);
    expect(hostPower?.k).toBeCloseTo(0.714, 2);
    expect(pathPower?.a).toBeCloseTo(24.546, 2);
    expect(pathPower?.k).toBeCloseTo(1.429, 2);
  });

  it("gives nearly the same from parents and children, which are not rounded", () => {
    const { hostPower, pathPower } = fitChildren(paperRows(false));
    expect(hostPower?.a).toBeCloseTo(16.33, 1);
    expect(pathPower?.k).toBeCloseTo(1.428, 2);
  });
});

describe("fitPowerLaw", () => {
  it("finds the law that points were made from", () => {
    const positive = (min: number, max: number) => fc.double({ min, max, noNaN: true });
    fc.assert(
      fc.property(
        positive(0.1, 1000),
        positive(0, 3),
        fc.integer({ min: 2, max: 9 }),
        (a, k, n) => {
          const points = Array.from({ length: n }, (_, i) => ({ x: i + 1, y: a * (i + 1) ** -k }));
          const found = fitPowerLaw(points);
          expect(found.a / a).toBeCloseTo(1, 4);
          expect(found.k).toBeCloseTo(k, 4);
        },
      ),
    );
  });

  it("is no worse than any law near it", () => {
    const error = (points: { x: number; y: number }[], a: number, k: number): number =>
      points.reduce((sum, { x, y }) => sum + (y - a * x ** -k) ** 2, 0);
    const point = fc.record({
      x: fc.integer({ min: 1, max: 9 }),
      y: fc.integer({ min: 1, max: 99 }),
    });
    fc.assert(
      fc.property(fc.uniqueArray(point, { minLength: 3, selector: ({ x }) => x }), (points) => {
        const { a, k } = fitPowerLaw(points);
        const best = error(points, a, k);
        for (const [da, dk] of [
          [1.001, 0],
          [0.999, 0],
          [1, 0.001],
          [1, -0.001],
        ] as const) {
          expect(best).toBeLessThanOrEqual(error(points, a * da, k + dk) * (1 + 1e-9));
        }
      }),
    );
  });

  it("refuses what has no fit", () => {
    expect(() => fitPowerLaw([{ x: 1, y: 1 }])).toThrow(/at least two/);
  });
});

describe("DepthCounter", () => {
  const token = fc.constantFrom("a", "b", "a-b", "a0", "c");
  const keys = fc.uniqueArray(
    fc
      .tuple(
        fc.constantFrom("com", "org"),
        fc.array(token, { maxLength: 3 }),
        fc.array(token, { maxLength: 4 }),
      )
      .map(([tld, labels, path]) => `${[tld, ...labels].join(",")})/${path.join("/")}`),
    { maxLength: 40 },
  );

  /** Distinct prefixes, the plain way. */
  function naive(list: readonly string[]): Record<string, [parents: number, children: number]> {
    const children = new Map<string, Set<string>>();
    const parents = new Map<string, Set<string>>();
    const note = (map: Map<string, Set<string>>, depth: string, text: string): void => {
      map.set(depth, (map.get(depth) ?? new Set()).add(text));
    };
    for (const key of list) {
      const [host = "", path = ""] = key.split(/\)\//);
      const labels = host.split(",");
      for (let i = 1; i <= labels.length; i++) {
        note(children, `H${i}`, labels.slice(0, i).join(","));
        note(parents, `H${i}`, labels.slice(0, i - 1).join(","));
      }
      note(children, "P0", host);
      note(parents, "P0", host);
      const segments = path === "" ? [] : path.split("/");
      for (let i = 1; i <= segments.length; i++) {
        note(children, `P${i}`, `${host})/${segments.slice(0, i).join("/")}`);
        note(parents, `P${i}`, `${host})/${segments.slice(0, i - 1).join("/")}`);
      }
    }
    return Object.fromEntries(
      [...children].map(([depth, set]) => [depth, [parents.get(depth)?.size ?? 0, set.size]]),
    );
  }

  it("counts parents and children as a naive count does", () => {
    fc.assert(
      fc.property(keys, (list) => {
        const sorted = [...list].sort(byBytes);
        const counter = new DepthCounter();
        for (const key of sorted) {
          const bytes = new TextEncoder().encode(key);
          counter.add(bytes, 0, bytes.length);
        }
        const table = counter
          .table()
          .map(({ depth, parents, children }) => [depth, [parents, children]]);
        expect(Object.fromEntries(table)).toEqual(naive(sorted));
      }),
      { numRuns: 1000 },
    );
  });
});
