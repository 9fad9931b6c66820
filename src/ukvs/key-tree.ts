import {
  CLOSE_PAREN,
  COMMA,
  commonPrefix,
  copyRange,
  QUESTION,
  SLASH,
  STAR,
} from "../bytes/bytes.ts";
import { notSorted } from "./record.ts";

/**
 * Replaces the `?` of keys within the tree in a map with queries: it sorts below every byte of a key, so that the
 * queries
 * of a page directly follow it. See `tree-order.ts`.
 */
export const QUERY_MARK = 1;

/** Kinds of keys. */
export const KEY_KIND = {
  /** `com,cnn)/a`: one page. */
  page: 0,
  /** `com,cnn)/a?x=1`: one page with a query. */
  query: 1,
  /** `com,cnn)/a/*`: a page and everything below it. */
  pathWildcard: 2,
  /** `com,cnn,*`: a host, its pages and its sub-domains. */
  hostWildcard: 3,
  /** `uk,gov,*)/a`: one path on a host and its sub-domains. */
  spread: 4,
  /** `*`, and keys that are not the SURT of a host, such as `dns:example.com`. */
  opaque: 5,
  /** `com,cnn)/a?*`: one page, with any query or none. */
  queryWildcard: 6,
} as const;

export type KeyKind = (typeof KEY_KIND)[keyof typeof KEY_KIND];

/** The structure of a key, for the key tree. */
export interface KeyShape {
  readonly kind: KeyKind;
  /** The offset of `)`; the end of the labels for a host wildcard; -1 for opaque keys. */
  readonly hostEnd: number;
  /** The last end of tree nodes, which exclude queries and wildcards. */
  readonly nodesEnd: number;
  /** In a map with queries, the end of the page; the node of its queries ends one byte later. */
  readonly pageEnd?: number;
}

export function keyShape(
  key: Uint8Array,
  length: number,
  hostEnd: number = findHostEnd(key, length),
): KeyShape {
  if (hostEnd === length) {
    return length > 2 &&
      endsInWildcard(key, length, COMMA) &&
      !key.subarray(0, length).includes(CLOSE_PAREN)
      ? { kind: KEY_KIND.hostWildcard, hostEnd: length - 2, nodesEnd: length - 2 }
      : { kind: KEY_KIND.opaque, hostEnd: -1, nodesEnd: -1 };
  }
  if (endsInWildcard(key, hostEnd, COMMA)) {
    return { kind: KEY_KIND.spread, hostEnd, nodesEnd: hostEnd };
  }
  let query = hostEnd + 1;
  while (query < length && key[query] !== QUESTION && key[query] !== QUERY_MARK) query++;
  if (query < length && key[query] === QUERY_MARK) {
    const isAny = query === length - 2 && key[length - 1] === STAR;
    const kind = isAny ? KEY_KIND.queryWildcard : KEY_KIND.query;
    return { kind, hostEnd, nodesEnd: query + 1, pageEnd: query };
  }
  if (endsInWildcard(key, length, SLASH)) {
    return { kind: KEY_KIND.pathWildcard, hostEnd, nodesEnd: length - 2 };
  }
  if (query === length) return { kind: KEY_KIND.page, hostEnd, nodesEnd: length };
  // Excludes the page itself: its row and subtree came before.
  let last = query - 1;
  while (key[last] !== SLASH && last > hostEnd + 1) last--;
  return { kind: KEY_KIND.query, hostEnd, nodesEnd: last };
}

function endsInWildcard(key: Uint8Array, end: number, separator: number): boolean {
  return end >= 2 && key[end - 1] === STAR && key[end - 2] === separator;
}

/** The offset of the `)` that ends the host; `end` for a key without a host. */
function findHostEnd(key: Uint8Array, end: number): number {
  let at = 0;
  while (at < end && key[at] !== CLOSE_PAREN) at++;
  return at + 1 >= end || key[at + 1] === SLASH ? at : end;
}

/** The part of a key that a node belongs to. */
export const LAYER = { host: 0, root: 1, path: 2, query: 3 } as const;
export type Layer = (typeof LAYER)[keyof typeof LAYER];

/** The byte between a node and its children; the text of a query node ends with it. */
export function separatorOf(layer: Layer): number {
  return layer === LAYER.host ? COMMA : SLASH;
}

