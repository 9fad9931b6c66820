import { CLOSE_PAREN, COMMA, QUESTION, SLASH, STAR } from "../../bytes/bytes.ts";
import { CurrentKey } from "./current-key.ts";
import { KeyShape } from "./key-shape.ts";
import type { Layer, NodeStack } from "./node-stack.ts";
import { LAYER, NONE } from "./node-stack.ts";

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

  /** Leaves the nodes that a key is not in that shares so many bytes, and then has `next`. */
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
