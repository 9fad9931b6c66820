import { commonPrefix, compareRanges } from "../../../bytes/bytes.ts";
import { frequencyIsZero } from "../../../ukvs/frequency.ts";
import { KEY_KIND } from "../key-shape.ts";
import type { RowSink } from "../map-lines.ts";
import type { Layer } from "../node-stack.ts";
import { LAYER, NONE } from "../node-stack.ts";
import type { SpillStore } from "../../../files/scratch.ts";
import { rejectOrder } from "../row-order.ts";
import type { RowRange } from "../totals.ts";
import type { TreeWork } from "../tree-walk.ts";
import { TreeWalk } from "../tree-walk.ts";
import { BranchList } from "./branch-list.ts";
import { HeapsFit } from "./heaps-fit.ts";
import type { MissList } from "./miss-list.ts";
import { nodeName } from "./node-name.ts";
import { FIELD, NodeTable } from "./node-table.ts";
import { publicSuffix } from "./public-suffix.ts";
import { suffixLabels } from "./suffix-labels.ts";
import { SurveyStack } from "./survey-stack.ts";
import type { Survey } from "./survey.ts";

export interface TreeSurveyOptions {
  /** Lookups that missed; those that are held count as nothing. */
  readonly misses?: MissList | undefined;
  /** Takes records that do not fit in memory. */
  readonly spill?: SpillStore | undefined;
}

/**
 * Counts what every node of a key tree holds, and which lookups missed there.
 *
 * Needs rows in byte order, each key once. Holds the open nodes, and the table of nodes with two
 * rows or more: a node of one row cannot save any by being rolled up.
 */
export class TreeSurvey implements RowSink, TreeWork, Survey {
  readonly table: NodeTable;
  readonly branches: BranchList = new BranchList();
  readonly heaps: HeapsFit = new HeapsFit();
  fixedRows = 0;
  heldRows = 0;
  topSingles = 0;
  singleHosts = 0;
  hasWildcards = false;
  readonly #misses: MissList | undefined;
  #nextMiss = 0;
  readonly #nodes = new SurveyStack();
  readonly #walk = new TreeWalk(this.#nodes, this);
  /** How much of the key the one before had, as far as nodes are open for it. */
  #shared = 0;
  #wasOpaque = false;

  constructor(options: TreeSurveyOptions = {}) {
    this.table = new NodeTable(options.spill);
    this.#misses = options.misses;
  }

  sharedBytes(view: DataView, start: number, end: number): number {
    return this.#walk.key.sharedBytes(view, start, end);
  }

