import { stat } from "node:fs/promises";
import { MAX_LINE_BYTES } from "../../bytes/lines.ts";
import type { DetectedFormat } from "../../input/detect.ts";
import type { IndexInput } from "../../input/index-input.ts";
import { keepCoresBusy, type Thread } from "../../threads/thread.ts";
import type { GenerateOptions } from "./generate-files.ts";
import type { JobOptions } from "./job.ts";
import type { Lane } from "./lane.ts";
import { InlineLane, startLaneThread, ThreadLane } from "./lane.ts";
import { DEFAULT_MEMORY_BYTES, tableBytes } from "./memory.ts";
import type { GeneratePlan } from "./plan.ts";

/** A second thread costs more than it gives on less than this. */
const BYTES_WORTH_A_THREAD = 8 * 2 ** 20;

/** Starts threads that files of this size are worth for sure. */
export async function earlyThreads(
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
export function openLanes(
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
      skipBad: options.skipBad ?? false,
      maxLineBytes: options.maxLineBytes ?? MAX_LINE_BYTES,
      checkKeys: (options.keys ?? "auto") === "auto",
    },
  });
  // Where nothing has to be decompressed or handed out, this thread can do a share itself.
  const isFree = lanes === 1 || (inputs.length === 1 && inputs[0].isRanged === true);
  const elsewhere = Array.from(
    { length: isFree ? lanes - 1 : lanes },
    (_, i) => new ThreadLane(started[i] ?? startLaneThread(), job(i + 1)),
  );
  for (const surplus of started.slice(elsewhere.length)) surplus.end().catch(() => undefined);
  return isFree ? [new InlineLane(job(0)), ...elsewhere] : elsewhere;
}

/** How many lanes to read with, of so many threads that may be busy. */
export function lanesWorthwhile(inputs: readonly IndexInput[], threads: number): number {
  const bytes = inputs.reduce((sum, input) => sum + (input.size ?? Number.POSITIVE_INFINITY), 0);
  const worthwhile = Math.min(threads, Math.ceil(bytes / BYTES_WORTH_A_THREAD));
  const [input] = inputs;
  const isStream = inputs.length === 1 && input.isInflated && input.isSequential === true;
  if (!isStream) return Math.max(1, worthwhile);
  // One thread is busy decompressing. It is the slowest where rows come with their keys, and a
  // container is not shared out at all.
  if (input.format.container !== undefined) return 1;
  return Math.max(1, hasKeyColumn(input.format) ? Math.min(worthwhile, threads - 1) : worthwhile);
}

function hasKeyColumn(format: DetectedFormat): boolean {
  if (format.name === "cdxj") return format.keyedByUri !== true;
  if (format.name === "cdx") return format.columns.key !== -1;
  return format.name === "surts" || format.name === "map";
}
