import { CLOSE_PAREN, COMMA, isDigit, QUESTION, SLASH, STAR, ZERO } from "../bytes/ascii.ts";
import { compareRanges } from "../bytes/compare.ts";
import { MementoMapError, quote } from "../errors.ts";
import { frequencyIsZero } from "../ukvs/frequency-sum.ts";
import { findHostEnd, KEY_KIND, KeyShape } from "./key-shape.ts";
import { LAYER, NodeStack, NONE } from "./node-stack.ts";
import type { SpillStore, WriteText } from "./pending-text.ts";
import { PendingText } from "./pending-text.ts";
import type { RowSink } from "./map-lines.ts";
import type { RowRange, Totals } from "./totals.ts";
import { KeyedTotals, SingleTotal } from "./totals.ts";
import type { RollUpPolicy } from "./roll-up-policy.ts";
import { CHOSEN } from "./roll-up-policy.ts";

export interface CompactorOptions {
  /** Key columns of the map; more than one keeps a sum for each value of the others. */
  readonly keyColumns?: number | undefined;
  /** Takes undecided output that does not fit in memory. */
  readonly spill?: SpillStore | undefined;
  /** How much undecided output to hold where there is a spill store; 16 MiB by default. */
  readonly memoryBytes?: number | undefined;
}

/** Decided output is released when there is at least this much. */
const RELEASE_BYTES = 1 << 18;

/**
 * Rolls up sub-trees of a sorted map in one pass.
 *
 * Needs keys in byte order, each once. Holds the open nodes and the output that is not decided yet
 * (16 MiB at most where there is a spill store). Every node over its cutoff that is below no other
 * such node becomes one wildcard row with the summed frequency. Once a node is over its cutoff it
 * will be rolled up, so its rows are dropped at once and only summed.
 *
 * Exclusions (rows of frequency 0) count as nothing: they are no children. A roll-up keeps those
 * below it that cover nothing held, and drops the others, so nothing held is ever lost.
 */
export class Compactor implements RowSink {
  /** Roll-ups written, or swallowed by a larger one. */
  rollUps = 0;
  readonly #policy: RollUpPolicy;
  readonly #nodes: NodeStack;
  readonly #output: PendingText;
  readonly #hasOneKey: boolean;
  readonly #shape = new KeyShape();
  /** The last key, until its nodes are left; the current one from then on. */
  #key = new Uint8Array(1024);
  #keyView = new DataView(this.#key.buffer);
  #keyLength = 0;
  /** Whether the key was written `com,cnn)`, as older maps have it. */
  #lacksRoot = false;
  /** The lowest open node that is rolled up; while there is one, held rows are not written. */
  #rolledUp = NONE;
  #wasOpaque = false;
  /**
   * The page taken last, while it is not known whether anything is below it: where its text ends
   * (or NONE), its place in the tree, its count, and the position of its line.
   */
  #leafEnd = NONE;
  #leafParent = NONE;
  #leafDepth = 0;
  #leafCount = 0;
  #leafStart = 0;
  /** Positions of undecided exclusions that cover something held. */
  readonly #coveringVoids = new Set<number>();
  /** Exclusions of pages that the key begins with: a query of such a page may be held. */
  readonly #voidPages: VoidPage[] = [];

  constructor(policy: RollUpPolicy, write: WriteText, options: CompactorOptions = {}) {
    this.#policy = policy;
    this.#hasOneKey = (options.keyColumns ?? 1) === 1;
    this.#output = new PendingText(write, options.spill, options.memoryBytes);
    this.#nodes = new NodeStack(() => (this.#hasOneKey ? new SingleTotal() : new KeyedTotals()));
  }

