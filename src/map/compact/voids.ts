import { CLOSE_BRACE, QUESTION } from "../../bytes/bytes.ts";
import { frequencyIsZero } from "../../ukvs/frequency.ts";
import type { Fields } from "../../ukvs/header.ts";
import { parseRecord } from "../../ukvs/record.ts";
import { heldAtTimes, textOfLine } from "./canonical-row.ts";
import type { CompactorNodes } from "./compactor-nodes.ts";
import { KEY_KIND, KeyShape } from "./key-shape.ts";
import { NONE } from "./node-stack.ts";
import type { PendingText } from "./pending-text.ts";

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
    // A row of 0 that holds something of some time is no exclusion.
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
