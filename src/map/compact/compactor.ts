import { compareRanges, STAR } from "../../bytes/bytes.ts";
import { columnEnd } from "../../ukvs/record.ts";
import { frequencyIsZero } from "../../ukvs/frequency.ts";
import { DEFAULT_FIELDS, type Fields } from "../../ukvs/header.ts";
import {
  KEY_KIND,
  type KeyKind,
  keyShape,
  LAYER,
  type NodePlace,
  QUERY_MARK,
  rejectOrder,
  separatorOf,
  type TreeVisitor,
  TreeWalk,
} from "./key-tree.ts";
import type { MapRow, RowSink } from "./map-lines.ts";
import type { SpillStore } from "../../files/scratch.ts";
import { PendingText, type WriteText } from "./pending-text.ts";
import { RollUpNode, RollUps, Voids } from "./roll-ups.ts";
import { Totals } from "./totals.ts";
import type { RollUpPolicy } from "./weight-policy.ts";

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
 * exclusions. This is the reference for kernel/compact.ts, which does the same for plain rows, faster.
 *
 * Needs keys in byte order, each once; those of a map with queries in that of `TreeOrder`. Holds the open nodes and the output that is not decided yet
 * (16 MiB at most where there is a spill store).
 */
export class Compactor implements RowSink, TreeVisitor<RollUpNode> {
  readonly #policy: RollUpPolicy;
  readonly #fields: Fields;
  readonly #output: PendingText;
  readonly #voids: Voids;
  readonly #walk: TreeWalk<RollUpNode> = new TreeWalk(this);
  readonly #rollUps: RollUps;
  #shape = keyShape(new Uint8Array(0), 0);
  /** Whether the last row has another SURT than the one before it. */
  #isNewKey = true;

  constructor(policy: RollUpPolicy, write: WriteText, options: CompactorOptions = {}) {
    this.#policy = policy;
    this.#fields = options.fields ?? DEFAULT_FIELDS;
    this.#output = new PendingText(write, options.spill, options.memoryBytes);
    this.#voids = new Voids(this.#output, this.#fields);
    this.#rollUps = new RollUps(policy, this.#walk.nodes, this.#output, this.#voids);
  }

  /** Roll-ups written, or swallowed by a larger one. */
  get rollUps(): number {
    return this.#rollUps.count;
  }

