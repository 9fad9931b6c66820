import {
  CLOSE_PAREN,
  COMMA,
  commonPrefix,
  copyRange,
  QUESTION,
  SLASH,
  STAR,
} from "../../bytes/bytes.ts";
import { MementoMapError, quote } from "../../errors.ts";

/**
 * Stands in place of the `?` of keys in a map with queries, as the tree has them: it sorts below every
 * byte of a key, so that the queries of a page come right behind it. See `tree-order.ts`.
 */
export const QUERY_MARK = 1;

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
  /** `*`, and keys that are not the SURT of a host, such as `dns:example.com`. */
  opaque: 5,
  /** `com,cnn)/a?*`: one page, with any query or none. */
  queryWildcard: 6,
} as const;

export type KeyKind = (typeof KEY_KIND)[keyof typeof KEY_KIND];

/** What the tree of keys needs to know of a key. */
export interface KeyShape {
  readonly kind: KeyKind;
  /** Where the `)` is; the end of the labels for a host wildcard; -1 for opaque keys. */
  readonly hostEnd: number;
  /** Nodes of the tree end at or before here: it leaves out queries and wildcards. */
  readonly nodesEnd: number;
  /** In a map with queries, where the page of a query ends; the node of its queries ends one further. */
  readonly pageEnd?: number;
}

