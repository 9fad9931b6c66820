import type { PowerLaw } from "./weight-policy.ts";
import { MementoMapError } from "../errors.ts";
import { KEY_KIND, keyShape, LAYER, TreeNode, TreeWalk } from "../ukvs/key-tree.ts";

/** A point to fit: y was seen at x. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A fitted law, and how much of the variance of y it explains. */
export interface PowerLawFit extends PowerLaw {
  readonly r2: number;
  /** How many points it was fitted to. */
  readonly points: number;
}

const MAX_STEPS = 200;

/**
 * Fits y = a · x^-k to points by least squares of y itself, not of its logarithm.
 *
 * For a given k the best a is known in closed form, so this is a search over k alone: Gauss–Newton
 * from the log–log fit, with the step halved while it does not help (variable projection).
 *
 * @throws MM_BAD_INPUT for fewer than two points, or points that are not positive.
 */
export function fitPowerLaw(points: readonly Point[]): PowerLawFit {
  if (points.length < 2 || points.some(({ x, y }) => !(x > 0) || !(y > 0))) {
    throw new MementoMapError(
      "MM_BAD_INPUT",
      `a power law needs at least two positive points, not ${points.length}`,
    );
  }
  let k = logLogSlope(points);
  let error = squaredError(points, k);
  for (let step = 0; step < MAX_STEPS; step++) {
    let move = newtonMove(points, k);
    while (Math.abs(move) > 1e-14 && squaredError(points, k + move) > error) move /= 2;
    if (Math.abs(move) <= 1e-12) break;
    k += move;
    error = squaredError(points, k);
  }
  const mean = points.reduce((sum, { y }) => sum + y, 0) / points.length;
  const spread = points.reduce((sum, { y }) => sum + (y - mean) ** 2, 0);
  const r2 = spread === 0 ? 1 : 1 - error / spread;
  return { a: bestScale(points, k), k, r2, points: points.length };
}

/** The a that fits best for this k. */
function bestScale(points: readonly Point[], k: number): number {
  let top = 0;
  let bottom = 0;
  for (const { x, y } of points) {
    const power = x ** -k;
    top += y * power;
    bottom += power * power;
  }
  return top / bottom;
}

function squaredError(points: readonly Point[], k: number): number {
  const a = bestScale(points, k);
  return points.reduce((sum, { x, y }) => sum + (y - a * x ** -k) ** 2, 0);
}

/** The Gauss–Newton step for k, with a eliminated numerically. */
function newtonMove(points: readonly Point[], k: number): number {
  const delta = 1e-6;
  const [a, aNext] = [bestScale(points, k), bestScale(points, k + delta)];
  let top = 0;
  let bottom = 0;
  for (const { x, y } of points) {
    const value = a * x ** -k;
    const slope = (aNext * x ** -(k + delta) - value) / delta;
    top += slope * (y - value);
    bottom += slope * slope;
  }
  return bottom === 0 ? 0 : top / bottom;
}

function logLogSlope(points: readonly Point[]): number {
  const logs = points.map(({ x, y }) => ({ x: Math.log(x), y: Math.log(y) }));
  const meanX = logs.reduce((sum, { x }) => sum + x, 0) / logs.length;
  const meanY = logs.reduce((sum, { y }) => sum + y, 0) / logs.length;
  const covariance = logs.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0);
  const variance = logs.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  return variance === 0 ? 0 : -covariance / variance;
}

/** Child counts of the nodes of one depth: a row of the paper's depth table. */
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

/** Depths beyond this are counted together. */
const MAX_DEPTH = 64;

class CountedNode extends TreeNode<CountedNode> {
  isParent = false;
}

/**
 * Counts parents and children by depth over the sorted keys of a map.
 *
 * One pass. A node is counted when it is first seen, and as a parent with its first child. Holds the
 * open nodes.
 */
export class DepthCounter {
  readonly #parents = { H: new Float64Array(MAX_DEPTH + 1), P: new Float64Array(MAX_DEPTH + 1) };
  readonly #children = { H: new Float64Array(MAX_DEPTH + 1), P: new Float64Array(MAX_DEPTH + 1) };
  readonly #walk = new TreeWalk(() => new CountedNode(), {
    open: (node) => this.#countNode(node),
    close: () => undefined,
  });

  /** Adds the next key, `bytes[start, end)`; wildcards and the like count as their node. */
  add(bytes: Uint8Array, start: number, end: number): void {
    const shape = keyShape(bytes.subarray(start, end), end - start);
    if (shape.kind === KEY_KIND.opaque || shape.kind === KEY_KIND.spread) return;
    this.#walk.goTo(bytes, start, end);
    this.#walk.enter(shape);
  }

  #countNode(node: CountedNode): void {
    const { parent, depth } = node;
    node.isParent = false;
    const layer = node.layer === LAYER.host ? "H" : "P";
    const level = Math.min(layer === "H" ? depth : depth - 1, MAX_DEPTH);
    this.#children[layer][level]++;
    // The root of a host's paths: every host has one, so it does not make the host a parent.
    if (node.layer === LAYER.root) {
      this.#parents[layer][level]++;
    } else if (parent?.isParent === false) {
      parent.isParent = true;
      this.#parents[layer][level]++;
    }
  }

  /** The table, without empty depths. */
  table(): DepthChildren[] {
    const rows: DepthChildren[] = [];
    for (const layer of ["H", "P"] as const) {
      for (const [level, children] of this.#children[layer].entries()) {
        if (children === 0) continue;
        const parents = layer === "H" && level === 1 ? 1 : this.#parents[layer][level];
        rows.push({ depth: `${layer}${level}`, parents, children });
      }
    }
    return rows;
  }
}
