import { isDigit, ZERO } from "../../bytes/bytes.ts";
import { frequencyIsZero } from "../../ukvs/frequency.ts";
import { DEFAULT_FIELDS, type Fields } from "../../ukvs/header.ts";
import { CompactorNodes, RollUps, Voids } from "./roll-ups.ts";
import {
  KEY_KIND,
  type Layer,
  LAYER,
  NONE,
  rejectOrder,
  separatorOf,
  TreeWalk,
  type TreeWork,
} from "./key-tree.ts";
import type { RowSink } from "./map-lines.ts";
import type { SpillStore } from "../../files/scratch.ts";
import { PendingText, type WriteText } from "./pending-text.ts";
import type { RollUpPolicy } from "./weight-policy.ts";
import { KeyedTotals, type RowRange, SingleTotal } from "./totals.ts";

export interface CompactorOptions {
  /** The columns of the map; more than one key keeps a sum for each value of the others. */
  readonly fields?: Fields | undefined;
  /** Takes undecided output that does not fit in memory. */
  readonly spill?: SpillStore | undefined;
  /** How much undecided output to hold where there is a spill store; 16 MiB by default. */
  readonly memoryBytes?: number | undefined;
}

/** Decided output is released when there is at least this much. */
const RELEASE_BYTES = 1 << 18;

/**
 * Rolls up sub-trees of a sorted map in one pass; `RollUps` says which, `Voids` what becomes of
 * exclusions.
 *
 * Needs keys in byte order, each once. Holds the open nodes and the output that is not decided yet
 * (16 MiB at most where there is a spill store).
 */
export class Compactor implements RowSink, TreeWork {
  readonly #policy: RollUpPolicy;
  readonly #hasOneKey: boolean;
  readonly #nodes: CompactorNodes;
  readonly #output: PendingText;
  readonly #voids: Voids;
  readonly #rollUps: RollUps;
  readonly #walk: TreeWalk;
  #wasOpaque = false;
  /** The count of the leaf, and the position of its line. */
  #leafCount = 0;
  #leafStart = 0;

