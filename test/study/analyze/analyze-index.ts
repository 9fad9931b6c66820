import { MAX_LINE_BYTES } from "../../../src/bytes/lines.ts";
import { KeyTable } from "../../../src/generate/key-table.ts";
import { memorize, type MemoryRun, readerOf, RunMerge } from "../../../src/generate/runs.ts";
import {
  type IndexSource,
  openSource,
  readSource,
  type SourceOptions,
} from "../../../src/generate/generate-map.ts";
import { RowReader } from "../../../src/input/row-reader.ts";
import type { CaptureFilter } from "../../../src/input/filter.ts";
import { DEFAULT_SAMPLES, DEFAULT_TOP } from "../../../src/study/analyze/analyze-files.ts";
import type { Analysis } from "../../../src/study/analyze/analysis.ts";
import { ANALYZE } from "../../../src/study/analyze/capture-scanner.ts";
import { joinTallies } from "../../../src/study/analyze/capture-tally.ts";
import { HoldingsTree } from "../../../src/study/analyze/holdings-tree.ts";
import { summarize } from "../../../src/study/analyze/summarize.ts";
import { checkSignal } from "../../../src/interruption.ts";

export interface AnalyzeIndexOptions extends SourceOptions {
  readonly filter?: CaptureFilter | undefined;
  /** Rows of the tables of the most archived; 20 by default. */
  readonly top?: number | undefined;
  /** Captures of pages to draw at random; 10 by default. */
  readonly samples?: number | undefined;
  /** What the table of originals may hold before it is stored as a sorted run; 64 MiB by default. */
  readonly tableBytes?: number | undefined;
}

const TABLE_BYTES = 64 * 2 ** 20;

/**
 * Analyzes indexes in memory, with the same result as `analyzeFiles`. Reads every source once, sorted
 * or not. Holds all originals.
 *
 * @throws MM_BAD_INPUT for an unknown format; MM_LIMIT, MM_INTERRUPTED
 */
export async function analyzeIndex(
  sources: Iterable<IndexSource>,
  options: AnalyzeIndexOptions = {},
): Promise<Analysis> {
  checkSignal(options.signal);
  const { top = DEFAULT_TOP, samples = DEFAULT_SAMPLES } = options;
  const runs: MemoryRun[] = [];
  const table = new KeyTable(options.tableBytes ?? TABLE_BYTES);
  const drain = (): void => table.drain((keys) => void runs.push(memorize(keys)));
  const maxLineBytes = options.maxLineBytes ?? MAX_LINE_BYTES;
  const scanner = ANALYZE.openSink({ samples }, table, drain);
  const reader = new RowReader(scanner, { filter: options.filter ?? {}, maxLineBytes });
  let files = 0;
  for (const source of sources) {
    files++;
    await readSource(await openSource(source, options), reader, options);
  }
  drain();
  const tree = new HoldingsTree(top);
  const merge = new RunMerge(runs.map((run) => readerOf(run)));
  while (merge.next()) tree.add(merge.key, merge.keyLength, merge.count);
  tree.end();
  const tally = joinTallies([scanner.found()], samples);
  return summarize(tally, tree, { files, storedBytes: null, runs: runs.length, top });
}
