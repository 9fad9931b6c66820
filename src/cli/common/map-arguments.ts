import { stat } from "node:fs/promises";
import { mapHeadOf } from "../../map/lookup/map-head.ts";
import { decompressedHead, wholeLinesOf } from "../../input/file-inputs.ts";
import { type MapOutput, withMapOutput } from "../../map/output/map-output.ts";
import type { Io } from "./io.ts";

/**
 * Refuses files that are not maps before they are read from start to end, as `readMapHead` does for
 * those that are searched. Reads nothing of standard input and pipes.
 *
 * @throws MM_BAD_INPUT for an index, MM_BAD_HEADER, MM_BAD_LINE and MM_BAD_FREQUENCY for what has no
 *   row of a map, MM_IO
 */
export async function refuseOtherThanMaps(...paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    // What opens it reports a missing file or a folder.
    const stats = path === "-" ? undefined : await stat(path).catch(() => undefined);
    if (stats?.isFile() === true) mapHeadOf(wholeLinesOf(await decompressedHead(path)), path);
  }
}

/** Writes a map where `--output` says: whole, or not at all. */
export function writeMap<T>(
  values: {
    readonly output: string | undefined;
    readonly tmp: string | undefined;
    readonly force: boolean;
  },
  { stdout, interrupt }: Io,
  write: (output: MapOutput) => Promise<T>,
): Promise<T> {
  const { output, tmp, force } = values;
  return withMapOutput(output, { stdout, interrupt, tmp, force }, write);
}