/** The last byte that can follow the text of a node in a key that belongs to it. */
function lastByteOf(layer: Layer): number {
  return layer === LAYER.query ? 0xff : separatorOf(layer);
}

const SEED_A = 0x811c9dc5 | 0;
const SEED_B = 0x2c1b3c6d | 0;
const MULTIPLIER_A = 0x9e3779b1 | 0;
const MULTIPLIER_B = 0x85ebca77 | 0;

/** An open node of the key tree; subclasses add their own members. */
export class TreeNode<Node extends TreeNode<Node>> {
  /** Its index among the open nodes. */
  index = 0;
  /** The node is `key[0, textEnd)`. */
  textEnd = 0;
  layer: Layer = LAYER.host;
  /** The number of labels of a host; 1 for a root, 2 for `/a`. */
  depth = 0;
  parent: Node | undefined = undefined;
  #hashA = SEED_A;
  #hashB = SEED_B;

  /** Hashes the text of the node, continuing from its parent. Call it for all nodes or for none. */
  hashText(key: Uint8Array): void {
    const above: TreeNode<Node> | undefined = this.parent;
    let a = above === undefined ? SEED_A : above.#hashA;
    let b = above === undefined ? SEED_B : above.#hashB;
    for (let at = above === undefined ? 0 : above.textEnd; at < this.textEnd; at++) {
      a = (Math.imul(a, MULTIPLIER_A) + key[at]) | 0;
      b = (Math.imul(b ^ key[at], MULTIPLIER_B) + 1) | 0;
    }
    this.#hashA = a;
    this.#hashB = b;
  }

