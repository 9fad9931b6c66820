import { closeSync, openSync, readSync } from "node:fs";
import { type DamageLog, isChunk, type StreamPart } from "../bytes/damage.ts";
import type { DetectedFormat, InputFormat, KeyTrust } from "./detect.ts";
import type { InputStreams } from "../files/input-file.ts";
import { checkSize, type MapSize } from "../ukvs/header.ts";
import type { CaptureBatch } from "./capture-batch.ts";
import { LF, markLength } from "../bytes/bytes.ts";
import { ioError, MementoMapError } from "../errors.ts";

/** An input of `generate` whose format is known. */
export interface IndexInput {
  /** The path, or `stdin`. */
  readonly source: string;
  readonly format: DetectedFormat;
  /** Stored bytes; undefined for pipes. */
  readonly size: number | undefined;
  /** Whether parts are compressed. */
  readonly isInflated: boolean;
  /** Set if the input can only be read from start to end. */
  readonly isSequential?: boolean | undefined;
  /** Set if the parts are ranges of one file, which cost nothing to list. */
  readonly isRanged?: boolean | undefined;
  /** The files of records in the WACZ file that this input is from. */
  readonly packed?: readonly PackedFile[] | undefined;
  /**
   * Cuts the input into parts that can be read independently.
   *
   * @param isAlone whether there is nothing else to read; an input that can only be read from
   * start to end is then decompressed here, and shared out.
   */
  parts(isAlone: boolean): AsyncIterable<Part>;
}

/** A file within a WACZ file. */
interface PackedFile {
  /** Without its folder. */
  readonly name: string;
  readonly size: number;
}

export interface OpenOptions {
  readonly format: InputFormat;
  readonly keys: KeyTrust;
  /** Whether keys keep queries, which key columns must then agree in. */
  readonly queries?: boolean | undefined;
  /** Inputs whose key column turned out to disagree with the URIs. */
  readonly untrusted: ReadonlySet<string>;
  readonly maxLineBytes: number;
  readonly archive?: string | undefined;
  readonly streams: InputStreams;
  readonly signal?: AbortSignal | undefined;
  /** Set if damage may be skipped; notes what this thread has skipped. */
  readonly damage?: DamageLog | undefined;
  /** Where to note files of records that are not read, because an index of them is. */
  readonly indexed?: string[] | undefined;
  /** Set if only this part of the one input is read. */
  readonly split?: Split | undefined;
  /** Counts stored bytes that tasks report by themselves. */
  readonly progress: FileProgress;
}

/**
 * A part of a file in stored bytes: the lines that begin in `[start, end)` or, of a compressed file, the
 * gzip members in there; both ends are where a member begins.
 */
export interface Split {
  readonly start: number;
  readonly end: number;
}

/** How far the tasks that read whole files have got, whichever thread they run on. */
export class FileProgress {
  readonly #counters: BigInt64Array[] = [];

  /** A counter for one more file, to be sent to a thread. */
  counter(): SharedArrayBuffer {
    const buffer = new SharedArrayBuffer(8);
    this.#counters.push(new BigInt64Array(buffer));
    return buffer;
  }

  /** Bytes read so far, of all files. */
  get bytes(): number {
    return this.#counters.reduce((sum, counter) => sum + Number(Atomics.load(counter, 0)), 0);
  }
}

/** The first bytes of an index, from which its format is detected. */
export const HEAD_BYTES: number = 1 << 18;

/** Whether to trust the key column of an input. */
export function trustIn(source: string, { keys, untrusted }: OpenOptions): KeyTrust {
  return untrusted.has(source) ? "uri" : keys;
}

/** A part of an uncompressed file: the lines that begin in `[start, end)`. */
export interface RangeTask {
  readonly kind: "range";
  readonly path: string;
  readonly start: number;
  readonly end: number;
  readonly format: DetectedFormat;
}

/** Whole lines that were read elsewhere. */
export interface BlockTask {
  readonly kind: "block";
  readonly buffer: ArrayBuffer;
  readonly length: number;
  readonly format: DetectedFormat;
}

