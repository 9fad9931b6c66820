import { createReadStream } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { MementoMapError, quote } from "../../errors.ts";
import type { IndexCounts } from "../../generate/index-counts.ts";
import { addIndexCounts, newIndexCounts } from "../../generate/index-counts.ts";
import type { MapDescription } from "../../generate/map-headers.ts";
import { mapHeaders } from "../../generate/map-headers.ts";
import { cutRuns } from "../../generate/cut-runs.ts";
import type { InputFormat } from "../../input/detect.ts";
import type { CaptureFilter } from "../../input/filter.ts";
import type { InputStreams } from "../input-file.ts";
import type { Interrupt } from "../interrupt.ts";
import { ioError } from "../io-error.ts";
import type { Output } from "../output-file.ts";
import { withTempDir } from "../temp-dir.ts";
import type { StoredRun } from "./job.ts";
import type { Lane } from "./lane.ts";
import { InlineLane, ThreadLane } from "./lane.ts";
import { tableBytes } from "./memory.ts";
import type { Part } from "./parts.ts";
import { inputParts } from "./parts.ts";

export interface GenerateOptions {
  readonly format?: InputFormat | undefined;
  readonly filter?: CaptureFilter | undefined;
  /** Count originals too. */
  readonly originals?: boolean | undefined;
  /** Digits of the datetime to split rows by, 0 (the default) to 14. */
  readonly datetimeDigits?: number | undefined;
  /** Count and leave out lines that cannot be read, instead of failing. */
  readonly skipBad?: boolean | undefined;
  readonly description?: MapDescription | undefined;
  /** What the whole run may hold; 512 MiB by default. */
  readonly memoryBytes?: number | undefined;
  readonly threads?: number | undefined;
  /** The folder for scratch files. */
  readonly scratch?: string | undefined;
  readonly maxLineBytes?: number | undefined;
  readonly streams: InputStreams;
  readonly interrupt?: Interrupt | undefined;
  /** Told how many stored bytes were read since the last call. */
  readonly onRead?: ((bytes: number) => void) | undefined;
}

export interface GenerateSummary {
  readonly counts: IndexCounts;
  /** Rows of the map. */
  readonly rows: number;
  /** Bytes of the map, before compression. */
  readonly bytes: number;
  /** Sorted runs that went through the disk. */
  readonly runs: number;
}

const DEFAULT_MEMORY_BYTES = 512 * 2 ** 20;
const DEFAULT_MAX_LINE_BYTES = 2 ** 20;
/** A second thread costs more than it gives on less than this. */
const BYTES_WORTH_A_THREAD = 8 * 2 ** 20;
/** Merging in more parts than threads lets the first be written out while others are merged. */
const MERGES_PER_THREAD = 4;

/**
 * Makes a map from index files: reads, filters, keys, counts, sorts and writes.
 *
 * Reads every input once, in any order and sorted or not. Holds at most `memoryBytes`; what does
 * not fit goes through sorted runs in a scratch folder. The rows do not depend on the order of
 * files, on threads or on memory.
 *
 * @throws MM_IO, MM_BAD_INPUT, MM_BAD_LINE (with file and line), MM_LIMIT, MM_INTERRUPTED
 */
export async function generateFiles(
  paths: readonly string[],
  output: Output,
  options: GenerateOptions,
): Promise<GenerateSummary> {
  return withTempDir({ parent: options.scratch, interrupt: options.interrupt }, async (scratch) => {
    const lanes = await openLanes(paths, scratch, options);
    try {
      await readAll(paths, lanes, options);
      const finished = await Promise.all(lanes.map((lane) => lane.finish()));
      const counts = newIndexCounts();
      for (const result of finished) addIndexCounts(counts, result.counts);
      const runs = finished.flatMap((result) => result.runs);
      const header = mapHeaders(options.description ?? {}, options.datetimeDigits ?? 0);
      await output.write(header);
      const { rows, bytes } = await writeMerged(runs, lanes, scratch, output, options);
      return { counts, rows, bytes: bytes + header.length, runs: runs.length };
    } finally {
      await Promise.all(lanes.map((lane) => lane.end()));
    }
  });
}

async function openLanes(
  paths: readonly string[],
  scratch: string,
  options: GenerateOptions,
): Promise<Lane[]> {
  const wanted = options.threads ?? 1;
  const threads = Math.max(1, Math.min(wanted, await threadsWorthwhile(paths)));
  const job = (index: number): ConstructorParameters<typeof InlineLane>[0] => ({
    name: `thread-${index}`,
    scratch,
    tableBytes: tableBytes(options.memoryBytes ?? DEFAULT_MEMORY_BYTES, threads),
    reader: {
      filter: options.filter ?? {},
      originals: options.originals ?? false,
      datetimeDigits: options.datetimeDigits ?? 0,
      skipBad: options.skipBad ?? false,
      maxLineBytes: options.maxLineBytes ?? DEFAULT_MAX_LINE_BYTES,
    },
  });
  if (threads === 1) return [new InlineLane(job(0))];
  return Array.from({ length: threads }, (_, index) => new ThreadLane(job(index)));
}

