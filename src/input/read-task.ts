import { type DamageLog, newDamageLog } from "../bytes/damage.ts";
import { cutLines } from "../bytes/lines.ts";
import type { FileTask, PartResult, ReadTask } from "./index-input.ts";
import { RANGE_READ_BYTES, rangeChunks } from "./read-range.ts";
import { linesOf } from "./stream-lines.ts";
import type { RowReader } from "./row-reader.ts";

export interface TaskReaderOptions {
  readonly maxLineBytes: number;
  /** Skip and record damaged data; an error otherwise. */
  readonly skipBad?: boolean | undefined;
}

type Lines = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Passes the lines of tasks of any kind to a reader. */
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
    const fault = await this.#reader.readBlocks(this.#linesOf(task, damage));
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
      case "file":
        return fileLines(task, maxLineBytes, damage);
      case "parquet":
        return parquetLines(task);
    }
  }
}

/** Reads a whole file, or a slice of it, decompressed. Loads modules on demand, not in every thread. */
async function* fileLines(
  task: FileTask,
  maxLineBytes: number,
  damage: DamageLog | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { decompressed } = await import("../files/decompress.ts");
  const { fileChunks } = await import("./file-chunks.ts");
  const { source, slice, archive, format } = task;
  const parts = decompressed(fileChunks(task), { source, damage, isGzip: slice?.isGzip });
  yield* linesOf(parts, format, { source, maxLineBytes, archive, damage });
}

/** @throws MM_IO, MM_BAD_INPUT; MM_USAGE if the Parquet reader is not installed. */
async function* parquetLines({
  path,
  rowStart,
  rowEnd,
}: Extract<ReadTask, { kind: "parquet" }>): AsyncGenerator<Uint8Array, void, undefined> {
  const { openParquet, parquetBlocks } = await import("./parquet.ts");
  yield* parquetBlocks(await openParquet(path), rowStart, rowEnd);
}