  /**
   * A 53-bit hash that identifies the node by its text. Requires `hashText`.
   *
   * On a collision two nodes would be rolled up together: a larger result, never a lost key.
   */
  get name(): number {
    const a = Math.imul(this.#hashA ^ (this.#hashA >>> 16), 0x7feb352d);
    const b = Math.imul(this.#hashB ^ (this.#hashB >>> 15), 0x2c1b3c6d);
    return ((a ^ (a >>> 15)) >>> 0) * 2 ** 21 + ((b ^ (b >>> 12)) >>> 11);
  }
}

/** Callbacks for the nodes of a key tree during a walk. */
export interface TreeVisitor<Node> {
  /** A node is opened: its position is set, all other members have the values of its last use. */
  open(node: Node): void;
  /** A node, the last open one, is closed; the current key still begins with its text. */
  close(node: Node): void;
  /** The next key begins with the text of the node, followed by `next`. */
  stay?(node: Node, next: number): void;
  /** The current leaf has nothing below it, so it does not become a node. */
  closeLeaf?(parent: Node): void;
  /** The next key is below the current leaf, which was opened as this node. */
  openLeaf?(node: Node): void;
}

/** The current key of a sorted map. Memory is that of the longest key. */
export class CurrentKey {
  /** The key is `bytes[0, length)`. */
  bytes: Uint8Array = new Uint8Array(1024);
  length = 0;
  /** The offset of the `)` that ends the host; `length` if there is none. */
  hostEnd = 0;
  /** The length of the prefix shared with the key last compared. */
  shared = 0;

  /**
   * Positive if `source[start, end)` sorts after the key, 0 if it is equal.
   *
   * @param shared the length of the common prefix, if known.
   */
  compare(source: Uint8Array, start: number, end: number, shared: number = -1): number {
    this.shared =
      shared < 0 ? commonPrefix(this.bytes, 0, this.length, source, start, end) : shared;
    const at = start + this.shared;
    if (at === end) return end - start - this.length;
    return this.shared === this.length ? 1 : source[at] - this.bytes[this.shared];
  }

  /** Sets the key to `source[start, end)`, which must be the key last compared. */
  set(source: Uint8Array, start: number, end: number): void {
    const hasSameHost = this.shared > this.hostEnd + 1;
    this.length = end - start;
    if (this.length > this.bytes.length) {
      const larger = new Uint8Array(2 * this.length);
      larger.set(this.bytes);
      this.bytes = larger;
    }
    copyRange(source, start + this.shared, end, this.bytes, this.shared);
    if (!hasSameHost) this.hostEnd = findHostEnd(this.bytes, this.length);
  }

  /** The structure of the key. */
  get shape(): KeyShape {
    return keyShape(this.bytes, this.length, this.hostEnd);
  }

  /** For a key with a query, the end of its page's node: the node of a home page excludes the slash. */
  get queriedEnd(): number {
    const end = this.bytes.indexOf(QUESTION, this.hostEnd);
    return end === this.hostEnd + 2 ? end - 1 : end;
  }

  /** Whether the key, a page or opaque, is in a folder of a host and not a home page. */
  get isInFolder(): boolean {
    return this.hostEnd + 2 < this.length && this.bytes[this.hostEnd + 2] !== SLASH;
  }

  /** The key, in bytes valid until the next `set`. */
  get whole(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }

  /** The first `end` bytes as text. */
  text(end: number = this.length): string {
    return new TextDecoder().decode(this.bytes.subarray(0, end));
  }
}

/**
 * Walks the key tree of a sorted map from key to key: opens the nodes that contain a key, and closes those that
 * cannot
 * contain later keys.
 *
 * In byte order a subtree is not contiguous (`/a`, `/a-b`, `/a/b`), so not every open node is an ancestor of the
 * last key;
 * see `parent`. Holds the open nodes, which are reused, and the longest key. Nearly all keys are pages with
 * nothing below
 * them: as a leaf, such a page needs no node.
 */
export class TreeWalk<Node extends TreeNode<Node>> {
  /** The first `size` nodes are open; the others are reused later. */
  readonly nodes: Node[] = [];
  size = 0;
  readonly key: CurrentKey = new CurrentKey();
  readonly #make: () => Node;
  readonly #visitor: TreeVisitor<Node>;
  readonly #lastByte: (layer: Layer) => number;
  /** The end of the current leaf, a page without a node, and its folder. */
  #leafEnd = -1;
  #leafParent: Node | undefined;
  /** The folder of the previous key, if that was a leaf. */
  #lastFolder: Node | undefined;

  /** @param lastByte the last byte that can follow the text of a node in a key that belongs to it. */
  constructor(
    make: () => Node,
    visitor: TreeVisitor<Node>,
    lastByte: (layer: Layer) => number = lastByteOf,
  ) {
    this.#make = make;
    this.#visitor = visitor;
    this.#lastByte = lastByte;
  }

  /** The deepest open node. */
  get top(): Node | undefined {
    return this.size === 0 ? undefined : this.nodes[this.size - 1];
  }

  /**
   * Moves to the key `bytes[start, end)` if it sorts after the current one, and returns a positive number; otherwise
   * returns 0 if the keys are equal, or a negative number.
   *
   * @param shared the length of the common prefix, if known.
   */
  goTo(bytes: Uint8Array, start: number, end: number, shared: number = -1): number {
    const order = this.key.compare(bytes, start, end, shared);
    if (order > 0) {
      this.#lastFolder = this.#leafParent;
      this.#leave(this.key.shared, bytes[start + this.key.shared]);
      this.key.set(bytes, start, end);
    }
    return order;
  }

  /** Closes the nodes that do not contain the next key, which shares `shared` bytes, followed by `next`. */
  #leave(shared: number, next: number): void {
    this.#settleLeaf(shared, next);
    while (this.size > 0 && this.nodes[this.size - 1].textEnd > shared) this.#closeTop();
    if (this.size === 0) return;
    const top = this.nodes[this.size - 1];
    if (top.textEnd < shared) return;
    if (next > this.#lastByte(top.layer)) this.#closeTop();
    else this.#visitor.stay?.(top, next);
  }

  /** Opens the ancestors of the key, a page but not a home page; returns its folder. */
  enterFolder(): Node {
    const { bytes, length, hostEnd, shared } = this.key;
    const last = this.#lastFolder;
    // Nearly all pages are in the folder of the previous leaf.
    const minEnd = last !== undefined && shared > last.textEnd ? shared : 0;
    let folderEnd = length - 1;
    while (folderEnd >= minEnd && bytes[folderEnd] !== SLASH) folderEnd--;
    if (last !== undefined && folderEnd < minEnd) return last;
    return this.#enterPage(hostEnd, folderEnd, folderEnd);
  }

  /** Makes the key, a page in this folder, a leaf. */
  makeLeaf(folder: Node): void {
    this.#leafEnd = this.key.length;
    this.#leafParent = folder;
  }

  /** Whether the walk is at a leaf. */
  get isAtLeaf(): boolean {
    return this.#leafParent !== undefined;
  }

  /** Opens the missing nodes of the key; returns the last. Not for opaque keys. */
  enter({ hostEnd, nodesEnd, pageEnd }: Omit<KeyShape, "kind">): Node {
    const page = this.#enterPage(hostEnd, pageEnd ?? nodesEnd, nodesEnd);
    if (pageEnd === undefined || page.textEnd === nodesEnd) return page;
    return this.#open(nodesEnd, LAYER.query, page);
  }

  /** Opens the nodes up to `pageEnd`; returns the node that ends at `nodesEnd` if it is already open. */
  #enterPage(hostEnd: number, pageEnd: number, nodesEnd: number): Node {
    const { bytes } = this.key;
    let node = this.#above(nodesEnd);
    let at = node?.textEnd ?? 0;
    if (node !== undefined && at === nodesEnd) return node;
    if (node === undefined || at < hostEnd) {
      for (at = Math.max(at + 1, 1); at <= hostEnd; at++) {
        if (at === hostEnd || bytes[at] === COMMA) node = this.#open(at, LAYER.host, node);
      }
      at = hostEnd;
    }
    if (pageEnd > hostEnd && at === hostEnd) node = this.#open(++at, LAYER.root, node);
    // A home page, `com,cnn)/`, is the root's own row.
    if (at !== hostEnd + 1 || pageEnd !== hostEnd + 2) {
      for (at++; at <= pageEnd; at++) {
        if (at === pageEnd || bytes[at] === SLASH) node = this.#open(at, LAYER.path, node);
      }
    }
    if (node === undefined) throw new Error("an opaque key is in no node");
    return node;
  }

  /** Closes all nodes. */
  end(): void {
    this.#settleLeaf(-1, 0);
    while (this.size > 0) this.#closeTop();
  }

  #settleLeaf(shared: number, next: number): void {
    const parent = this.#leafParent;
    if (parent === undefined) return;
    this.#leafParent = undefined;
    if (this.#leafEnd === shared && next <= this.#lastByte(LAYER.path)) {
      this.#visitor.openLeaf?.(this.#open(shared, LAYER.path, parent));
    } else {
      this.#visitor.closeLeaf?.(parent);
    }
  }

