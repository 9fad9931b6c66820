import { hierarchy, partition } from "d3-hierarchy";
import type { MapChild, MapSlice } from "../../src/maps/explore/map-slice.ts";

/** A part that is drawn, or what is left of its parent beside the parts that are listed. */
interface DrawnPart {
  readonly part: MapChild | undefined;
  readonly size: number;
  readonly children: readonly DrawnPart[];
}

/** A rectangle: a column for each level, and rows from top to bottom. */
export interface Tile {
  readonly part: MapChild | undefined;
  readonly parent: MapChild | undefined;
  readonly size: number;
  readonly level: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Parts that would be lower are drawn together, as others. */
const LEAST_HEIGHT = 4;
const MOST_TILES = 1000;

/** What rectangles are as high as: captures, or rows where a part states none. */
function sizeOf(part: { captures: number; rows: number }, all: MapSlice): number {
  return all.captures > 0 ? part.captures : part.rows;
}

/** Lays out a slice: its children, and the levels below them. */
export function layOut(
  slice: MapSlice,
  space: { readonly width: number; readonly height: number; readonly levels: number },
): Tile[] {
  const all = sizeOf(slice, slice);
  if (all === 0) return [];
  const root: DrawnPart = {
    part: undefined,
    size: all,
    children: drawn(slice.children, all, {
      sizeOf: (part) => sizeOf(part, slice),
      least: (all * LEAST_HEIGHT) / space.height,
      levels: space.levels,
    }),
  };
  const tree = hierarchy<DrawnPart>(root, ({ children }) => children).sum(({ size, children }) =>
    children.length === 0 ? size : 0,
  );
  const placed = partition<DrawnPart>().size([space.height, space.levels + 1])(tree);
  const column = space.width / space.levels;
  const tiles: Tile[] = [];
  // Breadth first: what is left out is what is furthest down.
  for (const node of placed) {
    if (node.depth === 0) continue;
    if (tiles.length >= MOST_TILES) break;
    tiles.push({
      part: node.data.part,
      parent: node.parent?.data.part,
      size: node.data.size,
      level: node.depth,
      x: (node.depth - 1) * column,
      y: node.x0,
      width: column,
      height: node.x1 - node.x0,
    });
  }
  return tiles;
}

function drawn(
  children: readonly MapChild[],
  all: number,
  options: {
    readonly sizeOf: (part: MapChild) => number;
    readonly least: number;
    readonly levels: number;
  },
): DrawnPart[] {
  const { sizeOf: measure, least, levels } = options;
  if (levels === 0 || children.length === 0) return [];
  const parts = children
    .map((part) => ({ part, size: measure(part) }))
    .filter(({ size }) => size >= least)
    .toSorted((a, b) => b.size - a.size)
    .map(({ part, size }): DrawnPart => ({
      part,
      size,
      children: drawn(part.children ?? [], size, { ...options, levels: levels - 1 }),
    }));
  const rest = all - parts.reduce((sum, { size }) => sum + size, 0);
  return rest > 0 ? [...parts, { part: undefined, size: rest, children: [] }] : parts;
}

/** How much of a part is rolled up: 0 where all pages have rows, 4 where wildcards stand for all. */
export function rolledUp(part: {
  captures: number;
  wildcardCaptures: number;
  rows: number;
  wildcards: number;
}): 0 | 1 | 2 | 3 | 4 {
  const share =
    part.captures > 0 ? part.wildcardCaptures / part.captures : part.wildcards / (part.rows || 1);
  if (share <= 0.02) return 0;
  if (share < 0.35) return 1;
  if (share < 0.65) return 2;
  return share < 0.98 ? 3 : 4;
}
