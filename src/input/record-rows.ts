import { isMementoMapError, MementoMapError } from "../errors.ts";
import { ByteCursor } from "./byte-cursor.ts";
import { RowLines } from "./row-lines.ts";

/** Longer than any header of a record that is one; a URI may have megabytes, its archive has not. */
export const MAX_HEADER_BYTES: number = 1 << 20;

/** Where a record is, for errors. */
export interface RecordPlace {
  /** Counted from 1. */
  readonly number: number;
  /** The offset in the decompressed file. */
  readonly start: number;
  readonly source: string;
}

/**
 * Reads what comes next: a record, of which it adds a row and which it skips to its end; a blank
 * line between records; or the end of the file.
 */
export type ReadRecord = (
  cursor: ByteCursor,
  lines: RowLines,
  place: RecordPlace,
) => Promise<"record" | "blank" | "end">;

/**
 * Reads the records of a file, decompressed, as lines of `ROW_LINE_COLUMNS`. Holds one chunk, about
 * 64 KiB of lines, and what `read` holds.
 *
 * @throws what `read` throws; errors of the stream itself name the record.
 */
export async function* recordRows(
  chunks: AsyncIterable<Uint8Array>,
  source: string,
  read: ReadRecord,
): AsyncGenerator<Uint8Array, void, undefined> {
  const cursor = new ByteCursor(chunks);
  const lines = new RowLines();
  let number = 1;
  try {
    for (;;) {
      const found = await read(cursor, lines, { number, start: cursor.offset, source });
      if (found === "end") break;
      if (found === "record") number++;
      if (lines.isFull) yield lines.take();
    }
    if (!lines.isEmpty) yield lines.take();
  } catch (error) {
    throw placed(error, number);
  } finally {
    await cursor.close();
  }
}

/**
 * Skips the rest of a record's body, of which `read` bytes were read.
 *
 * @throws MM_BAD_INPUT where the file ends before it.
 */
export async function skipBody(
  cursor: ByteCursor,
  read: number,
  length: number,
  place: RecordPlace,
): Promise<void> {
  const there = read + (await cursor.skip(length - read));
  if (there < length) {
    throw brokenRecord(place, `is cut short: ${there} of ${length} bytes are there`);
  }
}

/** The length that a record states, undefined if it is none. */
export function statedLength(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

export function brokenRecord(place: RecordPlace, what: string): MementoMapError {
  const { number, start, source } = place;
  return new MementoMapError(
    "MM_BAD_INPUT",
    `record ${number}, at byte ${start} of the decompressed file, ${what}`,
    { position: { source } },
  );
}

/** Says in which record a stream broke, for errors that do not know of records. */
function placed(error: unknown, number: number): unknown {
  if (!isMementoMapError(error) || error.message.startsWith("record ")) return error;
  return new MementoMapError(error.code, `record ${number}: ${error.message}`, {
    position: error.position,
    cause: error,
  });
}
