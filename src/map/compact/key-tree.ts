import { CLOSE_PAREN, COMMA, QUESTION, SLASH, STAR } from "../../bytes/bytes.ts";
import { MementoMapError, quote } from "../../errors.ts";

/** What kind of key a row has. */
export const KEY_KIND = {
  /** `com,cnn)/a`: one page. */
  page: 0,
  /** `com,cnn)/a?x=1`: one page with a query. */
  query: 1,
  /** `com,cnn)/a/*`: a page and what is below it. */
  pathWildcard: 2,
  /** `com,cnn,*`: a host, its pages and its sub-domains. */
  hostWildcard: 3,
  /** `uk,gov,*)/a`: one path on a host and its sub-domains. */
  spread: 4,
  /** `*`, and keys that are no SURT of a host, such as `dns:example.com`. */
  opaque: 5,
} as const;

export type KeyKind = (typeof KEY_KIND)[keyof typeof KEY_KIND];

/** Takes a key apart, as far as the tree of keys needs it. One object is reused for all keys. */
export class KeyShape {
  kind: KeyKind = KEY_KIND.opaque;
  /** Where the `)` is; the end of the labels for a host wildcard; -1 for opaque keys. */
  hostEnd = -1;
  /** Nodes of the tree end at or before here: it leaves out queries and wildcards. */
  nodesEnd = 0;
  /** Whether the last key was a page: what another shares with it has no query and no wildcard. */
  #isPage = false;

  /** @param shared how many bytes the key is known to have in common with the last one. */
  set(key: Uint8Array, length: number, shared: number = 0): void {
    const isSameHost = this.#isPage && shared > this.hostEnd + 1;
    const hostEnd = isSameHost ? this.hostEnd : findHostEnd(key, 0, length);
    this.#isPage = false;
    if (hostEnd === length) {
      const isWildcard = length > 2 && key[length - 1] === STAR && key[length - 2] === COMMA;
      this.kind = isWildcard ? KEY_KIND.hostWildcard : KEY_KIND.opaque;
      this.hostEnd = this.nodesEnd = isWildcard ? length - 2 : -1;
      return;
    }
    this.hostEnd = hostEnd;
    if (hostEnd >= 2 && key[hostEnd - 1] === STAR && key[hostEnd - 2] === COMMA) {
      this.kind = KEY_KIND.spread;
      this.nodesEnd = hostEnd;
      return;
    }
    if (key[length - 1] === STAR && key[length - 2] === SLASH) {
      this.kind = KEY_KIND.pathWildcard;
      this.nodesEnd = length - 2;
      return;
    }
    let query = isSameHost ? shared : hostEnd + 1;
    while (query < length && key[query] !== QUESTION) query++;
    if (query === length) {
      this.kind = KEY_KIND.page;
      this.nodesEnd = length;
      this.#isPage = true;
      return;
    }
    this.kind = KEY_KIND.query;
    // The page itself stays out: its own row and sub-tree are passed already.
    let last = query - 1;
    while (key[last] !== SLASH && last > hostEnd + 1) last--;
    this.nodesEnd = last;
  }
}

/** The offset of the `)` that ends the host, or `end`. */
function findHostEnd(key: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && !(key[at] === CLOSE_PAREN && (at + 1 === end || key[at + 1] === SLASH))) at++;
  return at;
}

/** The part of a key that a node belongs to. */
export const LAYER = { host: 0, root: 1, path: 2 } as const;
export type Layer = (typeof LAYER)[keyof typeof LAYER];

export const NONE = -1;

/** How many nodes columns have room for at first. */
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

  /** Makes room for a number of nodes in every column. */
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

/**
 * Complains about a row whose key is not behind the last one.
 *
 * @param order negative if it comes before the last key, 0 if it is the same
 * @throws MM_NOT_SORTED
 */
export function rejectOrder(order: number, key: Uint8Array, last: string): never {
  const text = quote(new TextDecoder().decode(key));
  throw new MementoMapError(
    "MM_NOT_SORTED",
    order === 0
      ? `key ${text} comes twice; merge adds such rows up`
      : `key ${text} comes after ${quote(last)}; sort the rows with LC_ALL=C sort`,
  );
}

const INITIAL_BYTES = 1024;
/** Room for the end of a wildcard, which is put behind the text of a node. */
const WILDCARD_BYTES = 2;

