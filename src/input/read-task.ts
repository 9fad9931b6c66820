import { closeSync, openSync, readSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { addDamage, type DamageLog, newDamageLog } from "../bytes/damage.ts";
import { cutLines } from "../bytes/lines.ts";
import {
  MementoMapError,
  badInput,
  ioError,
  isMementoMapError,
  overLimit,
  quote,
  systemCode,
} from "../errors.ts";
import type { FileTask, Member, MembersTask, PartResult, ReadTask } from "./index-input.ts";
import { RANGE_READ_BYTES, rangeChunks } from "./read-range.ts";
import { linesOf, readBlocks } from "./read-stream.ts";
import type { RowReader } from "./row-reader.ts";

export interface TaskReaderOptions {
  readonly maxLineBytes: number;
  /** Skip what is damaged, and note it; an error otherwise. */
  readonly skipBad?: boolean | undefined;
}

type Lines = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Hands the lines of parts of inputs to a reader, whatever kind they are. */
export class TaskReader {
  readonly #reader: RowReader;
  readonly #options: TaskReaderOptions;
  #buffer: Buffer | undefined;

  constructor(reader: RowReader, options: TaskReaderOptions) {
    this.#reader = reader;
    this.#options = options;
  }

  async read(task: ReadTask): Promise<PartResult> {
    this.#reader.startPart(task.format);
    const damage = this.#options.skipBad === true ? newDamageLog() : undefined;
    const fault = await readBlocks(this.#linesOf(task, damage), this.#reader);
    return { lines: this.#reader.partLines, fault, damage };
  }

  #linesOf(task: ReadTask, damage: DamageLog | undefined): Lines {
    const { maxLineBytes } = this.#options;
    switch (task.kind) {
      case "range":
        this.#buffer ??= Buffer.allocUnsafeSlow(RANGE_READ_BYTES);
        return cutLines(rangeChunks(task, this.#buffer), maxLineBytes);
      case "block":
        return [Buffer.from(task.buffer, 0, task.length)];
      case "members":
        return memberLines(task, damage);
      case "file":
        return fileLines(task, maxLineBytes, damage);
      case "parquet":
        return parquetLines(task);
    }
  }
}

/** Reads a whole file, or a slice of it, decompressed. Loads what it needs for that: every thread would have to otherwise. */
async function* fileLines(
  task: FileTask,
  maxLineBytes: number,
  damage: DamageLog | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { decompressed } = await import("../files/decompress.ts");
  const { fileChunks } = await import("./file-chunks.ts");
  const { source, archive, format } = task;
  const parts = decompressed(fileChunks(task), { source, damage });
  yield* linesOf(parts, format, { source, maxLineBytes, archive, damage });
}

/** @throws MM_IO, MM_BAD_INPUT; MM_USAGE where the reader for Parquet is not installed. */
async function* parquetLines({
  path,
  rowStart,
  rowEnd,
}: Extract<ReadTask, { kind: "parquet" }>): AsyncGenerator<Uint8Array, void, undefined> {
  const { openParquet, parquetBlocks } = await import("./parquet.ts");
  yield* parquetBlocks(await openParquet(path), rowStart, rowEnd);
}

/** A block has 3,000 lines by custom; this is a hundred times more than that takes. */
const MAX_BLOCK_BYTES = 2 ** 27;
const NO_MEMBER = "there is no gzip member of that length";

/**
 * The lines of gzip members of a ZipNum cluster. Holds one member and what it inflates to.
 *
 * @param damage where to note members that are damaged, and to go on with the next.
 * @throws MM_BAD_INPUT where a member is damaged or is not what the index says, MM_LIMIT where it
 * inflates to more than 128 MiB, MM_IO.
 */
function* memberLines(
  { path, source, members }: MembersTask,
  damage: DamageLog | undefined,
): Generator<Uint8Array, void, undefined> {
  try {
    const file = openSync(path, "r");
    try {
      for (const member of members) {
        const lines = inflateMember(file, member, source, damage);
        if (lines !== undefined) yield lines;
      }
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw ioError(error, path);
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
      throw overLimit(
        source,
        `the block of ${length} bytes at ${offset} holds more than ${MAX_BLOCK_BYTES} bytes`,
        cause,
      );
    }
    const what = cause instanceof Error ? cause.message : String(cause);
    throw badInput(
      source,
      `the gzip member of ${length} bytes at ${offset} is damaged (${what}); fetch the file again`,
      cause,
    );
  }
}

function disagreement(
  source: string,
  offset: number,
  length: number,
  what: string,
): MementoMapError {
  return badInput(
    source,
    `the index does not fit the data: of the block of ${length} bytes at ${offset}, ${what}; ` +
      "make the index again, or give the data file alone",
  );
}
