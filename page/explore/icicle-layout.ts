import type { MapChild, MapSlice } from "../../src/maps/explore/map-slice.ts";

/** A rectangle: one column per level, and rows from top to bottom. */
export interface Tile {
  /** Undefined for the rest of a parent, beyond the parts that are drawn. */
  readonly part: MapChild | undefined;
  readonly parent: MapChild | undefined;
  readonly size: number;
  readonly level: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Smaller parts are drawn together as "others". */
const MIN_HEIGHT = 4;

/** Lays out a slice: its children and the levels below, level by level, from top to bottom. */
export function layOut(
  slice: MapSlice,
  space: { readonly width: number; readonly height: number; readonly levels: number },
): Tile[] {
  // Heights are captures, or rows if the map states no captures.
  const unit = slice.captures > 0 ? "captures" : "rows";
  const scale = space.height / (slice[unit] || 1);
  const width = space.width / space.levels;
  const tiles: Tile[] = [];
  const place = (parent: MapChild | undefined, level: number, top: number): void => {
    const { children = [], [unit]: all } = parent ?? slice;
    if (level > space.levels || children.length === 0) return;
    let rest = all;
    const add = (part: MapChild | undefined, size: number): void => {
      const [x, y] = [(level - 1) * width, top + (all - rest) * scale];
      tiles.push({ part, parent, size, level, x, y, width, height: size * scale });
      if (part !== undefined) place(part, level + 1, y);
      rest -= size;
    };
    const drawn = children.filter((part) => part[unit] * scale >= MIN_HEIGHT);
    for (const part of drawn.toSorted((a, b) => b[unit] - a[unit])) add(part, part[unit]);
    if (rest > 0) add(undefined, rest);
  };
  place(undefined, 1, 0);
  return tiles.toSorted((a, b) => a.level - b.level);
}

/** The tile that an arrow key moves to: a neighbour, a child or the parent. */
export function tileBeside(tiles: readonly Tile[], at: number, key: string): number | undefined {
  const tile = tiles[at];
  if (tile === undefined) return undefined;
  const { level, y, height } = tile;
  const isWithin = (each: Tile): boolean => each.y >= y - 0.01 && each.y < y + height;
  const to = {
    ArrowDown: tiles[at + 1]?.level === level ? at + 1 : -1,
    ArrowUp: tiles[at - 1]?.level === level ? at - 1 : -1,
    ArrowRight: tiles.findIndex((each) => each.level === level + 1 && isWithin(each)),
    ArrowLeft: tiles.findLastIndex((each) => each.level === level - 1 && each.y <= y + 0.01),
    Home: 0,
  }[key];
  return to === -1 ? at : to;
}