/** The key that was taken last. Holds the longest one. */
export class CurrentKey {
  bytes: Uint8Array = new Uint8Array(INITIAL_BYTES);
  length = 0;
  /** Bytes that the key compared last shares with this one, and the byte behind them. */
  nextShared = 0;
  nextByte = 0;
  nextLength = 0;
  #view = new DataView(this.bytes.buffer);

  /**
   * How many bytes at `start` are the same as in the key; at most up to `end`.
   *
   * Neighbours in a sorted map have most of their keys in common, so a search for the end of a
   * key can begin behind these.
   */
  sharedBytes(view: DataView, start: number, end: number): number {
    const limit = Math.min(this.length, end - start);
    const own = this.#view;
    let i = 0;
    while (i + 4 <= limit && view.getInt32(start + i, true) === own.getInt32(i, true)) i += 4;
    while (i < limit && view.getUint8(start + i) === own.getUint8(i)) i++;
    return i;
  }

  /**
   * Compares a key, `source[start, end)`, to this one: negative if it comes before it, 0 if it is the
   * same, positive if it comes after it. The `next` fields say what was found.
   *
   * @param shared how many bytes the two are known to share: see {@link sharedBytes}
   */
  compare(source: Uint8Array, start: number, end: number, shared: number): number {
    const length = end - start;
    this.nextLength = length;
    this.nextShared = shared;
    if (shared === length) return shared === this.length ? 0 : -1;
    this.nextByte = source[start + shared];
    return shared === this.length ? 1 : this.nextByte - this.bytes[shared];
  }

  /** Makes the key that was compared last, which is at `start` of its source, this one. */
  setCompared(source: Uint8Array, start: number): void {
    this.set(source, start, this.nextShared, this.nextLength);
  }

  /** Whether a key of this length can be taken without making room. */
  hasRoom(length: number): boolean {
    return length + WILDCARD_BYTES <= this.bytes.length;
  }

  /** Makes `source[start, start + length)`, whose first `shared` bytes it has already, the key. */
  set(source: Uint8Array, start: number, shared: number, length: number): void {
    if (!this.hasRoom(length)) this.#grow(length + WILDCARD_BYTES);
    const { bytes } = this;
    for (let i = shared; i < length; i++) bytes[i] = source[start + i];
    this.length = length;
  }

  text(): string {
    return new TextDecoder().decode(this.bytes.subarray(0, this.length));
  }

  #grow(room: number): void {
    const larger = new Uint8Array(room * 2);
    larger.set(this.bytes);
    this.bytes = larger;
    this.#view = new DataView(larger.buffer);
  }
}

/** What is done with the nodes of a key tree as a walk comes by. */
export interface TreeWork {
  /** Puts the node `key[0, textEnd)` on the stack; returns its place there. */
  openNode(textEnd: number, layer: Layer, depth: number, parent: number): number;
  /** Takes the node on top off the stack. */
  closeTop(): void;
  /** The next key begins with the text of the node on top, and then has `next`. */
  stayInTop?(next: number): void;
  /** The leaf has something below it, and is a node now. */
  openLeaf(node: number): void;
  /** The leaf has nothing below it. */
  countLeaf(parent: number): void;
}

/**
 * Goes through the key tree of a sorted map from key to key: opens the nodes that a key is in, and
 * closes those that no later key can be in.
 *
 * A page has no node of its own as long as nothing below it has come, as for nearly all: it is the
 * *leaf*, and becomes a node or is counted when the next key is known.
 */
export class TreeWalk {
  readonly key = new CurrentKey();
  readonly shape = new KeyShape();
  /** Where the text of the leaf ends, or NONE; and the folder it is in. */
  leafEnd: number = NONE;
  leafParent: number = NONE;
  readonly #nodes: NodeStack;
  readonly #work: TreeWork;

  constructor(nodes: NodeStack, work: TreeWork) {
    this.#nodes = nodes;
    this.#work = work;
  }

  /** Leaves the nodes that do not contain a key that shares this many bytes, and then has `next`. */
  leave(shared: number, next: number): void {
    const nodes = this.#nodes;
    if (this.leafEnd !== NONE) this.#settleLeaf(shared, next);
    while (nodes.size > 0 && nodes.textEnd[nodes.size - 1] > shared) this.#work.closeTop();
    const top = nodes.size - 1;
    if (top < 0 || nodes.textEnd[top] < shared) return;
    if (next > separatorOf(nodes.layer[top])) this.#work.closeTop();
    else this.#work.stayInTop?.(next);
  }