/** Captures that were read elsewhere. */
export interface CapturesTask {
  readonly kind: "captures";
  readonly batch: CaptureBatch;
  readonly format: DetectedFormat;
}

/** A stretch of a file, such as an entry of a ZIP file. */
export interface FileSlice {
  readonly offset: number;
  readonly length: number;
  /** The size of an entry that is compressed by the ZIP file itself. */
  readonly inflatedLength?: number | undefined;
}

/** A whole file, or a slice of one, which may be compressed, or a container such as WARC. */
export interface FileTask {
  readonly kind: "file";
  readonly path: string;
  /** What to call it in errors. */
  readonly source: string;
  readonly slice?: FileSlice | undefined;
  /** How many stored bytes there must be. */
  readonly size?: number | undefined;
  /** How much there must be when it is decompressed, if it is a map that states this. */
  readonly expected?: ExpectedSize | undefined;
  readonly format: DetectedFormat;
  readonly archive?: string | undefined;
  /** Where to add the stored bytes read so far: one BigInt64. */
  readonly progress?: SharedArrayBuffer | undefined;
}

/** Consecutive gzip members of a ZipNum cluster. */
export interface MembersTask {
  readonly kind: "members";
  readonly path: string;
  readonly source: string;
  readonly format: DetectedFormat;
  readonly members: readonly Member[];
}

export interface Member {
  readonly offset: number;
  readonly length: number;
  /** How the first line begins, as the index says. */
  readonly firstKey: string;
}

/** Some row groups of a Parquet file. */
export interface ParquetTask {
  readonly kind: "parquet";
  readonly path: string;
  readonly format: DetectedFormat;
  readonly rowStart: number;
  readonly rowEnd: number;
}

export type ReadTask = RangeTask | BlockTask | CapturesTask | FileTask | MembersTask | ParquetTask;

/** What of a task to move to another thread, and not to copy. */
export function transferOf(task: ReadTask): ArrayBuffer[] {
  if (task.kind === "block") return [task.buffer];
  if (task.kind !== "captures") return [];
  const { bytes, rows, counts } = task.batch;
  return [bytes.buffer, rows.buffer, ...(counts === undefined ? [] : [counts.buffer])];
}

export interface PartResult {
  readonly lines: number;
  readonly fault: RowFault | undefined;
  /** Whether a key column turned out not to be the SURT of its URI. */
  readonly keysDiffer?: boolean | undefined;
  /** What was skipped, where that is allowed. */
  readonly damage?: DamageLog | undefined;
}

/** How parts are read. */
export interface ReadManner {
  /** Where to note what is damaged, and to go on behind it; an error otherwise. */
  readonly damage?: DamageLog | undefined;
  /** Whether to decompress on the thread that reads, because all others are busy. */
  readonly inPlace?: boolean | undefined;
}

/** A piece of work, and which input it is of. */
export interface Part {
  readonly source: string;
  readonly task: ReadTask;
  /** Stored bytes that this part stands for, and that the task does not report itself. */
  readonly bytes: number;
  /** Counts the lines of the file before the split that this is a part of. */
  readonly linesBefore?: (() => Promise<number>) | undefined;
}

/** A line that cannot be read. */
export interface RowFault {
  /** Lines before it in the same part. */
  readonly linesBefore: number;
  readonly code: "MM_BAD_LINE" | "MM_LIMIT";
  readonly message: string;
  /** The beginning of the line. */
  readonly line: string;
}

/** Takes the rows of indexes: lines block by block, or captures batch by batch. */
export interface RowReader {
  /** Says that other bytes follow: another file, or another part of it. */
  startPart(format: DetectedFormat): void;
  /** Lines, or other rows, read of the current part. */
  readonly partLines: number;
  /**
   * Takes the lines of `bytes[start, end)`, which must be whole ones; the last may lack its end.
   * Returns the first line that cannot be read, if that is a reason to stop.
   */
  readLines(bytes: Uint8Array, start: number, end: number): RowFault | undefined;
  /** The same for captures of an input without lines. */
  readCaptures(batch: CaptureBatch): RowFault | undefined;
}

