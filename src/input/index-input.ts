import type { DamageLog } from "../bytes/damage.ts";
import type { DetectedFormat, InputFormat, KeyTrust } from "./detect.ts";
import type { Part } from "./tasks.ts";
import type { InputStreams } from "../files/input-file.ts";

/** An input of `generate` whose format has been made out. */
export interface IndexInput {
  /** The path, or `stdin`. */
  readonly source: string;
  readonly format: DetectedFormat;
  /** Stored bytes; undefined for pipes. */
  readonly size: number | undefined;
  /** Whether whoever reads a part has to decompress it. */
  readonly isInflated: boolean;
  /** Set if the input can only be read from start to end. */
  readonly isSequential?: boolean | undefined;
  /** Set if the parts are ranges of one file, which cost nothing to list. */
  readonly isRanged?: boolean | undefined;
  /**
   * Cuts the input into parts that can be read independently.
   *
   * @param isAlone whether there is nothing else to read; an input that can only be read from
   * start to end is then decompressed here, and shared out.
   */
  parts(isAlone: boolean): AsyncIterable<Part>;
}

export interface OpenOptions {
  readonly format: InputFormat;
  readonly keys: KeyTrust;
  /** Inputs whose key column turned out to disagree with the URIs. */
  readonly untrusted: ReadonlySet<string>;
  readonly maxLineBytes: number;
  readonly archive?: string | undefined;
  readonly streams: InputStreams;
  readonly signal?: AbortSignal | undefined;
  /** Set if what is damaged may be passed over; notes what this thread has passed over. */
  readonly damage?: DamageLog | undefined;
  /** Where to note files of records that are not read, because an index of them is. */
  readonly indexed?: string[] | undefined;
  /** Counts stored bytes that tasks report by themselves. */
  readonly progress: FileProgress;
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

/** The first bytes of an index, from which its format is made out. */
export const HEAD_BYTES: number = 1 << 18;

/** Whether to trust the key column of an input. */
export function trustIn(source: string, { keys, untrusted }: OpenOptions): KeyTrust {
  return untrusted.has(source) ? "uri" : keys;
}
