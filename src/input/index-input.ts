import type { DamageLog } from "../bytes/damage.ts";
import type { InputStreams } from "../files/input-file.ts";
import type { DetectedFormat, InputFormat } from "./formats.ts";
import type { RowFault } from "./row-reader.ts";

/** An input with a known format. */
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
  /** Set if the parts are ranges of one file, which are cheap to list. */
  readonly isRanged?: boolean | undefined;
  /**
   * Splits the input into parts that can be read independently.
   *
   * @param isAlone whether this is the only input; an input that can only be read from start to end
   * is then decompressed here, and its lines are distributed to the threads.
   */
  parts(isAlone: boolean): AsyncIterable<Part> | Iterable<Part>;
}

export interface OpenOptions {
  readonly format: InputFormat;
  readonly maxLineBytes: number;
  readonly archive?: string | undefined;
  readonly streams: InputStreams;
  readonly signal?: AbortSignal | undefined;
  /** Set if damage may be skipped; records what this thread has skipped. */
  readonly damage?: DamageLog | undefined;
  /** Counts stored bytes that tasks report themselves. */
  readonly progress: FileProgress;
}

/** Counts bytes read from streams and whole files, over all threads. */
export class FileProgress {
  readonly #counters: BigInt64Array[] = [];
  #added = 0;

  /** Adds bytes read by this thread. */
  add(bytes: number): void {
    this.#added += bytes;
  }

  /** A counter for another file, to be sent to a thread. */
  counter(): SharedArrayBuffer {
    const buffer = new SharedArrayBuffer(8);
    this.#counters.push(new BigInt64Array(buffer));
    return buffer;
  }

  /** Bytes read so far, of all files. */
  get bytes(): number {
    return this.#counters.reduce(
      (sum, counter) => sum + Number(Atomics.load(counter, 0)),
      this.#added,
    );
  }
}

/** A part of an uncompressed file: the lines that begin in `[start, end)`. */
export interface RangeTask {
  readonly kind: "range";
  readonly path: string;
  readonly start: number;
  readonly end: number;
  readonly format: DetectedFormat;
}

/** Whole lines that are already in memory. */
interface BlockTask {
  readonly kind: "block";
  readonly buffer: ArrayBuffer;
  readonly length: number;
  readonly format: DetectedFormat;
}

/** A range of a file, such as an entry of a ZIP file. */
export interface FileSlice {
  readonly offset: number;
  readonly length: number;
  /** The inflated size of a compressed ZIP entry. */
  readonly inflatedLength?: number | undefined;
  /** Set for gzip members of a ZipNum cluster. */
  readonly isGzip?: boolean | undefined;
}

/** A whole file, or a slice of one, which may be compressed, or a container such as WARC. */
export interface FileTask {
  readonly kind: "file";
  readonly path: string;
  /** Name for errors. */
  readonly source: string;
  readonly slice?: FileSlice | undefined;
  /** The expected number of stored bytes. */
  readonly size?: number | undefined;
  readonly format: DetectedFormat;
  readonly archive?: string | undefined;
  /** Receives the number of stored bytes read so far: one BigInt64. */
  readonly progress?: SharedArrayBuffer | undefined;
}

/** Some row groups of a Parquet file. */
interface ParquetTask {
  readonly kind: "parquet";
  readonly path: string;
  readonly format: DetectedFormat;
  readonly rowStart: number;
  readonly rowEnd: number;
}

export type ReadTask = RangeTask | BlockTask | FileTask | ParquetTask;

/** The buffers of a task to transfer, rather than copy, to another thread. */
export function transferOf(task: ReadTask): ArrayBuffer[] {
  return task.kind === "block" ? [task.buffer] : [];
}

export interface PartResult {
  readonly lines: number;
  readonly fault: RowFault | undefined;
  /** Skipped damage, if skipping is enabled. */
  readonly damage?: DamageLog | undefined;
}

/** A task and the input it belongs to. */
export interface Part {
  readonly source: string;
  readonly task: ReadTask;
  /** Stored bytes of this part that the task does not report itself. */
  readonly bytes: number;
}
