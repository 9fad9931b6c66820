import type { LineReader, ParquetTask, RowFault } from "../../input/index-input.ts";
import { RowLines } from "../../input/cdx.ts";
import { openParquet, parquetRows } from "../../input/parquet.ts";

/**
 * Reads row groups of a Parquet file into a reader. Holds the columns of one row group.
 *
 * @throws MM_IO, MM_BAD_INPUT; MM_USAGE where the reader for Parquet is not installed.
 */
export async function readParquet(
  task: ParquetTask,
  reader: LineReader,
): Promise<RowFault | undefined> {
  const file = await openParquet(task.path);
  const lines = new RowLines();
  const flush = (): RowFault | undefined => {
    const block = lines.take();
    return reader.readLines(block, 0, block.length);
  };
  for await (const row of parquetRows(file, task.rowStart, task.rowEnd)) {
    lines.add(row);
    if (!lines.isFull) continue;
    const fault = flush();
    if (fault !== undefined) return fault;
  }
  return lines.isEmpty ? undefined : flush();
}