export function keyShape(key: Uint8Array, length: number): KeyShape {
  const hostEnd = findHostEnd(key, length);
  if (hostEnd === length) {
    return length > 2 && endsInWildcard(key, length, COMMA)
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
  // The page itself stays out: its row and sub-tree came before.
  let last = query - 1;
  while (key[last] !== SLASH && last > hostEnd + 1) last--;
  return { kind: KEY_KIND.query, hostEnd, nodesEnd: last };
}

function endsInWildcard(key: Uint8Array, end: number, separator: number): boolean {
  return end >= 2 && key[end - 1] === STAR && key[end - 2] === separator;
}

/** The offset of the `)` that ends the host, or `end`. */
function findHostEnd(key: Uint8Array, end: number): number {
  let at = 0;
  while (at < end && !(key[at] === CLOSE_PAREN && (at + 1 === end || key[at + 1] === SLASH))) at++;
  return at;
}

/** The part of a key that a node belongs to. */
export const LAYER = { host: 0, root: 1, path: 2, query: 3 } as const;
export type Layer = (typeof LAYER)[keyof typeof LAYER];

/** The byte that leads to the children of a node; the text of a node of queries ends with it. */
export function separatorOf(layer: Layer): number {
  return layer === LAYER.host ? COMMA : SLASH;
}

/** The last byte that can follow the text of a node in a key that belongs to it. */
function lastByteOf(layer: Layer): number {
  return layer === LAYER.query ? 0xff : separatorOf(layer);
}

/** Where in the key tree a node is. */
export interface NodePlace<Node> {
  /** Its number among the open nodes. */
  readonly index: number;
  /** The node is `key[0, textEnd)`. */
  readonly textEnd: number;
  readonly layer: Layer;
  /** Labels of a host; 1 for a root, 2 for `/a`. */
  readonly depth: number;
  readonly parent: Node | undefined;
}

/** An open node; each kind of work adds members of its own. */
export class TreeNode<Node> implements NodePlace<Node> {
  readonly index: number;
  readonly textEnd: number;
  readonly layer: Layer;
  readonly depth: number;
  readonly parent: Node | undefined;

  constructor({ index, textEnd, layer, depth, parent }: NodePlace<Node>) {
    this.index = index;
    this.textEnd = textEnd;
    this.layer = layer;
    this.depth = depth;
    this.parent = parent;
  }
}

/** What is done with the nodes of a key tree as a walk comes by. */
export interface TreeVisitor<Node> {
  open(place: NodePlace<Node>): Node;
  /** The node is the last one of those open; the key of the walk still begins with its text. */
  close(node: Node): void;
  /** The next key begins with the text of the node, and then has `next`. */
  stay?(node: Node, next: number): void;
}

/** The last key of a sorted map. Holds the longest one. */
export class CurrentKey {
  /** The key is `bytes[0, length)`. */
  bytes: Uint8Array = new Uint8Array(1024);
  length = 0;
  /** How many bytes the key compared last has in common with this one. */
  shared = 0;

  /** Positive if `source[start, end)` comes behind the key, 0 if it is the same. */
  compare(source: Uint8Array, start: number, end: number): number {
    this.shared = commonPrefix(this.bytes, 0, this.length, source, start, end);
    const at = start + this.shared;
    if (at === end) return end - start - this.length;
    return this.shared === this.length ? 1 : source[at] - this.bytes[this.shared];
  }

  /** Makes `source[start, end)`, which was compared last, the key. */
  set(source: Uint8Array, start: number, end: number): void {
    this.length = end - start;
    if (this.length > this.bytes.length) {
      const larger = new Uint8Array(2 * this.length);
      larger.set(this.bytes);
      this.bytes = larger;
    }
    copyRange(source, start + this.shared, end, this.bytes, this.shared);
  }

  /** The key, in bytes that are valid until another is set. */
  get whole(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }

  /** The first `end` bytes as text. */
  text(end: number = this.length): string {
    return new TextDecoder().decode(this.bytes.subarray(0, end));
  }
}

/**
 * Walks the key tree of a sorted map from key to key: opens the nodes that a key is in, and closes
 * those that no later key can be in.
 *
 * In byte order a sub-tree is not contiguous (`/a`, `/a-b`, `/a/b`), so not every open node is above
 * the last key; `parent` tells. Holds the open nodes and the longest key.
 */
export class TreeWalk<Node extends NodePlace<Node>> {
  readonly nodes: Node[] = [];
  readonly key: CurrentKey = new CurrentKey();
  readonly #visitor: TreeVisitor<Node>;
  #isAtCut = false;
  readonly #lastByte: (layer: Layer) => number;

  /** @param lastByte the last byte that can follow the text of a node in a key that belongs to it. */
  constructor(visitor: TreeVisitor<Node>, lastByte: (layer: Layer) => number = lastByteOf) {
    this.#visitor = visitor;
    this.#lastByte = lastByte;
  }

  /**
   * Goes to the key `bytes[start, end)` if it comes behind the current one, and returns a positive
   * number; 0 if it is the same key, a negative number if it belongs before it.
   */
  goTo(bytes: Uint8Array, start: number, end: number): number {
    const compared = this.key.compare(bytes, start, end);
    // The key before the first one is a cut, which may be the first one.
    const order = compared === 0 && this.#isAtCut ? 1 : compared;
    this.#isAtCut = false;
    if (order <= 0) return order;
    const { shared } = this.key;
    const next = bytes[start + shared];
    while ((this.nodes.at(-1)?.textEnd ?? 0) > shared) this.#closeTop();
    const top = this.nodes.at(-1);
    if (top?.textEnd === shared) {
      if (next > this.#lastByte(top.layer)) this.#closeTop();
      else this.#visitor.stay?.(top, next);
    }
    this.key.set(bytes, start, end);
    return order;
  }

  /**
   * Goes to a cut before the first key: opens the nodes that a walk which came to it through all keys
   * before may have open. Only for maps without queries.
   */
  begin(cut: Uint8Array): void {
    this.key.compare(cut, 0, cut.length);
    this.key.set(cut, 0, cut.length);
    this.#isAtCut = true;
    const { hostEnd } = keyShape(cut, cut.length);
    const end = hostEnd === -1 ? cut.length : hostEnd;
    let [host, above]: (Node | undefined)[] = [];
    for (let at = 1; at < Math.min(end + 1, cut.length); at++) {
      if (cut[at] > COMMA) continue;
      const node = this.#open(at, LAYER.host, host);
      if (cut[at] === COMMA || at === end) host = node;
    }
    if (hostEnd === -1 || hostEnd + 1 >= cut.length) return;
    above = this.#open(hostEnd + 1, LAYER.root, host);
    for (let at = hostEnd + 2; at < cut.length; at++) {
      if (cut[at] > SLASH) continue;
      const node = this.#open(at, LAYER.path, above);
      if (cut[at] === SLASH) above = node;
    }
  }

  /** Goes to the cut behind the last key: closes the nodes that no key from there on can be in. */
  leaveFor(cut: Uint8Array): void {
    if (this.key.compare(cut, 0, cut.length) > 0) this.goTo(cut, 0, cut.length);
  }

  /** Opens the nodes of the key that are not open yet; returns the last. Not for opaque keys. */
  enter({ hostEnd, nodesEnd, pageEnd }: Omit<KeyShape, "kind">): Node {
    const page = this.#enterPage(hostEnd, pageEnd ?? nodesEnd, nodesEnd);
    if (pageEnd === undefined || page.textEnd === nodesEnd) return page;
    return this.#open(nodesEnd, LAYER.query, page);
  }

  /** Opens the nodes up to `pageEnd`; the node that ends at `nodesEnd`, if it is open. */
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
    while (this.nodes.length > 0) this.#closeTop();
  }

  #open(textEnd: number, layer: Layer, parent: Node | undefined): Node {
    const depth = layer === LAYER.root || parent === undefined ? 1 : parent.depth + 1;
    const index = this.nodes.length;
    const node = this.#visitor.open({ index, textEnd, layer, depth, parent });
    this.nodes.push(node);
    return node;
  }

  #closeTop(): void {
    const top = this.nodes.at(-1);
    if (top === undefined) return;
    this.#visitor.close(top);
    this.nodes.pop();
  }

  /** The deepest open node that the key, up to `nodesEnd`, lies in. */
  #above(nodesEnd: number): Node | undefined {
    return this.nodes.findLast(({ textEnd, layer }) => {
      if (textEnd >= nodesEnd) return textEnd === nodesEnd;
      const next = this.key.bytes[textEnd];
      if (next === separatorOf(layer) || next === QUERY_MARK) return true;
      return layer === LAYER.host && next === CLOSE_PAREN;
    });
  }
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
      ? `key ${text} occurs twice; merge adds such rows up`
      : `key ${text} comes after ${quote(last)}; sort the rows with LC_ALL=C sort`,
  );
}
