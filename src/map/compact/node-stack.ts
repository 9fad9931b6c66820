/** The part of a key that a node belongs to. */
export const LAYER = { host: 0, root: 1, path: 2 } as const;
export type Layer = (typeof LAYER)[keyof typeof LAYER];

export const NONE = -1;

/** Columns have room for so many nodes at first. */
export const INITIAL_DEPTH = 64;

/**
 * The open nodes of the key tree, as columns of numbers indexed by depth of the stack. Each kind of
 * work adds columns of its own.
 *
 * The text of each node is a prefix of the last key, so one number says what it is. A node stays
 * open while keys of its sub-tree can still come. In byte order a sub-tree is not contiguous
 * (`/a`, `/a-b`, `/a/b`), so not every open node is an ancestor of the last key; `parent` tells.
 */
export class NodeStack {
  size = 0;
  /** The node is `key[0, textEnd)`. */
  textEnd: Int32Array = new Int32Array(INITIAL_DEPTH);
  layer: Uint8Array = new Uint8Array(INITIAL_DEPTH);
  /** Labels of a host; 1 for a root, 2 for `/a`. */
  depth: Int32Array = new Int32Array(INITIAL_DEPTH);
  parent: Int32Array = new Int32Array(INITIAL_DEPTH);

  push(textEnd: number, layer: Layer, depth: number, parent: number): number {
    const node = this.size++;
    if (node === this.textEnd.length) this.grow(node * 2);
    this.textEnd[node] = textEnd;
    this.layer[node] = layer;
    this.depth[node] = depth;
    this.parent[node] = parent;
    return node;
  }

  /** Makes room for so many nodes in every column. */
  protected grow(size: number): void {
    this.textEnd = enlarged(new Int32Array(size), this.textEnd);
    this.layer = enlarged(new Uint8Array(size), this.layer);
    this.depth = enlarged(new Int32Array(size), this.depth);
    this.parent = enlarged(new Int32Array(size), this.parent);
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
