import { fitPowerLaw } from "./power-law.ts";
import type { Point, PowerLawFit } from "./power-law.ts";

/** How many children the nodes of one depth have: a row of the paper's depth table. */
export interface DepthChildren {
  /** `H3`: hosts of three labels; `P1`: the first path segment. */
  readonly depth: string;
  /** Nodes of the depth above that have children. */
  readonly parents: number;
  /** Distinct nodes of this depth. */
  readonly children: number;
}

/** The parameters of `compact`, for the archive they were fitted to. */
export interface ChildrenFit {
  readonly hostPower: PowerLawFit | undefined;
  readonly pathPower: PowerLawFit | undefined;
}

/**
 * Fits the mean number of children by depth, as the paper does: hosts from H3 to H9, because H1
 * and H2 depend on registries and not on sites; paths from P1 to P9. A layer with fewer than two
 * such depths has no fit.
 */
export function fitChildren(table: readonly DepthChildren[]): ChildrenFit {
  return {
    // A node of depth d is rolled up by its number of children at depth d + 1.
    hostPower: fitLayer(table, "H", 3, (depth) => depth - 1),
    pathPower: fitLayer(table, "P", 1, (depth) => depth),
  };
}

const LAST_DEPTH = 9;

function fitLayer(
  table: readonly DepthChildren[],
  layer: "H" | "P",
  firstDepth: number,
  x: (depth: number) => number,
): PowerLawFit | undefined {
  const points: Point[] = [];
  for (const { depth, parents, children } of table) {
    const number = Number(depth.slice(1));
    if (depth.startsWith(layer) && number >= firstDepth && number <= LAST_DEPTH && parents > 0) {
      points.push({ x: x(number), y: children / parents });
    }
  }
  return points.length < 2 ? undefined : fitPowerLaw(points);
}
