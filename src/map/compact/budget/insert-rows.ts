import { compareRanges, joinBytes, LF, SPACE } from "../../../bytes/bytes.ts";

/**
 * Puts rows into a map, in byte order, as its blocks go by. A row whose key the map has is left out.
 *
 * Holds the rows, and no block. Looks for the place of each row by halving, so that what lies
 * between is only copied.
 */
export class RowInserter {
  readonly #rows: readonly Uint8Array[];
  #next = 0;

  /** @param rows in byte order, each with its line end. */
  constructor(rows: readonly Uint8Array[]) {
    this.#rows = rows;
  }

  /** A block of whole lines, with the rows that belong before or between them. */
  insertInto(block: Uint8Array): Uint8Array {
    const parts: Uint8Array[] = [];
    let from = 0;
    for (; this.#next < this.#rows.length; this.#next++) {
      const row = this.#rows[this.#next];
      const at = placeOf(row, block, from);
      if (at === block.length) break;
      parts.push(block.subarray(from, at));
      if (compareKeys(row, 0, block, at) !== 0) parts.push(row);
      from = at;
    }
    if (parts.length === 0) return block;
    return joinBytes([...parts, block.subarray(from)]);
  }

  /** The rows that come behind all blocks. */
  rest(): Uint8Array {
    const rest = this.#rows.slice(this.#next);
    this.#next = this.#rows.length;
    return joinBytes(rest);
  }
}

/** Where the first line at or behind `from` begins whose key is not before that of a row. */
function placeOf(row: Uint8Array, block: Uint8Array, from: number): number {
  let [low, high] = [from, block.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const lineStart = Math.max(low, block.lastIndexOf(LF, middle - 1) + 1);
    if (compareKeys(block, lineStart, row, 0) < 0) low = block.indexOf(LF, lineStart) + 1;
    else high = lineStart;
  }
  return low;
}

function compareKeys(a: Uint8Array, aStart: number, b: Uint8Array, bStart: number): number {
  return compareRanges(a, aStart, keyEnd(a, aStart), b, bStart, keyEnd(b, bStart));
}

function keyEnd(bytes: Uint8Array, start: number): number {
  let end = start;
  while (bytes[end] > SPACE) end++;
  return end;
}
