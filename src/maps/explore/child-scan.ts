import { compareRanges, standsAt } from "../../bytes/bytes.ts";
import { columnEnd } from "../../ukvs/record.ts";
import { behindAll, ChildFinder, ChildPlace, type KeyRange, type NodeKind } from "./key-node.ts";
import { RowAdder, RowSums } from "./row-sums.ts";
import { lineEnd, type SummedRows, textEnd } from "./summed-rows.ts";

/** A child of a node, as it is found. */
export class FoundChild {
  readonly sums = new RowSums();
  readonly kind: NodeKind;
  readonly ending: string;
  /** Whether it has more than its own page. */
  hasMore = false;
  /** The text of its name is `bytes[start, end)`. */
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;

  constructor(bytes: Uint8Array, start: number, place: ChildPlace) {
    this.bytes = bytes;
    this.start = start;
    this.end = start + place.textEnd;
    this.kind = place.kind;
    this.ending = place.ending;
  }

  get name(): string {
    return decoder.decode(this.bytes.subarray(this.start, this.end)) + this.ending;
  }
}

const decoder = new TextDecoder();

interface ScanOptions {
  /** Called with each child once all its rows were met; not with those open where the scan ends early. */
  readonly onChild: (child: FoundChild) => void;
  /** Called when a child is met first; false ends the scan there. */
  readonly onFirst?: ((child: FoundChild) => boolean) | undefined;
  /** Where to begin: rows below it are passed by. */
  readonly from?: Uint8Array | undefined;
  /** Names of children that were met before `from`, each the beginning of the next. */
  readonly before?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Meets the children of a node in the order of their first keys, and adds up their rows.
 *
 * Children that go on beyond a segment of the map are passed over with a search. Children whose names
 * begin with one another (`/a`, `/a-b`) may have their rows apart: those that may come again are kept
 * on a stack, which is all that is held.
 */
export async function scanChildren(
  rows: SummedRows,
  name: string,
  ranges: readonly KeyRange[],
  options: ScanOptions,
): Promise<void> {
  const scan = new ChildScan(rows, name, options);
  for (const range of ranges) if (!(await scan.range(range))) return;
  scan.end();
}

class ChildScan {
  readonly #rows: SummedRows;
  readonly #finder: ChildFinder;
  readonly #place = new ChildPlace();
  readonly #adder: RowAdder;
  readonly #options: ScanOptions;
  readonly #stack: FoundChild[] = [];
  #current: FoundChild | undefined;
  /** Rows that begin with these bytes are of the current child. */
  #run: Uint8Array | undefined;

  constructor(rows: SummedRows, name: string, options: ScanOptions) {
    this.#rows = rows;
    this.#finder = new ChildFinder(name);
    this.#adder = new RowAdder(rows.layout);
    this.#options = options;
    for (const before of options.before ?? []) {
      const bytes = encoder.encode(before);
      const place = new ChildPlace();
      place.textEnd = bytes.length - 1;
      place.ending = before.endsWith("/") ? "/" : ",";
      const child = new FoundChild(bytes, 0, place);
      this.#seen.add(child);
      this.#stack.push(child);
    }
  }

  /** Children that were met before the scan began; they are not told of again. */
  readonly #seen = new Set<FoundChild>();

  end(): void {
    while (this.#stack.length > 0) this.#pop();
  }

  /** Meets the children of one range; false if the scan is to end. */
  async range({ from, to }: KeyRange): Promise<boolean> {
    const { from: first, signal } = this.#options;
    const start =
      first !== undefined && compareRanges(first, 0, first.length, from, 0, from.length) > 0
        ? first
        : from;
    let { segment, at } = await this.#rows.seek(start, signal);
    while (segment < this.#rows.segments) {
      const found = this.#rows.segmentAhead(segment, signal);
      const bytes = found instanceof Promise ? await found : found;
      const end = this.#lines(bytes, at, to);
      if (end !== "next") return end === "done";
      segment += 1;
      at = 0;
      if (this.#run === undefined || this.#current === undefined) continue;
      const behind = await this.#rows.seek(behindAll(this.#run), signal);
      if (behind.segment < segment) continue;
      const before = this.#rows.sumsBefore(segment);
      this.#current.sums.add(behind.sums).add(before, -1);
      ({ segment, at } = behind);
    }
    return true;
  }

  /** Takes the rows of a segment: `done` at the end of the range, `stopped` where the scan is to end. */
  #lines(bytes: Uint8Array, from: number, to: Uint8Array | undefined): "next" | "done" | "stopped" {
    let at = from;
    while (at < bytes.length) {
      const end = lineEnd(bytes, at);
      const keyEnd = columnEnd(bytes, at, end);
      const isTotal = keyEnd - at === 1 && bytes[at] === 0x2a;
      if (keyEnd > at && !isTotal) {
        const run = this.#run;
        if (run === undefined || !standsAt(bytes, at, keyEnd, run)) {
          if (to !== undefined && compareRanges(bytes, at, keyEnd, to, 0, to.length) >= 0) {
            return "done";
          }
          if (!this.#meet(bytes, at, keyEnd)) return "stopped";
        }
        const sums = this.#current?.sums;
        if (sums !== undefined) this.#adder.add(bytes, at, keyEnd, textEnd(bytes, at, end), sums);
      }
      at = end + 1;
    }
    return "next";
  }

  /** Makes the child of a key the current one; false if the scan is to end. */
  #meet(bytes: Uint8Array, start: number, end: number): boolean {
    const place = this.#place;
    this.#finder.find(bytes, start, end, place);
    this.#run = place.runEnd === -1 ? undefined : bytes.subarray(start, start + place.runEnd);
    const known = this.#unwind(bytes, start, place);
    if (known !== undefined) {
      known.hasMore ||= !place.isPage;
      this.#current = known;
      return true;
    }
    const child = new FoundChild(bytes, start, place);
    child.hasMore = !place.isPage && place.ending !== "";
    this.#current = child;
    if (this.#options.onFirst?.(child) === false) return false;
    this.#stack.push(child);
    return true;
  }

  /** Lets go of children that cannot come again; returns that which comes again now. */
  #unwind(
    bytes: Uint8Array,
    start: number,
    { textEnd, ending }: ChildPlace,
  ): FoundChild | undefined {
    for (;;) {
      const last = this.#stack.at(-1);
      if (last === undefined) return undefined;
      const length = last.end - last.start;
      const isBeginning =
        length <= textEnd &&
        compareRanges(last.bytes, last.start, last.end, bytes, start, start + length) === 0;
      if (!isBeginning) {
        this.#pop();
        continue;
      }
      // Rows that are children by themselves stand between the parts of others: `/a` and `/a/`.
      if (length === textEnd && last.ending === ending) return last;
      return this.#stack.findLast(
        (one) => one.end - one.start === textEnd && one.ending === ending,
      );
    }
  }

  #pop(): void {
    const child = this.#stack.pop();
    if (child !== undefined && !this.#seen.has(child)) this.#options.onChild(child);
  }
}

const encoder = new TextEncoder();
