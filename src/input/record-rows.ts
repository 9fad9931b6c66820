import { LF } from "../bytes/bytes.ts";
import { isMementoMapError, MementoMapError } from "../errors.ts";
import { ByteCursor } from "./byte-cursor.ts";
import { addDamage, type DamageLog, GAP } from "../bytes/damage.ts";
import type { StartsRecord } from "./next-record.ts";
import { isRecordEnd, markedRecords, seekRecord } from "./next-record.ts";
import type { RowText } from "./row-lines.ts";
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

/** What comes next in a file: a record, of which this is the row, or something else. */
type Found = RowText | "broken" | "blank" | "end";

/** How the records of a file are read. */
export interface RecordFormat {
  /**
   * Reads what comes next: a record, up to its end; a blank line between records; or the end of
   * the file.
   */
  readonly read: (cursor: ByteCursor, place: RecordPlace) => Promise<Found>;
  /** Whether a line begins a record, to find the next one behind one that is broken. */
  readonly startsRecord: StartsRecord;
}

/**
 * Reads the records of a file, decompressed, as lines of `ROW_LINE_COLUMNS`. Holds one chunk, about
 * 64 KiB of lines, and what `read` holds.
 *
 * @param damage where to note records that are broken, and to go on with the next.
 * @throws what `read` throws; errors of the stream itself name the record.
 */
export async function* recordRows(
  chunks: AsyncIterable<Uint8Array>,
  source: string,
  format: RecordFormat,
  damage?: DamageLog,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { read, startsRecord } = format;
  const cursor = new ByteCursor(
    damage === undefined ? chunks : markedRecords(chunks, startsRecord),
  );
  const readNext = damage === undefined ? read : passingOver(format, damage);
  const lines = new RowLines();
  let number = 1;
  try {
    for (;;) {
      const found = await readNext(cursor, { number, start: cursor.offset, source });
      if (found === "end") break;
      if (found === "blank") continue;
      number++;
      if (found === "broken") continue;
      lines.add(found);
      if (lines.isFull) yield lines.take();
    }
    if (!lines.isEmpty) yield lines.take();
  } catch (error) {
    throw damage === undefined ? withHint(placed(error, number)) : placed(error, number);
  } finally {
    await cursor.close();
  }
}

/** Reads as `read` does, and passes over records that are broken. */
function passingOver({ read, startsRecord }: RecordFormat, damage: DamageLog): typeof read {
  return async (cursor, place) => {
    cursor.keep();
    try {
      const found = await read(cursor, place);
      if (found === "blank") return found;
      if (found === "end") return await passMark(cursor, startsRecord);
      if (await isRecordEnd(cursor, startsRecord)) return found;
      throw brokenRecord(place, "does not end where it says");
    } catch (error) {
      if (!(error instanceof BrokenRecord)) throw error;
      // Who made a gap has noted it.
      if (cursor.stop === GAP) return "broken";
      if (cursor.stop === undefined) {
        const isBack = cursor.back();
        if (isBack) await cursor.readThrough(LF, MAX_HEADER_BYTES);
        await seekRecord(cursor, startsRecord, !isBack);
      }
      const { source, start } = place;
      const bytes = cursor.offset - start;
      addDamage(damage, { source, offset: start, bytes, message: error.message });
      return "broken";
    }
  };
}

async function passMark(cursor: ByteCursor, startsRecord: StartsRecord): Promise<Found> {
  const mark = cursor.stop;
  if (mark === undefined) return "end";
  cursor.passStop();
  // What is missing may end within a record.
  if (mark === GAP) await seekRecord(cursor, startsRecord, true);
  return "blank";
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
  return new BrokenRecord(place, what);
}

/** A fault of one record, and not of the stream that it is in. */
class BrokenRecord extends MementoMapError {
  constructor({ number, start, source }: RecordPlace, what: string) {
    super("MM_BAD_INPUT", `record ${number}, at byte ${start} of the decompressed file, ${what}`, {
      position: { source },
    });
  }
}

/** Tells how to go on. */
function withHint(error: unknown): unknown {
  if (!isMementoMapError(error) || error.code !== "MM_BAD_INPUT") return error;
  return new MementoMapError(error.code, `${error.message}; --skip-bad reads what is whole`, {
    position: error.position,
    cause: error,
  });
}

/** Says in which record a stream broke, for errors that do not know of records. */
function placed(error: unknown, number: number): unknown {
  if (!isMementoMapError(error) || error instanceof BrokenRecord) return error;
  return new MementoMapError(error.code, `record ${number}: ${error.message}`, {
    position: error.position,
    cause: error,
  });
}
