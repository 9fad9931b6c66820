import { quote } from "../../errors.ts";
import { decompressedHead } from "../../input/file-inputs.ts";
import { MemgatorLog } from "../../input/memgator-log.ts";

type OnFault = (message: string, reason: string) => void;

/**
 * Tells of logs to learn from that have no answer of an archive among their first lines: they are empty, or
 * something else.
 *
 * @throws MM_IO
 */
export async function warnAboutEmptyLogs(logs: readonly string[], onFault: OnFault): Promise<void> {
  for (const path of logs) {
    // What comes once cannot be looked at before.
    if (path === "-") continue;
    const head = await decompressedHead(path);
    const log = new MemgatorLog();
    const lines = new TextDecoder().decode(head).split(/\r?\n/);
    if (lines.some((line) => log.read(line) !== undefined)) continue;
    const what =
      head.length === 0 ? "it is empty" : "its first lines have no response of an archive";
    onFault("a log to learn from is not usable", `${quote(path)}: ${what}`);
  }
}
