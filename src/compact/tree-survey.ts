import {
  KEY_KIND,
  LAYER,
  rejectOrder,
  TreeNode,
  type TreeVisitor,
  TreeWalk,
} from "../ukvs/key-tree.ts";
import { compareRanges } from "../bytes/bytes.ts";
import { frequencyIsZero } from "../ukvs/frequency.ts";
import type { MapRow, RowSink } from "./map-lines.ts";
import type { SpillStore } from "../files/scratch.ts";
import type { Branch, RecordedBranch } from "./exclusions.ts";
import type { MissList } from "./misses.ts";
import { FIELD, NodeTable } from "./node-table.ts";

/** An open node of a survey; see `FIELD` for its counts. */
export class SurveyNode extends TreeNode<SurveyNode> {
  hasQueries = false;
  rows = 0;
  keys = 0;
  children = 0;
  singles = 0;
  subdomains = 0;
  misses = 0;
  ownMisses = 0;
  singleMisses = 0;
  earlyMisses = 0;
  /** Any miss in the sub-tree: its key begins with that of the node. */
  miss = 0;
  /** Empty branches, pending until an ancestor gets a record. */
  branches: Branch[] = [];

  reset(): void {
    this.hasQueries = false;
    this.rows = this.keys = this.children = this.singles = this.subdomains = 0;
    this.misses = this.ownMisses = this.singleMisses = this.earlyMisses = 0;
    if (this.branches.length > 0) this.branches = [];
  }

  /** Names the node in records. */
  get slot(): number {
    return this.index + 1;
  }

  /** Adds a page or row without a node of its own. */
  addLeaf(): void {
    this.keys++;
    this.children++;
    this.singles++;
  }

  /** Takes over the row of the page above, which a wildcard for any query replaces too. */
  takePage(page: SurveyNode): void {
    this.rows += page.rows;
    this.keys += page.rows;
    page.keys -= page.rows;
    page.rows = 0;
  }

  /** Adds misses of queries of a page without queries. */
  absorb(child: SurveyNode): void {
    this.ownMisses += child.misses;
    this.#addMisses(child);
  }

  /** Adds the counts of a child. */
  addChild(child: SurveyNode): void {
    this.keys += child.keys;
    this.children++;
    if (child.layer === LAYER.host) this.subdomains++;
    this.#addMisses(child);
  }

  /** As `addChild`, for a child of one row, which has no record of its own. */
  addSingle(child: SurveyNode): void {
    this.addChild(child);
    this.singles++;
    this.singleMisses += child.misses;
    for (const branch of child.branches) this.branches.push(branch);
  }

  /** Turns a child that holds nothing into a branch. */
  addBranch(child: SurveyNode): void {
    const { miss, textEnd, earlyMisses, misses, layer } = child;
    this.branches.push({
      miss,
      textLength: textEnd,
      early: earlyMisses,
      misses,
      isHost: layer === LAYER.host,
    });
    this.ownMisses += misses;
    this.#addMisses(child);
  }

  #addMisses({ misses, earlyMisses, miss }: SurveyNode): void {
    this.misses += misses;
    this.earlyMisses += earlyMisses;
    this.miss = miss;
  }
}

/**
 * Heaps' law of an archive: a host of n keys has about c · n^β distinct children.
 *
 * A least-squares line through the logarithms, one point per host. Holds five sums.
 */
export class HeapsFit {
  /** Hosts that have children. */
  hosts = 0;
  #x = 0;
  #y = 0;
  #xx = 0;
  #xy = 0;

  add(keys: number, children: number): void {
    const x = Math.log(keys);
    const y = Math.log(children);
    this.hosts++;
    this.#x += x;
    this.#y += y;
    this.#xx += x * x;
    this.#xy += x * y;
  }

