import type { Layer } from "../node-stack.ts";
import { enlarged, LAYER } from "../node-stack.ts";
import type { BranchList } from "./branch-list.ts";

const INITIAL_DEPTH = 64;

/** A branch that holds nothing, waiting for what is above it to be closed. */
interface Branch {
  readonly miss: number;
  readonly textLength: number;
  readonly early: number;
  readonly misses: number;
  readonly isHost: boolean;
  next: Branch | undefined;
}

/**
 * The open nodes of a survey, as columns of numbers; `NodeStack` says how they lie in the keys.
 *
 * Holds the branches of open nodes besides.
 */
export class SurveyStack {
  size = 0;
  textEnd = new Int32Array(INITIAL_DEPTH);
  separator = new Uint8Array(INITIAL_DEPTH);
  layer = new Uint8Array(INITIAL_DEPTH);
  depth = new Int32Array(INITIAL_DEPTH);
  parent = new Int32Array(INITIAL_DEPTH);
  isSuffix = new Uint8Array(INITIAL_DEPTH);
  hasQueries = new Uint8Array(INITIAL_DEPTH);
  rows = new Float64Array(INITIAL_DEPTH);
  keys = new Float64Array(INITIAL_DEPTH);
  children = new Float64Array(INITIAL_DEPTH);
  singles = new Float64Array(INITIAL_DEPTH);
  singleFolders = new Float64Array(INITIAL_DEPTH);
  subdomains = new Float64Array(INITIAL_DEPTH);
  misses = new Float64Array(INITIAL_DEPTH);
  ownMisses = new Float64Array(INITIAL_DEPTH);
  singleMisses = new Float64Array(INITIAL_DEPTH);
  earlyMisses = new Float64Array(INITIAL_DEPTH);
  /** Some miss in the sub-tree: its key begins with the node's. */
  miss = new Float64Array(INITIAL_DEPTH);
  readonly #firstBranch: (Branch | undefined)[] = [];
  readonly #lastBranch: (Branch | undefined)[] = [];

  push(textEnd: number, separator: number, layer: Layer, depth: number, parent: number): number {
    const node = this.size++;
    if (node === this.textEnd.length) this.#grow();
    this.textEnd[node] = textEnd;
    this.separator[node] = separator;
    this.layer[node] = layer;
    this.depth[node] = depth;
    this.parent[node] = parent;
    this.isSuffix[node] = 0;
    this.hasQueries[node] = 0;
    this.rows[node] = 0;
    this.keys[node] = 0;
    this.children[node] = 0;
    this.singles[node] = 0;
    this.singleFolders[node] = 0;
    this.subdomains[node] = 0;
    this.misses[node] = 0;
    this.ownMisses[node] = 0;
    this.singleMisses[node] = 0;
    this.earlyMisses[node] = 0;
    this.#firstBranch[node] = this.#lastBranch[node] = undefined;
    return node;
  }

  /** Makes a node that holds nothing a branch of its parent. */
  addBranch(parent: number, node: number): void {
    const branch: Branch = {
      miss: this.miss[node],
      textLength: this.textEnd[node],
      early: this.earlyMisses[node],
      misses: this.misses[node],
      isHost: this.layer[node] === LAYER.host,
      next: undefined,
    };
    const last = this.#lastBranch[parent];
    if (last === undefined) this.#firstBranch[parent] = branch;
    else last.next = branch;
    this.#lastBranch[parent] = branch;
  }

  dropBranches(node: number): void {
    this.#firstBranch[node] = this.#lastBranch[node] = undefined;
  }

  moveBranches(node: number, parent: number): void {
    const first = this.#firstBranch[node];
    if (first === undefined) return;
    const last = this.#lastBranch[parent];
    if (last === undefined) this.#firstBranch[parent] = first;
    else last.next = first;
    this.#lastBranch[parent] = this.#lastBranch[node];
    this.dropBranches(node);
  }

  /** Lists the branches of a node that got a record. */
  takeBranches(node: number, record: number, list: BranchList): void {
    for (let branch = this.#firstBranch[node]; branch !== undefined; branch = branch.next) {
      const at = list.add();
      list.record[at] = record;
      list.miss[at] = branch.miss;
      list.textLength[at] = branch.textLength;
      list.early[at] = branch.early;
      list.misses[at] = branch.misses;
      list.isHost[at] = branch.isHost ? 1 : 0;
    }
    this.dropBranches(node);
  }

  #grow(): void {
    const size = this.textEnd.length * 2;
    this.textEnd = enlarged(new Int32Array(size), this.textEnd);
    this.separator = enlarged(new Uint8Array(size), this.separator);
    this.layer = enlarged(new Uint8Array(size), this.layer);
    this.depth = enlarged(new Int32Array(size), this.depth);
    this.parent = enlarged(new Int32Array(size), this.parent);
    this.isSuffix = enlarged(new Uint8Array(size), this.isSuffix);
    this.hasQueries = enlarged(new Uint8Array(size), this.hasQueries);
    this.rows = enlarged(new Float64Array(size), this.rows);
    this.keys = enlarged(new Float64Array(size), this.keys);
    this.children = enlarged(new Float64Array(size), this.children);
    this.singles = enlarged(new Float64Array(size), this.singles);
    this.singleFolders = enlarged(new Float64Array(size), this.singleFolders);
    this.subdomains = enlarged(new Float64Array(size), this.subdomains);
    this.misses = enlarged(new Float64Array(size), this.misses);
    this.ownMisses = enlarged(new Float64Array(size), this.ownMisses);
    this.singleMisses = enlarged(new Float64Array(size), this.singleMisses);
    this.earlyMisses = enlarged(new Float64Array(size), this.earlyMisses);
    this.miss = enlarged(new Float64Array(size), this.miss);
  }
}
