import { COMMA, compareRanges, SPACE, STAR } from "../../bytes/bytes.ts";
import type { CompactorNodes } from "./compactor-nodes.ts";
import type { CurrentKey } from "./current-key.ts";
import type { Layer } from "./node-stack.ts";
import { LAYER, NONE } from "./node-stack.ts";
import type { PendingText } from "./pending-text.ts";
import type { RollUpPolicy } from "./roll-up-policy.ts";
import { CHOSEN } from "./roll-up-policy.ts";
import type { Totals } from "./totals.ts";
import { separatorOf } from "./tree-walk.ts";
import type { Voids } from "./voids.ts";

/**
 * Counts the children of open nodes, and rolls up those over their cutoff.
 *
 * Every such node that is below no other becomes one wildcard row with the summed frequency. Once a
 * node is over its cutoff it will be rolled up, so its rows are taken back at once and only summed.
 */
export class RollUps {
  /** Roll-ups written, or swallowed by a larger one. */
  count = 0;
  readonly #policy: RollUpPolicy;
  readonly #nodes: CompactorNodes;
  readonly #output: PendingText;
  readonly #voids: Voids;
  /** The lowest open node that is rolled up. */
  #lowest = NONE;

  constructor(policy: RollUpPolicy, nodes: CompactorNodes, output: PendingText, voids: Voids) {
    this.#policy = policy;
    this.#nodes = nodes;
    this.#output = output;
    this.#voids = voids;
  }

  /** Whether an open node is rolled up: held rows are not written then. */
  get isRolledUp(): boolean {
    return this.#lowest !== NONE;
  }

  /** Opens the node `key[0, textEnd)`; what is `isSpread` is never rolled up. */
  open(
    key: CurrentKey,
    textEnd: number,
    layer: Layer,
    depth: number,
    parent: number,
    isSpread: boolean,
  ): number {
    const nodes = this.#nodes;
    const position = this.#output.end;
    const cutoff = isSpread ? Number.POSITIVE_INFINITY : this.#cutoff(key, textEnd, layer, depth);
    const node = nodes.open(textEnd, layer, depth, parent, cutoff, position);
    const isAbove = layer === LAYER.host ? key.bytes[textEnd] === COMMA : textEnd < key.length;
    if (isAbove) nodes.headEnd[node] = nodes.childrenStart[node] = position;
    return node;
  }

