import { join } from "node:path";
import { lineBatches, MAX_LINE_BYTES } from "../../bytes/lines.ts";
import { MementoMapError } from "../../errors.ts";
import { KeyTable, tableBytes } from "../../generate/key-table.ts";
import { LogOverlap, type LogReport, logReport } from "./log-report.ts";
import { LogTally } from "./log-tally.ts";
import { mergeStored, type StoredRun, storeKeys } from "../../generate/stored-runs.ts";
import { openInput } from "../../files/input-file.ts";
import { withTempDir } from "../../files/scratch.ts";
import { type AnalyzeFilesOptions, withCaptures } from "../analyze/analyze-files.ts";

export interface ReadLogsOptions extends Omit<
  AnalyzeFilesOptions,
  "format" | "filter" | "samples" | "asOf" | "archive" | "top"
> {
  /** Index files of the holdings; without them, responses of archives determine the holdings. */
  readonly holdings?: readonly string[] | undefined;
  /** Count the hits and misses of this archive only. */
  readonly archive?: string | undefined;
  /** The maximum number of missing URIs to list; 100 by default. */
  readonly top?: number | undefined;
}

const DEFAULT_MEMORY_BYTES = 512 * 2 ** 20;
const DEFAULT_TOP = 100;

/**
 * Summarizes MemGator logs: the responses of each archive, the overlap of holdings and requests, and
 * requested URIs that are not held.
 *
 * Reads every file once, in bounded memory: requests are spilled to sorted runs in a scratch folder.
 *
 * @throws MM_BAD_INPUT for a file without MemGator lines; MM_USAGE for an archive that is not in the
 * logs; MM_IO, MM_LIMIT, MM_INTERRUPTED
 */
export async function readLogs(
  paths: readonly string[],
  options: ReadLogsOptions,
): Promise<LogReport> {
  const memoryBytes = options.memoryBytes ?? DEFAULT_MEMORY_BYTES;
  const scratchOptions = { parent: options.scratch, interrupt: options.interrupt };
  return withTempDir(scratchOptions, async (scratch) => {
    const { tally, runs } = await sortLogs(paths, scratch, tableBytes(memoryBytes, 1), options);
    const archives = tally.archives();
    checkArchive(options.archive, archives);
    const holdings = options.holdings ?? [];
    const silent = archives.filter(({ hits, misses }) => hits + misses === 0);
    const overlap = new LogOverlap({
      hasIndex: holdings.length > 0,
      ofOneArchive: options.archive !== undefined,
      top: options.top ?? DEFAULT_TOP,
      silent: new Set(silent.map(({ archive }) => archive)),
    });
    const merge = (captures: readonly StoredRun[]): Promise<void> =>
      mergeStored([...runs, ...captures], { ...options, scratch }, (key, keyLength, count) => {
        overlap.add(key, keyLength, count);
      });
    if (holdings.length === 0) await merge([]);
    else
      await withCaptures(holdings, { ...options, samples: 0 }, ({ results }) =>
        merge(results.flatMap((result) => result.runs)),
      );
    overlap.end();
    return logReport(tally.counts, archives, overlap, holdings.length > 0 ? "index" : "answers");
  });
}

async function sortLogs(
  paths: readonly string[],
  scratch: string,
  memoryBytes: number,
  options: ReadLogsOptions,
): Promise<{ tally: LogTally; runs: StoredRun[] }> {
  const runs: StoredRun[] = [];
  const table = new KeyTable(memoryBytes);
  const store = (): void => {
    const path = join(scratch, `log-${runs.length}.run`);
    table.drain((keys) => runs.push(storeKeys(keys, path)));
  };
  const tally = new LogTally(table, store, options.archive);
  for (const path of paths) await readLog(path, tally, options);
  if (table.size > 0) store();
  return { tally, runs };
}

async function readLog(path: string, tally: LogTally, options: ReadLogsOptions): Promise<void> {
  const { counts } = tally;
  const before = { lines: counts.lines, other: counts.otherLines };
  const input = await openInput(path, options.streams, {
    signal: options.interrupt?.signal,
    onRead: options.onRead,
  });
  const decoder = new TextDecoder();
  tally.startFile();
  const limits = { source: input.name, maxLineBytes: MAX_LINE_BYTES };
  for await (const { bytes, starts, ends, count } of lineBatches(input.chunks, limits)) {
    for (let i = 0; i < count; i++) tally.read(decoder.decode(bytes.subarray(starts[i], ends[i])));
  }
  tally.startFile();
  const lines = counts.lines - before.lines;
  if (lines > 0 && counts.otherLines - before.other === lines) {
    throw new MementoMapError(
      "MM_BAD_INPUT",
      "no line is from a MemGator log; logs are made with memgator --log or --benchmark",
      { position: { source: input.name } },
    );
  }
}

function checkArchive(
  archive: string | undefined,
  archives: readonly { readonly archive: string }[],
): void {
  if (archive === undefined || archives.some((row) => row.archive === archive)) return;
  const names = archives.map((row) => row.archive).join(", ");
  throw new MementoMapError(
    "MM_USAGE",
    `the logs do not mention archive "${archive}"; they have: ${names === "" ? "none" : names}`,
  );
}