  /**
   * How many bytes at `start` are the same as in the last key; at most up to `end`.
   *
   * Neighbours in a sorted map have most of their keys in common, so whoever looks for the end of a
   * key can begin behind these.
   */
  sharedBytes(view: DataView, start: number, end: number): number {
    const limit = Math.min(this.#keyLength, end - start);
    const keyView = this.#keyView;
    let i = 0;
    while (i + 4 <= limit && view.getInt32(start + i, true) === keyView.getInt32(i, true)) i += 4;
    while (i < limit && view.getUint8(start + i) === keyView.getUint8(i)) i++;
    return i;
  }

  /**
   * Takes a row. The line `bytes[lineStart, lineEnd)` has its line end, its key is
   * `bytes[lineStart, keyEnd)` and begins with `sharedBytes` of the last key.
   *
   * Returns a negative number if the key comes before the last one, 0 if it is the same and keys
   * must differ, and a positive number if all is well.
   */
  add(
    bytes: Uint8Array,
    lineStart: number,
    sharedBytes: number,
    keyEnd: number,
    lineEnd: number,
    row: RowRange,
  ): number {
    const written = keyEnd - lineStart;
    this.#lacksRoot =
      bytes[keyEnd - 1] === CLOSE_PAREN && findHostEnd(bytes, lineStart, keyEnd) === keyEnd - 1;
    const length = this.#lacksRoot ? written + 1 : written;
    let shared = sharedBytes;
    if (shared === written && shared < this.#keyLength && length > written) {
      if (this.#key[shared] === SLASH) shared++;
    }
    const next = shared < written ? bytes[lineStart + shared] : SLASH;
    const order = this.#order(shared, length, next);
    if (order < 0 || (order === 0 && this.#hasOneKey)) return order;
    if (this.#addSibling(bytes, lineStart, shared, length, row)) {
      if (this.#rolledUp === NONE) this.#appendLine(bytes, lineStart, keyEnd, lineEnd);
      this.#releaseSome();
      return 1;
    }
    if (order > 0) {
      this.#leave(shared, next);
      this.#takeKey(bytes, lineStart, shared, length);
      this.#shape.set(this.#key, length, shared);
    }
    if (this.#shape.kind === KEY_KIND.opaque) {
      this.#addOpaque(bytes, lineStart, keyEnd, lineEnd);
    } else {
      const known = this.#wasOpaque ? 0 : shared;
      this.#wasOpaque = false;
      if (this.#addLeaf(known, bytes, row)) {
        if (this.#rolledUp === NONE) this.#appendLine(bytes, lineStart, keyEnd, lineEnd);
      } else {
        this.#addRow(known, bytes, lineStart, keyEnd, lineEnd, row);
      }
    }
    this.#releaseSome();
    return 1;
  }

  #releaseSome(): void {
    const output = this.#output;
    if (output.end - output.start >= RELEASE_BYTES) this.#release();
  }

  /**
   * Complains about a row that {@link add} did not take.
   *
   * @throws MM_NOT_SORTED
   */
  rejectOrder(order: number, bytes: Uint8Array, start: number, keyEnd: number): never {
    const key = quote(text(bytes.subarray(start, keyEnd)));
    if (order === 0) {
      throw new MementoMapError("MM_NOT_SORTED", `key ${key} comes twice; merge adds such rows up`);
    }
    const last = quote(text(this.#key.subarray(0, this.#keyLength)));
    throw new MementoMapError(
      "MM_NOT_SORTED",
      `key ${key} comes after ${last}; sort the rows with LC_ALL=C sort`,
    );
  }

  /** Closes all nodes and releases all output. */
  end(): void {
    this.#settleLeaf(NONE, 0);
    while (this.#nodes.size > 0) this.#close();
    this.#output.release(this.#output.end);
  }

  /** How a key that shares so many bytes with the last one, and then has `next`, compares to it. */
  #order(shared: number, length: number, next: number): number {
    if (shared === length) return shared === this.#keyLength ? 0 : -1;
    if (shared === this.#keyLength) return 1;
    return next - this.#key[shared];
  }

  /** Makes a key the last one, as it is written: the home page is `com,cnn)/`. */
  #takeKey(bytes: Uint8Array, start: number, shared: number, length: number): void {
    // Room for the end of a wildcard.
    if (length + 2 > this.#key.length) this.#growKey(length + 2);
    const key = this.#key;
    const written = this.#lacksRoot ? length - 1 : length;
    for (let i = shared; i < written; i++) key[i] = bytes[start + i];
    if (this.#lacksRoot) key[written] = SLASH;
    this.#keyLength = length;
  }

  #growKey(room: number): void {
    const larger = new Uint8Array(room * 2);
    larger.set(this.#key);
    this.#key = larger;
    this.#keyView = new DataView(larger.buffer);
  }

  /** Closes the nodes that no later key can belong to. */
  #leave(shared: number, next: number): void {
    const nodes = this.#nodes;
    if (this.#leafEnd !== NONE) this.#settleLeaf(shared, next);
    const pages = this.#voidPages;
    while (pages.length > 0 && pages[pages.length - 1].textEnd > shared) pages.pop();
    while (nodes.size > 0 && nodes.textEnd[nodes.size - 1] > shared) this.#close();
    const top = nodes.size - 1;
    if (top < 0 || nodes.textEnd[top] < shared) return;
    if (next > nodes.separator[top]) {
      this.#close();
      return;
    }
    if (nodes.headEnd[top] === NONE) nodes.headEnd[top] = this.#output.end;
    if (next === nodes.separator[top] && nodes.childrenStart[top] === NONE) {
      nodes.childrenStart[top] = this.#output.end;
    }
  }

  /** Takes a row of any kind. */
  #addRow(
    shared: number,
    bytes: Uint8Array,
    lineStart: number,
    keyEnd: number,
    lineEnd: number,
    row: RowRange,
  ): void {
    const node = this.#enter(shared, this.#shape.nodesEnd);
    if (frequencyIsZero(bytes, row.frequencyStart, row.frequencyEnd)) {
      this.#addVoid(node, bytes, lineStart, keyEnd, lineEnd);
    } else {
      this.#addHeld(node, bytes, row);
      if (this.#rolledUp === NONE) this.#appendLine(bytes, lineStart, keyEnd, lineEnd);
    }
  }

  /**
   * Takes a page that has an ordinary count and, as nearly all, nothing below it, without opening a
   * node for it. False if the row is of another kind.
   */
  #addLeaf(shared: number, bytes: Uint8Array, row: RowRange): boolean {
    const { kind, hostEnd, nodesEnd } = this.#shape;
    if (kind !== KEY_KIND.page || nodesEnd === hostEnd + 2 || !this.#hasOneKey) return false;
    const count = plainCount(bytes, row.frequencyStart, row.frequencyEnd);
    if (count <= 0) return false;
    const key = this.#key;
    let folderEnd = nodesEnd - 1;
    while (key[folderEnd] !== SLASH) folderEnd--;
    const folder = this.#enter(shared, folderEnd);
    const depth = this.#nodes.depth[folder] + 1;
    if (depth >= this.#policy.maxPathDepth) return false;
    this.#markPresent(folder);
    this.#addChild(folder);
    this.#leafEnd = nodesEnd;
    this.#leafParent = folder;
    this.#leafDepth = depth;
    this.#leafCount = count;
    this.#leafStart = this.#output.end;
    return true;
  }

  /**
   * Takes a page in the folder of the leaf before it, as most are, without looking for nodes: none
   * opens or closes. False if the row is of another kind.
   */
  #addSibling(
    bytes: Uint8Array,
    start: number,
    shared: number,
    length: number,
    row: RowRange,
  ): boolean {
    const nodes = this.#nodes;
    const folder = this.#leafParent;
    if (this.#leafEnd === NONE || nodes.size - 1 !== folder) return false;
    if (shared <= nodes.textEnd[folder] || length + 2 > this.#key.length) return false;
    if (shared === this.#leafEnd && bytes[start + shared] <= SLASH) return false;
    for (let i = shared; i < length; i++) {
      const byte = bytes[start + i];
      if (byte === SLASH || byte === QUESTION || byte === STAR) return false;
    }
    const count = plainCount(bytes, row.frequencyStart, row.frequencyEnd);
    const totals = nodes.totals[folder];
    if (count <= 0 || !(totals instanceof SingleTotal)) return false;
    totals.sum.addInteger(this.#leafCount);
    const key = this.#key;
    for (let i = shared; i < length; i++) key[i] = bytes[start + i];
    this.#keyLength = this.#leafEnd = length;
    this.#leafCount = count;
    this.#addChild(folder);
    this.#leafStart = this.#output.end;
    return true;
  }

  /** Opens a node for the leaf if the next key begins with it, or else passes its count on. */
  #settleLeaf(shared: number, next: number): void {
    const end = this.#leafEnd;
    if (end === NONE) return;
    this.#leafEnd = NONE;
    const nodes = this.#nodes;
    let node = this.#leafParent;
    if (end === shared && next <= SLASH) {
      const depth = this.#leafDepth;
      const cutoff = this.#policy.pathCutoff(depth, this.#key, end);
      node = nodes.push(end, SLASH, LAYER.path, depth, node, cutoff, this.#leafStart);
      nodes.isPresent[node] = 1;
    }
    const totals = nodes.totals[node];
    if (totals instanceof SingleTotal) totals.sum.addInteger(this.#leafCount);
  }

  /** Opens the nodes of the key, up to `nodesEnd`, that are not open yet; returns the last. */
  #enter(shared: number, nodesEnd: number): number {
    const { kind, hostEnd } = this.#shape;
    const nodes = this.#nodes;
    const key = this.#key;
    let node = this.#ancestor(nodesEnd);
    let at = node === NONE ? 0 : nodes.textEnd[node];
    // Below `shared` every node is open already.
    if (at < hostEnd) {
      const position = this.#output.end;
      let depth = node === NONE ? 0 : nodes.depth[node];
      for (at = Math.max(at + 1, shared); at <= hostEnd; at++) {
        if (at < hostEnd && key[at] !== COMMA) continue;
        if (at === 0) continue;
        depth++;
        const isSpread = kind === KEY_KIND.spread && at === hostEnd;
        const cutoff = isSpread
          ? Number.POSITIVE_INFINITY
          : this.#policy.hostCutoff(depth, key, at);
        node = nodes.push(at, COMMA, LAYER.host, depth, node, cutoff, position);
        if (key[at] === COMMA) nodes.headEnd[node] = nodes.childrenStart[node] = position;
      }
      at = hostEnd;
    }
    if (nodesEnd <= hostEnd) return node;
    const position = this.#output.end;
    if (at === hostEnd) {
      at = hostEnd + 1;
      node = nodes.push(
        at,
        SLASH,
        LAYER.root,
        1,
        node,
        this.#policy.pathCutoff(1, key, at),
        position,
      );
      nodes.headEnd[node] = nodes.childrenStart[node] = position;
    }
    // A home page: `com,cnn)/` is the root's own row.
    if (at === hostEnd + 1 && nodesEnd === hostEnd + 2) return node;
    let depth = nodes.depth[node];
    for (at = Math.max(at + 1, shared); at <= nodesEnd; at++) {
      if (at < nodesEnd && key[at] !== SLASH) continue;
      depth++;
      node = nodes.push(
        at,
        SLASH,
        LAYER.path,
        depth,
        node,
        this.#policy.pathCutoff(depth, key, at),
        position,
      );
      if (at < this.#keyLength) nodes.headEnd[node] = nodes.childrenStart[node] = position;
    }
    return node;
  }

  /** The deepest open node that the key, up to `nodesEnd`, lies in. */
  #ancestor(nodesEnd: number): number {
    const nodes = this.#nodes;
    const key = this.#key;
    for (let node = nodes.size - 1; node >= 0; node--) {
      const textEnd = nodes.textEnd[node];
      if (textEnd > nodesEnd) continue;
      if (textEnd === nodesEnd) return node;
      const next = key[textEnd];
      if (next === nodes.separator[node]) return node;
      if (next === CLOSE_PAREN && nodes.layer[node] === LAYER.host) return node;
    }
    return NONE;
  }

  /** A key outside the tree is never rolled up: like an exclusion, it stays where it is. */
  #addOpaque(bytes: Uint8Array, lineStart: number, keyEnd: number, lineEnd: number): void {
    const nodes = this.#nodes;
    this.#wasOpaque = true;
    this.#appendLine(bytes, lineStart, keyEnd, lineEnd);
    for (let node = 0; node < nodes.size; node++) nodes.hasVoids[node] = 1;
  }

  #addHeld(node: number, bytes: Uint8Array, row: RowRange): void {
    const nodes = this.#nodes;
    const { kind } = this.#shape;
    if (kind === KEY_KIND.pathWildcard || kind === KEY_KIND.hostWildcard) {
      if (nodes.hasWildcard[node] === 0) {
        nodes.hasWildcard[node] = 1;
        nodes.wildcardTotals[node].reset();
        this.#markPresent(node);
        this.#addChild(this.#cappedNode(node));
      }
      nodes.wildcardTotals[node].addRow(bytes, row);
      return;
    }
    if (kind === KEY_KIND.spread) {
      nodes.totals[node].addOverlappingRow(bytes, row);
      this.#markSpread(node);
      return;
    }
    nodes.totals[node].addRow(bytes, row);
    // What is deeper than the last level counts row by row as a child of that level.
    const isDeep =
      nodes.layer[node] === LAYER.path && nodes.depth[node] >= this.#policy.maxPathDepth;
    if (isDeep && kind === KEY_KIND.page && nodes.isPresent[node] === 0) {
      this.#addChild(this.#cappedNode(node));
    }
    this.#markPresent(node);
    // A page with a query is no child, but it is below the node.
    const isBelow = kind === KEY_KIND.query;
    if (isBelow && this.#voidPages.length > 0) this.#coverVoidPage();
    if (isBelow && nodes.cutoff[node] === CHOSEN && nodes.isRolledUp[node] === 0) {
      this.#rollUp(node);
    }
  }

  /** An exclusion of a page whose query is held must not outlive the row of the query. */
  #coverVoidPage(): void {
    const key = this.#key;
    for (const { textEnd, start, end } of this.#voidPages) {
      if (key[textEnd] !== QUESTION) continue;
      if (this.#rolledUp === NONE) this.#coveringVoids.add(start);
      else this.#output.strikeOut(start, end);
    }
  }

  /** `X,*)/p` is a child `*` of X, and `X,*` is the same child. */
  #markSpread(node: number): void {
    const nodes = this.#nodes;
    if (nodes.isPresent[node] === 1) return;
    nodes.isPresent[node] = 1;
    const parent = nodes.parent[node];
    if (parent === NONE) return;
    this.#markPresent(parent);
    if (nodes.hasWildcard[parent] === 0) this.#addChild(this.#cappedNode(parent));
  }

  /** The node of the last level that is told apart, or the node itself above it. */
  #cappedNode(node: number): number {
    const nodes = this.#nodes;
    const isHost = nodes.layer[node] === LAYER.host;
    const last = (isHost ? this.#policy.maxHostDepth : this.#policy.maxPathDepth) - 1;
    let capped = node;
    while (nodes.depth[capped] > last && nodes.parent[capped] !== NONE) {
      const parent = nodes.parent[capped];
      if ((nodes.layer[parent] === LAYER.host) !== isHost) break;
      capped = parent;
    }
    return capped;
  }

  /** Says that a node holds something, and counts it as a child of its parent. */
  #markPresent(from: number): void {
    const nodes = this.#nodes;
    for (let node = from; node !== NONE && nodes.isPresent[node] === 0; node = nodes.parent[node]) {
      nodes.isPresent[node] = 1;
      const isSwallowed = this.#rolledUp !== NONE && node >= this.#rolledUp;
      if (isSwallowed && nodes.voidStart[node] !== NONE) this.#strikeOutVoid(node);
      const parent = nodes.parent[node];
      if (parent === NONE) continue;
      if (nodes.layer[node] === LAYER.path) {
        if (nodes.depth[node] < this.#policy.maxPathDepth) this.#addChild(parent);
      } else if (nodes.layer[node] === LAYER.root) {
        // A host deeper than the last level counts as a child of that level.
        if (nodes.depth[parent] >= this.#policy.maxHostDepth) {
          this.#addChild(this.#cappedNode(parent));
        }
      } else if (nodes.depth[node] < this.#policy.maxHostDepth) {
        this.#addChild(parent);
      }
    }
  }

  #addChild(node: number): void {
    const nodes = this.#nodes;
    const children = ++nodes.children[node];
    if (children > nodes.cutoff[node] && nodes.isRolledUp[node] === 0) this.#rollUp(node);
  }

  /** Takes back all rows of a node that were written, but for exclusions that may stay. */
  #rollUp(node: number): void {
    const nodes = this.#nodes;
    nodes.isRolledUp[node] = 1;
    this.rollUps++;
    // Below a node that is rolled up already nothing was written.
    if (this.#rolledUp !== NONE && this.#rolledUp < node) return;
    this.#rolledUp = node;
    const output = this.#output;
    const headStart = nodes.headStart[node];
    const headEnd = nodes.headEnd[node] === NONE ? output.end : nodes.headEnd[node];
    const childrenStart =
      nodes.childrenStart[node] === NONE ? output.end : nodes.childrenStart[node];
    if (nodes.hasVoids[node] === 1) {
      for (let open = node; open < nodes.size; open++) {
        if (nodes.voidStart[open] !== NONE && nodes.isPresent[open] === 1)
          this.#strikeOutVoid(open);
      }
      this.#strikeOutRows(headStart, headEnd);
      this.#strikeOutRows(childrenStart, output.end);
    } else if (headEnd === childrenStart) {
      output.truncate(headStart);
      nodes.headEnd[node] = nodes.childrenStart[node] = headStart;
    } else {
      output.strikeOut(headStart, headEnd);
      output.truncate(childrenStart);
    }
  }

  /** Strikes out everything but exclusions that cover nothing held. */
  #strikeOutRows(from: number, to: number): void {
    const struck: number[] = [];
    this.#output.forEachLine(from, to, (bytes, start, end, position) => {
      if (!this.#isVoidToKeep(bytes, start, end, position)) {
        struck.push(position, position + end - start);
      }
    });
    for (let i = 0; i < struck.length; i += 2) this.#output.strikeOut(struck[i], struck[i + 1]);
  }

  #isVoidToKeep(bytes: Uint8Array, start: number, end: number, position: number): boolean {
    if (!this.#hasOneKey || this.#coveringVoids.has(position)) return false;
    let keyEnd = start;
    while (!isBlank(bytes[keyEnd])) keyEnd++;
    const shape = new KeyShape();
    shape.set(bytes.subarray(start, keyEnd), keyEnd - start);
    if (shape.kind === KEY_KIND.opaque) return true;
    if (shape.kind === KEY_KIND.spread) return false;
    let frequencyStart = keyEnd;
    while (isBlank(bytes[frequencyStart])) frequencyStart++;
    let frequencyEnd = frequencyStart;
    while (frequencyEnd < end && bytes[frequencyEnd] > 0x20) frequencyEnd++;
    return frequencyIsZero(bytes, frequencyStart, frequencyEnd);
  }

  #addVoid(
    node: number,
    bytes: Uint8Array,
    lineStart: number,
    keyEnd: number,
    lineEnd: number,
  ): void {
    const nodes = this.#nodes;
    const { kind } = this.#shape;
    const isWildcard = kind === KEY_KIND.pathWildcard || kind === KEY_KIND.hostWildcard;
    if (this.#rolledUp !== NONE) {
      const coversHeld = isWildcard && nodes.isPresent[node] === 1;
      if (coversHeld || kind === KEY_KIND.spread || !this.#hasOneKey) return;
    }
    const position = this.#output.end;
    this.#appendLine(bytes, lineStart, keyEnd, lineEnd);
    if (isWildcard) {
      nodes.voidStart[node] = position;
      nodes.voidEnd[node] = this.#output.end;
    }
    if (kind === KEY_KIND.page || kind === KEY_KIND.pathWildcard) {
      const { nodesEnd } = this.#shape;
      this.#voidPages.push({ textEnd: nodesEnd, start: position, end: this.#output.end });
    }
    for (let open = node; open !== NONE; open = nodes.parent[open]) nodes.hasVoids[open] = 1;
  }

  #strikeOutVoid(node: number): void {
    const nodes = this.#nodes;
    this.#output.strikeOut(nodes.voidStart[node], nodes.voidEnd[node]);
    nodes.voidStart[node] = NONE;
  }

  #appendLine(bytes: Uint8Array, lineStart: number, keyEnd: number, lineEnd: number): void {
    const output = this.#output;
    if (this.#lacksRoot) {
      output.append(this.#key, 0, this.#keyLength);
      output.append(bytes, keyEnd, lineEnd);
    } else {
      output.append(bytes, lineStart, lineEnd);
    }
  }

  /** Ends the node on top: passes its sum on, and writes it if it is rolled up. */
  #close(): void {
    const nodes = this.#nodes;
    const node = nodes.size - 1;
    if (nodes.isPresent[node] === 1) {
      const totals =
        nodes.hasWildcard[node] === 1 ? nodes.wildcardTotals[node] : nodes.totals[node];
      if (node === this.#rolledUp) {
        this.#rolledUp = NONE;
        this.#writeRollUp(node, totals);
      }
      const parent = nodes.parent[node];
      if (parent !== NONE) nodes.totals[parent].addTotals(totals);
      if (nodes.voidStart[node] !== NONE) this.#coveringVoids.add(nodes.voidStart[node]);
    }
    nodes.size = node;
  }

  #writeRollUp(node: number, totals: Totals): void {
    const nodes = this.#nodes;
    const output = this.#output;
    const key = this.#key;
    const keyLength = nodes.textEnd[node] + 2;
    // The text of the node is the start of the last key, and no open node needs what follows it.
    key[keyLength - 2] = nodes.separator[node];
    key[keyLength - 1] = STAR;
    if (nodes.hasVoids[node] === 1) {
      const lines = this.#takeBack(nodes.childrenStart[node]);
      const isBefore = (line: Uint8Array): boolean =>
        compareRanges(line, 0, firstBlank(line), key, 0, keyLength) < 0;
      for (const line of lines.filter(isBefore)) output.append(line, 0, line.length);
      totals.appendRows(key, keyLength, output);
      for (const line of lines.filter((line) => !isBefore(line))) {
        output.append(line, 0, line.length);
      }
    } else {
      totals.appendRows(key, keyLength, output);
    }
  }

  /** Takes the lines from a position on out of the output. */
  #takeBack(position: number): Uint8Array[] {
    const lines: Uint8Array[] = [];
    this.#output.forEachLine(position, this.#output.end, (bytes, start, end) => {
      lines.push(bytes.slice(start, end));
    });
    this.#output.truncate(position);
    return lines;
  }

  /** Releases the output before the lowest node that may still be rolled up. */
  #release(): void {
    const nodes = this.#nodes;
    const output = this.#output;
    let decided = output.end;
    for (let node = 0; node < nodes.size; node++) {
      if (nodes.cutoff[node] === Number.POSITIVE_INFINITY) continue;
      decided = nodes.headStart[node];
      break;
    }
    if (this.#leafEnd !== NONE && this.#leafStart < decided) decided = this.#leafStart;
    // Moving what is left to the front must not cost more than what is gained.
    if (decided - output.start < (output.end - output.start) / 2) return;
    output.release(decided);
    for (const position of this.#coveringVoids) {
      if (position < decided) this.#coveringVoids.delete(position);
    }
  }
}

/** A count of digits alone, or -1 for any other frequency. */
function plainCount(bytes: Uint8Array, start: number, end: number): number {
  // More digits might not be exact.
  if (end - start > 15) return -1;
  let count = 0;
  for (let i = start; i < end; i++) {
    if (!isDigit(bytes[i])) return -1;
    count = count * 10 + (bytes[i] - ZERO);
  }
  return count;
}

/** The exclusion of a page, or of all below it, in the output. */
interface VoidPage {
  /** Where the text of the page ends in its key. */
  readonly textEnd: number;
  readonly start: number;
  readonly end: number;
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x09;
}

function firstBlank(line: Uint8Array): number {
  let at = 0;
  while (at < line.length && !isBlank(line[at])) at++;
  return at;
}
