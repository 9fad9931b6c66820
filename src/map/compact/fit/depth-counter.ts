import { COMMA, SLASH } from "../../../bytes/bytes.ts";
import { KEY_KIND, KeyShape } from "../key-shape.ts";
import type { DepthChildren } from "./children-fit.ts";

/** Depths beyond this are counted together. */
const MAX_DEPTH = 64;

/**
 * Counts parents and children by depth over the sorted keys of a map.
 *
 * One pass. A node is counted when it is first seen, and as a parent with its first child. In byte
 * order a sub-tree is not contiguous (`/a`, `/a-b`, `/a/b`), so nodes stay open while the current
 * key starts with their text; memory is a stack as deep as the longest chain of such prefixes.
 */
export class DepthCounter {
  readonly #shape = new KeyShape();
  readonly #parents = { H: new Float64Array(MAX_DEPTH + 1), P: new Float64Array(MAX_DEPTH + 1) };
  readonly #children = { H: new Float64Array(MAX_DEPTH + 1), P: new Float64Array(MAX_DEPTH + 1) };
  #last = new Uint8Array(1024);
  #lastLength = 0;
  /** Ends of the open nodes, and whether each is a parent already. */
  #ends: number[] = [];
  #isParent: boolean[] = [];

  /** Takes the next key, `bytes[start, end)`; keys of wildcards and the like count as their node. */
  add(bytes: Uint8Array, start: number, end: number): void {
    const key = bytes.subarray(start, end);
    this.#shape.set(key, key.length);
    const { kind, hostEnd, nodesEnd } = this.#shape;
    if (kind === KEY_KIND.opaque || kind === KEY_KIND.spread) return;
    let shared = 0;
    const limit = Math.min(key.length, this.#lastLength);
    while (shared < limit && key[shared] === this.#last[shared]) shared++;
    while (this.#ends.length > 0 && (this.#ends.at(-1) ?? 0) > shared) {
      this.#ends.pop();
      this.#isParent.pop();
    }
    this.#countNodes(key, hostEnd, nodesEnd);
    if (key.length > this.#last.length) this.#last = new Uint8Array(key.length * 2);
    this.#last.set(key);
    this.#lastLength = key.length;
  }

  #countNodes(key: Uint8Array, hostEnd: number, nodesEnd: number): void {
    let depth = 0;
    let parent = -1;
    for (let at = 1; at <= hostEnd && at <= nodesEnd; at++) {
      if (at < hostEnd && key[at] !== COMMA) continue;
      parent = this.#countNode("H", ++depth, at, parent);
    }
    if (nodesEnd <= hostEnd) return;
    parent = this.#countNode("P", 0, hostEnd + 1, parent);
    if (nodesEnd === hostEnd + 2) return;
    depth = 0;
    for (let at = hostEnd + 2; at <= nodesEnd; at++) {
      if (at < nodesEnd && key[at] !== SLASH) continue;
      parent = this.#countNode("P", ++depth, at, parent);
    }
  }

  /** Counts a node unless it is open; returns its place on the stack. */
  #countNode(layer: "H" | "P", depth: number, end: number, parent: number): number {
    const known = this.#ends.lastIndexOf(end);
    if (known !== -1) return known;
    const level = Math.min(depth, MAX_DEPTH);
    this.#children[layer][level]++;
    if (depth === 0) {
      // The root of a host's paths: every host has one, and is no parent for it.
      this.#parents[layer][0]++;
    } else if (parent !== -1 && !this.#isParent[parent]) {
      this.#isParent[parent] = true;
      this.#parents[layer][level]++;
    }
    this.#ends.push(end);
    this.#isParent.push(false);
    return this.#ends.length - 1;
  }

  /** The table, depths without any node left out. */
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
