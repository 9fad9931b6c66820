import { type MapChild, mapChild, type PartSums } from "./map-slice.ts";
import type { ChildLists } from "./child-lists.ts";

/** Limit on rows of smaller nodes that one slice reads for the levels below its children. */
const MAX_NESTED_ROWS = 40_000;
/** Parts below this fraction of a slice are too small to be seen. */
const MIN_FRACTION = 1 / 500;

type NestedChild = { -readonly [Name in keyof MapChild]: MapChild[Name] };

/**
 * Adds the levels below children, as long as that is fast: lists of large nodes are ranked in advance,
 * those of small ones take time in proportion to their rows. The result depends on the map only.
 */
export async function nestedChildren(
  children: readonly MapChild[],
  options: {
    readonly all: PartSums;
    readonly depth: number;
    readonly lists: ChildLists;
    readonly signal: AbortSignal | undefined;
  },
): Promise<MapChild[]> {
  const { all, depth, lists, signal } = options;
  const sizeOf = (part: { captures: number; rows: number }): number =>
    all.captures > 0 ? part.captures : part.rows;
  const minSize = MIN_FRACTION * sizeOf(all);
  let left = MAX_NESTED_ROWS;
  const top = children.map((child): NestedChild => ({ ...child }));
  let level = top;
  for (let at = 1; at < depth; at++) {
    const next: NestedChild[] = [];
    const larger = level.filter((child) => child.hasChildren && sizeOf(child) >= minSize);
    for (const child of larger.toSorted((a, b) => sizeOf(b) - sizeOf(a))) {
      const isLarge = lists.isLarge(child.rows);
      if (!isLarge && child.rows > left) continue;
      if (!isLarge) left -= child.rows;
      const list = await lists.of(child.prefix, child.rows, signal);
      const shown = list.children.filter(({ sums }) => sizeOf(sums) >= minSize);
      const below = shown.map((one): NestedChild => mapChild(one));
      child.children = below;
      next.push(...below);
    }
    level = next;
  }
  return top;
}
