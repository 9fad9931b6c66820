import { CLOSE_BRACE, QUESTION, standsAt } from "../bytes/bytes.ts";
import { frequencyIsZero } from "../ukvs/frequency.ts";
import type { Fields } from "../ukvs/header.ts";
import { columnEnd, parseRecord, skipBlanks } from "../ukvs/record.ts";
import {
  KEY_KIND,
  type KeyKind,
  type KeyShape,
  keyShape,
  LAYER,
  QUERY_MARK,
  TreeNode,
  type TreeWalk,
} from "../ukvs/key-tree.ts";
import { textOfLine } from "../ukvs/head.ts";
import { heldAtTimes } from "./map-lines.ts";
import type { PendingText } from "./pending-text.ts";
import { Totals } from "./totals.ts";
import { CHOSEN, type RollUpPolicy } from "./weight-policy.ts";

/** A range of the output. */
interface OutputRange {
  readonly start: number;
  readonly end: number;
}

/** An open node of a compaction. */
export class RollUpNode extends TreeNode<RollUpNode> {
  cutoff = 0;
  /** Children that hold something. */
  children = 0;
  /** Whether anything below, or the node itself, is held. */
  isPresent = false;
  /** Whether the node is over its cutoff: only its sum will be written. */
  isRolledUp = false;
  /** Whether there are exclusions below. */
  hasVoids = false;
  /**
   * Output positions. The lines of a node are `[headStart, headEnd)` – its own row, or the pages of
   * a host – and all from `childrenStart` on. Between the two there may be lines of others.
   */
  headStart = 0;
  headEnd: number | undefined = undefined;
  childrenStart: number | undefined = undefined;
  /** The node's own wildcard exclusion in the output. */
  voidLine: OutputRange | undefined = undefined;
  /** Sum of the node's own row and its children: of those that are but a number, and of all others. */
  count = 0;
  readonly totals = new Totals();
  /** Sum of the node's wildcard rows, where it has some; it includes all below. */
  wildcardTotals: Totals | undefined = undefined;
  /** In a map with queries, the sum of the rows of the page itself. */
  page: Totals | undefined = undefined;
  /** Whether that is in the sum of the queries, which then goes into that of the node. */
  isPageCounted = false;

  /** Makes the node a new one, whose output begins here. */
  reset(headStart: number): void {
    this.children = this.count = 0;
    this.isPresent = this.isRolledUp = this.hasVoids = this.isPageCounted = false;
    this.headStart = headStart;
    this.headEnd = this.childrenStart = this.voidLine = undefined;
    this.totals.reset();
    this.wildcardTotals = this.page = undefined;
  }

  /** Whether a wildcard of the node covers something held: `/a?*` covers the page `/a` too. */
  get coversHeld(): boolean {
    return this.isPresent || (this.layer === LAYER.query && this.parent?.page !== undefined);
  }
}

/** The exclusion of a page, or of all below it, in the output. */
interface VoidPage extends OutputRange {
  readonly text: Uint8Array;
}

/**
 * The exclusions (rows of frequency 0) in undecided output.
 *
 * They count as nothing: they are not children. A roll-up keeps those below it that cover nothing
 * held, and drops the others, so nothing held is ever lost.
 */
export class Voids {
  readonly #output: PendingText;
  readonly #fields: Fields;
  /** Whether exclusions survive a roll-up at all: those with more key columns do not. */
  readonly #mayStay: boolean;
  /** Positions of those that cover something held. */
  readonly #covering = new Set<number>();
  /** Those of pages that the key begins with: a query of such a page may be held. */
  #pages: VoidPage[] = [];

  constructor(output: PendingText, fields: Fields) {
    this.#output = output;
    this.#fields = fields;
    this.#mayStay = fields.keys.length === 1;
  }

  /** Whether an exclusion is written below a roll-up. */
  isWrittenBelowRollUp(node: RollUpNode, kind: KeyKind): boolean {
    const coversHeld = isWildcard(kind) && node.coversHeld;
    return this.#mayStay && !coversHeld && kind !== KEY_KIND.spread;
  }

