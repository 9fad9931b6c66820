import {
  KEY_KIND,
  keyShape,
  LAYER,
  type Layer,
  type NodePlace,
  rejectOrder,
  TreeNode,
  type TreeVisitor,
  TreeWalk,
} from "../key-tree.ts";
import {
  type Branch,
  BranchList,
  FIELD,
  HeapsFit,
  nodeName,
  NodeTable,
  type Survey,
} from "./budget-survey.ts";
import { byteString, compareRanges } from "../../../bytes/bytes.ts";
import { type Edges, type IsOpenNode, openNodesAt } from "../edges.ts";
import { frequencyIsZero } from "../../../ukvs/frequency.ts";
import type { MapRow, RowSink } from "../map-lines.ts";
import type { SpillStore } from "../../../files/scratch.ts";
import type { MissList } from "./misses.ts";
import { createRequire } from "node:module";
import { ownPlace } from "../../../files/package-file.ts";

/** The counts of a node that go into its record, each into the field of the same name. */
export const COUNTS = [
  "rows",
  "keys",
  "children",
  "singles",
  "singleFolders",
  "subdomains",
  "misses",
  "ownMisses",
  "singleMisses",
] as const;

/** An open node of a survey; `NodeFields` says what it counts. */
export class SurveyNode extends TreeNode<SurveyNode> {
  /** Which record of others names it as their parent, where that is not its number among open nodes. */
  slot: number;
  isSuffix = false;
  hasQueries = false;
  rows = 0;
  keys = 0;
  children = 0;
  singles = 0;
  singleFolders = 0;
  subdomains = 0;
  misses = 0;
  ownMisses = 0;
  singleMisses = 0;
  earlyMisses = 0;
  /** Some miss in the sub-tree: its key begins with the node's. */
  miss = 0;
  /** Branches that hold nothing, waiting for a node above them that gets a record. */
  branches: Branch[] = [];

  constructor(place: NodePlace<SurveyNode>) {
    super(place);
    this.slot = place.index + 1;
  }

  /** Adds a page or a row below the node that has no node of its own. */
  addLeaf(): void {
    this.keys++;
    this.children++;
    this.singles++;
  }

  /** Takes the row of the page above, which a wildcard for any query replaces too. */
  takePage(page: SurveyNode): void {
    this.rows += page.rows;
    this.keys += page.rows;
    page.keys -= page.rows;
    page.rows = 0;
  }

  /** Adds misses of queries of a page that has none. */
  absorb(child: SurveyNode): void {
    this.ownMisses += child.misses;
    this.#addMisses(child);
  }

  /** Adds what a child holds. */
  addChild(child: SurveyNode): void {
    this.keys += child.keys;
    this.children++;
    if (child.layer === LAYER.host) this.subdomains++;
    this.#addMisses(child);
  }

  /** The same for a child of one row, which has no record of its own. */
  addSingle(child: SurveyNode): void {
    this.addChild(child);
    this.singles++;
    if (child.rows === 0) this.singleFolders++;
    this.singleMisses += child.misses;
    for (const branch of child.branches) this.branches.push(branch);
  }