async function threadsWorthwhile(paths: readonly string[]): Promise<number> {
  let bytes = 0;
  for (const path of paths) {
    if (path === "-") return Number.POSITIVE_INFINITY;
    const stats = await stat(path).catch((error: unknown) => {
      throw ioError(error, path);
    });
    if (stats.isDirectory()) {
      throw new MementoMapError("MM_IO", "is a directory; name a file", {
        position: { source: path },
      });
    }
    if (!stats.isFile()) return Number.POSITIVE_INFINITY;
    bytes += stats.size;
  }
  return Math.ceil(bytes / BYTES_WORTH_A_THREAD);
}

/**
 * Hands the parts of all inputs to whichever lane is free.
 *
 * Of several failures the one in the earliest part is thrown, whichever thread met its own first.
 */
async function readAll(
  paths: readonly string[],
  lanes: readonly Lane[],
  options: GenerateOptions,
): Promise<void> {
  const idle = [...lanes];
  const busy = new Set<Promise<void>>();
  const failures = new Map<number, unknown>();
  let parts = 0;
  const handOut = async (path: string): Promise<void> => {
    let total = Promise.resolve(0);
    for await (const part of partsOf(path, options)) {
      while (idle.length === 0) await Promise.race(busy);
      if (failures.size > 0) return;
      const lane = idle.pop() as Lane; // just waited for one
      const lines = new PartLines(total);
      ({ total } = lines);
      const index = parts++;
      const work = readPart(part, lane, lines, options.onRead)
        .catch((error: unknown) => {
          failures.set(index, error);
        })
        .finally(() => {
          busy.delete(work);
          idle.push(lane);
        });
      busy.add(work);
    }
  };
  for (const path of paths) {
    if (failures.size > 0) break;
    await handOut(path).catch((error: unknown) => {
      failures.set(parts, error);
    });
  }
  await Promise.all(busy);
  if (failures.size > 0) throw failures.get(Math.min(...failures.keys()));
}

function partsOf(path: string, options: GenerateOptions): AsyncIterable<Part> {
  return inputParts(path, {
    format: options.format ?? "auto",
    maxLineBytes: options.maxLineBytes ?? DEFAULT_MAX_LINE_BYTES,
    streams: options.streams,
    signal: options.interrupt?.signal,
  });
}

async function readPart(
  part: Part,
  lane: Lane,
  partLines: PartLines,
  onRead: ((bytes: number) => void) | undefined,
): Promise<void> {
  try {
    const { lines, fault } = await lane.read(part.task);
    onRead?.(part.bytes);
    partLines.settle(lines);
    if (fault === undefined) return;
    const line = (await partLines.before) + fault.linesBefore + 1;
    throw new MementoMapError(fault.code, `${fault.message}: ${quote(fault.line)}`, {
      position: { source: part.source, line },
    });
  } finally {
    partLines.settle(0);
  }
}

/** A part in the line of parts of one input. */
class PartLines {
  /** Lines before this part, once all parts before it have been read. */
  readonly before: Promise<number>;
  /** Lines up to and including this part. */
  readonly total: Promise<number>;
  #settle: ((lines: number) => void) | undefined;

  constructor(before: Promise<number>) {
    this.before = before;
    const own = new Promise<number>((resolve) => {
      this.#settle = resolve;
    });
    this.total = before.then(async (count) => count + (await own));
  }

  /** Says how many lines this part has; only the first call counts. */
  settle(lines: number): void {
    this.#settle?.(lines);
  }
}

async function writeMerged(
  runs: readonly StoredRun[],
  lanes: readonly Lane[],
  scratch: string,
  output: Output,
  options: GenerateOptions,
): Promise<{ rows: number; bytes: number }> {
  const parts = lanes.length === 1 ? 1 : lanes.length * MERGES_PER_THREAD;
  const ranges = cutRuns(
    runs.map((run) => run.index),
    parts,
  );
  let [rows, bytes] = [0, 0];
  const merges = ranges.map(async (range, i) => {
    const target = join(scratch, `part-${i}.rows`);
    return { target, result: await lanes[i % lanes.length].merge({ runs, range, target }) };
  });
  for (const merge of merges) merge.catch(() => undefined); // met below, in order
  for (const merge of merges) {
    const { target, result } = await merge;
    options.interrupt?.signal.throwIfAborted();
    rows += result.rows;
    bytes += result.bytes;
    for await (const block of createReadStream(target, { highWaterMark: 1 << 20 })) {
      await output.write(block as Uint8Array); // no encoding is set: blocks are Buffers
    }
    await rm(target);
  }
  return { rows, bytes };
}