  /** The exclusion of `key` was appended to the output at `start`. */
  add(node: RollUpNode, { kind, nodesEnd }: KeyShape, key: Uint8Array, start: number): void {
    const { end } = this.#output;
    if (isWildcard(kind)) node.voidLine = { start, end };
    if (kind === KEY_KIND.page || kind === KEY_KIND.pathWildcard) {
      this.#pages = this.#pages.filter(({ text }) => standsAt(key, 0, key.length, text));
      this.#pages.push({ text: key.slice(0, nodesEnd), start, end });
    }
    for (let open: RollUpNode | undefined = node; open !== undefined; open = open.parent) {
      open.hasVoids = true;
    }
  }

  /** Something is held below a node that is not rolled up: its exclusion covers it. */
  cover({ voidLine }: RollUpNode): void {
    if (voidLine !== undefined) this.#covering.add(voidLine.start);
  }

  /** An exclusion of a page whose query, `key`, is held must not outlive the row of the query. */
  coverPages(key: Uint8Array, isRolledUp: boolean): void {
    for (const { text, start, end } of this.#pages) {
      if (!standsAt(key, 0, key.length, text) || key[text.length] !== QUESTION) continue;
      if (isRolledUp) this.#output.strikeOut(start, end);
      else this.#covering.add(start);
    }
  }

  /** Takes back the exclusion of a node that holds something. */
  strikeOut(node: RollUpNode): void {
    if (node.voidLine !== undefined) {
      this.#output.strikeOut(node.voidLine.start, node.voidLine.end);
    }
    node.voidLine = undefined;
  }

