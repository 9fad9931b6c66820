import type { Layer } from "../node-stack.ts";
import { enlarged, INITIAL_DEPTH, LAYER, NodeStack } from "../node-stack.ts";
import type { BranchList } from "./branch-list.ts";

/** A branch that holds nothing, waiting for what is above it to be closed. */
interface Branch {
  readonly miss: number;
  readonly textLength: number;
  readonly early: number;
  readonly misses: number;
  readonly isHost: boolean;
  next: Branch | undefined;
}

/** The open nodes of a survey. Holds their branches besides. */
export class SurveyStack extends NodeStack {
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

  override push(textEnd: number, layer: Layer, depth: number, parent: number): number {
    const node = super.push(textEnd, layer, depth, parent);
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

  /** Adds what a node holds to its parent. */
  passUp(node: number, parent: number): void {
    this.keys[parent] += this.keys[node];
    this.children[parent]++;
    if (this.layer[node] === LAYER.host) this.subdomains[parent]++;
    this.#passUpMisses(node, parent);
  }

  /** The same for a node of one row, which has no record of its own. */
  passUpSingle(node: number, parent: number): void {
    this.passUp(node, parent);
    this.singles[parent]++;
    if (this.rows[node] === 0) this.singleFolders[parent]++;
    this.singleMisses[parent] += this.misses[node];
    this.#moveBranches(node, parent);
  }

  /** Makes a node that holds nothing a branch of its parent. */
  passUpBranch(node: number, parent: number): void {
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
    this.ownMisses[parent] += this.misses[node];
    this.#passUpMisses(node, parent);
  }

  #passUpMisses(node: number, parent: number): void {
    this.misses[parent] += this.misses[node];
    this.earlyMisses[parent] += this.earlyMisses[node];
    this.miss[parent] = this.miss[node];
  }

  dropBranches(node: number): void {
    this.#firstBranch[node] = this.#lastBranch[node] = undefined;
  }

  #moveBranches(node: number, parent: number): void {
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

  protected override grow(size: number): void {
    super.grow(size);
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
