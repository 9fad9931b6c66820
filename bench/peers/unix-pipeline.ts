import { timed } from "./timed.ts";
import type { TimedRun } from "./timed.ts";

/** `$1` is the index, `$2` the output. */
const SCRIPT = `cut -d' ' -f1 "$1" | sed 's/?.*//' | sort | uniq -c > "$2"`;

/**
 * Counts the keys of a CDXJ or CDX file with standard tools, as people do without a program for it.
 *
 * The output has a line `count key` for each key, sorted by bytes; it has no headers and keeps
 * trailing slashes. All tools run in the C locale, which is their fastest. `sort` spills to
 * the directory for temporary files.
 *
 * @throws {MementoMapError} `MM_IO` if a tool fails or bash is not installed.
 */
export async function unixPipeline(index: string, output: string): Promise<TimedRun> {
  const args = ["-o", "pipefail", "-c", SCRIPT, "bash", index, output];
  return timed("bash", args, { env: { LC_ALL: "C" } });
}