  #open(textEnd: number, layer: Layer, parent: Node | undefined): Node {
    const index = this.size++;
    if (index === this.nodes.length) this.nodes.push(this.#make());
    const node = this.nodes[index];
    node.index = index;
    node.textEnd = textEnd;
    node.layer = layer;
    node.depth = layer === LAYER.root || parent === undefined ? 1 : parent.depth + 1;
    node.parent = parent;
    this.#visitor.open(node);
    return node;
  }

  #closeTop(): void {
    this.#visitor.close(this.nodes[this.size - 1]);
    this.size--;
  }

  /** The deepest open node that contains the key up to `nodesEnd`. */
  #above(nodesEnd: number): Node | undefined {
    const { bytes } = this.key;
    for (let index = this.size - 1; index >= 0; index--) {
      const node = this.nodes[index];
      const { textEnd, layer } = node;
      if (textEnd > nodesEnd) continue;
      if (textEnd === nodesEnd) return node;
      const next = bytes[textEnd];
      if (next === separatorOf(layer) || next === QUERY_MARK) return node;
      if (layer === LAYER.host && next === CLOSE_PAREN) return node;
      // `com,a)/?x` belongs to the root, not to the empty folder of `com,a)//b`.
      if (layer !== LAYER.host && next === QUESTION && textEnd !== this.key.hostEnd + 2)
        return node;
    }
    return undefined;
  }
}

/**
 * Rejects a row whose key does not sort after the last one.
 *
 * @param order 0 if the keys are equal
 * @throws MM_NOT_SORTED
 */
export function rejectOrder(order: number, key: Uint8Array, last: string): never {
  throw notSorted(order, new TextDecoder().decode(key), last);
}
