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

/** Iterates over the rows of a map, for work on several sorted maps at a time. Holds a batch of rows. */
export class RowCursor {
  /** Whether there are no more rows. There is no row before the first `advance` either. */
  isDone = false;
  readonly #batches: AsyncGenerator<RecordBatch, void, undefined>;
  #batch = NO_BATCH;
  #at = 0;

  constructor(batches: AsyncGenerator<RecordBatch, void, undefined>) {
    this.#batches = batches;
  }

  /** The bytes that contain the row; valid until the next `advance`. */
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

  /** File offset of the row. */
  get offset(): number {
    return this.#batch.offset + this.start;
  }

  get line(): number {
    return this.#batch.lines[this.#at];
  }

  /** Whether the next row is in the same batch, so that the bytes of this one stay valid. */
  get isFollowed(): boolean {
    return this.#at + 1 < this.#batch.count;
  }

  /** Moves to the next row; returns a promise only if a batch must be read. */
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

  /** Compares keys; a finished cursor sorts last. */
  compareKey(other: RowCursor): number {
    if (this.isDone || other.isDone) return Number(this.isDone) - Number(other.isDone);
    return this.compareKeyTo(other.bytes, other.start, other.keyEnd);
  }

  compareKeyTo(bytes: Uint8Array, start: number, end: number): number {
    if (this.isDone) return 1;
    return compareRanges(this.bytes, this.start, this.keyEnd, bytes, start, end);
  }

  /** Compares all key columns; a finished cursor sorts last. */
  compareTuple(other: RowCursor): number {
    if (this.isDone || other.isDone) return Number(this.isDone) - Number(other.isDone);
    const { bytes, start, tupleEnd } = other;
    return compareColumns(this.bytes, this.start, this.tupleEnd, bytes, start, tupleEnd);
  }

  /** Releases the map. */
  async close(): Promise<void> {
    await this.#batches.return();
  }
}

/** The cursor with the lowest key, the first of equals; undefined when all are done. */
export function lowestRow(cursors: readonly RowCursor[]): RowCursor | undefined {
  let lowest: RowCursor | undefined;
  for (const cursor of cursors) {
    if (cursor.isDone) continue;
    if (lowest === undefined || cursor.compareKey(lowest) < 0) lowest = cursor;
  }
  return lowest;
}

/** Calls `visit` with every row, until it returns false. */
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
 * Checks the frequency of a row, which readers do not parse.
 *
 * @throws MM_BAD_FREQUENCY with the position of the row.
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