  /** Takes back all rows in `[from, to)` but exclusions that cover nothing held. */
  strikeOutRows(from: number, to: number): void {
    const struck: OutputRange[] = [];
    this.#output.forEachLine(from, to, (line, start) => {
      if (!this.#isToKeep(line, start)) struck.push({ start, end: start + line.length });
    });
    for (const { start, end } of struck) this.#output.strikeOut(start, end);
  }

  #isToKeep(line: Uint8Array, position: number): boolean {
    const end = line.length - 1;
    const keyEnd = columnEnd(line, 0, end);
    const { kind } = keyShape(line, keyEnd);
    if (kind === KEY_KIND.opaque) return true;
    if (!this.#mayStay || this.#covering.has(position) || kind === KEY_KIND.spread) return false;
    const frequency = skipBlanks(line, keyEnd, end);
    if (!frequencyIsZero(line, frequency, columnEnd(line, frequency, end))) return false;
    // A row of 0 that holds something of some time is not an exclusion.
    if (line[end - 1] !== CLOSE_BRACE) return true;
    const text = textOfLine(line, 0, end).replace(String.fromCharCode(QUERY_MARK), "?");
    return heldAtTimes(parseRecord(text, this.#fields)) === undefined;
  }

  /** Output before `position` was released. */
  release(position: number): void {
    for (const covering of this.#covering) {
      if (covering < position) this.#covering.delete(covering);
    }
  }
}

function isWildcard(kind: KeyKind): boolean {
  return (
    kind === KEY_KIND.pathWildcard ||
    kind === KEY_KIND.hostWildcard ||
    kind === KEY_KIND.queryWildcard
  );
}

/**
 * Counts the children of open nodes, and rolls up those over their cutoff.
 *
 * Every such node that is below no other becomes one wildcard row with the summed frequency. Once a
 * node is over its cutoff it will be rolled up, so its rows are taken back at once and only summed.
 */
export class RollUps {
  /** Roll-ups written, or swallowed by a larger one. */
  count = 0;
  /** The lowest open node that is rolled up: held rows are not written while there is one. */
  lowest: RollUpNode | undefined;
  readonly #policy: RollUpPolicy;
  readonly #walk: TreeWalk<RollUpNode>;
  readonly #output: PendingText;
  readonly #voids: Voids;

  constructor(policy: RollUpPolicy, walk: TreeWalk<RollUpNode>, output: PendingText, voids: Voids) {
    this.#policy = policy;
    this.#walk = walk;
    this.#output = output;
    this.#voids = voids;
  }

  /** Says that a node holds something, and counts it as a child of its parent. */
  markPresent(from: RollUpNode): void {
    const { maxPathDepth, maxHostDepth } = this.#policy;
    for (let node: RollUpNode | undefined = from; node?.isPresent === false; node = node.parent) {
      node.isPresent = true;
      if (this.lowest !== undefined && node.index >= this.lowest.index) this.#voids.strikeOut(node);
      const { parent, layer, depth } = node;
      if (parent === undefined) continue;
      // A host deeper than the last level counts as a child of that level.
      if (layer === LAYER.root) {
        if (parent.depth >= maxHostDepth) this.addRowAsChild(parent);
      } else if (depth < (layer === LAYER.host ? maxHostDepth : maxPathDepth)) {
        this.addChild(parent);
      }
    }
  }

  /** `X,*)/p` is a child `*` of X, and `X,*` is the same child. */
  markSpread(node: RollUpNode): void {
    if (node.isPresent) return;
    node.isPresent = true;
    const { parent } = node;
    if (parent === undefined) return;
    this.markPresent(parent);
    if (parent.wildcardTotals === undefined) this.addRowAsChild(parent);
  }

  /** Rows of others come that lie between those of a node: `/a?x`, `/a-b`, `/a/b` in the tree. */
  suspend(node: RollUpNode): void {
    if (this.lowest === node) this.lowest = undefined;
  }

  /** Rows of a node come again, or it closes. */
  resume(node: RollUpNode): void {
    if (node.isRolledUp) this.lowest ??= node;
  }

  addChild(node: RollUpNode): void {
    node.children++;
    if (node.children > node.cutoff) this.#rollUp(node);
  }

  /** Counts a row at a node as a child of it, or of the last level that is told apart. */
  addRowAsChild(node: RollUpNode): void {
    const isHost = node.layer === LAYER.host;
    const last = (isHost ? this.#policy.maxHostDepth : this.#policy.maxPathDepth) - 1;
    let capped = node;
    while (capped.depth > last && capped.parent !== undefined) {
      if ((capped.parent.layer === LAYER.host) !== isHost) break;
      capped = capped.parent;
    }
    this.addChild(capped);
  }

  /** A page with a query is not a child, but it is below the node. */
  addBelow(node: RollUpNode): void {
    if (node.cutoff === CHOSEN) this.#rollUp(node);
  }

  /** Takes back all rows of a node that were written, except for exclusions that may stay. */
  #rollUp(node: RollUpNode): void {
    if (node.isRolledUp) return;
    node.isRolledUp = true;
    this.count++;
    // Below a node that is rolled up already nothing was written.
    if (this.lowest !== undefined && this.lowest.index < node.index) return;
    this.lowest = node;
    const output = this.#output;
    const { headStart, headEnd = output.end, childrenStart = output.end } = node;
    if (node.hasVoids) {
      const { nodes, size } = this.#walk;
      for (let i = node.index; i < size; i++) {
        if (nodes[i].coversHeld) this.#voids.strikeOut(nodes[i]);
      }
      this.#voids.strikeOutRows(headStart, headEnd);
      this.#voids.strikeOutRows(childrenStart, output.end);
    } else if (headEnd === childrenStart) {
      output.truncate(headStart);
      // Rows of others may come between the queries of a page and what is below it.
      if (node.headEnd !== undefined || node.layer === LAYER.host) node.childrenStart = headStart;
      node.headEnd = headStart;
    } else {
      output.strikeOut(headStart, headEnd);
      output.truncate(childrenStart);
    }
  }

  /** Where the output of the lowest node begins that may still be rolled up; its end for none. */
  get decidedEnd(): number {
    const { nodes, size, top } = this.#walk;
    for (let i = 0; i < size; i++) {
      if (nodes[i].cutoff !== Number.POSITIVE_INFINITY) return nodes[i].headStart;
    }
    // The queries of a page come next, and may take its row back.
    const isHead = top?.headEnd === undefined || top.layer === LAYER.root;
    return isHead && top?.page !== undefined ? top.headStart : this.#output.end;
  }
}
