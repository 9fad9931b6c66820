import { LF } from "../bytes/bytes.ts";
import type { ByteCursor } from "./byte-cursor.ts";
import { GAP, MEMBER, RECORD } from "../bytes/damage.ts";

/** Whether a line begins a record, and could hardly be in one. */
export type StartsRecord = (line: string, isAfterBlank: boolean) => boolean;

/** Longer than any line with which a record begins. */
const MAX_LINE_BYTES = 1 << 16;
/** Any bytes are text to it, and most of what is searched is none. */
const decoder = new TextDecoder("latin1");

/**
 * Skips to the next line that begins a record, to a mark, or to the end of the stream. Lines of a
 * body that look like the beginning of a record are taken for one.
 *
 * @param afterBlank whether the line that comes first stands behind a blank one.
 */
export async function seekRecord(
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

/** Whether a record can end here: before a blank line, a record, a mark or the end of the stream. */
export async function isRecordEnd(
  cursor: ByteCursor,
  startsRecord: StartsRecord,
): Promise<boolean> {
  const bytes = await cursor.readThrough(LF, MAX_LINE_BYTES);
  const line = lineText(bytes);
  if (line !== "" && !startsRecord(line, true)) return false;
  cursor.unread();
  return true;
}

/**
 * Marks where a gzip member begins with a record. Archives write each record as a member, so such a
 * record is found even if the one before it is broken or states a false length.
 */
export async function* markedRecords(
  chunks: AsyncIterable<Uint8Array>,
  startsRecord: StartsRecord,
): AsyncGenerator<Uint8Array, void, undefined> {
  let isMemberStart = false;
  for await (const chunk of chunks) {
    if (chunk.length > 0) {
      if (isMemberStart && startsRecord(firstLine(chunk), true)) yield RECORD;
      isMemberStart = false;
      yield chunk;
    } else if (chunk === MEMBER) {
      isMemberStart = true;
    } else if (chunk === GAP) {
      yield GAP;
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
