import type {
  BlockTask,
  LineReader,
  RangeTask,
  ReadManner,
  ReadTask,
  RowFault,
} from "../../input/index-input.ts";

/**
 * Reads a part whose lines have to be made first: decompressed, or taken out of a container.
 *
 * Loads what it needs for that then: every thread would have to otherwise.
 */
export async function readElsewhere(
  task: Exclude<ReadTask, RangeTask | BlockTask>,
  reader: LineReader,
  maxLineBytes: number,
  manner: ReadManner = {},
): Promise<RowFault | undefined> {
  switch (task.kind) {
    case "file": {
      const { readWholeFile } = await import("../../input/read-file.ts");
      return readWholeFile(task, reader, maxLineBytes, manner);
    }
    case "members": {
      const { readMembers } = await import("./read-members.ts");
      return readMembers(task, reader, manner.damage);
    }
    case "parquet": {
      const { readParquet } = await import("./read-parquet.ts");
      return readParquet(task, reader);
    }
  }
}