  #cutoff({ bytes }: CurrentKey, textEnd: number, layer: Layer, depth: number): number {
    return layer === LAYER.host
      ? this.#policy.hostCutoff(depth, bytes, textEnd)
      : this.#policy.pathCutoff(depth, bytes, textEnd);
  }

  /** Says that a node holds something, and counts it as a child of its parent. */
  markPresent(from: number): void {
    const nodes = this.#nodes;
    for (let node = from; node !== NONE && nodes.isPresent[node] === 0; node = nodes.parent[node]) {
      nodes.isPresent[node] = 1;
      if (this.isRolledUp && node >= this.#lowest) this.#voids.strikeOut(node);
      const parent = nodes.parent[node];
      if (parent === NONE) continue;
      if (nodes.layer[node] === LAYER.path) {
        if (nodes.depth[node] < this.#policy.maxPathDepth) this.addChild(parent);
      } else if (nodes.layer[node] === LAYER.root) {
        // A host deeper than the last level counts as a child of that level.
        if (nodes.depth[parent] >= this.#policy.maxHostDepth) this.addRowAsChild(parent);
      } else if (nodes.depth[node] < this.#policy.maxHostDepth) {
        this.addChild(parent);
      }
    }
  }

  /** `X,*)/p` is a child `*` of X, and `X,*` is the same child. */
  markSpread(node: number): void {
    const nodes = this.#nodes;
    if (nodes.isPresent[node] === 1) return;
    nodes.isPresent[node] = 1;
    const parent = nodes.parent[node];
    if (parent === NONE) return;
    this.markPresent(parent);
    if (nodes.hasWildcard[parent] === 0) this.addRowAsChild(parent);
  }

  addChild(node: number): void {
    const nodes = this.#nodes;
    const children = ++nodes.children[node];
    if (children > nodes.cutoff[node] && nodes.isRolledUp[node] === 0) this.#rollUp(node);
  }

  /** Counts a row at a node as a child of it, or of the last level that is told apart. */
  addRowAsChild(node: number): void {
    const nodes = this.#nodes;
    const isHost = nodes.layer[node] === LAYER.host;
    const last = (isHost ? this.#policy.maxHostDepth : this.#policy.maxPathDepth) - 1;
    let capped = node;
    while (nodes.depth[capped] > last && nodes.parent[capped] !== NONE) {
      const parent = nodes.parent[capped];
      if ((nodes.layer[parent] === LAYER.host) !== isHost) break;
      capped = parent;
    }
    this.addChild(capped);
  }

  /** A page with a query is no child, but it is below the node. */
  addBelow(node: number): void {
    const nodes = this.#nodes;
    if (nodes.cutoff[node] === CHOSEN && nodes.isRolledUp[node] === 0) this.#rollUp(node);
  }

  /** Takes back all rows of a node that were written, but for exclusions that may stay. */
  #rollUp(node: number): void {
    const nodes = this.#nodes;
    nodes.isRolledUp[node] = 1;
    this.count++;
    // Below a node that is rolled up already nothing was written.
    if (this.isRolledUp && this.#lowest < node) return;
    this.#lowest = node;
    const output = this.#output;
    const headStart = nodes.headStart[node];
    const headEnd = nodes.headEnd[node] === NONE ? output.end : nodes.headEnd[node];
    const childrenStart =
      nodes.childrenStart[node] === NONE ? output.end : nodes.childrenStart[node];
    if (nodes.hasVoids[node] === 1) {
      for (let open = node; open < nodes.size; open++) {
        if (nodes.isPresent[open] === 1) this.#voids.strikeOut(open);
      }
      this.#voids.strikeOutRows(headStart, headEnd);
      this.#voids.strikeOutRows(childrenStart, output.end);
    } else if (headEnd === childrenStart) {
      output.truncate(headStart);
      nodes.headEnd[node] = nodes.childrenStart[node] = headStart;
    } else {
      output.strikeOut(headStart, headEnd);
      output.truncate(childrenStart);
    }
  }

  /** Ends the node on top: passes its sum on, and writes it if it is rolled up. */
  closeTop(key: CurrentKey): void {
    const nodes = this.#nodes;
    const node = nodes.size - 1;
    if (nodes.isPresent[node] === 1) {
      let totals = nodes.totals[node];
      if (nodes.hasWildcard[node] === 1) {
        nodes.wildcardTotals[node].addMissing(totals);
        totals = nodes.wildcardTotals[node];
      }
      if (node === this.#lowest) {
        this.#lowest = NONE;
        this.#write(node, totals, key.bytes);
      }
      const parent = nodes.parent[node];
      if (parent !== NONE) nodes.totals[parent].addTotals(totals);
      this.#voids.cover(node);
    }
    nodes.size = node;
  }

  #write(node: number, totals: Totals, key: Uint8Array): void {
    const nodes = this.#nodes;
    const output = this.#output;
    const keyLength = nodes.textEnd[node] + 2;
    // The text of the node is the start of the last key, and no open node needs what follows it.
    key[keyLength - 2] = separatorOf(nodes.layer[node]);
    key[keyLength - 1] = STAR;
    if (nodes.hasVoids[node] === 0) {
      totals.appendRows(key, keyLength, output);
      return;
    }
    const lines = takenBack(output, nodes.childrenStart[node]);
    const isBefore = (line: Uint8Array): boolean =>
      compareRanges(line, 0, keyEndOf(line), key, 0, keyLength) < 0;
    for (const line of lines.filter(isBefore)) output.append(line, 0, line.length);
    totals.appendRows(key, keyLength, output);
    for (const line of lines.filter((line) => !isBefore(line))) {
      output.append(line, 0, line.length);
    }
  }

  /** Where the output of the lowest node begins that may still be rolled up; its end for none. */
  get decidedEnd(): number {
    const nodes = this.#nodes;
    for (let node = 0; node < nodes.size; node++) {
      if (nodes.cutoff[node] !== Number.POSITIVE_INFINITY) return nodes.headStart[node];
    }
    return this.#output.end;
  }
}

/** Takes the lines from a position on out of the output. */
function takenBack(output: PendingText, position: number): Uint8Array[] {
  const lines: Uint8Array[] = [];
  output.forEachLine(position, output.end, (bytes, start, end) => {
    lines.push(bytes.slice(start, end));
  });
  output.truncate(position);
  return lines;
}

function keyEndOf(line: Uint8Array): number {
  let at = 0;
  while (at < line.length && line[at] > SPACE) at++;
  return at;
}
