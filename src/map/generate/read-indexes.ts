import { stat } from "node:fs/promises";
import { addIndexCounts, countDamage, type IndexCounts, newIndexCounts } from "./index-counts.ts";
import type { Canonicalization, MapDescription } from "./map-rows.ts";
import { type Damage, newDamageLog } from "../../bytes/damage.ts";
import type { DetectedFormat } from "../../input/detect.ts";
import { holdsRecords } from "../../input/listed-files.ts";
import { withTempDir } from "../../files/scratch.ts";
import {
  type GenerateOptions,
  type GeneratePlan,
  type GenerateSummary,
  planGenerate,
} from "./generate-plan.ts";
import { KeysDiffer, readAll } from "./read-all.ts";
import { MAX_LINE_BYTES } from "../../bytes/lines.ts";
import type { IndexInput } from "../../input/index-input.ts";
import { keepCoresBusy, type Thread } from "../../threads/thread.ts";
import {
  type FinishResult,
  inlineLane,
  type JobOptions,
  type Lane,
  startLaneThread,
  threadLane,
} from "./generate-job.ts";
import { DEFAULT_MEMORY_BYTES, tableBytes } from "./key-table.ts";

/** Indexes that lanes have read: their keys are in the lanes, or in runs in a scratch folder. */
export interface IndexesRead {
  readonly plan: GeneratePlan;
  readonly lanes: readonly Lane[];
  readonly finished: readonly FinishResult[];
  readonly counts: IndexCounts;
  /** What a map of them says about itself. */
  readonly description: MapDescription & { readonly canonicalization: Canonicalization };
  /** The first few places that could not be read. */
  readonly damages: readonly Damage[];
  readonly scratch: string;
}

/** What was found while reading. */
export type ReadingSummary = Pick<
  GenerateSummary,
  "counts" | "rekeyed" | "unit" | "indexed" | "canonicalization" | "damages"
>;

export function readingSummary(read: IndexesRead): ReadingSummary {
  const { inputs, indexed } = read.plan;
  return {
    counts: read.counts,
    rekeyed: inputs.filter((i) => i.format.isRekeyed).map((i) => i.source),
    indexed,
    unit: inputs.every(holdsRecords) ? "records" : "lines",
    canonicalization: read.description.canonicalization,
    damages: read.damages,
  };
}

/**
 * Reads all lines of indexes into sorted, counted keys, and runs `use` with them. Reads them again from
 * the start if a key column that was trusted turns out to differ from the URIs.
 *
 * @throws MM_IO, MM_BAD_INPUT, MM_BAD_LINE (with file and line), MM_LIMIT, MM_INTERRUPTED, MM_USAGE
 */
export async function withIndexesRead<T>(
  paths: readonly string[],
  options: GenerateOptions,
  use: (read: IndexesRead) => Promise<T>,
): Promise<T> {
  const untrusted = new Set<string>();
  for (;;) {
    try {
      return await readOnce(paths, options, untrusted, use);
    } catch (error) {
      if (!(error instanceof KeysDiffer)) throw error;
      untrusted.add(error.source);
    }
  }
}

async function readOnce<T>(
  paths: readonly string[],
  options: GenerateOptions,
  untrusted: ReadonlySet<string>,
  use: (read: IndexesRead) => Promise<T>,
): Promise<T> {
  // Threads take as long to start as it takes to make a plan.
  const threads = await earlyThreads(paths, options);
  const damage = newDamageLog();
  const noted = options.skipBad === true ? damage : undefined;
  const plan = await planGenerate(paths, options, untrusted, noted).catch(
    async (error: unknown) => {
      await Promise.all(threads.map((thread) => thread.end()));
      throw error;
    },
  );
  const scratchOptions = { parent: options.scratch, interrupt: options.interrupt };
  return withTempDir(scratchOptions, async (scratch) => {
    const lanes = openLanes(plan, scratch, options, threads);
    let isDone = false;
    try {
      await readAll(plan, lanes, damage, options.onRead);
      const finished = await Promise.all(lanes.map((lane) => lane.finish()));
      const counts = newIndexCounts();
      for (const result of finished) addIndexCounts(counts, result.counts);
      countDamage(counts, damage);
      const isSample = counts.samples > 0;
      // A stream cannot be read again with other keys.
      const canonicalization = counts.keysDifferent > 0 ? "index" : plan.canonicalization;
      const description = { ...plan.description, isSample, canonicalization };
      const damages = damage.first;
      const result = await use({ plan, lanes, finished, counts, description, damages, scratch });
      isDone = true;
      return result;
    } finally {
      const ended = Promise.all(lanes.map((lane) => lane.end()));
      // When all rows are written, nobody needs to wait for threads to go.
      if (isDone) ended.catch(() => undefined);
      else await ended;
    }
  });
}

