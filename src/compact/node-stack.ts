import type { Totals } from "./totals.ts";

/** The part of a key that a node belongs to. */
export const LAYER = { host: 0, root: 1, path: 2 } as const;
export type Layer = (typeof LAYER)[keyof typeof LAYER];

export const NONE = -1;

const INITIAL_DEPTH = 64;

/**
 * The open nodes of the key tree, as columns of numbers indexed by depth of the stack.
 *
 * The text of each node is a prefix of the last key, so one number says what it is. A node stays
 * open while keys of its sub-tree can still come. In byte order a sub-tree is not contiguous
 * (`/a`, `/a-b`, `/a/b`), so not every open node is an ancestor of the last key; `parent` tells.
 */
export class NodeStack {
  size = 0;
  /** The node is `key[0, textEnd)`. */
  textEnd = new Int32Array(INITIAL_DEPTH);
  /** The byte that leads to children: `,` for hosts, `/` for roots and paths. */
  separator = new Uint8Array(INITIAL_DEPTH);
  layer = new Uint8Array(INITIAL_DEPTH);
  /** Labels of a host; 1 for a root, 2 for `/a`. */
  depth = new Int32Array(INITIAL_DEPTH);
  parent = new Int32Array(INITIAL_DEPTH);
  cutoff = new Float64Array(INITIAL_DEPTH);
  /** Children that hold something. */
  children = new Float64Array(INITIAL_DEPTH);
  /** Whether anything below, or the node itself, is held. */
  isPresent = new Uint8Array(INITIAL_DEPTH);
  /** Whether the node is over its cutoff: only its sum will be written. */
  isRolledUp = new Uint8Array(INITIAL_DEPTH);
  /** Whether the node has a wildcard row; its count includes all below. */
  hasWildcard = new Uint8Array(INITIAL_DEPTH);
  /** Whether there are exclusions below. */
  hasVoids = new Uint8Array(INITIAL_DEPTH);
  /**
   * Output positions. The lines of a node are `[headStart, headEnd)` – its own row, or the pages of
   * a host – and all from `childrenStart` on. Between the two there may be lines of others.
   */
  headStart = new Float64Array(INITIAL_DEPTH);
  headEnd = new Float64Array(INITIAL_DEPTH);
  childrenStart = new Float64Array(INITIAL_DEPTH);
  /** The node's own wildcard exclusion in the output, `[voidStart, voidEnd)`, or NONE. */
  voidStart = new Float64Array(INITIAL_DEPTH);
  voidEnd = new Float64Array(INITIAL_DEPTH);
  /** Sum of the node's own row and its children. */
  readonly totals: Totals[] = [];
  /** Sum of the node's wildcard rows. */
  readonly wildcardTotals: Totals[] = [];
  readonly #makeTotals: () => Totals;

  constructor(makeTotals: () => Totals) {
    this.#makeTotals = makeTotals;
  }

  push(
    textEnd: number,
    separator: number,
    layer: Layer,
    depth: number,
    parent: number,
    cutoff: number,
    position: number,
  ): number {
    const node = this.size++;
    if (node === this.textEnd.length) this.#grow();
    this.textEnd[node] = textEnd;
    this.separator[node] = separator;
    this.layer[node] = layer;
    this.depth[node] = depth;
    this.parent[node] = parent;
    this.cutoff[node] = cutoff;
    this.children[node] = 0;
    this.isPresent[node] = 0;
    this.isRolledUp[node] = 0;
    this.hasWildcard[node] = 0;
    this.hasVoids[node] = 0;
    this.headStart[node] = position;
    this.headEnd[node] = NONE;
    this.childrenStart[node] = NONE;
    this.voidStart[node] = NONE;
    if (node === this.totals.length) {
      this.totals.push(this.#makeTotals());
      this.wildcardTotals.push(this.#makeTotals());
    } else {
      this.totals[node].reset();
    }
    return node;
  }

  #grow(): void {
    const size = this.textEnd.length * 2;
    this.textEnd = enlarged(new Int32Array(size), this.textEnd);
    this.separator = enlarged(new Uint8Array(size), this.separator);
    this.layer = enlarged(new Uint8Array(size), this.layer);
    this.depth = enlarged(new Int32Array(size), this.depth);
    this.parent = enlarged(new Int32Array(size), this.parent);
    this.cutoff = enlarged(new Float64Array(size), this.cutoff);
    this.children = enlarged(new Float64Array(size), this.children);
    this.isPresent = enlarged(new Uint8Array(size), this.isPresent);
    this.isRolledUp = enlarged(new Uint8Array(size), this.isRolledUp);
    this.hasWildcard = enlarged(new Uint8Array(size), this.hasWildcard);
    this.hasVoids = enlarged(new Uint8Array(size), this.hasVoids);
    this.headStart = enlarged(new Float64Array(size), this.headStart);
    this.headEnd = enlarged(new Float64Array(size), this.headEnd);
    this.childrenStart = enlarged(new Float64Array(size), this.childrenStart);
    this.voidStart = enlarged(new Float64Array(size), this.voidStart);
    this.voidEnd = enlarged(new Float64Array(size), this.voidEnd);
  }
}

/** Copies a column into a larger one. */
export function enlarged<T extends { set(source: ArrayLike<number>): void }>(
  larger: T,
  source: ArrayLike<number>,
): T {
  larger.set(source);
  return larger;
}
