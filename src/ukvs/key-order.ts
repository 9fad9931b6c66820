import { compareRanges } from "../bytes/compare.ts";
import { copyRange } from "../bytes/copy.ts";
import { MementoMapError, quote, type Position } from "../errors.ts";
import { compareColumns } from "./columns.ts";

const DECODER = new TextDecoder();

/** How key tuples are compared in a file of so many key fields. */
export function keyComparison(keyCount: number): typeof compareRanges {
  return keyCount === 1 ? compareRanges : compareColumns;
}

/** The last key tuple seen, kept where the bytes it stood in go away. */
export class LastKey {
  readonly #compare: typeof compareRanges;
  #last = new Uint8Array(256);
  #lastLength = 0;
  #isFirst = true;

  constructor(keyCount: number) {
    this.#compare = keyComparison(keyCount);
  }

  /** Compares the last key tuple with one to come; negative if there is no last. */
  compareTo(bytes: Uint8Array, start: number, end: number): number {
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
  text(): string {
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

/** The error for keys that the record before has too, in a map. */
export function duplicateKey(key: string, position: Position | undefined): MementoMapError {
  return new MementoMapError(
    "MM_NOT_SORTED",
    `key ${quote(key)} comes twice; a map has one row for each key`,
    { position },
  );
}
