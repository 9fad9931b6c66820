import {
  type CurrentKey,
  enlarged,
  INITIAL_DEPTH,
  KEY_KIND,
  KeyShape,
  type Layer,
  LAYER,
  NodeStack,
  NONE,
  separatorOf,
} from "./key-tree.ts";
import type { Totals } from "./totals.ts";
import { CLOSE_BRACE, COMMA, compareRanges, QUESTION, SPACE, STAR } from "../../bytes/bytes.ts";
import { frequencyIsZero } from "../../ukvs/frequency.ts";
import type { Fields } from "../../ukvs/header.ts";
import { parseRecord } from "../../ukvs/record.ts";
import { heldAtTimes, textOfLine } from "./map-lines.ts";
import type { PendingText } from "./pending-text.ts";
import { CHOSEN, type RollUpPolicy } from "./weight-policy.ts";

/** The open nodes of a compaction. */
export class CompactorNodes extends NodeStack {
  cutoff = new Float64Array(INITIAL_DEPTH);
  /** Children that hold something. */
  children = new Float64Array(INITIAL_DEPTH);
  /** Whether anything below, or the node itself, is held. */
  isPresent = new Uint8Array(INITIAL_DEPTH);
  /** Whether the node is over its cutoff: only its sum will be written. */
  isRolledUp = new Uint8Array(INITIAL_DEPTH);
  /** Whether the node has a wildcard row; its count includes all below. */
  hasWildcard = new Uint8Array(INITIAL_DEPTH);
  /** Whether there are exclusions below. */
  hasVoids = new Uint8Array(INITIAL_DEPTH);
  /**
   * Output positions. The lines of a node are `[headStart, headEnd)` – its own row, or the pages of
   * a host – and all from `childrenStart` on. Between the two there may be lines of others.
   */
  headStart = new Float64Array(INITIAL_DEPTH);
  headEnd = new Float64Array(INITIAL_DEPTH);
  childrenStart = new Float64Array(INITIAL_DEPTH);
  /** The node's own wildcard exclusion in the output, `[voidStart, voidEnd)`, or NONE. */
  voidStart = new Float64Array(INITIAL_DEPTH);
  voidEnd = new Float64Array(INITIAL_DEPTH);
  /** Sum of the node's own row and its children. */
  readonly totals: Totals[] = [];
  /** Sum of the node's wildcard rows. */
  readonly wildcardTotals: Totals[] = [];
  readonly #makeTotals: () => Totals;

  constructor(makeTotals: () => Totals) {
    super();
    this.#makeTotals = makeTotals;
  }

