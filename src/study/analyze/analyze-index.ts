import { joinBytes } from "../../bytes/bytes.ts";
import { MAX_LINE_BYTES } from "../../bytes/lines.ts";
import { KeyTable } from "../../map/generate/key-table.ts";
import {
  memoryRun,
  mergeRuns,
  type RunIndex,
  RunReader,
  writeRun,
} from "../../map/generate/runs.ts";
import {
  type IndexSource,
  openSource,
  readSource,
  type SourceOptions,
} from "../../map/generate/generate-map.ts";
import type { CaptureFilter } from "../../input/filter.ts";
import type { Analysis } from "./analysis.ts";
import { CaptureScanner } from "./capture-scanner.ts";
import { joinTallies } from "./capture-tally.ts";
import { HoldingsTree } from "./holdings-tree.ts";
import { summarize } from "./summarize.ts";
import { checkSignal } from "../../interruption.ts";

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
export const DEFAULT_TOP = 20;
export const DEFAULT_SAMPLES = 10;

/**
 * Analyzes indexes in memory: for browsers, tests and small archives.
 *
 * Reads every source once, sorted or not. Holds all originals; `analyzeFiles` of `mementomap/node`
 * does the same for any size in bounded memory, with the same result.
 *
 * @throws MM_BAD_INPUT for an unknown format; MM_LIMIT, MM_INTERRUPTED
 */
export async function analyzeIndex(
  sources: Iterable<IndexSource>,
  options: AnalyzeIndexOptions = {},
): Promise<Analysis> {
  checkSignal(options.signal);
  const { top = DEFAULT_TOP, samples = DEFAULT_SAMPLES } = options;
  const runs: { index: RunIndex; bytes: Uint8Array }[] = [];
  const table = new KeyTable(options.tableBytes ?? TABLE_BYTES);
  const drain = (): void => {
    const parts: Uint8Array[] = [];
    table.drain((keys) => {
      const index = writeRun(keys, (chunk) => void parts.push(chunk.slice()));
      runs.push({ index, bytes: joinBytes(parts) });
    });
  };
  const maxLineBytes = options.maxLineBytes ?? MAX_LINE_BYTES;
  const scanner = new CaptureScanner(
    { filter: options.filter ?? {}, maxLineBytes, samples },
    table,
    drain,
  );
  let files = 0;
  for (const source of sources) {
    files++;
    await readSource(await openSource(source, options), scanner, options);
  }
  drain();
  const tree = new HoldingsTree(top);
  mergeRuns(
    runs.map(({ index, bytes }) => new RunReader(index, memoryRun(bytes))),
    {},
    (key, keyLength, count) => {
      tree.add(key, keyLength, count);
    },
  );
  tree.end();
  const tally = joinTallies([scanner.tally.data()], samples);
  return summarize(tally, tree, { files, storedBytes: null, runs: runs.length, top });
}
