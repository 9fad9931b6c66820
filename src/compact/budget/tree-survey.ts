import { CLOSE_PAREN, COMMA, QUESTION, SLASH, STAR } from "../../bytes/ascii.ts";
import { commonPrefix, compareRanges } from "../../bytes/compare.ts";
import { MementoMapError, quote } from "../../errors.ts";
import { frequencyIsZero } from "../../ukvs/frequency-sum.ts";
import { findHostEnd, KEY_KIND, KeyShape } from "../key-shape.ts";
import type { RowSink } from "../map-lines.ts";
import { LAYER, NONE } from "../node-stack.ts";
import type { SpillStore } from "../pending-text.ts";
import type { RowRange } from "../totals.ts";
import { HeapsFit } from "./heaps-fit.ts";
import { BranchList } from "./branch-list.ts";
import type { MissList } from "./miss-list.ts";
import { nodeName } from "./node-name.ts";
import { FIELD, NodeTable } from "./node-table.ts";
import { publicSuffix } from "./public-suffix.ts";
import type { Survey } from "./survey.ts";
import { suffixLabels } from "./suffix-labels.ts";
import { SurveyStack } from "./survey-stack.ts";

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
export class TreeSurvey implements RowSink, Survey {
  readonly table: NodeTable;
  readonly branches = new BranchList();
  readonly heaps = new HeapsFit();
  fixedRows = 0;
  heldRows = 0;
  topSingles = 0;
  singleHosts = 0;
  hasWildcards = false;
  readonly #misses: MissList | undefined;
  #nextMiss = 0;
  readonly #nodes = new SurveyStack();
  readonly #shape = new KeyShape();
  #key = new Uint8Array(1024);
  #keyView = new DataView(this.#key.buffer);
  #keyLength = 0;
  /** How much of the key the one before had, as far as nodes are open for it. */
  #shared = 0;
  #wasOpaque = false;
  /** The page before, while it has no node: most pages have nothing below them and need none. */
  #leafEnd = NONE;
  #leafParent = NONE;

  constructor(options: TreeSurveyOptions = {}) {
    this.table = new NodeTable(options.spill);
    this.#misses = options.misses;
  }