  /** @param position where the output of the node begins. */
  open(
    textEnd: number,
    layer: Layer,
    depth: number,
    parent: number,
    cutoff: number,
    position: number,
  ): number {
    const node = this.push(textEnd, layer, depth, parent);
    this.cutoff[node] = cutoff;
    this.children[node] = 0;
    this.isPresent[node] = 0;
    this.isRolledUp[node] = 0;
    this.hasWildcard[node] = 0;
    this.hasVoids[node] = 0;
    this.headStart[node] = position;
    this.headEnd[node] = NONE;
    this.childrenStart[node] = NONE;
    this.voidStart[node] = NONE;
    if (node === this.totals.length) {
      this.totals.push(this.#makeTotals());
      this.wildcardTotals.push(this.#makeTotals());
    } else {
      this.totals[node].reset();
    }
    return node;
  }

  protected override grow(size: number): void {
    super.grow(size);
    this.cutoff = enlarged(new Float64Array(size), this.cutoff);
    this.children = enlarged(new Float64Array(size), this.children);
    this.isPresent = enlarged(new Uint8Array(size), this.isPresent);
    this.isRolledUp = enlarged(new Uint8Array(size), this.isRolledUp);
    this.hasWildcard = enlarged(new Uint8Array(size), this.hasWildcard);
    this.hasVoids = enlarged(new Uint8Array(size), this.hasVoids);
    this.headStart = enlarged(new Float64Array(size), this.headStart);
    this.headEnd = enlarged(new Float64Array(size), this.headEnd);
    this.childrenStart = enlarged(new Float64Array(size), this.childrenStart);
    this.voidStart = enlarged(new Float64Array(size), this.voidStart);
    this.voidEnd = enlarged(new Float64Array(size), this.voidEnd);
  }
}

/** The exclusion of a page, or of all below it, in the output. */
interface VoidPage {
  /** Where the text of the page ends in its key. */
  readonly textEnd: number;
  readonly start: number;
  readonly end: number;
}

/**
 * The exclusions (rows of frequency 0) in undecided output.
 *
 * They count as nothing: they are no children. A roll-up keeps those below it that cover nothing
 * held, and drops the others, so nothing held is ever lost.
 */
export class Voids {
  readonly #nodes: CompactorNodes;
  readonly #output: PendingText;
  readonly #fields: Fields;
  /** Whether exclusions survive a roll-up at all: those with more key columns do not. */
  readonly #mayStay: boolean;
  /** Positions of those that cover something held. */
  readonly #covering = new Set<number>();
  /** Those of pages that the key begins with: a query of such a page may be held. */
  readonly #pages: VoidPage[] = [];

  constructor(nodes: CompactorNodes, output: PendingText, fields: Fields) {
    this.#nodes = nodes;
    this.#output = output;
    this.#fields = fields;
    this.#mayStay = fields.keys.length === 1;
  }

  /** Forgets pages that the next key does not begin with. */
  leave(shared: number): void {
    const pages = this.#pages;
    while (pages.length > 0 && pages[pages.length - 1].textEnd > shared) pages.pop();
  }

  /** Whether an exclusion is written below a roll-up. */
  isWrittenBelowRollUp(node: number, kind: number): boolean {
    const coversHeld = isWildcard(kind) && this.#nodes.isPresent[node] === 1;
    return this.#mayStay && !coversHeld && kind !== KEY_KIND.spread;
  }

  /** An exclusion was appended to the output at `position`. */
  add(node: number, { kind, nodesEnd }: KeyShape, position: number): void {
    const nodes = this.#nodes;
    const { end } = this.#output;
    if (isWildcard(kind)) {
      nodes.voidStart[node] = position;
      nodes.voidEnd[node] = end;
    }
    if (kind === KEY_KIND.page || kind === KEY_KIND.pathWildcard) {
      this.#pages.push({ textEnd: nodesEnd, start: position, end });
    }
    for (let open = node; open !== NONE; open = nodes.parent[open]) nodes.hasVoids[open] = 1;
  }

  /** Something is held below a node that is not rolled up: its exclusion covers it. */
  cover(node: number): void {
    if (this.#nodes.voidStart[node] !== NONE) this.#covering.add(this.#nodes.voidStart[node]);
  }

  /** An exclusion of a page whose query is held must not outlive the row of the query. */
  coverPages(key: Uint8Array, isRolledUp: boolean): void {
    for (const { textEnd, start, end } of this.#pages) {
      if (key[textEnd] !== QUESTION) continue;
      if (isRolledUp) this.#output.strikeOut(start, end);
      else this.#covering.add(start);
    }
  }

  /** Takes back the exclusion of a node that holds something. */
  strikeOut(node: number): void {
    const nodes = this.#nodes;
    if (nodes.voidStart[node] === NONE) return;
    this.#output.strikeOut(nodes.voidStart[node], nodes.voidEnd[node]);
    nodes.voidStart[node] = NONE;
  }

  /** Takes back all rows in `[from, to)` but exclusions that cover nothing held. */
  strikeOutRows(from: number, to: number): void {
    const struck: number[] = [];
    this.#output.forEachLine(from, to, (bytes, start, end, position) => {
      if (!this.#isToKeep(bytes, start, end, position)) {
        struck.push(position, position + end - start);
      }
    });
    for (let i = 0; i < struck.length; i += 2) this.#output.strikeOut(struck[i], struck[i + 1]);
  }

  #isToKeep(bytes: Uint8Array, start: number, end: number, position: number): boolean {
    let keyEnd = start;
    while (!isBlank(bytes[keyEnd])) keyEnd++;
    const shape = new KeyShape();
    shape.set(bytes.subarray(start, keyEnd), keyEnd - start);
    if (shape.kind === KEY_KIND.opaque) return true;
    if (!this.#mayStay || this.#covering.has(position)) return false;
    if (shape.kind === KEY_KIND.spread) return false;
    let frequencyStart = keyEnd;
    while (isBlank(bytes[frequencyStart])) frequencyStart++;
    let frequencyEnd = frequencyStart;
    while (frequencyEnd < end && bytes[frequencyEnd] > 0x20) frequencyEnd++;
    if (!frequencyIsZero(bytes, frequencyStart, frequencyEnd)) return false;
    // A row of 0 that holds something of some time is not an exclusion.
    if (bytes[end - 2] !== CLOSE_BRACE) return true;
    const text = textOfLine(bytes.subarray(start, end - 1));
    return heldAtTimes(parseRecord(text, this.#fields)) === undefined;
  }

  /** Output before `position` was released. */
  release(position: number): void {
    for (const covering of this.#covering) {
      if (covering < position) this.#covering.delete(covering);
    }
  }
}

function isWildcard(kind: number): boolean {
  return kind === KEY_KIND.pathWildcard || kind === KEY_KIND.hostWildcard;
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x09;
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
  readonly #policy: RollUpPolicy;
  readonly #nodes: CompactorNodes;
  readonly #output: PendingText;
  readonly #voids: Voids;
  /** The lowest open node that is rolled up. */
  #lowest = NONE;

  constructor(policy: RollUpPolicy, nodes: CompactorNodes, output: PendingText, voids: Voids) {
    this.#policy = policy;
    this.#nodes = nodes;
    this.#output = output;
    this.#voids = voids;
  }

  /** Whether an open node is rolled up: held rows are not written then. */
  get isRolledUp(): boolean {
    return this.#lowest !== NONE;
  }

  /** Opens the node `key[0, textEnd)`; what is `isSpread` is never rolled up. */
  open(
    key: CurrentKey,
    textEnd: number,
    layer: Layer,
    depth: number,
    parent: number,
    isSpread: boolean,
  ): number {
    const nodes = this.#nodes;
    const position = this.#output.end;
    const cutoff = isSpread ? Number.POSITIVE_INFINITY : this.#cutoff(key, textEnd, layer, depth);
    const node = nodes.open(textEnd, layer, depth, parent, cutoff, position);
    const isAbove = layer === LAYER.host ? key.bytes[textEnd] === COMMA : textEnd < key.length;
    if (isAbove) nodes.headEnd[node] = nodes.childrenStart[node] = position;
    return node;
  }

  #cutoff({ bytes }: CurrentKey, textEnd: number, layer: Layer, depth: number): number {
    return layer === LAYER.host
      ? this.#policy.hostCutoff(depth, bytes, textEnd)
      : this.#policy.pathCutoff(depth, bytes, textEnd);
  }

  /** Says that a node holds something, and counts it as a child of its parent. */
  markPresent(from: number): void {
    const nodes = this.#nodes;
    for (let node = from; node !== NONE && nodes.isPresent[node] === 0; node = nodes.parent[node]) {
      nodes.isPresent[node] = 1;
      if (this.isRolledUp && node >= this.#lowest) this.#voids.strikeOut(node);
      const parent = nodes.parent[node];
      if (parent === NONE) continue;
      if (nodes.layer[node] === LAYER.path) {
        if (nodes.depth[node] < this.#policy.maxPathDepth) this.addChild(parent);
      } else if (nodes.layer[node] === LAYER.root) {
        // A host deeper than the last level counts as a child of that level.
        if (nodes.depth[parent] >= this.#policy.maxHostDepth) this.addRowAsChild(parent);
      } else if (nodes.depth[node] < this.#policy.maxHostDepth) {
        this.addChild(parent);
      }
    }
  }

  /** `X,*)/p` is a child `*` of X, and `X,*` is the same child. */
  markSpread(node: number): void {
    const nodes = this.#nodes;
    if (nodes.isPresent[node] === 1) return;
    nodes.isPresent[node] = 1;
    const parent = nodes.parent[node];
    if (parent === NONE) return;
    this.markPresent(parent);
    if (nodes.hasWildcard[parent] === 0) this.addRowAsChild(parent);
  }

  addChild(node: number): void {
    const nodes = this.#nodes;
    const children = ++nodes.children[node];
    if (children > nodes.cutoff[node] && nodes.isRolledUp[node] === 0) this.#rollUp(node);
  }

  /** Counts a row at a node as a child of it, or of the last level that is told apart. */
  addRowAsChild(node: number): void {
    const nodes = this.#nodes;
    const isHost = nodes.layer[node] === LAYER.host;
    const last = (isHost ? this.#policy.maxHostDepth : this.#policy.maxPathDepth) - 1;
    let capped = node;
    while (nodes.depth[capped] > last && nodes.parent[capped] !== NONE) {
      const parent = nodes.parent[capped];
      if ((nodes.layer[parent] === LAYER.host) !== isHost) break;
      capped = parent;
    }
    this.addChild(capped);
  }

  /** A page with a query is not a child, but it is below the node. */
  addBelow(node: number): void {
    const nodes = this.#nodes;
    if (nodes.cutoff[node] === CHOSEN && nodes.isRolledUp[node] === 0) this.#rollUp(node);
  }

  /** Takes back all rows of a node that were written, but for exclusions that may stay. */
  #rollUp(node: number): void {
    const nodes = this.#nodes;
    nodes.isRolledUp[node] = 1;
    this.count++;
    // Below a node that is rolled up already nothing was written.
    if (this.isRolledUp && this.#lowest < node) return;
    this.#lowest = node;
    const output = this.#output;
    const headStart = nodes.headStart[node];
    const headEnd = nodes.headEnd[node] === NONE ? output.end : nodes.headEnd[node];
    const childrenStart =
      nodes.childrenStart[node] === NONE ? output.end : nodes.childrenStart[node];
    if (nodes.hasVoids[node] === 1) {
      for (let open = node; open < nodes.size; open++) {
        if (nodes.isPresent[open] === 1) this.#voids.strikeOut(open);
      }
      this.#voids.strikeOutRows(headStart, headEnd);
      this.#voids.strikeOutRows(childrenStart, output.end);
    } else if (headEnd === childrenStart) {
      output.truncate(headStart);
      nodes.headEnd[node] = nodes.childrenStart[node] = headStart;
    } else {
      output.strikeOut(headStart, headEnd);
      output.truncate(childrenStart);
    }
  }

  /** Ends the node on top: passes its sum on, and writes it if it is rolled up. */
  closeTop(key: CurrentKey): void {
    const nodes = this.#nodes;
    const node = nodes.size - 1;
    if (nodes.isPresent[node] === 1) {
      let totals = nodes.totals[node];
      if (nodes.hasWildcard[node] === 1) {
        nodes.wildcardTotals[node].addMissing(totals);
        totals = nodes.wildcardTotals[node];
      }
      if (node === this.#lowest) {
        this.#lowest = NONE;
        this.#write(node, totals, key.bytes);
      }
      const parent = nodes.parent[node];
      if (parent !== NONE) nodes.totals[parent].addTotals(totals);
      this.#voids.cover(node);
    }
    nodes.size = node;
  }

  #write(node: number, totals: Totals, key: Uint8Array): void {
    const nodes = this.#nodes;
    const output = this.#output;
    const keyLength = nodes.textEnd[node] + 2;
    // The text of the node is the start of the last key, and no open node needs what follows it.
    key[keyLength - 2] = separatorOf(nodes.layer[node]);
    key[keyLength - 1] = STAR;
    if (nodes.hasVoids[node] === 0) {
      totals.appendRows(key, keyLength, output);
      return;
    }
    const lines = takenBack(output, nodes.childrenStart[node]);
    const isBefore = (line: Uint8Array): boolean =>
      compareRanges(line, 0, keyEndOf(line), key, 0, keyLength) < 0;
    for (const line of lines.filter(isBefore)) output.append(line, 0, line.length);
    totals.appendRows(key, keyLength, output);
    for (const line of lines.filter((line) => !isBefore(line))) {
      output.append(line, 0, line.length);
    }
  }

  /** Where the output of the lowest node begins that may still be rolled up; its end for none. */
  get decidedEnd(): number {
    const nodes = this.#nodes;
    for (let node = 0; node < nodes.size; node++) {
      if (nodes.cutoff[node] !== Number.POSITIVE_INFINITY) return nodes.headStart[node];
    }
    return this.#output.end;
  }
}

/** Takes the lines from a position on out of the output. */
function takenBack(output: PendingText, position: number): Uint8Array[] {
  const lines: Uint8Array[] = [];
  output.forEachLine(position, output.end, (bytes, start, end) => {
    lines.push(bytes.slice(start, end));
  });
  output.truncate(position);
  return lines;
}

function keyEndOf(line: Uint8Array): number {
  let at = 0;
  while (at < line.length && line[at] > SPACE) at++;
  return at;
}
