import { compareRanges, copyRange, LF, MINUS, SPACE, STAR, writeDecimal } from "../bytes/bytes.ts";
import { columnEnd } from "../ukvs/record.ts";
import { frequencyIsZero } from "../ukvs/frequency.ts";
import { DEFAULT_FIELDS, type Fields } from "../ukvs/header.ts";
import {
  KEY_KIND,
  type KeyKind,
  type KeyShape,
  LAYER,
  QUERY_MARK,
  rejectOrder,
  separatorOf,
  type TreeVisitor,
  TreeWalk,
} from "../ukvs/key-tree.ts";
import type { MapRow, RowSink } from "./map-lines.ts";
import type { SpillStore } from "../files/scratch.ts";
import { PendingText, type WriteText } from "./pending-text.ts";
import { RollUpNode, RollUps, Voids } from "./roll-ups.ts";
import { Totals } from "./totals.ts";
import type { RollUpPolicy } from "./weight-policy.ts";

export interface CompactorOptions {
  /** The columns of the map; more than one key keeps a sum for each value of the others. */
  readonly fields?: Fields | undefined;
  /** Stores pending output that does not fit in memory. */
  readonly spill?: SpillStore | undefined;
  readonly memoryBytes?: number | undefined;
}

/** Upper bound on the bytes of a roll-up besides its key and other values. */
const LINE_ROOM = 64;
/** Decided output is released in batches of at least this size. */
const RELEASE_BYTES = 1 << 18;

/**
 * Rolls up sub-trees of a sorted map in one pass; `RollUps` chooses them, `Voids` handles exclusions. A
 * plain page needs no node of its own unless rows below it follow.
 *
 * Needs keys in byte order, each once; those of a map with queries in that of `TreeOrder`. Holds the open
 * nodes and the output that is not decided yet (16 MiB at most where there is a spill store).
 */
export class Compactor implements RowSink, TreeVisitor<RollUpNode> {
  readonly #policy: RollUpPolicy;
  readonly #fields: Fields;
  readonly #output: PendingText;
  readonly #voids: Voids;
  readonly #walk: TreeWalk<RollUpNode> = new TreeWalk(() => new RollUpNode(), this);
  readonly #rollUps: RollUps;
  /** The shape of the current key, unless it is a leaf. */
  #shape: KeyShape | undefined;
  /** The row of the current leaf: its count, and its position in the output. */
  #leafCount = 0;
  #leafStart = 0;
  /** Buffer for the line of a roll-up. */
  #line = new Uint8Array(0);
  /** The output position at which to try the next release. */
  #nextRelease = RELEASE_BYTES;
  /** Whether the SURT of the last row differs from that of the previous row. */
  #isNewKey = true;

  constructor(policy: RollUpPolicy, write: WriteText, options: CompactorOptions = {}) {
    this.#policy = policy;
    this.#fields = options.fields ?? DEFAULT_FIELDS;
    this.#output = new PendingText(write, options.spill, options.memoryBytes);
    this.#voids = new Voids(this.#output, this.#fields);
    this.#rollUps = new RollUps(policy, this.#walk, this.#output, this.#voids);
  }

  /** Roll-ups written, or replaced by a larger one. */
  get rollUps(): number {
    return this.#rollUps.count;
  }

