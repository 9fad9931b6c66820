import { addDamageLog, type DamageLog, newDamageLog } from "../bytes/damage.ts";
import { MAX_LINE_BYTES } from "../bytes/lines.ts";
import { MementoMapError, quote } from "../errors.ts";
import type { InputStreams } from "../files/input-file.ts";
import { withTempDir } from "../files/scratch.ts";
import type { CaptureFilter } from "../input/filter.ts";
import { hasLines, type InputFormat } from "../input/formats.ts";
import { FileProgress, type IndexInput, type Part, type PartResult } from "../input/index-input.ts";
import { openInputs } from "../input/open-inputs.ts";
import { checkSignal, type Interrupt } from "../interruption.ts";
import { DEFAULT_MEMORY_BYTES, tableBytes } from "./key-table.ts";
import {
  inlineLane,
  type Lane,
  type ScanJobOptions,
  type ScanKind,
  type ScanResult,
  threadLane,
} from "./scan-job.ts";

/** Options for reading indexes. */
export interface ScanOptions {
  readonly format?: InputFormat | undefined;
  readonly filter?: CaptureFilter | undefined;
  /** Which archive to take from logs and TimeMaps of aggregators. */
  readonly archive?: string | undefined;
  /** Count and skip unreadable lines and ranges, instead of failing. */
  readonly skipBad?: boolean | undefined;
  /** Maximum memory in total; 512 MiB by default. */
  readonly memoryBytes?: number | undefined;
  /** Memory of a thread besides its table of keys. */
  readonly bytesPerThread?: number | undefined;
  readonly threads?: number | undefined;
  /** The folder for scratch files. */
  readonly scratch?: string | undefined;
  readonly maxLineBytes?: number | undefined;
  readonly streams: InputStreams;
  readonly interrupt?: Interrupt | undefined;
  /** Called with the stored bytes read since the last call. */
  readonly onRead?: ((bytes: number) => void) | undefined;
}

/** The result of reading indexes: keys in runs, sorted and counted. */
export interface Scan<Found> {
  readonly inputs: readonly IndexInput[];
  readonly results: readonly ScanResult<Found>[];
  /** The ranges skipped. */
  readonly damage: DamageLog;
  /** A folder for scratch files. */
  readonly scratch: string;
}

/**
 * Reads all captures of indexes into sinks, in threads, and calls `use` with the results.
 *
 * Reads every input once, in any order and sorted or not. Holds at most `memoryBytes`; keys that do not
 * fit go through sorted runs in a scratch folder. Of several failures, the one in the earliest part of
 * an input is thrown.
 *
 * @param sinkOptions what sinks are opened with, given the inputs.
 * @throws MM_IO, MM_BAD_INPUT, MM_BAD_LINE (with file and line), MM_LIMIT, MM_INTERRUPTED, MM_USAGE
 */
export async function withScan<SinkOptions, Found, T>(
  paths: readonly string[],
  kind: ScanKind<SinkOptions, Found>,
  options: ScanOptions,
  sinkOptions: (inputs: readonly IndexInput[]) => SinkOptions,
  use: (scan: Scan<Found>) => Promise<T>,
): Promise<T> {
  const { interrupt, filter = {}, skipBad, maxLineBytes = MAX_LINE_BYTES } = options;
  const damage = newDamageLog();
  const progress = new FileProgress();
  const opened = await openInputs(paths, {
    format: options.format ?? "auto",
    maxLineBytes,
    archive: options.archive,
    streams: options.streams,
    signal: interrupt?.signal,
    damage: skipBad === true ? damage : undefined,
    progress,
  });
  // Files that one thread must read alone should not start last.
  const inputs = opened.toSorted((a, b) => (b.size ?? 0) - (a.size ?? 0));
  const sink = sinkOptions(inputs);
  return withTempDir({ parent: options.scratch, interrupt }, async (scratch) => {
    const lanes = openLanes(inputs, kind, options, {
      sink,
      scratch,
      reader: { filter, skipBad, maxLineBytes },
    });
    const results = await (async () => {
      try {
        await readAll(inputs, lanes, damage, progress, options);
        return await Promise.all(lanes.map((lane) => lane.job.finish()));
      } finally {
        await Promise.all(lanes.map((lane) => lane.end()));
      }
    })();
    return use({ inputs, results, damage, scratch });
  });
}

/** Below this, another thread costs more than it saves. */
const BYTES_WORTH_A_THREAD = 8 * 2 ** 20;