/** A second thread costs more than it gives on less than this. */
const BYTES_WORTH_A_THREAD = 8 * 2 ** 20;

/** Starts threads that files of this size are worth for sure. */
async function earlyThreads(
  paths: readonly string[],
  { threads = 1 }: GenerateOptions,
): Promise<Thread[]> {
  let bytes = 0;
  for (const path of paths) {
    const found = await stat(path).catch(() => undefined); // the plan says what is wrong with it
    bytes += found?.isFile() === true ? found.size : 0;
  }
  const lanes = Math.min(threads, Math.floor(bytes / BYTES_WORTH_A_THREAD));
  return Array.from({ length: Math.max(0, lanes - 1) }, startLaneThread);
}

/** Opens as many lanes as the inputs are worth; threads that were started for more are ended. */
function openLanes(
  plan: GeneratePlan,
  scratch: string,
  options: GenerateOptions,
  started: readonly Thread[],
): Lane[] {
  const { inputs } = plan;
  const lanes = lanesWorthwhile(inputs, options.threads ?? 1);
  const job = (index: number): JobOptions => ({
    name: `thread-${index}`,
    scratch,
    inPlace: keepCoresBusy(lanes, inputs.length),
    tableBytes: tableBytes(
      options.memoryBytes ?? DEFAULT_MEMORY_BYTES,
      lanes,
      inputs.some((input) => input.isInflated),
    ),
    reader: {
      filter: options.filter ?? {},
      originals: options.originals ?? false,
      distinct: plan.isDistinct,
      datetimeDigits: options.datetimeDigits ?? 0,
      queries: options.queries,
      skipBad: options.skipBad ?? false,
      maxLineBytes: options.maxLineBytes ?? MAX_LINE_BYTES,
      checkKeys: (options.keys ?? "auto") === "auto",
    },
  });
  // Where nothing has to be decompressed or handed out, this thread can do a share itself.
  const isFree = lanes === 1 || (inputs.length === 1 && inputs[0].isRanged === true);
  const elsewhere = Array.from({ length: isFree ? lanes - 1 : lanes }, (_, i) =>
    threadLane(started[i] ?? startLaneThread(), job(i + 1)),
  );
  for (const surplus of started.slice(elsewhere.length)) surplus.end().catch(() => undefined);
  return isFree ? [inlineLane(job(0)), ...elsewhere] : elsewhere;
}

/** How many lanes to read with, given how many threads may be busy. */
export function lanesWorthwhile(inputs: readonly IndexInput[], threads: number): number {
  const bytes = inputs.reduce((sum, input) => sum + (input.size ?? Number.POSITIVE_INFINITY), 0);
  const worthwhile = Math.min(threads, Math.ceil(bytes / BYTES_WORTH_A_THREAD));
  const [input] = inputs;
  const isStream = inputs.length === 1 && input.isInflated && input.isSequential === true;
  if (!isStream) return Math.max(1, worthwhile);
  // One thread is busy decompressing. It is the slowest where rows come with their keys, and a
  // container is not shared out at all.
  if (input.format.name === "captures") return 1;
  return Math.max(1, hasKeyColumn(input.format) ? Math.min(worthwhile, threads - 1) : worthwhile);
}

function hasKeyColumn(format: DetectedFormat): boolean {
  if (format.name === "cdxj") return format.keyedByUri !== true;
  if (format.name === "cdx") return format.columns.key !== -1;
  return format.name === "surts" || format.name === "map";
}
