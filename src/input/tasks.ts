import type { RowFault } from "./line-reader.ts";
import type { DamageLog } from "../bytes/damage.ts";
import type { DetectedFormat } from "./detect.ts";
import type { ExpectedSize } from "./whole-map.ts";

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

export type ReadTask = RangeTask | BlockTask | FileTask | MembersTask | ParquetTask;

export interface PartResult {
  readonly lines: number;
  readonly fault: RowFault | undefined;
  /** Whether a key column turned out not to be the SURT of its URI. */
  readonly keysDiffer?: boolean | undefined;
  /** What was passed over, where that is allowed. */
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
}