  /** β, between 0 and 1; 1/2 if all hosts have the same size, so that there is nothing to fit. */
  get exponent(): number {
    const variance = this.hosts * this.#xx - this.#x * this.#x;
    if (!(variance > 1e-9 * this.hosts * this.#xx)) return 0.5;
    const slope = (this.hosts * this.#xy - this.#x * this.#y) / variance;
    return Math.min(1, Math.max(0, slope));
  }
}

/**
 * Counts the rows and missed lookups of every node of a key tree.
 *
 * Needs rows in byte order, each key once; in a map with queries, rows and misses in the order of the
 * tree. Holds the open nodes, and the table of nodes with two rows or more: rolling up a node of one row
 * saves nothing.
 */
export class TreeSurvey implements RowSink, TreeVisitor<SurveyNode> {
  readonly table: NodeTable;
  /** In record order. */
  readonly branches: RecordedBranch[] = [];
  readonly heaps: HeapsFit = new HeapsFit();
  /** Rows that are never rolled up: exclusions, and keys outside the tree. */
  fixedRows = 0;
  /** Rows that are present. */
  heldRows = 0;
  /** Hosts and top-level domains of one row, which have no record. */
  topSingles = 0;
  singleHosts = 0;
  /** Whether the map has present wildcards, below which held URIs are unknown. */
  hasWildcards = false;
  readonly #misses: MissList | undefined;
  #nextMiss = 0;
  readonly #walk: TreeWalk<SurveyNode> = new TreeWalk(() => new SurveyNode(), this);
  /** Whether the walk is at the previous row, not at a miss. */
  #isAtRow = false;

  /**
   * @param misses missed lookups; those that the map holds are ignored.
   * @param spill stores records that do not fit in memory.
   */
  constructor(misses?: MissList, spill?: SpillStore) {
    this.table = new NodeTable(spill);
    this.#misses = misses;
  }

  add(row: MapRow): void {
    const { bytes, start, keyEnd, frequencyStart, frequencyEnd } = row;
    const walk = this.#walk;
    this.#addMissesBefore(bytes, start, keyEnd);
    const order = walk.goTo(bytes, start, keyEnd, this.#isAtRow ? row.shared : -1);
    if (order <= 0) rejectOrder(order, bytes.subarray(start, keyEnd), walk.key.text());
    this.#isAtRow = true;
    if (row.count > 0 && walk.key.isInFolder) {
      walk.makeLeaf(walk.enterFolder());
      this.heldRows++;
      return;
    }
    const { shape } = walk.key;
    const isHeld = !frequencyIsZero(bytes, frequencyStart, frequencyEnd);
    const node = shape.kind === KEY_KIND.opaque ? undefined : walk.enter(shape);
    if (node === undefined || !isHeld) {
      this.fixedRows++;
      return;
    }
    this.heldRows++;
    if (shape.kind === KEY_KIND.page) {
      node.keys++;
      node.rows++;
      return;
    }
    if (shape.kind !== KEY_KIND.query) this.hasWildcards = true;
    if (node.layer === LAYER.query) {
      if (node.keys === 0 && node.parent !== undefined) node.takePage(node.parent);
      node.addLeaf();
      return;
    }
    // Pages with a query, and wildcards, are leaves below the node.
    node.addLeaf();
    node.hasQueries = true;
  }

  /** Adds the remaining misses, and closes all nodes. */
  end(): void {
    this.#addMissesBefore();
    this.#walk.end();
  }

  /** Adds the misses before a row, or all; skips a miss equal to the row. */
  #addMissesBefore(row?: Uint8Array, start: number = 0, end: number = 0): void {
    const misses = this.#misses;
    if (misses === undefined) return;
    const walk = this.#walk;
    for (; this.#nextMiss < misses.count; this.#nextMiss++) {
      const from = misses.starts[this.#nextMiss];
      const to = misses.starts[this.#nextMiss + 1];
      if (row !== undefined) {
        const order = compareRanges(misses.bytes, from, to, row, start, end);
        if (order > 0) break;
        if (order === 0) continue;
      }
      // The previous row may be spelled without its slash.
      if (walk.goTo(misses.bytes, from, to) === 0) continue;
      this.#isAtRow = false;
      const { shape } = walk.key;
      if (shape.kind === KEY_KIND.opaque) continue;
      const node = walk.enter(shape);
      node.misses++;
      node.ownMisses++;
      if (misses.isLate[this.#nextMiss] === 0) node.earlyMisses++;
      node.miss = this.#nextMiss;
    }
  }

  open(node: SurveyNode): void {
    node.reset();
    node.hashText(this.#walk.key.bytes);
  }

  closeLeaf(folder: SurveyNode): void {
    folder.addLeaf();
  }

  openLeaf(node: SurveyNode): void {
    node.rows = node.keys = 1;
  }

  /** Adds the counts of a node to its parent, and records it if it may be rolled up. */
  close(node: SurveyNode): void {
    const { keys, children, layer, parent } = node;
    if (layer === LAYER.root && children > 0) this.heaps.add(keys, children);
    if (node.hasQueries) node.branches = [];
    if (keys >= 2) {
      this.#record(node);
      parent?.addChild(node);
    } else if (keys === 1) {
      if (layer === LAYER.root) this.singleHosts++;
      if (parent === undefined) this.topSingles++;
      else parent.addSingle(node);
    } else if (node.misses > 0) {
      // The page itself may be held even if its queries are not.
      if (layer === LAYER.query) parent?.absorb(node);
      else parent?.addBranch(node);
    }
  }

  #record(node: SurveyNode): void {
    const { page, at } = this.table.push(node.slot);
    page[at + FIELD.parent] = node.parent?.slot ?? 0;
    page[at + FIELD.name] = node.name;
    page[at + FIELD.layer] = node.layer;
    page[at + FIELD.rows] = node.rows;
    page[at + FIELD.keys] = node.keys;
    page[at + FIELD.children] = node.children;
    page[at + FIELD.singles] = node.singles;
    page[at + FIELD.subdomains] = node.subdomains;
    page[at + FIELD.misses] = node.misses;
    page[at + FIELD.ownMisses] = node.ownMisses;
    page[at + FIELD.singleMisses] = node.singleMisses;
    const record = this.table.size - 1;
    for (const branch of node.branches) this.branches.push({ ...branch, record });
  }
}