  add(row: MapRow): void {
    const { bytes, start, keyEnd } = row;
    const walk = this.#walk;
    const order = walk.goTo(bytes, start, keyEnd);
    if (order < 0 || (order === 0 && this.#fields.keys.length === 1)) {
      rejectOrder(order, bytes.subarray(start, keyEnd), walk.key.text());
    }
    this.#isNewKey = order > 0;
    this.#shape = keyShape(walk.key.bytes, walk.key.length);
    if (this.#shape.kind === KEY_KIND.opaque) this.#addOpaque(row);
    else this.#addToTree(walk.enter(this.#shape), row);
    this.#releaseSome();
  }

  /** Closes all nodes and releases all output. */
  end(): void {
    this.#walk.end();
    this.#output.release(this.#output.end);
  }

  open(place: NodePlace<RollUpNode>): RollUpNode {
    const { textEnd, layer, depth, parent } = place;
    const { bytes: key, length } = this.#walk.key;
    const isOfQueries = layer === LAYER.query;
    // The row of the page stands right before its queries, and is rolled up with them.
    const hasPage = isOfQueries && parent?.page !== undefined;
    const position = hasPage ? parent.headStart : this.#output.end;
    const { kind, hostEnd } = this.#shape;
    const node = new RollUpNode(
      place,
      // The hosts of a spread key are never rolled up.
      kind === KEY_KIND.spread && textEnd === hostEnd
        ? Number.POSITIVE_INFINITY
        : layer === LAYER.host
          ? this.#policy.hostCutoff(depth, key, textEnd)
          : this.#policy.pathCutoff(depth, key, textEnd),
      position,
    );
    const isAbove =
      layer === LAYER.host
        ? key[textEnd] === separatorOf(layer)
        : textEnd < length && (isOfQueries || key[textEnd] !== QUERY_MARK);
    if (hasPage) node.hasVoids = parent.hasVoids;
    if (isAbove) node.headEnd = node.childrenStart = position;
    return node;
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

  /** Passes the sum of a node on, and writes it if it is rolled up. */
  close(node: RollUpNode): void {
    if (node.layer === LAYER.query) this.#countPage(node);
    else if (node.page !== undefined && !node.isPageCounted) node.totals.addTotals(node.page);
    if (!node.isPresent) {
      if (node.coversHeld) this.#voids.cover(node);
      return;
    }
    node.wildcardTotals?.addMissing(node.totals);
    const totals = node.wildcardTotals ?? node.totals;
    this.#rollUps.resume(node);
    if (node === this.#rollUps.lowest) {
      this.#rollUps.lowest = undefined;
      this.#writeRollUp(node, totals);
    }
    node.parent?.totals.addTotals(totals);
    this.#voids.cover(node);
  }

  /** A row for any query counts the page itself too. */
  #countPage({ totals, wildcardTotals, isRolledUp, parent }: RollUpNode): void {
    if (parent?.page === undefined || (wildcardTotals === undefined && !isRolledUp)) return;
    totals.addTotals(parent.page);
    parent.isPageCounted = true;
  }

  #writeRollUp(node: RollUpNode, totals: Totals): void {
    const output = this.#output;
    const star = String.fromCharCode(STAR);
    const separator = String.fromCharCode(separatorOf(node.layer));
    const ending = node.layer === LAYER.query ? star : separator + star;
    const key = this.#walk.key.text(node.textEnd) + ending;
    const lines = totals.lines(key, this.#fields.values.length);
    // Exclusions below the node that stayed may come before its row.
    if (node.hasVoids && node.childrenStart !== undefined) {
      output.forEachLine(node.childrenStart, output.end, (line) => lines.push(line.slice()));
      output.truncate(node.childrenStart);
      lines.sort(compareLines);
    }
    for (const line of lines) output.append(line, 0, line.length);
  }

  /** A key outside the tree is never rolled up: like an exclusion, it stays where it is. */
  #addOpaque({ bytes, start, lineEnd }: MapRow): void {
    this.#output.append(bytes, start, lineEnd);
    for (const node of this.#walk.nodes) node.hasVoids = true;
  }

  #addToTree(node: RollUpNode, row: MapRow): void {
    const { bytes, start, lineEnd } = row;
    const { kind } = this.#shape;
    const isHeld = !frequencyIsZero(bytes, row.frequencyStart, row.frequencyEnd);
    if (isHeld) this.#addHeld(node, kind, row);
    const isWritten =
      this.#rollUps.lowest === undefined ||
      (!isHeld && this.#voids.isWrittenBelowRollUp(node, kind));
    if (!isWritten) return;
    const position = this.#output.end;
    this.#output.append(bytes, start, lineEnd);
    if (!isHeld) this.#voids.add(node, this.#shape, this.#walk.key.whole, position);
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
    } else {
      node.totals.addRow(row);
    }
    // What is deeper than the last level counts row by row as a child of that level.
    const isDeep = node.layer === LAYER.path && node.depth >= this.#policy.maxPathDepth;
    if (isDeep && kind === KEY_KIND.page && !node.isPresent) rollUps.addRowAsChild(node);
    rollUps.markPresent(node);
    if (kind !== KEY_KIND.query) return;
    this.#voids.coverPages(this.#walk.key.whole, rollUps.lowest !== undefined);
    rollUps.addBelow(node);
  }

  /** Releases the output before the lowest node that may still be rolled up, if there is much. */
  #releaseSome(): void {
    const { start, end } = this.#output;
    if (end - start < RELEASE_BYTES) return;
    const decided = this.#rollUps.decidedEnd;
    // Moving what is left to the front must not cost more than what is gained.
    if (decided - start < (end - start) / 2) return;
    this.#output.release(decided);
    this.#voids.release(decided);
  }
}

function compareLines(a: Uint8Array, b: Uint8Array): number {
  const aEnd = columnEnd(a, 0, a.length);
  const bEnd = columnEnd(b, 0, b.length);
  return (
    compareRanges(a, 0, aEnd, b, 0, bEnd) || compareRanges(a, aEnd, a.length, b, bEnd, b.length)
  );
}
