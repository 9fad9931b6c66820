import { compareRanges } from "../bytes/compare.ts";
import { copyRange } from "../bytes/copy.ts";
import { MementoMapError, quote, type Position } from "../errors.ts";
import { compareColumns } from "./columns.ts";

const DECODER = new TextDecoder();

/** Holds the last key tuple seen, and refuses one that comes before it. */
export class KeyOrder {
  readonly #compare: typeof compareRanges;
  #last = new Uint8Array(256);
  #lastLength = 0;
  #isFirst = true;

  constructor(keyCount: number) {
    this.#compare = keyCount === 1 ? compareRanges : compareColumns;
  }

  /**
   * Compares two key tuples of the same bytes: negative, zero or positive. Remembers neither.
   */
  compare(bytes: Uint8Array, aStart: number, aEnd: number, bStart: number, bEnd: number): number {
    return this.#compare(bytes, aStart, aEnd, bytes, bStart, bEnd);
  }

  /** Compares the last key tuple with one to come; negative for the first of all. */
  compareLast(bytes: Uint8Array, start: number, end: number): number {
    if (this.#isFirst) return -1;
    return this.#compare(this.#last, 0, this.#lastLength, bytes, start, end);
  }

  /** Makes a key tuple the last one seen. Copies it: the bytes may change later. */
  remember(bytes: Uint8Array, start: number, end: number): void {
    const length = end - start;
    if (length > this.#last.length) this.#last = new Uint8Array(length * 2);
    copyRange(bytes, start, end, this.#last, 0);
    this.#lastLength = length;
    this.#isFirst = false;
  }

  /** The last key tuple as text, for messages. */
  lastText(): string {
    return DECODER.decode(this.#last.subarray(0, this.#lastLength));
  }
}

/** The error for a key that comes before the one on the line above. */
export function notSorted(
  key: string,
  previous: string,
  position: Position | undefined,
): MementoMapError {
  return new MementoMapError(
    "MM_NOT_SORTED",
    `key ${quote(key)} comes after ${quote(previous)}; sort by bytes, as "LC_ALL=C sort" does`,
    { position },
  );
}
