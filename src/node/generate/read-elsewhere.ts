import type { RowFault } from "../../generate/index-reader.ts";
import type { LineReader } from "../../generate/line-reader.ts";
import type { DamageLog } from "../../input/damage.ts";
import type { BlockTask, RangeTask, ReadTask } from "./tasks.ts";

/**
 * Reads a part whose lines have to be made first: decompressed, or taken out of a container.
 *
 * Loads what it needs for that then: every thread would have to otherwise.
 *
 * @param damage where to note what is damaged, and to go on behind it; an error otherwise.
 */
export async function readElsewhere(
  task: Exclude<ReadTask, RangeTask | BlockTask>,
  reader: LineReader,
  maxLineBytes: number,
  damage?: DamageLog,
): Promise<RowFault | undefined> {
  switch (task.kind) {
    case "file": {
      const { readWholeFile } = await import("./read-file.ts");
      return readWholeFile(task, reader, maxLineBytes, damage);
    }
    case "members": {
      const { readMembers } = await import("./read-members.ts");
      return readMembers(task, reader, damage);
    }
    case "parquet": {
      const { readParquet } = await import("./read-parquet.ts");
      return readParquet(task, reader);
    }
  }
}