/** How much a map must hold when it is decompressed. */
export interface ExpectedSize {
  readonly stated: MapSize;
  /** Where the last header line ends. */
  readonly bodyOffset: number;
}

/**
 * Gives the chunks of a map on, and refuses one that is over before it holds what it states.
 *
 * @throws MM_CUT
 */
export async function* wholeMap(
  parts: AsyncIterable<StreamPart>,
  { stated, bodyOffset }: ExpectedSize,
  source: string,
): AsyncGenerator<StreamPart, void, undefined> {
  let length = 0;
  for await (const part of parts) {
    if (isChunk(part)) length += part.length;
    yield part;
  }
  checkSize(stated, { bytes: length - bodyOffset }, source);
}

const READ_BYTES = 1 << 21;

/** How large the buffer of a {@link RangeBuffer} must be. */
export function rangeBufferBytes(maxLineBytes: number): number {
  return READ_BYTES + maxLineBytes + 1;
}

/** Reads parts of uncompressed files into a reader, through one buffer that is kept. */
export class RangeBuffer {
  readonly #maxLineBytes: number;
  #buffer: Buffer | undefined;

  /** @param buffer of at least `rangeBufferBytes`; made when it is first needed by default. */
  constructor(maxLineBytes: number, buffer?: Buffer) {
    this.#maxLineBytes = maxLineBytes;
    this.#buffer = buffer;
  }

  /** @throws MM_IO, also where the file has become shorter than the part says */
  read(task: RangeTask, reader: RowReader): RowFault | undefined {
    if (task.start >= task.end) return undefined;
    try {
      const file = openSync(task.path, "r");
      try {
        return this.#readFile(file, task, reader);
      } finally {
        closeSync(file);
      }
    } catch (error) {
      throw ioError(error, task.path);
    }
  }

  #readFile(
    file: number,
    { path, start, end }: RangeTask,
    reader: RowReader,
  ): RowFault | undefined {
    this.#buffer ??= Buffer.allocUnsafeSlow(rangeBufferBytes(this.#maxLineBytes));
    const buffer = this.#buffer;
    // A line belongs to the part it begins in; so this part begins behind the first line end at or
    // after `start - 1`, and ends with the line that `end - 1` is in.
    let offset = Math.max(0, start - 1);
    let skipping = start > 0;
    let held = 0;
    for (;;) {
      const wanted = Math.min(READ_BYTES, buffer.length - held);
      const read = readSync(file, buffer, held, wanted, offset);
      if (read === 0 && offset < end) throw cutShort(path, offset, end);
      const filled = held + read;
      let from = offset === 0 ? markLength(buffer.subarray(0, filled)) : 0;
      if (skipping) {
        const lineEnd = buffer.subarray(0, filled).indexOf(LF);
        if (lineEnd === -1 || offset - held + lineEnd + 1 >= end) {
          // The whole part lies within a line that began before it.
          if (offset + read >= end) return undefined;
          offset += read;
          held = 0;
          continue;
        }
        from = lineEnd + 1;
        skipping = false;
      }
      const base = offset - held;
      offset += read;
      let to = filled;
      let last = read === 0;
      if (base + filled >= end) {
        const lineEnd = buffer.subarray(0, filled).indexOf(LF, Math.max(from, end - 1 - base));
        if (lineEnd !== -1) {
          to = lineEnd + 1;
          last = true;
        }
      }
      if (!last) {
        const lineEnd = buffer.subarray(from, filled).lastIndexOf(LF);
        if (lineEnd === -1 && filled - from > this.#maxLineBytes) last = true;
        else to = lineEnd === -1 ? from : from + lineEnd + 1;
      }
      const fault = reader.readLines(buffer, from, to);
      if (fault !== undefined || last) return fault;
      buffer.copyWithin(0, to, filled);
      held = filled - to;
    }
  }
}

/** A file that became shorter must not look like one that ended. */
export function cutShort(path: string, offset: number, end: number): MementoMapError {
  return new MementoMapError(
    "MM_IO",
    `the file was cut short while it was read: it had ${end} bytes or more, and nothing is left at ${offset}`,
    { position: { source: path } },
  );
}
