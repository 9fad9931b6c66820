import { compareBytes, standsAt } from "../../bytes/bytes.ts";
import { Row } from "../../ukvs/row.ts";
import { behindAll, type KeyRange, nodeRanges, type Part, partOf } from "./key-node.ts";
import { isTotal, RowAdder, RowSums } from "./row-sums.ts";
import { SEGMENTS_AHEAD, type SummedRows } from "./summed-rows.ts";

/** A child of a node: a node or a row. */
export interface Child {
  readonly part: Part;
  readonly sums: RowSums;
  /** Whether it includes more than its own page. */
  hasMore: boolean;
  /** Position among its siblings, by first key. */
  readonly place: number;
}

/** The children of a node, largest first; of large nodes only the largest. */
export interface ChildList {
  readonly children: readonly Child[];
  /** Whether all children are listed. */
  readonly isWhole: boolean;
}

/** Nodes with more rows list only their largest children. */
const LARGE_ROWS = 20_000;
/** Maximum number of children listed of a large node: more than fit on a screen. */
const MAX_RANKED = 1000;
/** Maximum number of children held in all lists. */
const MAX_HELD = 200_000;

/** For tests: the size of large nodes, and the number of children ranked. */
export interface ListLimits {
  readonly largeRows?: number | undefined;
  readonly maxRanked?: number | undefined;
}

/** A cache of the child lists used last. */
export class ChildLists {
  readonly #rows: SummedRows;
  readonly #lists = new Map<string, { readonly list: Promise<ChildList>; readonly size: number }>();
  readonly #largeRows: number;
  readonly #maxRanked: number;
  #held = 0;

  constructor(rows: SummedRows, { largeRows = LARGE_ROWS, maxRanked = MAX_RANKED }: ListLimits) {
    this.#rows = rows;
    this.#largeRows = largeRows;
    this.#maxRanked = maxRanked;
  }

  /** Whether a node with this many rows lists only its largest children. */
  isLarge(rows: number): boolean {
    return rows > this.#largeRows;
  }

  /** The children of a node with this many rows. Concurrent requests share the work. */
  of(name: string, rows: number, signal?: AbortSignal): Promise<ChildList> {
    const max = this.isLarge(rows) ? this.#maxRanked : Infinity;
    const known = this.#lists.get(name);
    const entry = known ?? { list: this.#list(name, max, signal), size: Math.min(rows, max) };
    this.#lists.delete(name);
    this.#lists.set(name, entry);
    if (known !== undefined) return known.list;
    this.#held += entry.size;
    entry.list.catch(() => this.#forget(name));
    for (const oldest of this.#lists.keys()) {
      if (this.#held <= MAX_HELD || oldest === name) break;
      this.#forget(oldest);
    }
    return entry.list;
  }

  #forget(name: string): void {
    this.#held -= this.#lists.get(name)?.size ?? 0;
    this.#lists.delete(name);
  }

  async #list(name: string, max: number, signal?: AbortSignal): Promise<ChildList> {
    const children: Child[] = [];
    const cut = (): void => {
      children.sort((a, b) => b.sums.captures - a.sums.captures);
      if (children.length > max) children.length = max;
    };
    const scan = new ChildScan(this.#rows, name, (child) => {
      children.push(child);
      if (children.length > 2 * max) cut();
    });
    for (const range of nodeRanges(name)) await scan.range(range, signal);
    scan.end();
    cut();
    return { children, isWhole: children.length === scan.count };
  }
}

/**
 * Visits the children of a node in the order of their first keys, and adds up their rows.
 *
 * Children that continue beyond a segment of the map are skipped with a search. Children whose names
 * begin with one another (`/a`, `/a-b`) may have non-adjacent rows: those that may recur are kept
 * on a stack, which is all that is held.
 */
class ChildScan {
  /** Children visited so far. */
  count = 0;
  readonly #rows: SummedRows;
  readonly #nameLength: number;
  readonly #onChild: (child: Child) => void;
  readonly #adder: RowAdder;
  readonly #stack: Child[] = [];
  #current: Child | undefined;
  /** Rows with this prefix belong to the current child. */
  #run: Uint8Array | undefined;

  /** @param onChild called with each child once all its rows are visited. */
  constructor(rows: SummedRows, name: string, onChild: (child: Child) => void) {
    this.#rows = rows;
    this.#nameLength = new TextEncoder().encode(name).length;
    this.#adder = new RowAdder(rows.layout);
    this.#onChild = onChild;
  }

  end(): void {
    for (let child = this.#stack.pop(); child !== undefined; child = this.#stack.pop()) {
      this.#onChild(child);
    }
  }

  /** Visits the children of one range. */
  async range({ from, to }: KeyRange, signal: AbortSignal | undefined): Promise<void> {
    const rows = this.#rows;
    let { segment, at } = await rows.seek(from, signal);
    while (segment < rows.segments) {
      const bytes = await rows.segment(segment, SEGMENTS_AHEAD, signal);
      if (this.#takeRows(bytes, at, to)) return;
      segment += 1;
      at = 0;
      if (this.#run === undefined || this.#current === undefined) continue;
      const behind = await rows.seek(behindAll(this.#run), signal);
      if (behind.segment < segment) continue;
      this.#current.sums.add(behind.sums).add(rows.sumsBefore(segment), -1);
      ({ segment, at } = behind);
    }
  }

  /** Adds the rows of a segment; returns true at the end of the range. */
  #takeRows(bytes: Uint8Array, from: number, to: Uint8Array | undefined): boolean {
    const row = new Row();
    for (let at = from; at < bytes.length; at = row.next) {
      if (!this.#rows.readRow(bytes, at, row) || isTotal(bytes, row)) continue;
      const run = this.#run;
      if (run === undefined || !standsAt(bytes, at, row.keyEnd, run)) {
        const key = bytes.subarray(at, row.keyEnd);
        if (to !== undefined && compareBytes(key, to) >= 0) return true;
        const part = partOf(bytes, at, row.keyEnd, this.#nameLength + 1);
        this.#run = part.run;
        this.#current = this.#meet(part, part.run !== undefined);
      }
      if (this.#current !== undefined) this.#adder.add(bytes, row, this.#current.sums);
    }
    return false;
  }

  /** Finds or creates the child for a part. */
  #meet({ name, isRow }: Part, hasMore: boolean): Child {
    const part = { name, isRow };
    const stack = this.#stack;
    for (let last = stack.at(-1); last !== undefined; last = stack.at(-1)) {
      if (textOf(part).startsWith(textOf(last.part))) break;
      stack.pop();
      this.#onChild(last);
    }
    // Rows that are children themselves appear between the parts of others: `/a` and `/a/`.
    const known = stack.findLast((one) => one.part.name === name);
    if (known !== undefined) {
      known.hasMore ||= hasMore;
      return known;
    }
    const child = { part, sums: new RowSums(), hasMore, place: this.count++ };
    stack.push(child);
    return child;
  }
}

/** The common prefix of the keys of a part. */
function textOf({ name, isRow }: Part): string {
  return isRow ? name : name.slice(0, -1);
}
