import {
  enlarged,
  INITIAL_DEPTH,
  KEY_KIND,
  type Layer,
  LAYER,
  NodeStack,
  NONE,
  rejectOrder,
  TreeWalk,
  type TreeWork,
} from "../key-tree.ts";
import { BranchList, FIELD, HeapsFit, nodeName, NodeTable, type Survey } from "./survey.ts";
import { commonPrefix, compareRanges } from "../../../bytes/bytes.ts";
import { frequencyIsZero } from "../../../ukvs/frequency.ts";
import type { RowSink } from "../map-lines.ts";
import type { SpillStore } from "../../../files/scratch.ts";
import type { RowRange } from "../totals.ts";
import type { MissList } from "./misses.ts";
import { createRequire } from "node:module";
import { ownPlace } from "../../../files/package-file.ts";

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
class SurveyStack extends NodeStack {
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
  readonly #publicSuffix = loadPublicSuffix();
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
    const labels = suffixLabels(text, this.#publicSuffix);
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

/** The public suffix of a host name, `co.uk` of `www.bbc.co.uk`; null for none. */
type PublicSuffix = (name: string) => string | null;

/**
 * Loads the list of public suffixes, which only surveys need.
 *
 * By `require`: to import a CommonJS module of this size, Node first searches its text for what it
 * exports, which takes longer than to run it.
 */
export function loadPublicSuffix(): PublicSuffix {
  const tldts = createRequire(ownPlace())("tldts") as typeof import("tldts");
  // Hosts of keys are checked already.
  return (name) => tldts.getPublicSuffix(name, { validateHostname: false, extractHostname: false });
}

const IP_ADDRESS = /^\d+,\d+,\d+,\d+$/;

/**
 * How many labels of a host, as a key writes it, do not name a site: 1 for `com,cnn`, 2 for
 * `uk,co,bbc`. By the public suffix list, without private suffixes such as `com,github`: requests for
 * what they host have more in common than requests below a registry.
 *
 * All labels of an IP address but the last count.
 */
export function suffixLabels(host: string, publicSuffix: PublicSuffix): number {
  if (IP_ADDRESS.test(host)) return 3;
  const suffix = publicSuffix(host.split(",").toReversed().join("."));
  return suffix === null ? 1 : suffix.split(".").length;
}
