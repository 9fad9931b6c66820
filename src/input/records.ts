import { LF } from "../bytes/bytes.ts";
import { isMementoMapError, MementoMapError } from "../errors.ts";
import { ByteCursor, type Stop } from "./byte-cursor.ts";
import { addDamage, type DamageLog, isChunk, type StreamPart } from "../bytes/damage.ts";
import { type CaptureText, rowLine, type RowSourceOptions } from "./rows.ts";

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

/** What comes next in a file: the capture of a record, or something else. */
type Found = CaptureText | "broken" | "blank" | "end";

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
 * Reads the records of a file, decompressed, as the lines of captures. Holds one chunk, and what `read`
 * holds. Where damage may be skipped, broken records are.
 *
 * @throws what `read` throws; errors of the stream itself name the record.
 */
export async function* recordRows(
  parts: AsyncIterable<StreamPart>,
  { source, damage }: RowSourceOptions,
  format: RecordFormat,
): AsyncGenerator<string, void, undefined> {
  const { read, startsRecord } = format;
  const cursor = new ByteCursor(withStops(parts, startsRecord));
  const readNext = damage === undefined ? read : skippingBroken(format, damage);
  let number = 1;
  try {
    for (;;) {
      const found = await readNext(cursor, { number, start: cursor.offset, source });
      if (found === "end") break;
      if (found === "blank") continue;
      number++;
      if (found !== "broken") yield rowLine(found);
    }
  } catch (error) {
    throw explained(error, number, damage === undefined);
  } finally {
    await cursor.close();
  }
}

/** Reads as `read` does, and skips broken records. */
function skippingBroken({ read, startsRecord }: RecordFormat, damage: DamageLog): typeof read {
  return async (cursor, place) => {
    cursor.keep();
    try {
      const found = await read(cursor, place);
      if (found === "blank") return found;
      if (found === "end") return await passStop(cursor, startsRecord);
      if (await isRecordEnd(cursor, startsRecord)) return found;
      throw brokenRecord(place, "does not end where it says");
    } catch (error) {
      if (!(error instanceof BrokenRecord)) throw error;
      // Who made a gap has noted it.
      if (cursor.stop === "gap") return "broken";
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

async function passStop(cursor: ByteCursor, startsRecord: StartsRecord): Promise<Found> {
  const { stop } = cursor;
  if (stop === undefined) return "end";
  cursor.passStop();
  // What is missing may end within a record.
  if (stop === "gap") await seekRecord(cursor, startsRecord, true);
  return "blank";
}

/**
 * Skips the rest of a record's body after `read` bytes.
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

/** The length that a record states; undefined if it is not a number. */
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

/** Says in which record a stream broke, for errors that do not know of records, and how to go on. */
function explained(error: unknown, number: number, maySkip: boolean): unknown {
  if (!isMementoMapError(error)) return error;
  const { code, message, position } = error;
  const where = error instanceof BrokenRecord ? "" : `record ${number}: `;
  const hint = maySkip && code === "MM_BAD_INPUT" ? "; --skip-bad reads what is whole" : "";
  return new MementoMapError(code, `${where}${message}${hint}`, { position, cause: error });
}

/** Whether a line begins a record, and could hardly be in one. */
type StartsRecord = (line: string, isAfterBlank: boolean) => boolean;

/** Longer than any line with which a record begins. */
const MAX_LINE_BYTES = 1 << 16;
/** Takes any bytes: most of what is searched is not text. */
const decoder = new TextDecoder("latin1");

/**
 * Skips to the next line that begins a record, to a stop, or to the end of the stream. Lines of a
 * body that look like the beginning of a record are taken for one.
 *
 * @param afterBlank whether the line that comes first stands behind a blank one.
 */
async function seekRecord(
  cursor: ByteCursor,
  startsRecord: StartsRecord,
  afterBlank: boolean,
): Promise<void> {
  let isLineStart = true;
  let isAfterBlank = afterBlank;
  for (;;) {
    const bytes = await cursor.readThrough(LF, MAX_LINE_BYTES);
    if (bytes.length === 0) return;
    const line = lineText(bytes);
    if (isLineStart && startsRecord(line, isAfterBlank)) {
      cursor.unread();
      return;
    }
    isAfterBlank = isLineStart && line === "";
    isLineStart = bytes.at(-1) === LF;
  }
}

/** Whether a record can end here: before a blank line, a record, a stop or the end of the stream. */
async function isRecordEnd(cursor: ByteCursor, startsRecord: StartsRecord): Promise<boolean> {
  const bytes = await cursor.readThrough(LF, MAX_LINE_BYTES);
  const line = lineText(bytes);
  if (line !== "" && !startsRecord(line, true)) return false;
  cursor.unread();
  return true;
}

/**
 * Adds stops at gaps, and where a gzip member begins with a record. Archives write each record as a member, so such a
 * record is found even if the one before it is broken or states a false length.
 */
async function* withStops(
  parts: AsyncIterable<StreamPart>,
  startsRecord: StartsRecord,
): AsyncGenerator<Uint8Array | Stop, void, undefined> {
  let isMemberStart = false;
  for await (const part of parts) {
    if (!isChunk(part)) {
      isMemberStart = part.kind === "member";
      if (part.kind === "gap") yield "gap";
    } else if (part.length > 0) {
      if (isMemberStart && startsRecord(firstLine(part), true)) yield "record";
      isMemberStart = false;
      yield part;
    }
  }
}

function firstLine(chunk: Uint8Array): string {
  const start = chunk.subarray(0, MAX_LINE_BYTES);
  return lineText(start.subarray(0, start.indexOf(LF) + 1));
}

function lineText(bytes: Uint8Array): string {
  return decoder.decode(bytes).replace(/\r?\n$/, "");
}
