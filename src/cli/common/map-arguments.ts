import { stat } from "node:fs/promises";
import { mapHeadOf } from "../../ukvs/head.ts";
import { decompressedHead, wholeLinesOf } from "../../input/file-inputs.ts";

/**
 * Refuses files that are not maps before they are read from start to end, as `readMapHead` does for
 * those that are searched. Reads nothing of standard input and pipes.
 *
 * @throws MM_BAD_INPUT for an index, MM_BAD_HEADER, MM_BAD_LINE and MM_BAD_FREQUENCY for what has no
 *   row of a map, MM_IO
 */
export async function assertMaps(...paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    // What opens it reports a missing file or a folder.
    const stats = path === "-" ? undefined : await stat(path).catch(() => undefined);
    if (stats?.isFile() === true) mapHeadOf(wholeLinesOf(await decompressedHead(path)), path);
  }
}