  sharedBytes(view: DataView, start: number, end: number): number {
    const limit = Math.min(this.#keyLength, end - start);
    const keyView = this.#keyView;
    let i = 0;
    while (i + 4 <= limit && view.getInt32(start + i, true) === keyView.getInt32(i, true)) i += 4;
    while (i < limit && view.getUint8(start + i) === keyView.getUint8(i)) i++;
    return i;
  }

  add(
    bytes: Uint8Array,
    lineStart: number,
    sharedBytes: number,
    keyEnd: number,
    _lineEnd: number,
    row: RowRange,
  ): number {
    let shared = sharedBytes;
    const order = this.#order(bytes, lineStart, shared, keyEnd);
    if (order <= 0) return order;
    if (this.#misses !== undefined && this.#addMissesBefore(bytes, lineStart, keyEnd)) {
      shared = commonPrefix(this.#key, 0, this.#keyLength, bytes, lineStart, keyEnd);
    }
    const isZero = frequencyIsZero(bytes, row.frequencyStart, row.frequencyEnd);
    if (!isZero && this.#addSibling(bytes, lineStart, shared, keyEnd)) return 1;
    this.#goTo(bytes, lineStart, shared, keyEnd);
    const isOpaque = this.#shape.kind === KEY_KIND.opaque;
    if (isOpaque || isZero) {
      this.fixedRows++;
      if (!isOpaque) this.#enter(this.#shape.nodesEnd);
    } else {
      this.heldRows++;
      if (!this.#addLeaf()) this.#addHeld(this.#enter(this.#shape.nodesEnd));
    }
    return 1;
  }

  rejectOrder(order: number, bytes: Uint8Array, start: number, keyEnd: number): never {
    const key = quote(new TextDecoder().decode(bytes.subarray(start, keyEnd)));
    const last = quote(new TextDecoder().decode(this.#key.subarray(0, this.#keyLength)));
    const fault =
      order === 0
        ? "comes twice; merge adds such rows up"
        : `comes after ${last}; sort the rows with LC_ALL=C sort`;
    throw new MementoMapError("MM_NOT_SORTED", `key ${key} ${fault}`);
  }

  /** Takes the misses that are left, and closes all nodes. */
  end(): void {
    if (this.#misses !== undefined) this.#addMissesBefore(undefined, 0, 0);
    this.#settleLeaf(0, SLASH);
    while (this.#nodes.size > 0) this.#close();
  }

  #order(bytes: Uint8Array, start: number, shared: number, keyEnd: number): number {
    const length = keyEnd - start;
    if (shared === length) {
      if (shared === this.#keyLength) return 0;
      // `com,cnn)` is written for `com,cnn)/`.
      return this.#keyLength === length + 1 &&
        this.#key[shared] === SLASH &&
        bytes[keyEnd - 1] === CLOSE_PAREN
        ? 0
        : -1;
    }
    return shared === this.#keyLength ? 1 : bytes[start + shared] - this.#key[shared];
  }

  /** Takes the misses before a row; passes over one that is the row itself. */
  #addMissesBefore(bytes: Uint8Array | undefined, start: number, end: number): boolean {
    const misses = this.#misses;
    if (misses === undefined) return false;
    let took = false;
    for (; this.#nextMiss < misses.count; this.#nextMiss++) {
      const from = misses.starts[this.#nextMiss];
      const to = misses.starts[this.#nextMiss + 1];
      if (bytes !== undefined) {
        const order = compareRanges(misses.bytes, from, to, bytes, start, end);
        if (order > 0) break;
        if (order === 0) continue;
      }
      const shared = commonPrefix(this.#key, 0, this.#keyLength, misses.bytes, from, to);
      // The row before, if that was written without its slash.
      if (shared === to - from && shared === this.#keyLength) continue;
      this.#goTo(misses.bytes, from, shared, to);
      took = true;
      if (this.#shape.kind === KEY_KIND.opaque) continue;
      const node = this.#enter(this.#shape.nodesEnd);
      const nodes = this.#nodes;
      nodes.misses[node]++;
      nodes.ownMisses[node]++;
      if (misses.isLate[this.#nextMiss] === 0) nodes.earlyMisses[node]++;
      nodes.miss[node] = this.#nextMiss;
    }
    return took;
  }

  /** Makes a key the current one, and closes the nodes that it and later ones are not in. */
  #goTo(bytes: Uint8Array, start: number, shared: number, end: number): void {
    const length = end - start;
    const next = shared < length ? bytes[start + shared] : SLASH;
    this.#settleLeaf(shared, next);
    this.#leave(shared, next);
    if (length + 1 > this.#key.length) this.#growKey(length + 1);
    const key = this.#key;
    for (let i = shared; i < length; i++) key[i] = bytes[start + i];
    this.#keyLength = length;
    if (key[length - 1] === CLOSE_PAREN && findHostEnd(key, 0, length) === length - 1) {
      key[this.#keyLength++] = SLASH;
    }
    this.#shape.set(key, this.#keyLength, shared);
    this.#shared = this.#wasOpaque ? 0 : shared;
    this.#wasOpaque = this.#shape.kind === KEY_KIND.opaque;
  }

  #growKey(room: number): void {
    const larger = new Uint8Array(room * 2);
    larger.set(this.#key);
    this.#key = larger;
    this.#keyView = new DataView(larger.buffer);
  }

  /** Takes a page below a host's root without opening a node for it. */
  #addLeaf(): boolean {
    const { kind, hostEnd, nodesEnd } = this.#shape;
    if (kind !== KEY_KIND.page || nodesEnd <= hostEnd + 2) return false;
    let folderEnd = nodesEnd - 1;
    while (this.#key[folderEnd] !== SLASH) folderEnd--;
    this.#leafParent = this.#enter(folderEnd);
    this.#leafEnd = nodesEnd;
    return true;
  }

  /** Takes a page in the folder of the leaf before it, as most are: no node opens or closes. */
  #addSibling(bytes: Uint8Array, start: number, shared: number, end: number): boolean {
    const nodes = this.#nodes;
    const parent = this.#leafParent;
    const length = end - start;
    if (this.#leafEnd === NONE || nodes.size - 1 !== parent) return false;
    if (shared <= nodes.textEnd[parent] || length + 1 > this.#key.length) return false;
    if (shared === this.#leafEnd && bytes[start + shared] <= SLASH) return false;
    for (let i = shared; i < length; i++) {
      const byte = bytes[start + i];
      if (byte === SLASH || byte === QUESTION || byte === STAR) return false;
    }
    const key = this.#key;
    for (let i = shared; i < length; i++) key[i] = bytes[start + i];
    this.#keyLength = this.#leafEnd = length;
    this.heldRows++;
    nodes.keys[parent]++;
    nodes.children[parent]++;
    nodes.singles[parent]++;
    return true;
  }

  /** Opens a node for the leaf if the next key begins with it, or else counts it. */
  #settleLeaf(shared: number, next: number): void {
    if (this.#leafEnd === NONE) return;
    const nodes = this.#nodes;
    const parent = this.#leafParent;
    if (this.#leafEnd === shared && next <= SLASH) {
      const node = nodes.push(shared, SLASH, LAYER.path, nodes.depth[parent] + 1, parent);
      nodes.keys[node] = nodes.rows[node] = 1;
    } else {
      nodes.keys[parent]++;
      nodes.children[parent]++;
      nodes.singles[parent]++;
    }
    this.#leafEnd = NONE;
  }

  #leave(shared: number, next: number): void {
    const nodes = this.#nodes;
    while (nodes.size > 0 && nodes.textEnd[nodes.size - 1] > shared) this.#close();
    const top = nodes.size - 1;
    if (top < 0 || nodes.textEnd[top] < shared) return;
    if (next > nodes.separator[top]) this.#close();
  }

  /** Opens the nodes of the key, up to `nodesEnd`, that are not open yet; returns the last. */
  #enter(nodesEnd: number): number {
    const { hostEnd } = this.#shape;
    const shared = this.#shared;
    const nodes = this.#nodes;
    const key = this.#key;
    let node = this.#ancestor(nodesEnd);
    let at = node === NONE ? 0 : nodes.textEnd[node];
    if (at < hostEnd) {
      let depth = node === NONE ? 0 : nodes.depth[node];
      for (at = Math.max(at + 1, shared); at <= hostEnd; at++) {
        if ((at < hostEnd && key[at] !== COMMA) || at === 0) continue;
        node = nodes.push(at, COMMA, LAYER.host, ++depth, node);
      }
      at = hostEnd;
    }
    if (nodesEnd <= hostEnd) return node;
    if (at === hostEnd) {
      this.#markSuffixes(node, hostEnd);
      at = hostEnd + 1;
      node = nodes.push(at, SLASH, LAYER.root, 1, node);
    }
    if (at === hostEnd + 1 && nodesEnd === hostEnd + 2) return node;
    let depth = nodes.depth[node];
    for (at = Math.max(at + 1, shared); at <= nodesEnd; at++) {
      if (at < nodesEnd && key[at] !== SLASH) continue;
      node = nodes.push(at, SLASH, LAYER.path, ++depth, node);
    }
    return node;
  }

  #ancestor(nodesEnd: number): number {
    const nodes = this.#nodes;
    for (let node = nodes.size - 1; node >= 0; node--) {
      const textEnd = nodes.textEnd[node];
      if (textEnd > nodesEnd) continue;
      if (textEnd === nodesEnd) return node;
      const next = this.#key[textEnd];
      if (next === nodes.separator[node]) return node;
      if (next === CLOSE_PAREN && nodes.layer[node] === LAYER.host) return node;
    }
    return NONE;
  }

  #markSuffixes(host: number, hostEnd: number): void {
    const nodes = this.#nodes;
    const text = new TextDecoder("latin1").decode(this.#key.subarray(0, hostEnd));
    const labels = suffixLabels(text, publicSuffix);
    for (let node = host; node !== NONE; node = nodes.parent[node]) {
      if (nodes.depth[node] <= labels) nodes.isSuffix[node] = 1;
    }
  }

  #addHeld(node: number): void {
    const nodes = this.#nodes;
    const { kind } = this.#shape;
    nodes.keys[node]++;
    if (kind === KEY_KIND.page) {
      nodes.rows[node]++;
      return;
    }
    if (kind !== KEY_KIND.query) this.hasWildcards = true;
    // Pages with a query, and wildcards, are leaves below the node.
    nodes.children[node]++;
    nodes.singles[node]++;
    nodes.hasQueries[node] = 1;
  }

  /** Ends the node on top: passes on what it holds, and keeps a record if it may be rolled up. */
  #close(): void {
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
      this.#passUp(node, parent);
    } else if (keys === 1) {
      if (nodes.layer[node] === LAYER.root) this.singleHosts++;
      if (parent === NONE) this.topSingles++;
      else this.#passUpSingle(node, parent);
    } else if (parent !== NONE && nodes.misses[node] > 0) {
      nodes.dropBranches(node);
      nodes.addBranch(parent, node);
      nodes.misses[parent] += nodes.misses[node];
      nodes.earlyMisses[parent] += nodes.earlyMisses[node];
      nodes.ownMisses[parent] += nodes.misses[node];
      nodes.miss[parent] = nodes.miss[node];
    }
    nodes.size = node;
  }

  #passUp(node: number, parent: number): void {
    if (parent === NONE) return;
    const nodes = this.#nodes;
    nodes.keys[parent] += nodes.keys[node];
    nodes.children[parent]++;
    if (nodes.layer[node] === LAYER.host) nodes.subdomains[parent]++;
    nodes.misses[parent] += nodes.misses[node];
    nodes.earlyMisses[parent] += nodes.earlyMisses[node];
    nodes.miss[parent] = nodes.miss[node];
  }

  #passUpSingle(node: number, parent: number): void {
    const nodes = this.#nodes;
    this.#passUp(node, parent);
    nodes.singles[parent]++;
    if (nodes.rows[node] === 0) nodes.singleFolders[parent]++;
    nodes.singleMisses[parent] += nodes.misses[node];
    nodes.moveBranches(node, parent);
  }

  #record(node: number): void {
    const nodes = this.#nodes;
    const page = this.table.push();
    const at = this.table.lastOffset;
    page[at + FIELD.slot] = node + 1;
    page[at + FIELD.parent] = nodes.parent[node] + 1;
    page[at + FIELD.name] = nodeName(this.#key, nodes.textEnd[node]);
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
