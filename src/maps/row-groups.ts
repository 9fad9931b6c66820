import { compareRanges, copyRange, SPACE } from "../bytes/bytes.ts";
import { isNone, plainKeyEnd } from "../ukvs/row.ts";
import { columnEnd } from "../ukvs/record.ts";
import { frequencyIsZero, FrequencySum, MAX_FREQUENCY_BYTES } from "../ukvs/frequency.ts";
import type { RecordBatch } from "../ukvs/reader.ts";
import type { LogicalMap } from "./logical-map.ts";
import { type MergeRow, rowAt } from "./merge-row.ts";

/** All rows of one key, of all maps. */
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
  /** Records taken from the maps so far. */
  recordsIn = 0;
  readonly #cursors: readonly Cursor[];
  /** Rows to be added, for keys still to come, in key order. */
  #waiting: readonly MergeRow[];

  /** Whether rows are a key and a frequency, when they have no JSON block. */
  readonly #canAddPlainly: boolean;
  readonly #sum = new FrequencySum();
  /** The line of a sum; grows with the longest. */
  #line = new Uint8Array(1024);

  private constructor(
    cursors: readonly Cursor[],
    added: readonly MergeRow[],
    canAddPlainly: boolean,
  ) {
    this.#cursors = cursors;
    this.#waiting = added;
    this.#canAddPlainly = canAddPlainly;
  }

  /** Opens the maps. `added` are rows in key order that come on top of theirs. */
  static async open(maps: readonly LogicalMap[], added: readonly MergeRow[]): Promise<RowGroups> {
    const cursors = maps.map((map, index) => new Cursor(map, index));
    await Promise.all(cursors.map((cursor) => Promise.resolve(cursor.advance())));
    const columns = maps.map(
      ({ headers: { fields } }) => fields.keys.length + fields.values.length,
    );
    return new RowGroups(
      cursors,
      added,
      columns.every((count) => count === 2),
    );
  }

  /**
   * The next line if nothing needs to be decided about it: every map that has the key has it once
   * and says present, and what they say is one frequency each. Undefined when `next` must be asked.
   * This is the common case, and it makes no rows.
   */
  plainLine(): Line | undefined {
    const least = this.#least();
    if (!this.#canAddPlainly || least === undefined || !least.isPlain()) return undefined;
    const [waiting] = this.#waiting;
    if (waiting !== undefined && least.compareKey(keyOf(waiting)) >= 0) return undefined;
    const sharing = this.#cursors.filter((cursor) => cursor !== least && cursor.hasKeyOf(least));
    if (sharing.length > 0) return this.#plainSum(least, sharing);
    this.recordsIn++;
    return least.takeLine();
  }

  #plainSum(least: Cursor, others: readonly Cursor[]): Line | undefined {
    const sum = this.#sum;
    sum.reset();
    if (!least.addTo(sum)) return undefined;
    for (const cursor of others) if (!cursor.isPlain() || !cursor.addTo(sum)) return undefined;
    for (const cursor of others) cursor.takeLine();
    this.recordsIn += others.length + 1;
    const room = least.keyLength + 1 + MAX_FREQUENCY_BYTES;
    if (room > this.#line.length) this.#line = new Uint8Array(room * 2);
    const bytes = this.#line;
    const keyEnd = least.copyKey(bytes);
    least.takeLine();
    bytes[keyEnd] = SPACE;
    return { bytes, start: 0, end: sum.writeTo(bytes, keyEnd + 1) };
  }

  /** All rows of the next key; undefined after the last. */
  async next(): Promise<RowGroup | undefined> {
    const least = this.#leastKey();
    if (least === undefined) return undefined;
    return { key: decoder.decode(least), rows: await this.#take(least) };
  }

  async close(): Promise<void> {
    await Promise.all(this.#cursors.map((cursor) => cursor.close()));
  }

  async #take(key: Uint8Array): Promise<MergeRow[]> {
    const rows: MergeRow[] = [];
    for (const cursor of this.#cursors) {
      while (cursor.compareKey(key) === 0) {
        rows.push(cursor.row());
        this.recordsIn++;
        const waiting = cursor.advance();
        if (waiting !== undefined) await waiting;
      }
    }
    if (this.#waiting.length === 0) return rows;
    const other = this.#waiting.findIndex((row) => compareKey(row, key) !== 0);
    const count = other === -1 ? this.#waiting.length : other;
    rows.push(...this.#waiting.slice(0, count));
    if (count > 0) this.#waiting = this.#waiting.slice(count);
    return rows;
  }

  #least(): Cursor | undefined {
    let least: Cursor | undefined;
    for (const cursor of this.#cursors) {
      if (cursor.isDone) continue;
      if (least === undefined || cursor.compare(least) < 0) least = cursor;
    }
    return least;
  }

  /** A copy of the smallest key to come. */
  #leastKey(): Uint8Array | undefined {
    const least = this.#least();
    const [waiting] = this.#waiting;
    if (waiting === undefined) return least?.key();
    return least === undefined || least.compareKey(keyOf(waiting)) > 0
      ? keyOf(waiting)
      : least.key();
  }
}

function keyOf({ bytes, keyEnd }: MergeRow): Uint8Array {
  return bytes.subarray(0, keyEnd);
}

function compareKey({ bytes, keyEnd }: MergeRow, key: Uint8Array): number {
  return compareRanges(bytes, 0, keyEnd, key, 0, key.length);
}

const NO_RECORDS: RecordBatch = {
  bytes: new Uint8Array(0),
  count: 0,
  keyStarts: new Uint32Array(0),
  keyEnds: new Uint32Array(0),
  tupleEnds: new Uint32Array(0),
  restStarts: new Uint32Array(0),
  restEnds: new Uint32Array(0),
  lines: new Float64Array(0),
};

/** A place in one map. */
class Cursor {
  isDone = false;
  readonly #map: number;
  readonly #batches: AsyncGenerator<RecordBatch, void, undefined>;
  #batch: RecordBatch = NO_RECORDS;
  #at = 0;

  constructor(map: LogicalMap, index: number) {
    this.#map = index;
    this.#batches = map.batches();
  }

  /** Goes to the next record. Await the result: it is a promise only when a batch must be read. */
  advance(): void | Promise<void> {
    this.#at++;
    return this.#at < this.#batch.count ? undefined : this.#nextBatch();
  }

  async #nextBatch(): Promise<void> {
    const next = await this.#batches.next();
    this.isDone = next.done === true;
    this.#batch = next.done === true ? NO_RECORDS : next.value;
    this.#at = 0;
  }

  compare(other: Cursor): number {
    const { bytes, keyStarts, keyEnds } = other.#batch;
    return this.#compare(bytes, keyStarts[other.#at], keyEnds[other.#at]);
  }

  /** Compares the key of the record with a key; positive at the end of the map. */
  compareKey(key: Uint8Array): number {
    return this.isDone ? 1 : this.#compare(key, 0, key.length);
  }

  hasKeyOf(other: Cursor): boolean {
    return !this.isDone && this.compare(other) === 0;
  }

  /** Adds the frequency of the record to a sum, unless it says more than that, or nothing. */
  addTo(sum: FrequencySum): boolean {
    const { bytes, restStarts, restEnds } = this.#batch;
    const start = restStarts[this.#at];
    const end = restEnds[this.#at];
    if (columnEnd(bytes, start, end) < end || isNone(bytes, start, end)) return false;
    sum.addBytes(bytes, start, end);
    return true;
  }

  key(): Uint8Array {
    const { bytes, keyStarts, keyEnds } = this.#batch;
    return bytes.slice(keyStarts[this.#at], keyEnds[this.#at]);
  }

  get keyLength(): number {
    return this.#batch.keyEnds[this.#at] - this.#batch.keyStarts[this.#at];
  }

  /** Copies the key to the start of `target`; returns where it ends. */
  copyKey(target: Uint8Array): number {
    const { bytes, keyStarts, keyEnds } = this.#batch;
    return copyRange(bytes, keyStarts[this.#at], keyEnds[this.#at], target, 0);
  }

  row(): MergeRow {
    return rowAt(this.#batch, this.#at, this.#map);
  }

  /**
   * Whether the record is a key and a frequency in the form that writers produce, says present, and
   * has another after it.
   */
  isPlain(): boolean {
    const { bytes, count, keyStarts, restStarts, restEnds } = this.#batch;
    const at = this.#at;
    if (at + 1 >= count) return false;
    return (
      plainKeyEnd(bytes, keyStarts[at], restEnds[at]) >= 0 &&
      !frequencyIsZero(bytes, restStarts[at], restEnds[at])
    );
  }

  /** The line of a plain record; goes to the next, which is in the same batch. */
  takeLine(): Line {
    const at = this.#at++;
    return {
      bytes: this.#batch.bytes,
      start: this.#batch.keyStarts[at],
      end: this.#batch.restEnds[at],
    };
  }

  async close(): Promise<void> {
    await this.#batches.return();
  }

  #compare(bytes: Uint8Array, start: number, end: number): number {
    const own = this.#batch;
    return compareRanges(
      own.bytes,
      own.keyStarts[this.#at],
      own.keyEnds[this.#at],
      bytes,
      start,
      end,
    );
  }
}
