import { compareBytes, copyRange, SPACE } from "../bytes/bytes.ts";
import { isNone, plainKeyEnd } from "../ukvs/row.ts";
import { columnEnd } from "../ukvs/record.ts";
import { frequencyIsZero, FrequencySum, MAX_FREQUENCY_BYTES } from "../ukvs/frequency.ts";
import type { LogicalMap } from "./logical-map.ts";
import { type MergeRow, rowAt } from "./merge-row.ts";
import { lowestRow, RowCursor } from "./row-cursor.ts";

/** All rows of one key, from all maps. */
export interface RowGroup {
  readonly key: string;
  readonly rows: readonly MergeRow[];
}

/** A line in bytes that are valid until the next call. */
export interface Line {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

const decoder = new TextDecoder();

/**
 * Walks sorted maps side by side, key by key.
 *
 * Holds one batch per map and the rows of one key.
 */
export class RowGroups {
  /** Records read from the maps so far. */
  recordsIn = 0;
  readonly #cursors: readonly RowCursor[];
  /** Rows to add for keys not reached yet, in key order. */
  readonly #added: readonly MergeRow[];
  #nextAdded = 0;
  /** Whether a row without a JSON block is just a key and a frequency. */
  readonly #canAddPlainly: boolean;
  readonly #sum = new FrequencySum();
  /** Buffer for the line of a sum; grows as needed. */
  #line = new Uint8Array(1024);

  private constructor(maps: readonly LogicalMap[], added: readonly MergeRow[]) {
    this.#cursors = maps.map((map) => new RowCursor(map.batches()));
    this.#added = added;
    this.#canAddPlainly = maps.every(
      ({ headers: { fields } }) => fields.keys.length + fields.values.length === 2,
    );
  }

  /** Opens the maps. `added` are additional rows in key order. */
  static async open(maps: readonly LogicalMap[], added: readonly MergeRow[]): Promise<RowGroups> {
    const groups = new RowGroups(maps, added);
    for (const cursor of groups.#cursors) await cursor.advance();
    return groups;
  }

  /**
   * The next line if it needs no decision: every map that has the key has it once, present, and with
   * a plain frequency. If undefined, call `next`. This is the common case, and creates no rows.
   */
  plainLine(): Line | undefined {
    const lowest = lowestRow(this.#cursors);
    if (!this.#canAddPlainly || lowest === undefined || !isPlain(lowest)) return undefined;
    const added = this.#waiting;
    if (added !== undefined && lowest.compareKeyTo(added.bytes, 0, added.keyEnd) >= 0) {
      return undefined;
    }
    const sharing = this.#cursors.filter((one) => one !== lowest && one.compareKey(lowest) === 0);
    const { bytes, start, end } = lowest;
    const line = sharing.length === 0 ? { bytes, start, end } : this.#plainSum(lowest, sharing);
    if (line === undefined) return undefined;
    this.recordsIn += sharing.length + 1;
    // Each of them is followed by a row in the same batch.
    for (const cursor of [lowest, ...sharing]) void cursor.advance();
    return line;
  }

  #plainSum(lowest: RowCursor, others: readonly RowCursor[]): Line | undefined {
    const sum = this.#sum;
    sum.reset();
    if (!others.every(isPlain)) return undefined;
    for (const row of [lowest, ...others]) if (!addTo(sum, row)) return undefined;
    const { bytes, start, keyEnd } = lowest;
    const room = keyEnd - start + 1 + MAX_FREQUENCY_BYTES;
    if (room > this.#line.length) this.#line = new Uint8Array(room * 2);
    const end = copyRange(bytes, start, keyEnd, this.#line, 0);
    this.#line[end] = SPACE;
    return { bytes: this.#line, start: 0, end: sum.writeTo(this.#line, end + 1) };
  }

  /** All rows of the next key; undefined after the last. */
  async next(): Promise<RowGroup | undefined> {
    const lowest = lowestRow(this.#cursors);
    const added = this.#waiting;
    const isOfMap =
      lowest !== undefined &&
      (added === undefined || lowest.compareKeyTo(added.bytes, 0, added.keyEnd) <= 0);
    const key = isOfMap
      ? lowest.bytes.slice(lowest.start, lowest.keyEnd)
      : added?.bytes.subarray(0, added.keyEnd);
    return key && { key: decoder.decode(key), rows: await this.#take(key) };
  }

  async close(): Promise<void> {
    await Promise.all(this.#cursors.map((cursor) => cursor.close()));
  }

  async #take(key: Uint8Array): Promise<MergeRow[]> {
    const rows: MergeRow[] = [];
    for (const [map, cursor] of this.#cursors.entries()) {
      while (cursor.compareKeyTo(key, 0, key.length) === 0) {
        rows.push(rowAt(cursor, map));
        this.recordsIn++;
        await cursor.advance();
      }
    }
    for (let row = this.#waiting; row !== undefined; row = this.#waiting) {
      if (compareBytes(row.bytes.subarray(0, row.keyEnd), key) !== 0) break;
      rows.push(row);
      this.#nextAdded++;
    }
    return rows;
  }

  get #waiting(): MergeRow | undefined {
    return this.#added[this.#nextAdded];
  }
}

/**
 * Whether a row is a present key and a frequency in canonical form, followed by another row of its
 * batch.
 */
function isPlain({ isFollowed, bytes, start, restStart, end }: RowCursor): boolean {
  return (
    isFollowed && plainKeyEnd(bytes, start, end) !== -1 && !frequencyIsZero(bytes, restStart, end)
  );
}

/** Adds the frequency of a row to a sum; false if the row has further columns, or no frequency. */
function addTo(sum: FrequencySum, { bytes, restStart, end }: RowCursor): boolean {
  if (columnEnd(bytes, restStart, end) < end || isNone(bytes, restStart, end)) return false;
  sum.addBytes(bytes, restStart, end);
  return true;
}