  constructor(policy: RollUpPolicy, write: WriteText, options: CompactorOptions = {}) {
    this.#policy = policy;
    const fields = options.fields ?? DEFAULT_FIELDS;
    const { keys, values } = fields;
    this.#hasOneKey = keys.length === 1;
    this.#output = new PendingText(write, options.spill, options.memoryBytes);
    this.#nodes = new CompactorNodes(() =>
      this.#hasOneKey ? new SingleTotal(values.length) : new KeyedTotals(values.length),
    );
    this.#voids = new Voids(this.#nodes, this.#output, fields);
    this.#rollUps = new RollUps(policy, this.#nodes, this.#output, this.#voids);
    this.#walk = new TreeWalk(this.#nodes, this);
  }

  /** Roll-ups written, or swallowed by a larger one. */
  get rollUps(): number {
    return this.#rollUps.count;
  }

  /** How many bytes at `start` are the same as in the last key; at most up to `end`. */
  sharedBytes(view: DataView, start: number, end: number): number {
    return this.#walk.key.sharedBytes(view, start, end);
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
    const { key, shape } = this.#walk;
    const order = key.compare(bytes, lineStart, keyEnd, sharedBytes);
    if (order < 0 || (order === 0 && this.#hasOneKey)) return order;
    const shared = key.nextShared;
    if (this.#addSibling(bytes, lineStart, row)) {
      this.#appendHeld(bytes, lineStart, lineEnd);
      this.#releaseSome();
      return 1;
    }
    if (order > 0) {
      this.#voids.leave(shared);
      this.#walk.leave(shared, key.nextByte);
      key.setCompared(bytes, lineStart);
      shape.set(key.bytes, key.length, shared);
    }
    if (shape.kind === KEY_KIND.opaque) {
      this.#addOpaque(bytes, lineStart, lineEnd);
    } else {
      const known = this.#wasOpaque ? 0 : shared;
      this.#wasOpaque = false;
      if (this.#addLeaf(known, bytes, row)) this.#appendHeld(bytes, lineStart, lineEnd);
      else this.#addRow(known, bytes, lineStart, lineEnd, row);
    }
    this.#releaseSome();
    return 1;
  }

  /**
   * Complains about a row that {@link add} did not take.
   *
   * @throws MM_NOT_SORTED
   */
  rejectOrder(order: number, bytes: Uint8Array, start: number, keyEnd: number): never {
    rejectOrder(order, bytes.subarray(start, keyEnd), this.#walk.key.text());
  }

  /** Closes all nodes and releases all output. */
  end(): void {
    this.#walk.end();
    this.#output.release(this.#output.end);
  }

  /** Takes a row of any kind. */
  #addRow(
    shared: number,
    bytes: Uint8Array,
    lineStart: number,
    lineEnd: number,
    row: RowRange,
  ): void {
    const { shape } = this.#walk;
    const node = this.#walk.enter(shared, shape.nodesEnd);
    if (!frequencyIsZero(bytes, row.frequencyStart, row.frequencyEnd)) {
      this.#addHeld(node, bytes, row);
      this.#appendHeld(bytes, lineStart, lineEnd);
    } else if (!this.#rollUps.isRolledUp || this.#voids.isWrittenBelowRollUp(node, shape.kind)) {
      const position = this.#output.end;
      this.#output.append(bytes, lineStart, lineEnd);
      this.#voids.add(node, shape, position);
    }
  }

  /**
   * Takes a page that has an ordinary count and, as nearly all, nothing below it, without opening a
   * node for it. False if the row is of another kind.
   */
  #addLeaf(shared: number, bytes: Uint8Array, row: RowRange): boolean {
    const { kind, hostEnd, nodesEnd } = this.#walk.shape;
    if (kind !== KEY_KIND.page || nodesEnd === hostEnd + 2 || !this.#hasOneKey) return false;
    const count = plainCount(bytes, row.frequencyStart, row.frequencyEnd);
    if (count <= 0) return false;
    const folder = this.#walk.enterFolder(shared);
    if (this.#nodes.depth[folder] + 1 >= this.#policy.maxPathDepth) return false;
    this.#rollUps.markPresent(folder);
    this.#rollUps.addChild(folder);
    this.#walk.setLeaf(folder);
    this.#leafCount = count;
    this.#leafStart = this.#output.end;
    return true;
  }

  /** Takes the page that was compared, if it is a sibling of the leaf and has an ordinary count. */
  #addSibling(bytes: Uint8Array, start: number, row: RowRange): boolean {
    const walk = this.#walk;
    const { nextShared, nextLength } = walk.key;
    if (!walk.isSibling(bytes, start, nextShared, nextLength)) return false;
    const count = plainCount(bytes, row.frequencyStart, row.frequencyEnd);
    if (count <= 0) return false;
    walk.takeSibling(bytes, start, nextShared, nextLength);
    this.#leafCount = count;
    this.#rollUps.addChild(walk.leafParent);
    this.#leafStart = this.#output.end;
    return true;
  }

  openNode(textEnd: number, layer: Layer, depth: number, parent: number): number {
    const { key, shape } = this.#walk;
    const isSpread = shape.kind === KEY_KIND.spread && textEnd === shape.hostEnd;
    return this.#rollUps.open(key, textEnd, layer, depth, parent, isSpread);
  }

  openLeaf(node: number): void {
    this.#nodes.headStart[node] = this.#leafStart;
    this.#nodes.isPresent[node] = 1;
    this.countLeaf(node);
  }

  countLeaf(node: number): void {
    const totals = this.#nodes.totals[node];
    if (totals instanceof SingleTotal) totals.sum.addInteger(this.#leafCount);
  }

  closeTop(): void {
    this.#rollUps.closeTop(this.#walk.key);
  }

  stayInTop(next: number): void {
    const nodes = this.#nodes;
    const top = nodes.size - 1;
    if (nodes.headEnd[top] === NONE) nodes.headEnd[top] = this.#output.end;
    if (next === separatorOf(nodes.layer[top]) && nodes.childrenStart[top] === NONE) {
      nodes.childrenStart[top] = this.#output.end;
    }
  }

  /** A key outside the tree is never rolled up: like an exclusion, it stays where it is. */
  #addOpaque(bytes: Uint8Array, lineStart: number, lineEnd: number): void {
    const nodes = this.#nodes;
    this.#wasOpaque = true;
    this.#output.append(bytes, lineStart, lineEnd);
    for (let node = 0; node < nodes.size; node++) nodes.hasVoids[node] = 1;
  }

  #addHeld(node: number, bytes: Uint8Array, row: RowRange): void {
    const nodes = this.#nodes;
    const { kind } = this.#walk.shape;
    if (kind === KEY_KIND.pathWildcard || kind === KEY_KIND.hostWildcard) {
      if (nodes.hasWildcard[node] === 0) {
        nodes.hasWildcard[node] = 1;
        nodes.wildcardTotals[node].reset();
        this.#rollUps.markPresent(node);
        this.#rollUps.addRowAsChild(node);
      }
      nodes.wildcardTotals[node].addRow(bytes, row);
      return;
    }
    if (kind === KEY_KIND.spread) {
      nodes.totals[node].addOverlappingRow(bytes, row);
      this.#rollUps.markSpread(node);
      return;
    }
    nodes.totals[node].addRow(bytes, row);
    // What is deeper than the last level counts row by row as a child of that level.
    const isDeep =
      nodes.layer[node] === LAYER.path && nodes.depth[node] >= this.#policy.maxPathDepth;
    if (isDeep && kind === KEY_KIND.page && nodes.isPresent[node] === 0) {
      this.#rollUps.addRowAsChild(node);
    }
    this.#rollUps.markPresent(node);
    if (kind !== KEY_KIND.query) return;
    this.#voids.coverPages(this.#walk.key.bytes, this.#rollUps.isRolledUp);
    this.#rollUps.addBelow(node);
  }

  /** Appends a line that says that something is held, unless it is rolled up. */
  #appendHeld(bytes: Uint8Array, lineStart: number, lineEnd: number): void {
    if (!this.#rollUps.isRolledUp) this.#output.append(bytes, lineStart, lineEnd);
  }

  /** Releases the output before the lowest node that may still be rolled up, if there is much. */
  #releaseSome(): void {
    const output = this.#output;
    if (output.end - output.start < RELEASE_BYTES) return;
    let decided = this.#rollUps.decidedEnd;
    if (this.#walk.leafEnd !== NONE && this.#leafStart < decided) decided = this.#leafStart;
    // Moving what is left to the front must not cost more than what is gained.
    if (decided - output.start < (output.end - output.start) / 2) return;
    output.release(decided);
    this.#voids.release(decided);
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
