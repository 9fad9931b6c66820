import { compareRanges } from "../bytes/bytes.ts";
import type { RecordBatch } from "../ukvs/reader.ts";
import { columnEnd, compareColumns } from "../ukvs/record.ts";
import { checkFrequency } from "../ukvs/row.ts";
import { isMementoMapError } from "../errors.ts";

const NO_ROWS = new Uint32Array(1);
const NO_BATCH: RecordBatch = {
  bytes: new Uint8Array(0),
  offset: 0,
  count: 0,
  keyStarts: NO_ROWS,
  keyEnds: NO_ROWS,
  tupleEnds: NO_ROWS,
  restStarts: NO_ROWS,
  restEnds: NO_ROWS,
  lines: new Float64Array(1),
};

/** One row of a map after the other, for work on several sorted maps at a time. Holds a batch of rows. */
export class RowCursor {
  /** Whether there are no more rows. Before the first `advance` there is no row either. */
  isDone = false;
  readonly #batches: AsyncGenerator<RecordBatch, void, undefined>;
  #batch = NO_BATCH;
  #at = 0;

  constructor(batches: AsyncGenerator<RecordBatch, void, undefined>) {
    this.#batches = batches;
  }

  /** The bytes that the row stands in; valid until the next `advance`. */
  get bytes(): Uint8Array {
    return this.#batch.bytes;
  }

  get start(): number {
    return this.#batch.keyStarts[this.#at];
  }

  get keyEnd(): number {
    return this.#batch.keyEnds[this.#at];
  }

  get tupleEnd(): number {
    return this.#batch.tupleEnds[this.#at];
  }

  get restStart(): number {
    return this.#batch.restStarts[this.#at];
  }

  get end(): number {
    return this.#batch.restEnds[this.#at];
  }

  /** Where the row begins in the file. */
  get offset(): number {
    return this.#batch.offset + this.start;
  }

  get line(): number {
    return this.#batch.lines[this.#at];
  }

  /** Whether `advance` has the next row at once, so that the bytes of this one stay valid. */
  get isFollowed(): boolean {
    return this.#at + 1 < this.#batch.count;
  }

  /** Goes to the next row; a promise only where a batch must be read. */
  advance(): Promise<void> | undefined {
    this.#at++;
    return this.#at < this.#batch.count ? undefined : this.#nextBatch();
  }

  async #nextBatch(): Promise<void> {
    const next = await this.#batches.next();
    this.isDone = next.done === true;
    this.#batch = next.done === true ? NO_BATCH : next.value;
    this.#at = 0;
  }

  /** Compares keys; what is at its end comes behind everything. */
  compareKey(other: RowCursor): number {
    if (this.isDone || other.isDone) return Number(this.isDone) - Number(other.isDone);
    return this.compareKeyTo(other.bytes, other.start, other.keyEnd);
  }

  compareKeyTo(bytes: Uint8Array, start: number, end: number): number {
    if (this.isDone) return 1;
    return compareRanges(this.bytes, this.start, this.keyEnd, bytes, start, end);
  }

  /** Compares all key columns; what is at its end comes behind everything. */
  compareTuple(other: RowCursor): number {
    if (this.isDone || other.isDone) return Number(this.isDone) - Number(other.isDone);
    const { bytes, start, tupleEnd } = other;
    return compareColumns(this.bytes, this.start, this.tupleEnd, bytes, start, tupleEnd);
  }

  /** Lets go of the map. */
  async close(): Promise<void> {
    await this.#batches.return();
  }
}

/** The cursor with the lowest key, of those with the same key the first; undefined when all are done. */
export function lowestRow(cursors: readonly RowCursor[]): RowCursor | undefined {
  let lowest: RowCursor | undefined;
  for (const cursor of cursors) {
    if (cursor.isDone) continue;
    if (lowest === undefined || cursor.compareKey(lowest) < 0) lowest = cursor;
  }
  return lowest;
}

/** Calls `visit` with every row, or until it returns false. */
export async function visitRows(
  batches: AsyncGenerator<RecordBatch, void, undefined>,
  visit: (row: RowCursor) => boolean | void,
): Promise<void> {
  const row = new RowCursor(batches);
  try {
    await row.advance();
    while (!row.isDone && visit(row) !== false) {
      const waiting = row.advance();
      if (waiting !== undefined) await waiting;
    }
  } finally {
    await row.close();
  }
}

/**
 * Checks the frequency of a row, which a reader does not look at.
 *
 * @throws MM_BAD_FREQUENCY with the place of the row.
 */
export function requireFrequency({ bytes, restStart, end, line }: RowCursor, source: string): void {
  const frequencyEnd = columnEnd(bytes, restStart, end);
  if (frequencyEnd === restStart) return;
  try {
    checkFrequency(bytes, { frequencyStart: restStart, frequencyEnd, isPlain: false });
  } catch (error) {
    throw isMementoMapError(error) ? error.at({ source, line }) : error;
  }
}
