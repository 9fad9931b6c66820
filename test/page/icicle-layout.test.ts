import { describe, expect, it } from "vitest";
import { layOut, tileBeside } from "../../page/explore/icicle-layout.ts";
import type { MapChild, MapSlice } from "../../src/maps/explore/map-slice.ts";

function part(prefix: string, captures: number, children?: readonly MapChild[]): MapChild {
  const sums = { captures, rows: 1, voids: 0, wildcards: 0, wildcardCaptures: 0, bound: "exact" };
  const more = { url: prefix, kind: "domain", detail: "kept", hasChildren: children !== undefined };
  return { prefix, ...sums, ...more, ...(children && { children }) } as MapChild;
}

const CHILDREN = [
  part("com,", 30, [part("com,a,", 10), part("com,b,", 20)]),
  part("org,", 60, [part("org,c,", 60)]),
  part("net,", 1),
];
const SLICE = { ...part("", 100), children: CHILDREN } as unknown as MapSlice;
const TILES = layOut(SLICE, { width: 200, height: 100, levels: 2 });

describe("the rectangles of a map", () => {
  it("are as high as their captures, the largest first, and what is too low is with the others", () => {
    const drawn = TILES.map(({ part: of, level, y, height }) => [of?.prefix, level, y, height]);
    expect(drawn).toEqual([
      ["org,", 1, 0, 60],
      ["com,", 1, 60, 30],
      [undefined, 1, 90, 10],
      ["org,c,", 2, 0, 60],
      ["com,b,", 2, 60, 20],
      ["com,a,", 2, 80, 10],
    ]);
  });

  it.each([
    ["ArrowDown", 1, 2],
    ["ArrowDown", 2, 2],
    ["ArrowUp", 1, 0],
    ["ArrowUp", 3, 3],
    ["ArrowRight", 1, 4],
    ["ArrowRight", 2, 2],
    ["ArrowLeft", 5, 1],
    ["Home", 5, 0],
    ["Tab", 5, undefined],
  ])("are gone through by keys: %s from %d to %d", (key, from, to) => {
    expect(tileBeside(TILES, from, key)).toBe(to);
  });
});
