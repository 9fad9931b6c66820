import { stat } from "node:fs/promises";
import { mapHeadOf } from "../../ukvs/head.ts";
import { decompressedHead, wholeLinesOf } from "../../input/file-inputs.ts";

/**
 * Rejects files that are not maps by their first lines, before a full scan, as `readMapHead` does before
 * a search. Does not read standard input or pipes.
 *
 * @throws MM_BAD_INPUT for an index, MM_BAD_HEADER, MM_BAD_LINE and MM_BAD_FREQUENCY for a file
 *   without rows of a map, MM_IO
 */
export async function assertMaps(...paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    // A missing file or a folder is reported when it is opened.
    const stats = path === "-" ? undefined : await stat(path).catch(() => undefined);
    if (stats?.isFile() === true) mapHeadOf(wholeLinesOf(await decompressedHead(path)), path);
  }
}