  add(row: MapRow): void {
    const { bytes, start, keyEnd } = row;
    const walk = this.#walk;
    this.#shape = undefined;
    const order = walk.goTo(bytes, start, keyEnd, row.shared);
    if (order < 0 || (order === 0 && this.#fields.keys.length === 1)) {
      rejectOrder(order, bytes.subarray(start, keyEnd), walk.key.text());
    }
    if (!(row.count > 0 && walk.key.isInFolder && this.#addLeaf(row))) {
      this.#isNewKey = order > 0;
      const { shape } = walk.key;
      this.#shape = shape;
      if (shape.kind === KEY_KIND.opaque) this.#addOpaque(row);
      else this.#addToTree(walk.enter(shape), shape, row);
    }
    if (this.#output.end >= this.#nextRelease) this.#releaseSome();
  }

  /** Closes all nodes and releases all output. */
  end(): void {
    this.#walk.end();
    this.#output.release(this.#output.end);
  }

  /** Adds a page with an exact count; false for a page deeper than the last level. */
  #addLeaf({ bytes, start, lineEnd, count }: MapRow): boolean {
    const walk = this.#walk;
    const rollUps = this.#rollUps;
    const folder = walk.enterFolder();
    if (folder.depth + 1 >= this.#policy.maxPathDepth) return false;
    rollUps.addChild(folder);
    rollUps.markPresent(folder);
    walk.makeLeaf(folder);
    this.#leafCount = count;
    this.#leafStart = this.#output.end;
    if (rollUps.lowest === undefined) this.#output.append(bytes, start, lineEnd);
    return true;
  }

  closeLeaf(folder: RollUpNode): void {
    folder.count += this.#leafCount;
  }

  openLeaf(node: RollUpNode): void {
    node.headStart = this.#leafStart;
    node.isPresent = true;
    node.count = this.#leafCount;
  }

  open(node: RollUpNode): void {
    const { textEnd, layer, parent } = node;
    const { bytes: key, length } = this.#walk.key;
    const isOfQueries = layer === LAYER.query;
    // The row of the page precedes its queries and is rolled up with them.
    const hasPage = isOfQueries && parent?.page !== undefined;
    node.reset(hasPage ? parent.headStart : this.#output.end);
    node.cutoff = this.#policy.cutoff(node, key);
    // The hosts of a spread key are never rolled up.
    const isSpread = this.#shape?.kind === KEY_KIND.spread;
    if (isSpread && textEnd === this.#shape?.hostEnd) node.cutoff = Number.POSITIVE_INFINITY;
    const isAbove =
      layer === LAYER.host
        ? key[textEnd] === separatorOf(layer)
        : textEnd < length && (isOfQueries || key[textEnd] !== QUERY_MARK);
    if (hasPage) node.hasVoids = parent.hasVoids;
    if (isAbove) node.headEnd = node.childrenStart = node.headStart;
  }

  stay(node: RollUpNode, next: number): void {
    // The queries of a page belong to its head.
    if (next === QUERY_MARK || node.layer === LAYER.query) return;
    node.headEnd ??= this.#output.end;
    if (next !== separatorOf(node.layer)) {
      this.#rollUps.suspend(node);
      return;
    }
    node.childrenStart ??= this.#output.end;
    this.#rollUps.resume(node);
  }

  /** Adds the sum of a node to its parent, and writes it if the node is rolled up. */
  close(node: RollUpNode): void {
    if (node.layer === LAYER.query) this.#countPage(node);
    else if (node.page !== undefined && !node.isPageCounted) node.totals.addTotals(node.page);
    if (!node.isPresent) {
      if (node.coversHeld) this.#voids.cover(node);
      return;
    }
    const { parent, totals, count, wildcardTotals } = node;
    this.#rollUps.resume(node);
    const isWritten = node === this.#rollUps.lowest;
    if (isWritten) this.#rollUps.lowest = undefined;
    const isPlain = wildcardTotals === undefined && totals.isEmpty;
    if (isPlain && count <= Number.MAX_SAFE_INTEGER && !(isWritten && node.hasVoids)) {
      if (parent !== undefined) parent.count += count;
      if (isWritten) this.#writePlain(node);
    } else {
      totals.addCount(count);
      wildcardTotals?.addMissing(totals);
      if (isWritten) this.#writeRollUp(node, wildcardTotals ?? totals);
      parent?.totals.addTotals(wildcardTotals ?? totals);
    }
    this.#voids.cover(node);
  }

  /** A row for any query counts the page itself too. */
  #countPage({ totals, wildcardTotals, isRolledUp, parent }: RollUpNode): void {
    if (parent?.page === undefined || (wildcardTotals === undefined && !isRolledUp)) return;
    totals.addTotals(parent.page);
    parent.isPageCounted = true;
  }

  /** Writes a roll-up whose sum is a plain number of mementos. */
  #writePlain({ textEnd, layer, count }: RollUpNode): void {
    const room = textEnd + LINE_ROOM + 2 * this.#fields.values.length;
    if (this.#line.length < room) this.#line = new Uint8Array(2 * room);
    const line = this.#line;
    let end = copyRange(this.#walk.key.bytes, 0, textEnd, line, 0);
    line[end++] = separatorOf(layer);
    line[end++] = STAR;
    line[end++] = SPACE;
    end = writeDecimal(count, line, end);
    for (let column = 1; column < this.#fields.values.length; column++) {
      line[end++] = SPACE;
      line[end++] = MINUS;
    }
    line[end++] = LF;
    this.#output.append(line, 0, end);
  }

  #writeRollUp({ textEnd, layer, hasVoids, childrenStart }: RollUpNode, totals: Totals): void {
    const output = this.#output;
    const ending = layer === LAYER.query ? [STAR] : [separatorOf(layer), STAR];
    const key = new Uint8Array(textEnd + ending.length);
    key.set(this.#walk.key.bytes.subarray(0, textEnd));
    key.set(ending, textEnd);
    const lines = totals.lines(key, this.#fields.values.length);
    // Remaining exclusions below the node may sort before its row.
    if (hasVoids && childrenStart !== undefined) {
      output.forEachLine(childrenStart, output.end, (line) => lines.push(line.slice()));
      output.truncate(childrenStart);
      lines.sort(compareLines);
    }
    for (const line of lines) output.append(line, 0, line.length);
  }

  /** A key outside the tree is never rolled up: like an exclusion, it stays where it is. */
  #addOpaque({ bytes, start, lineEnd }: MapRow): void {
    this.#output.append(bytes, start, lineEnd);
    const { nodes, size } = this.#walk;
    for (let i = 0; i < size; i++) nodes[i].hasVoids = true;
  }

  #addToTree(node: RollUpNode, shape: KeyShape, row: MapRow): void {
    const { bytes, start, lineEnd } = row;
    const { kind } = shape;
    const isHeld = !frequencyIsZero(bytes, row.frequencyStart, row.frequencyEnd);
    if (isHeld) this.#addHeld(node, kind, row);
    const isWritten =
      this.#rollUps.lowest === undefined ||
      (!isHeld && this.#voids.isWrittenBelowRollUp(node, kind));
    if (!isWritten) return;
    const position = this.#output.end;
    this.#output.append(bytes, start, lineEnd);
    if (!isHeld) this.#voids.add(node, shape, this.#walk.key.whole, position);
  }

  #addHeld(node: RollUpNode, kind: KeyKind, row: MapRow): void {
    const rollUps = this.#rollUps;
    if (
      kind === KEY_KIND.pathWildcard ||
      kind === KEY_KIND.hostWildcard ||
      kind === KEY_KIND.queryWildcard
    ) {
      if (node.wildcardTotals === undefined) {
        node.wildcardTotals = new Totals();
        rollUps.markPresent(node);
        rollUps.addRowAsChild(node);
      }
      node.wildcardTotals.addRow(row);
      return;
    }
    if (kind === KEY_KIND.spread) {
      node.totals.addOverlappingRow(row);
      rollUps.markSpread(node);
      return;
    }
    if (node.layer === LAYER.query) {
      node.totals.addRow(row);
      rollUps.markPresent(node);
      if (this.#isNewKey) rollUps.addRowAsChild(node);
      return;
    }
    if (kind === KEY_KIND.page && this.#fields.queries === true) {
      node.page ??= new Totals();
      node.page.addRow(row);
    } else if (row.count > 0) {
      node.count += row.count;
    } else {
      node.totals.addRow(row);
    }
    // Every row deeper than the last level counts as a child of that level.
    const isDeep = node.layer === LAYER.path && node.depth >= this.#policy.maxPathDepth;
    if (isDeep && kind === KEY_KIND.page && !node.isPresent) rollUps.addRowAsChild(node);
    rollUps.markPresent(node);
    if (kind !== KEY_KIND.query) return;
    this.#voids.coverPages(this.#walk.key.whole, rollUps.lowest !== undefined);
    rollUps.addBelow(node);
  }

  /** Releases the output before the lowest node that may still be rolled up, if there is enough of it. */
  #releaseSome(): void {
    const { start, end } = this.#output;
    const { decidedEnd } = this.#rollUps;
    const decided = this.#walk.isAtLeaf ? Math.min(decidedEnd, this.#leafStart) : decidedEnd;
    // Moving the rest to the front must not cost more than the release gains.
    if (decided - start >= (end - start) / 2) {
      this.#output.release(decided);
      this.#voids.release(decided);
    }
    this.#nextRelease = Math.max(end, this.#output.start) + RELEASE_BYTES;
  }
}

function compareLines(a: Uint8Array, b: Uint8Array): number {
  const aEnd = columnEnd(a, 0, a.length);
  const bEnd = columnEnd(b, 0, b.length);
  return (
    compareRanges(a, 0, aEnd, b, 0, bEnd) || compareRanges(a, aEnd, a.length, b, bEnd, b.length)
  );
}