  /** Makes a child that holds nothing a branch. */
  addBranch(child: SurveyNode): void {
    const { miss, textEnd, earlyMisses, misses, layer } = child;
    this.branches.push({
      miss,
      textLength: textEnd,
      early: earlyMisses,
      misses,
      isHost: layer === LAYER.host ? 1 : 0,
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

export interface TreeSurveyOptions {
  /** Lookups that missed; those that are held count as nothing. */
  readonly misses?: MissList | undefined;
  /** Takes records that do not fit in memory. */
  readonly spill?: SpillStore | undefined;
  /** Where the part of a map begins and ends that is looked at; the whole by default. */
  readonly edges?: Edges | undefined;
}

/** What a part has of a node that other parts may have keys of too. */
export interface OpenSurveyNode extends Readonly<Record<(typeof COUNTS)[number], number>> {
  /** A character for each byte. */
  readonly text: string;
  readonly layer: Layer;
  readonly depth: number;
  /** The text of its parent is so long. */
  readonly parentEnd?: number | undefined;
  /** Records name it so as their parent. */
  readonly slot: number;
  /** How many records of the part come before it is closed; none where the next part has it open too. */
  readonly closedAt?: number | undefined;
  readonly isSuffix: boolean;
  readonly hasQueries: boolean;
  readonly earlyMisses: number;
  readonly miss: number;
  readonly branches: readonly Branch[];
}

/**
 * Counts what every node of a key tree holds, and which lookups missed there.
 *
 * Needs rows in byte order, each key once, and those of a map with queries, and their misses, in the
 * order of the tree. Holds the open nodes, and the table of nodes with two
 * rows or more: a node of one row cannot save any by being rolled up.
 */
export class TreeSurvey implements RowSink, TreeVisitor<SurveyNode>, Survey {
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
  readonly #walk: TreeWalk<SurveyNode> = new TreeWalk(this);
  /** Nodes that other parts may have keys of, in the order in which they were closed. */
  readonly openNodes: OpenSurveyNode[] = [];
  /** Hosts of one row that have a child; they count for Heaps' law, and have no record. */
  singleFamilies = 0;
  readonly #edges: Edges;
  readonly #isOpenNode: IsOpenNode;
  #openNodes = 0;
  /** Where the misses of the part end. */
  readonly #missesEnd: number;
  #isOver = false;

  constructor(options: TreeSurveyOptions = {}) {
    this.table = new NodeTable(options.spill);
    this.#misses = options.misses;
    this.#edges = options.edges ?? {};
    this.#isOpenNode = openNodesAt(this.#edges);
    const { from, to } = this.#edges;
    this.#nextMiss = from === undefined ? 0 : missesBefore(options.misses, from);
    this.#missesEnd =
      to === undefined ? (options.misses?.count ?? 0) : missesBefore(options.misses, to);
    if (from !== undefined) this.#walk.begin(from);
  }

  add({ bytes, start, keyEnd, frequencyStart, frequencyEnd }: MapRow): void {
    const walk = this.#walk;
    this.#addMissesBefore(bytes, start, keyEnd);
    const order = walk.goTo(bytes, start, keyEnd);
    if (order <= 0) rejectOrder(order, bytes.subarray(start, keyEnd), walk.key.text());
    const shape = keyShape(walk.key.bytes, walk.key.length);
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

  /** Takes the misses that are left, and closes all nodes. */
  end(): void {
    this.#addMissesBefore();
    if (this.#edges.to !== undefined) this.#walk.leaveFor(this.#edges.to);
    this.#isOver = true;
    this.#walk.end();
  }

  /** Takes the misses before a row, or all; skips one that is the row itself. */
  #addMissesBefore(row?: Uint8Array, start: number = 0, end: number = 0): void {
    const misses = this.#misses;
    if (misses === undefined) return;
    const walk = this.#walk;
    for (; this.#nextMiss < this.#missesEnd; this.#nextMiss++) {
      const from = misses.starts[this.#nextMiss];
      const to = misses.starts[this.#nextMiss + 1];
      if (row !== undefined) {
        const order = compareRanges(misses.bytes, from, to, row, start, end);
        if (order > 0) break;
        if (order === 0) continue;
      }
      // The row before may have been written without its slash.
      if (walk.goTo(misses.bytes, from, to) === 0) continue;
      const shape = keyShape(walk.key.bytes, walk.key.length);
      if (shape.kind === KEY_KIND.opaque) continue;
      const node = walk.enter(shape);
      node.misses++;
      node.ownMisses++;
      if (misses.isLate[this.#nextMiss] === 0) node.earlyMisses++;
      node.miss = this.#nextMiss;
    }
  }

  open(place: NodePlace<SurveyNode>): SurveyNode {
    const node = new SurveyNode(place);
    const isHost = node.layer === LAYER.host;
    if (this.#isOpenNode(this.#walk.key.bytes, node.textEnd, isHost)) {
      // Other records have numbers from 1 up.
      node.slot = -++this.#openNodes;
    }
    if (place.layer === LAYER.root) this.#markSuffixes(place);
    return node;
  }

  #markSuffixes({ textEnd, parent }: NodePlace<SurveyNode>): void {
    const host = new TextDecoder("latin1").decode(this.#walk.key.bytes.subarray(0, textEnd - 1));
    const labels = suffixLabels(host, this.#publicSuffix);
    for (let node = parent; node !== undefined; node = node.parent) {
      if (node.depth <= labels) node.isSuffix = true;
    }
  }

  /** Passes on what a node holds, and keeps a record if it may be rolled up. */
  close(node: SurveyNode): void {
    if (node.slot < 0) this.#leaveOpen(node);
    else this.settle(node, this.#walk.key.bytes);
  }

  #leaveOpen(node: SurveyNode): void {
    const { slot, layer, depth, parent, textEnd, isSuffix, hasQueries } = node;
    const { earlyMisses, miss, branches } = node;
    const counts = Object.fromEntries(COUNTS.map((count) => [count, node[count]]));
    this.openNodes.push({
      text: byteString(this.#walk.key.bytes, 0, textEnd),
      layer,
      depth,
      parentEnd: parent?.textEnd,
      slot,
      closedAt: this.#isOver && this.#edges.to !== undefined ? undefined : this.table.size,
      isSuffix,
      hasQueries,
      earlyMisses,
      miss,
      branches,
      ...(counts as Record<(typeof COUNTS)[number], number>), // made of the same list
    });
  }

  /** Closes a node whose text is the beginning of `key`. */
  settle(node: SurveyNode, key: Uint8Array): void {
    const { keys, children, layer, parent } = node;
    if (layer === LAYER.root && children > 0) this.heaps.add(keys, children);
    if (layer === LAYER.root && children > 0 && keys === 1) this.singleFamilies++;
    if (node.hasQueries) node.branches = [];
    if (keys >= 2) {
      this.#record(node, key);
      parent?.addChild(node);
    } else if (keys === 1) {
      if (layer === LAYER.root) this.singleHosts++;
      if (parent === undefined) this.topSingles++;
      else parent.addSingle(node);
    } else if (node.misses > 0) {
      // The page of queries that are not held may be held.
      if (layer === LAYER.query) parent?.absorb(node);
      else parent?.addBranch(node);
    }
  }

  #record(node: SurveyNode, key: Uint8Array): void {
    const page = this.table.push();
    const at = this.table.lastOffset;
    page[at + FIELD.slot] = node.slot;
    page[at + FIELD.parent] = node.parent?.slot ?? 0;
    page[at + FIELD.name] = nodeName(key, node.textEnd);
    page[at + FIELD.layer] = node.layer;
    page[at + FIELD.isSuffix] = node.isSuffix ? 1 : 0;
    for (const count of COUNTS) page[at + FIELD[count]] = node[count];
    for (const branch of node.branches) this.branches.add(this.table.size - 1, branch);
  }
}

/** How many misses come before a key. */
function missesBefore(misses: MissList | undefined, key: Uint8Array): number {
  let [low, high] = [0, misses?.count ?? 0];
  while (misses !== undefined && low < high) {
    const middle = (low + high) >>> 1;
    const [from, to] = [misses.starts[middle], misses.starts[middle + 1]];
    if (compareRanges(misses.bytes, from, to, key, 0, key.length) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
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