/** Opens as many lanes as the inputs justify. */
function openLanes<SinkOptions, Found>(
  inputs: readonly IndexInput[],
  kind: ScanKind<SinkOptions, Found>,
  { memoryBytes = DEFAULT_MEMORY_BYTES, bytesPerThread = 0, threads = 1 }: ScanOptions,
  shared: Omit<ScanJobOptions<SinkOptions>, "name" | "tableBytes">,
): Lane<Found>[] {
  const count = lanesWorthwhile(inputs, threads);
  const isInflated = inputs.some((input) => input.isInflated);
  const left = memoryBytes - count * bytesPerThread;
  const job = (index: number): ScanJobOptions<SinkOptions> => ({
    ...shared,
    name: `thread-${index}`,
    tableBytes: tableBytes(left, count, isInflated),
  });
  // If there is nothing to decompress or distribute, this thread can scan, too.
  const isFree = count === 1 || (inputs.length === 1 && inputs[0].isRanged === true);
  return Array.from({ length: count }, (_, i) =>
    isFree && i === 0 ? inlineLane(kind, job(i)) : threadLane(kind, job(i)),
  );
}

/** The number of lanes to use, given the maximum number of threads. */
function lanesWorthwhile(inputs: readonly IndexInput[], threads: number): number {
  const bytes = inputs.reduce((sum, input) => sum + (input.size ?? Number.POSITIVE_INFINITY), 0);
  const [input] = inputs;
  // A container is not split between lanes.
  const isWhole = inputs.length === 1 && input.isSequential === true && !hasLines(input.format);
  return isWhole ? 1 : Math.max(1, Math.min(threads, Math.ceil(bytes / BYTES_WORTH_A_THREAD)));
}

/** The result of a part. */
interface PartRead {
  readonly source: string;
  result?: PartResult;
  error?: unknown;
}

const INTERVAL_MS = 200;

/** Dispatches the parts of all inputs to idle lanes; stops at the first failure. */
async function readAll<Found>(
  inputs: readonly IndexInput[],
  lanes: readonly Lane<Found>[],
  damage: DamageLog,
  progress: FileProgress,
  { interrupt, onRead }: ScanOptions,
): Promise<void> {
  let [ofParts, reported] = [0, 0];
  const report = (): void => {
    const bytes = ofParts + progress.bytes;
    if (bytes > reported) onRead?.(bytes - reported);
    reported = bytes;
  };
  const idle = lanes.flatMap((lane) => Array.from({ length: lane.readsAtOnce }, () => lane));
  const busy = new Set<Promise<void>>();
  let hasFailed = false;

  const read = async (part: Part, lane: Lane<Found>, own: PartRead): Promise<void> => {
    try {
      own.result = await lane.job.read(part.task);
      hasFailed ||= own.result.fault !== undefined;
      ofParts += part.bytes;
      report();
    } catch (error) {
      own.error = error;
      hasFailed = true;
    }
  };

  const handOut = async (input: IndexInput, reads: PartRead[]): Promise<void> => {
    for await (const part of input.parts(inputs.length === 1 && lanes.length > 1)) {
      while (idle.length === 0) await Promise.race(busy);
      checkSignal(interrupt?.signal);
      if (hasFailed) return;
      const lane = idle.pop() as Lane<Found>; // just waited for one
      const own: PartRead = { source: part.source };
      reads.push(own);
      const work = read(part, lane, own).finally(() => {
        busy.delete(work);
        idle.push(lane);
      });
      busy.add(work);
    }
  };

  const timer = setInterval(report, INTERVAL_MS);
  /** The parts of each input, in order. */
  const readsOfInputs: PartRead[][] = [];
  try {
    for (const input of inputs) {
      if (hasFailed) break;
      const reads: PartRead[] = [];
      readsOfInputs.push(reads);
      await handOut(input, reads).catch((error: unknown) => {
        reads.push({ source: input.source, error });
        hasFailed = true;
      });
    }
    await Promise.all(busy);
  } finally {
    clearInterval(timer);
  }
  for (const reads of readsOfInputs) checkReads(reads, damage);
}

/** Records damage in the parts of an input; throws the error of the first failed part. */
function checkReads(reads: readonly PartRead[], damage: DamageLog): void {
  let linesBefore = 0;
  for (const { source, result, error } of reads) {
    if (result === undefined) throw error;
    const { lines, fault, damage: skipped } = result;
    if (fault !== undefined) {
      throw new MementoMapError(fault.code, `${fault.message}: ${quote(fault.line)}`, {
        position: { source, line: linesBefore + fault.linesBefore + 1 },
      });
    }
    if (skipped !== undefined) addDamageLog(damage, skipped);
    linesBefore += lines;
  }
}
