import type { RowFault } from "../../generate/index-reader.ts";
import type { LineReader } from "../../generate/line-reader.ts";
import { readWholeFile } from "./read-file.ts";
import { readMembers } from "./read-members.ts";
import { readParquet } from "./read-parquet.ts";
import type { BlockTask, RangeTask, ReadTask } from "./tasks.ts";

/** Reads a part whose lines have to be made first: decompressed, or taken out of a container. */
export function readElsewhere(
  task: Exclude<ReadTask, RangeTask | BlockTask>,
  reader: LineReader,
  maxLineBytes: number,
): Promise<RowFault | undefined> | RowFault | undefined {
  switch (task.kind) {
    case "file":
      return readWholeFile(task, reader, maxLineBytes);
    case "members":
      return readMembers(task, reader);
    case "parquet":
      return readParquet(task, reader);
  }
}
