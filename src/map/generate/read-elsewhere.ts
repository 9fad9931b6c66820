import { closeSync, openSync, readSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type {
  BlockTask,
  CapturesTask,
  RowReader,
  Member,
  MembersTask,
  ParquetTask,
  RangeTask,
  ReadManner,
  ReadTask,
  RowFault,
} from "../../input/index-input.ts";
import { ioError, isMementoMapError, MementoMapError, quote, systemCode } from "../../errors.ts";
import { addDamage, type DamageLog } from "../../bytes/damage.ts";

/**
 * Reads a part whose rows have to be decompressed first, or taken out of a container.
 *
 * Loads what it needs for that then: every thread would have to otherwise.
 */
export async function readElsewhere(
  task: Exclude<ReadTask, RangeTask | BlockTask | CapturesTask>,
  reader: RowReader,
  maxLineBytes: number,
  manner: ReadManner = {},
): Promise<RowFault | undefined> {
  switch (task.kind) {
    case "file": {
      const { readWholeFile } = await import("../../input/read-file.ts");
      return readWholeFile(task, reader, maxLineBytes, manner);
    }
    case "members":
      return readMembers(task, reader, manner.damage);
    case "parquet":
      return readParquet(task, reader);
  }
}

/** A block has 3,000 lines by custom; this is a hundred times more than that takes. */
const MAX_BLOCK_BYTES = 2 ** 27;
const NO_MEMBER = "there is no gzip member of that length";

/**
 * Reads gzip members of a ZipNum cluster into a reader. Holds one member and what it inflates to.
 *
 * @param damage where to note members that are damaged, and to go on with the next.
 * @throws MM_BAD_INPUT where a member is damaged or is not what the index says, MM_LIMIT where it
 * inflates to more than 128 MiB, MM_IO.
 */
function readMembers(
  task: MembersTask,
  reader: RowReader,
  damage?: DamageLog,
): RowFault | undefined {
  try {
    const file = openSync(task.path, "r");
    try {
      for (const member of task.members) {
        const lines = inflateMember(file, member, task.source, damage);
        if (lines === undefined) continue;
        const fault = reader.readLines(lines, 0, lines.length);
        if (fault !== undefined) return fault;
      }
      return undefined;
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw ioError(error, task.path);
  }
}

/** The lines of a member; undefined if it is damaged and may be. */
function inflateMember(
  file: number,
  { offset, length, firstKey }: Member,
  source: string,
  damage: DamageLog | undefined,
): Buffer | undefined {
  const stored = Buffer.allocUnsafe(length);
  if (readSync(file, stored, 0, length, offset) < length) {
    throw disagreement(source, offset, length, NO_MEMBER);
  }
  let lines: Buffer;
  try {
    lines = gunzip(stored, offset, length, source);
  } catch (error) {
    const isDamaged = isMementoMapError(error) && error.code === "MM_BAD_INPUT";
    if (damage === undefined || !isDamaged) throw error;
    addDamage(damage, { source, offset, bytes: length, message: error.message });
    return undefined;
  }
  const begins = lines.subarray(0, Buffer.byteLength(firstKey)).toString();
  // The first block of a cluster may begin with the header line of its format.
  if (begins !== firstKey && !(offset === 0 && lines[0] === 0x20)) {
    const shown = quote(lines.subarray(0, Math.max(0, lines.indexOf(0x0a))).toString());
    throw disagreement(source, offset, length, `it begins with ${shown}, not ${quote(firstKey)}`);
  }
  return lines;
}

function gunzip(stored: Buffer, offset: number, length: number, source: string): Buffer {
  if (stored[0] !== 0x1f || stored[1] !== 0x8b) {
    throw disagreement(source, offset, length, NO_MEMBER);
  }
  try {
    return gunzipSync(stored, { maxOutputLength: MAX_BLOCK_BYTES });
  } catch (cause) {
    if (systemCode(cause) === "ERR_BUFFER_TOO_LARGE") {
      throw new MementoMapError(
        "MM_LIMIT",
        `the block of ${length} bytes at ${offset} holds more than ${MAX_BLOCK_BYTES} bytes`,
        { position: { source }, cause },
      );
    }
    const what = cause instanceof Error ? cause.message : String(cause);
    throw new MementoMapError(
      "MM_BAD_INPUT",
      `the gzip member of ${length} bytes at ${offset} is damaged (${what}); fetch the file again`,
      { position: { source }, cause },
    );
  }
}

function disagreement(
  source: string,
  offset: number,
  length: number,
  what: string,
): MementoMapError {
  return new MementoMapError(
    "MM_BAD_INPUT",
    `the index does not fit the data: of the block of ${length} bytes at ${offset}, ${what}; ` +
      "make the index again, or give the data file alone",
    { position: { source } },
  );
}

/**
 * Reads row groups of a Parquet file into a reader. Holds the columns of one row group.
 *
 * @throws MM_IO, MM_BAD_INPUT; MM_USAGE where the reader for Parquet is not installed.
 */
async function readParquet(task: ParquetTask, reader: RowReader): Promise<RowFault | undefined> {
  const { openParquet, parquetCaptures } = await import("../../input/parquet.ts");
  const file = await openParquet(task.path);
  for await (const batch of parquetCaptures(file, task.rowStart, task.rowEnd)) {
    const fault = reader.readCaptures(batch);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