  /** Closes all nodes. */
  end(): void {
    if (this.leafEnd !== NONE) this.#settleLeaf(NONE, 0);
    while (this.#nodes.size > 0) this.#work.closeTop();
  }

  #settleLeaf(shared: number, next: number): void {
    const { leafEnd, leafParent } = this;
    this.leafEnd = NONE;
    if (leafEnd === shared && next <= SLASH) {
      const depth = this.#nodes.depth[leafParent] + 1;
      this.#work.openLeaf(this.#work.openNode(leafEnd, LAYER.path, depth, leafParent));
    } else {
      this.#work.countLeaf(leafParent);
    }
  }

  /**
   * Opens the nodes of the key, up to `nodesEnd`, that are not open yet; returns the last.
   *
   * @param shared how much of the key has nodes already, as far as they can be open.
   */
  enter(shared: number, nodesEnd: number): number {
    const { hostEnd } = this.shape;
    const { bytes } = this.key;
    const nodes = this.#nodes;
    const work = this.#work;
    let node = this.#ancestor(nodesEnd);
    let at = node === NONE ? 0 : nodes.textEnd[node];
    if (at < hostEnd) {
      let depth = node === NONE ? 0 : nodes.depth[node];
      for (at = Math.max(at + 1, shared); at <= hostEnd; at++) {
        if ((at < hostEnd && bytes[at] !== COMMA) || at === 0) continue;
        node = work.openNode(at, LAYER.host, ++depth, node);
      }
      at = hostEnd;
    }
    if (nodesEnd <= hostEnd) return node;
    if (at === hostEnd) {
      at = hostEnd + 1;
      node = work.openNode(at, LAYER.root, 1, node);
    }
    // A home page: `com,cnn)/` is the root's own row.
    if (at === hostEnd + 1 && nodesEnd === hostEnd + 2) return node;
    let depth = nodes.depth[node];
    for (at = Math.max(at + 1, shared); at <= nodesEnd; at++) {
      if (at < nodesEnd && bytes[at] !== SLASH) continue;
      node = work.openNode(at, LAYER.path, ++depth, node);
    }
    return node;
  }

  /** Opens the nodes above the page that the key is; returns its folder. */
  enterFolder(shared: number): number {
    const { bytes } = this.key;
    let folderEnd = this.shape.nodesEnd - 1;
    while (bytes[folderEnd] !== SLASH) folderEnd--;
    return this.enter(shared, folderEnd);
  }

  /** Makes the page that the key is the leaf. */
  setLeaf(folder: number): void {
    this.leafEnd = this.shape.nodesEnd;
    this.leafParent = folder;
  }

  /** The deepest open node that the key, up to `nodesEnd`, lies in. */
  #ancestor(nodesEnd: number): number {
    const nodes = this.#nodes;
    const { bytes } = this.key;
    for (let node = nodes.size - 1; node >= 0; node--) {
      const textEnd = nodes.textEnd[node];
      if (textEnd > nodesEnd) continue;
      if (textEnd === nodesEnd) return node;
      const next = bytes[textEnd];
      if (next === separatorOf(nodes.layer[node])) return node;
      if (next === CLOSE_PAREN && nodes.layer[node] === LAYER.host) return node;
    }
    return NONE;
  }

  /**
   * Whether a key is a page in the folder of the leaf before it, as most are, so that no node opens
   * or closes.
   */
  isSibling(bytes: Uint8Array, start: number, shared: number, length: number): boolean {
    const nodes = this.#nodes;
    const folder = this.leafParent;
    if (this.leafEnd === NONE || nodes.size - 1 !== folder) return false;
    if (shared <= nodes.textEnd[folder] || !this.key.hasRoom(length)) return false;
    if (shared === this.leafEnd && bytes[start + shared] <= SLASH) return false;
    for (let i = shared; i < length; i++) {
      const byte = bytes[start + i];
      if (byte === SLASH || byte === QUESTION || byte === STAR) return false;
    }
    return true;
  }

  /** Counts the leaf and makes its sibling the leaf. */
  takeSibling(bytes: Uint8Array, start: number, shared: number, length: number): void {
    this.#work.countLeaf(this.leafParent);
    this.key.set(bytes, start, shared, length);
    this.leafEnd = length;
  }
}

/** The byte that leads to the children of a node. */
export function separatorOf(layer: number): number {
  return layer === LAYER.host ? COMMA : SLASH;
}
