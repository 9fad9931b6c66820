import { quote } from "../../errors.ts";
import { decompressedHead } from "../../input/file-inputs.ts";
import { MemgatorLog } from "../../input/memgator-log.ts";
import { misuse } from "./options.ts";

type OnFault = (message: string, reason: string) => void;

/** Refuses sources of learning, and a file for it, where nothing is learnt. @throws MM_USAGE */
export function refuseUnusedLearning(values: {
  readonly recall: number | undefined;
  readonly "learn-from": readonly string[];
  readonly learnt: string | undefined;
}): void {
  if (values.recall !== undefined) return;
  const unused = values["learn-from"].length > 0 ? "--learn-from" : "--learnt";
  if (unused === "--learnt" && values.learnt === undefined) return;
  throw misuse(
    `${unused} needs --recall, the share of answers with mementos to keep, such as --recall 0.98`,
  );
}

/**
 * Tells of logs to learn from that have no answer of an archive among their first lines: they are empty, or
 * something else.
 *
 * @throws MM_IO
 */
export async function tellOfOddLogs(logs: readonly string[], onFault: OnFault): Promise<void> {
  for (const path of logs) {
    // What comes once cannot be looked at before.
    if (path === "-") continue;
    const head = await decompressedHead(path);
    const log = new MemgatorLog();
    const lines = new TextDecoder().decode(head).split(/\r?\n/);
    if (lines.some((line) => log.read(line) !== undefined)) continue;
    const what =
      head.length === 0 ? "it is empty" : "no answer of an archive is in its first lines";
    onFault("a log to learn from may be the wrong one", `${quote(path)}: ${what}`);
  }
}
