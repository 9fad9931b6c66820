import { beforeAll, describe, expect, it } from "vitest";

import { HOST_DEPTHS, PATH_DEPTHS, TOP_TLDS } from "../../../src/study/sample/archive-shape.ts";
import { indexLines, readIndex } from "./read-index.ts";

const LINES = 200_000;

/** Percentages by name. */
type Shares = ReadonlyMap<string | number, number>;

function shares(names: Iterable<string | number>): Shares {
  const counts = new Map<string | number, number>();
  let total = 0;
  for (const name of names) {
    counts.set(name, (counts.get(name) ?? 0) + 1);
    total++;
  }
  return new Map(Array.from(counts, ([name, count]) => [name, (100 * count) / total]));
}

function tldOf(surt: string): string {
  return surt.slice(0, surt.search(/[,)]/));
}

function hostDepth(key: string): number {
  return key.slice(0, key.indexOf(")")).split(",").length;
}

function pathNames(key: string): string[] {
  return key
    .slice(key.indexOf(")") + 1)
    .split("/")
    .filter((name) => name !== "");
}

/** The mean number of children of the path nodes that have any, by the depth of the children. */
function meanPathChildren(keys: Iterable<string>): number[] {
  const nodes: Set<string>[] = [];
  const parents: Set<string>[] = [];
  for (const key of keys) {
    let node = key.slice(0, key.indexOf(")") + 1);
    for (const [i, name] of pathNames(key).entries()) {
      (parents[i + 1] ??= new Set()).add(node);
      node += `/${name}`;
      (nodes[i + 1] ??= new Set()).add(node);
    }
  }
  return nodes.map((set, depth) => set.size / parents[depth].size);
}

describe(`the shape of ${LINES} lines`, () => {
  let lines: string[];
  let captures: Map<string, number>;
  let keys: Set<string>;

  beforeAll(() => {
    lines = indexLines(readIndex({ lines: LINES, seed: 3 }));
    captures = new Map();
    for (const line of lines) {
      const original = line.slice(0, line.indexOf(" "));
      captures.set(original, (captures.get(original) ?? 0) + 1);
    }
    keys = new Set(Array.from(captures.keys(), (original) => original.replace(/\?.*$/, "")));
  });

  it("has the paper's lines per key, originals per key and mementos per original", () => {
    expect(LINES / keys.size).toBeCloseTo(4.32, 1);
    expect(Math.abs(captures.size / keys.size - 1.756)).toBeLessThan(0.1);
    expect(Math.abs(LINES / captures.size - 2.46)).toBeLessThan(0.15);
  });

  it("gives most originals one memento, and few very many", () => {
    const counts = Array.from(captures.values()).sort((a, b) => a - b);
    expect(counts[Math.floor(counts.length / 2)]).toBe(1);
    expect(counts[counts.length - 1]).toBeGreaterThan(LINES * 0.0004);
    const top = counts.slice(Math.floor(counts.length * 0.7)).reduce((sum, n) => sum + n, 0);
    expect(Math.abs(top / LINES - 0.7)).toBeLessThan(0.06);
  });

  it("has the paper's top-level domains, within a twentieth of a point", () => {
    const byKey = shares(Array.from(keys, tldOf));
    const byLine = shares(lines.map(tldOf));
    for (const { tld, originals, mementos } of TOP_TLDS) {
      expect(Math.abs((byKey.get(tld) ?? 0) - originals)).toBeLessThan(0.05);
      expect(Math.abs((byLine.get(tld) ?? 0) - mementos)).toBeLessThan(0.05);
    }
  });

  it("has the paper's host depths, within 8 points, and path depths, within 2", () => {
    const byHost = shares(Array.from(keys, hostDepth));
    const byPath = shares(Array.from(keys, (key) => pathNames(key).length));
    const total = PATH_DEPTHS[0].keysBelow;
    for (const [i, row] of HOST_DEPTHS.entries()) {
      const share = byHost.get(i + 2) ?? 0;
      expect(Math.abs(share - (100 * row.keys) / total), `host depth ${i + 2}`).toBeLessThan(8);
    }
    for (const [depth, row] of PATH_DEPTHS.entries()) {
      const share = byPath.get(depth) ?? 0;
      expect(Math.abs(share - (100 * row.keys) / total), `path depth ${depth}`).toBeLessThan(2);
    }
  });

  it("has the paper's mean number of children at path depths 2 to 7, within a quarter", () => {
    const means = meanPathChildren(keys);
    for (let depth = 2; depth <= 7; depth++) {
      const wanted = PATH_DEPTHS[depth].nodes / PATH_DEPTHS[depth - 1].parents;
      expect(Math.abs(means[depth] / wanted - 1), `path depth ${depth}`).toBeLessThan(0.25);
    }
  });

  it("has the paper's years and status codes, within a point and a half", () => {
    const years = shares(lines.map((line) => line.slice(line.indexOf(" ") + 1).slice(0, 4)));
    expect(Math.abs((years.get("2016") ?? 0) - 27.5)).toBeLessThan(1.5);
    expect(Math.abs((years.get("2009") ?? 0) - 7.23)).toBeLessThan(1.5);
    const statuses = shares(lines.map((line) => /"status": "(\d)/.exec(line)?.[1] ?? "none"));
    expect(Math.abs((statuses.get("4") ?? 0) - 13.86)).toBeLessThan(1.5);
    expect(Math.abs((statuses.get("3") ?? 0) - 6.42)).toBeLessThan(1.5);
    expect(statuses.get("none") ?? 0).toBeGreaterThan(0.3);
  });

  it.each([
    ["an IP address", /^\d+,\d+,\d+,\d+\)/],
    ["a port", /^[^)]+:\d+\)/],
    ["an IDN host", /,xn--/],
    ["a single-label host", /^[a-z]+\)/],
    ["robots.txt", /\)\/robots\.txt /],
    ["a blank image", /\/blank\.gif /],
    ["a space in a path", /%20/],
    ["a query of the home page", /\)\/\?/],
  ])("has %s", (_, pattern) => {
    expect(lines.some((line) => pattern.test(line))).toBe(true);
  });

  it("has nodes whose children are apart from them in byte order", () => {
    const list = Array.from(keys);
    const apart = list.filter(
      (key, i) => key.includes("-") && keys.has(key.split("-")[0]) && i > 0,
    );
    expect(apart.length).toBeGreaterThan(50);
  });

  it("is 280 to 295 bytes a line", () => {
    const bytes = lines.reduce((sum, line) => sum + line.length + 1, 0);
    expect(bytes / LINES).toBeGreaterThan(280);
    expect(bytes / LINES).toBeLessThan(295);
  });
});