  add(
    bytes: Uint8Array,
    lineStart: number,
    sharedBytes: number,
    keyEnd: number,
    _lineEnd: number,
    row: RowRange,
  ): number {
    const walk = this.#walk;
    const { key, shape } = walk;
    const order = key.compare(bytes, lineStart, keyEnd, sharedBytes);
    if (order <= 0) return order;
    if (this.#misses !== undefined && this.#addMissesBefore(bytes, lineStart, keyEnd)) {
      const shared = commonPrefix(key.bytes, 0, key.length, bytes, lineStart, keyEnd);
      key.compare(bytes, lineStart, keyEnd, shared);
    }
    const isZero = frequencyIsZero(bytes, row.frequencyStart, row.frequencyEnd);
    if (!isZero && walk.isSibling(bytes, lineStart, key.nextShared, key.nextLength)) {
      walk.takeSibling(bytes, lineStart, key.nextShared, key.nextLength);
      this.heldRows++;
      return 1;
    }
    this.#goTo(bytes, lineStart);
    const isOpaque = shape.kind === KEY_KIND.opaque;
    if (isOpaque || isZero) {
      this.fixedRows++;
      if (!isOpaque) walk.enter(this.#shared, shape.nodesEnd);
      return 1;
    }
    this.heldRows++;
    const isLeaf = shape.kind === KEY_KIND.page && shape.nodesEnd > shape.hostEnd + 2;
    if (isLeaf) walk.setLeaf(walk.enterFolder(this.#shared));
    else this.#addHeld(walk.enter(this.#shared, shape.nodesEnd));
    return 1;
  }

  rejectOrder(order: number, bytes: Uint8Array, start: number, keyEnd: number): never {
    rejectOrder(order, bytes.subarray(start, keyEnd), this.#walk.key.text());
  }

  /** Takes the misses that are left, and closes all nodes. */
  end(): void {
    if (this.#misses !== undefined) this.#addMissesBefore(undefined, 0, 0);
    this.#walk.end();
  }

  /** Takes the misses before a row; passes over one that is the row itself. False for none. */
  #addMissesBefore(bytes: Uint8Array | undefined, start: number, end: number): boolean {
    const misses = this.#misses;
    if (misses === undefined) return false;
    const { key, shape } = this.#walk;
    let took = false;
    for (; this.#nextMiss < misses.count; this.#nextMiss++) {
      const from = misses.starts[this.#nextMiss];
      const to = misses.starts[this.#nextMiss + 1];
      if (bytes !== undefined) {
        const order = compareRanges(misses.bytes, from, to, bytes, start, end);
        if (order > 0) break;
        if (order === 0) continue;
      }
      took = true;
      const shared = commonPrefix(key.bytes, 0, key.length, misses.bytes, from, to);
      // 0 is the row before, if that was written without its slash.
      if (key.compare(misses.bytes, from, to, shared) === 0) continue;
      this.#goTo(misses.bytes, from);
      if (shape.kind !== KEY_KIND.opaque) this.#addMiss(misses);
    }
    return took;
  }

  #addMiss(misses: MissList): void {
    const nodes = this.#nodes;
    const node = this.#walk.enter(this.#shared, this.#walk.shape.nodesEnd);
    nodes.misses[node]++;
    nodes.ownMisses[node]++;
    if (misses.isLate[this.#nextMiss] === 0) nodes.earlyMisses[node]++;
    nodes.miss[node] = this.#nextMiss;
  }

  /** Makes the key that was compared the current one, and closes the nodes that it is not in. */
  #goTo(bytes: Uint8Array, start: number): void {
    const { key, shape } = this.#walk;
    this.#walk.leave(key.nextShared, key.nextByte);
    key.setCompared(bytes, start);
    shape.set(key.bytes, key.length, key.nextShared);
    this.#shared = this.#wasOpaque ? 0 : key.nextShared;
    this.#wasOpaque = shape.kind === KEY_KIND.opaque;
  }

  openNode(textEnd: number, layer: Layer, depth: number, parent: number): number {
    if (layer === LAYER.root) this.#markSuffixes(parent);
    return this.#nodes.push(textEnd, layer, depth, parent);
  }

  openLeaf(node: number): void {
    this.#nodes.keys[node] = this.#nodes.rows[node] = 1;
  }

  countLeaf(parent: number): void {
    const nodes = this.#nodes;
    nodes.keys[parent]++;
    nodes.children[parent]++;
    nodes.singles[parent]++;
  }

  #markSuffixes(host: number): void {
    const nodes = this.#nodes;
    const { key, shape } = this.#walk;
    const text = new TextDecoder("latin1").decode(key.bytes.subarray(0, shape.hostEnd));
    const labels = suffixLabels(text, publicSuffix);
    for (let node = host; node !== NONE; node = nodes.parent[node]) {
      if (nodes.depth[node] <= labels) nodes.isSuffix[node] = 1;
    }
  }

  #addHeld(node: number): void {
    const { kind } = this.#walk.shape;
    if (kind === KEY_KIND.page) {
      this.#nodes.keys[node]++;
      this.#nodes.rows[node]++;
      return;
    }
    if (kind !== KEY_KIND.query) this.hasWildcards = true;
    // Pages with a query, and wildcards, are leaves below the node.
    this.countLeaf(node);
    this.#nodes.hasQueries[node] = 1;
  }

  /** Ends the node on top: passes on what it holds, and keeps a record if it may be rolled up. */
  closeTop(): void {
    const nodes = this.#nodes;
    const node = nodes.size - 1;
    const keys = nodes.keys[node];
    const parent = nodes.parent[node];
    if (nodes.layer[node] === LAYER.root && nodes.children[node] > 0) {
      this.heaps.add(keys, nodes.children[node]);
    }
    if (nodes.hasQueries[node] === 1) nodes.dropBranches(node);
    if (keys >= 2) {
      this.#record(node);
      if (parent !== NONE) nodes.passUp(node, parent);
    } else if (keys === 1) {
      if (nodes.layer[node] === LAYER.root) this.singleHosts++;
      if (parent === NONE) this.topSingles++;
      else nodes.passUpSingle(node, parent);
    } else if (parent !== NONE && nodes.misses[node] > 0) {
      nodes.passUpBranch(node, parent);
    }
    nodes.size = node;
  }

  #record(node: number): void {
    const nodes = this.#nodes;
    const page = this.table.push();
    const at = this.table.lastOffset;
    page[at + FIELD.slot] = node + 1;
    page[at + FIELD.parent] = nodes.parent[node] + 1;
    page[at + FIELD.name] = nodeName(this.#walk.key.bytes, nodes.textEnd[node]);
    page[at + FIELD.layer] = nodes.layer[node];
    page[at + FIELD.isSuffix] = nodes.isSuffix[node];
    page[at + FIELD.rows] = nodes.rows[node];
    page[at + FIELD.keys] = nodes.keys[node];
    page[at + FIELD.children] = nodes.children[node];
    page[at + FIELD.singles] = nodes.singles[node];
    page[at + FIELD.singleFolders] = nodes.singleFolders[node];
    page[at + FIELD.subdomains] = nodes.subdomains[node];
    page[at + FIELD.misses] = nodes.misses[node];
    page[at + FIELD.ownMisses] = nodes.ownMisses[node];
    page[at + FIELD.singleMisses] = nodes.singleMisses[node];
    nodes.takeBranches(node, this.table.size - 1, this.branches);
  }
}
