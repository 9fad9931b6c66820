import { LF } from "../bytes/bytes.ts";
import { isMementoMapError, MementoMapError } from "../errors.ts";
import { ByteCursor, type Stop } from "./byte-cursor.ts";
import { addDamage, type DamageLog, isChunk, type StreamPart } from "../bytes/damage.ts";
import { type CaptureText, rowLine, type RowSourceOptions } from "./rows.ts";

/** Limit on record headers. URIs of megabytes exist, but not in archives. */
export const MAX_HEADER_BYTES: number = 1 << 20;

/** The position of a record, for errors. */
export interface RecordPlace {
  /** Counted from 1. */
  readonly number: number;
  /** The offset in the decompressed file. */
  readonly start: number;
  readonly source: string;
}

/** The next item of a file: the capture of a record, or something else. */
type Found = CaptureText | "broken" | "blank" | "end";

/** How to read the records of a file. */
export interface RecordFormat {
  /**
   * Reads the next item: a record, up to its end; a blank line between records; or the end of the
   * file.
   */
  readonly read: (cursor: ByteCursor, place: RecordPlace) => Promise<Found>;
  /** Whether a line begins a record, to find the next one after a broken one. */
  readonly startsRecord: StartsRecord;
}

/**
 * Converts the records of a decompressed file to capture lines. Holds one chunk, and the memory of
 * `read`. Skips broken records if damage may be skipped.
 *
 * @throws errors of `read`; errors of the stream itself name the record.
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
    throw withContext(error, number, damage === undefined);
  } finally {
    await cursor.close();
  }
}

/** As `read`, but skips broken records. */
function skippingBroken({ read, startsRecord }: RecordFormat, damage: DamageLog): typeof read {
  return async (cursor, place) => {
    cursor.mark();
    try {
      const found = await read(cursor, place);
      if (found === "blank") return found;
      if (found === "end") return await passStop(cursor, startsRecord);
      if (await isRecordEnd(cursor, startsRecord)) return found;
      throw brokenRecord(place, "does not end at its stated length");
    } catch (error) {
      if (!(error instanceof BrokenRecord)) throw error;
      // A gap is recorded by the decompressor.
      if (cursor.stop === "gap") return "broken";
      if (cursor.stop === undefined) {
        const isRewound = cursor.rewind();
        if (isRewound) await cursor.readThrough(LF, MAX_HEADER_BYTES);
        await seekRecord(cursor, startsRecord, !isRewound);
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
  // The gap may end within a record.
  if (stop === "gap") await seekRecord(cursor, startsRecord, true);
  return "blank";
}

/**
 * Skips the rest of a record's body after `read` bytes.
 *
 * @throws MM_BAD_INPUT when the file ends before the body.
 */
export async function skipBody(
  cursor: ByteCursor,
  read: number,
  length: number,
  place: RecordPlace,
): Promise<void> {
  const found = read + (await cursor.skip(length - read));
  if (found < length) {
    throw brokenRecord(place, `is truncated: ${found} of ${length} bytes`);
  }
}

/** The stated length of a record; undefined if it is not a number. */
export function statedLength(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

export function brokenRecord(place: RecordPlace, what: string): MementoMapError {
  return new BrokenRecord(place, what);
}

/** An error in one record, rather than in its stream. */
class BrokenRecord extends MementoMapError {
  constructor({ number, start, source }: RecordPlace, what: string) {
    super("MM_BAD_INPUT", `record ${number}, at byte ${start} of the decompressed file, ${what}`, {
      position: { source },
    });
  }
}

/** Adds the record number to errors of the stream, and a hint. */
function withContext(error: unknown, number: number, maySkip: boolean): unknown {
  if (!isMementoMapError(error)) return error;
  const { code, message, position } = error;
  const where = error instanceof BrokenRecord ? "" : `record ${number}: `;
  const hint = maySkip && code === "MM_BAD_INPUT" ? "; use --skip-bad to skip damaged records" : "";
  return new MementoMapError(code, `${where}${message}${hint}`, { position, cause: error });
}

/** Whether a line begins a record, and is unlikely to occur within one. */
type StartsRecord = (line: string, isAfterBlank: boolean) => boolean;

/** Longer than the first line of any record. */
const MAX_LINE_BYTES = 1 << 16;
/** Decodes any bytes: most of the searched data is not text. */
const decoder = new TextDecoder("latin1");

/**
 * Skips to the next line that begins a record, to a stop, or to the end of the stream. Lines of a
 * body that look like the beginning of a record are treated as one.
 *
 * @param afterBlank whether the first line follows a blank one.
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
 * Adds stops at gaps, and where a gzip member begins with a record. Archives write each record as a
 * member, so such a record is found even if the previous one is broken or states a wrong length.
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
