import { formatAmount } from "../format.ts";
import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { BudgetCompaction } from "./budget-compaction.ts";
import { type MissList, readMissList } from "./misses.ts";
import type { Plan } from "./roll-up-plan.ts";
import type { Prior } from "./prior.ts";
import { MAX_LINE_BYTES } from "../bytes/lines.ts";
import { MementoMapError } from "../errors.ts";
import type { Interrupt } from "../interruption.ts";
import { MEMGATOR_LINE } from "../input/line-kind.ts";
import { memgatorMisses } from "../input/memgator-holdings.ts";
import { SizedHead } from "../ukvs/header.ts";
import { fileChunks, openInput } from "../files/input-file.ts";
import { peekHead } from "../input/stream-lines.ts";
import { type MapStreams, withMapSources } from "../lookup/map-sources.ts";
import { type MapOutput, withMapOutput } from "../maps/map-output.ts";
import { ScratchSpill, withTempDir } from "../files/scratch.ts";
import type { KeyOptions } from "../surt/key.ts";
import { headOf } from "./compact-files.ts";

/** The maximum size of a map; the strictest limit applies. */
export interface Budget {
  /** Lines, headers included. */
  readonly maxLines?: number | undefined;
  /** Bytes after gzip. */
  readonly maxBytes?: number | undefined;
  /** Lines per original, or per row of the map if `originals` is unknown. */
  readonly relativeCost?: number | undefined;
  readonly originals?: number | undefined;
}

export interface BudgetFileOptions {
  readonly budget: Budget;
  /** A list of missed lookups, URIs or SURTs, or a MemGator log. */
  readonly misses?: string | undefined;
  /** The archive whose misses to read from a log. */
  readonly archive?: string | undefined;
  readonly allowsExclusions?: boolean | undefined;
  /** The folder for scratch files. */
  readonly scratch?: string | undefined;
  readonly streams: MapStreams;
  /** Called with the bytes of the map read since the last call; it is read at least twice. */
  readonly onRead?: ((bytes: number) => void) | undefined;
}

export interface BudgetFileSummary {
  readonly rowsRead: number;
  readonly rows: number;
  readonly rollUps: number;
  readonly exclusions: number;
  /** Bytes of the new map, before compression. */
  readonly bytes: number;
  /** Bytes after gzip, if the budget is in bytes. */
  readonly gzipBytes: number | undefined;
  /** The price of a row, in expected wrong answers. */
  readonly price: number;
  readonly prior: Prior;
  /** Lines of the misses skipped because they are neither URIs nor SURTs. */
  readonly oddLines: number;
}

/** The fraction of a budget in bytes that may stay unused. */
const MAX_SLACK = 0.02;
/** Maps made in search of a size in bytes. */
const MAX_TRIES = 8;
/** Initial estimate of the bytes of a row after gzip; later tries correct it. */
const GUESSED_ROW_BYTES = 16;
/** Enough to recognize a log by its first line. */
const LOG_HEAD_BYTES = 64;

/**
 * Compacts a map to a given size with the fewest expected false positives.
 *
 * Reads the map twice, and once more per try if the size is in bytes. Inputs that cannot be read twice
 * are first written to a scratch file. Memory: see `BudgetCompaction`.
 *
 * @throws as BudgetCompaction, and MM_IO, MM_BAD_INPUT, MM_INTERRUPTED
 */
export async function compactFileToBudget(
  path: string,
  output: MapOutput,
  options: BudgetFileOptions,
): Promise<BudgetFileSummary> {
  const { budget, streams, scratch: parent, allowsExclusions, onRead } = options;
  const { interrupt } = streams;
  return withMapSources([path], { io: streams, tmp: parent }, ([source]) =>
    withTempDir({ parent, interrupt }, async (scratch) => {
      const { fields } = (await headOf(source)).headers;
      const misses =
        options.misses === undefined
          ? undefined
          : await readMisses(options.misses, options, fields);
      const read = (): AsyncIterable<Uint8Array> => fileChunks(source, interrupt?.signal, onRead);
      const spill = new ScratchSpill(join(scratch, "nodes"));
      const about = { source: source.name, misses, allowsExclusions, spill };
      try {
        const compaction = await BudgetCompaction.survey(read, about);
        const maxRows = rowsWithin(budget, compaction);
        const { plan, gzipBytes } =
          budget.maxBytes === undefined
            ? { plan: compaction.plan(maxRows), gzipBytes: undefined }
            : await largestWithin(compaction, maxRows, budget.maxBytes, { scratch, interrupt });
        await writePlan(compaction, plan, output);
        return {
          rowsRead: compaction.rowsRead,
          rows: plan.rows,
          rollUps: plan.chosen.length,
          exclusions: plan.excluded.length,
          bytes: output.headBytes + output.size.bytes,
          gzipBytes,
          price: plan.price,
          prior: compaction.prior,
          oddLines: misses?.oddLines ?? 0,
        };
      } finally {
        spill.close();
      }
    }),
  );
}

/**
 * Reads missed lookups from a list of URIs or SURTs, or from a MemGator log; holds all of them.
 *
 * @param options.archive whose misses to read from the log; required if it has several archives.
 * @param keys whether keys include queries, for maps with queries.
 * @throws MM_BAD_INPUT for other files, or without misses; MM_USAGE for an archive that the log lacks
 */
export async function readMisses(
  path: string,
  { archive, streams }: Pick<BudgetFileOptions, "archive" | "streams">,
  keys: KeyOptions = {},
): Promise<MissList> {
  const input = await openInput(path, streams, { signal: streams.interrupt?.signal });
  const { head, chunks } = await peekHead(input.chunks);
  const isLog = MEMGATOR_LINE.test(new TextDecoder().decode(head.subarray(0, LOG_HEAD_BYTES)));
  const log = { archive, source: input.name, maxLineBytes: MAX_LINE_BYTES };
  return readMissList(isLog ? memgatorMisses(chunks, log) : chunks, input.name, keys);
}

async function writePlan(
  compaction: BudgetCompaction,
  plan: Plan,
  output: MapOutput,
): Promise<void> {
  await output.writeHead(compaction.headers);
  for await (const block of compaction.rows(plan)) await output.write(block);
}

/** The number of rows within the budget, without the headers. */
function rowsWithin(budget: Budget, compaction: BudgetCompaction): number {
  const { maxLines = Infinity, relativeCost = Infinity } = budget;
  const { originals = compaction.rowsRead } = budget;
  const lines = Math.min(maxLines, Math.floor(relativeCost * originals));
  const headerLines = new SizedHead(compaction.headers).lines;
  if (lines > headerLines || lines === Infinity) return lines - headerLines;
  throw new MementoMapError(
    "MM_BUDGET",
    `a budget of ${formatAmount(lines, "line")} leaves none for rows: the map has ${formatAmount(headerLines, "header")}`,
  );
}

interface SizedPlan {
  readonly plan: Plan;
  readonly gzipBytes: number;
}

interface SearchOptions {
  readonly scratch: string;
  readonly interrupt: Interrupt | undefined;
}

/** Plans maps until one nearly fills the budget after gzip. */
async function largestWithin(
  compaction: BudgetCompaction,
  maxRows: number,
  maxBytes: number,
  options: SearchOptions,
): Promise<SizedPlan> {
  let best: SizedPlan | undefined;
  const least = Math.min(compaction.leastRows, compaction.rowsRead);
  // Numbers of rows known to fit, and known not to.
  let [fits, exceeds] = [least - 1, Math.min(maxRows, compaction.rowsRead) + 1];
  const guess = Math.ceil(maxBytes / GUESSED_ROW_BYTES);
  let rows = Math.min(exceeds - 1, Math.max(least, guess));
  for (let attempt = 0; attempt < MAX_TRIES && fits + 1 < exceeds; attempt++) {
    const sized = await sizedPlan(compaction, rows, options);
    const { gzipBytes } = sized;
    if (gzipBytes <= maxBytes) {
      best = sized;
      fits = rows;
      if (gzipBytes >= maxBytes * (1 - MAX_SLACK)) break;
    } else {
      exceeds = rows;
    }
    const scaled = Math.floor((rows * maxBytes * (1 - MAX_SLACK / 2)) / gzipBytes);
    rows = scaled > fits && scaled < exceeds ? scaled : Math.floor((fits + exceeds) / 2);
  }
  if (best !== undefined) return best;
  const smallest = await sizedPlan(compaction, Math.min(least, maxRows), options);
  if (smallest.gzipBytes <= maxBytes) return smallest;
  throw new MementoMapError(
    "MM_BUDGET",
    `the map cannot be made smaller than ${smallest.gzipBytes} bytes after gzip; ` +
      `allow that many instead of ${maxBytes}`,
  );
}

/** Plans a map of at most this many rows, and writes it to a scratch file to measure its size after gzip. */
async function sizedPlan(
  compaction: BudgetCompaction,
  maxRows: number,
  { scratch: tmp, interrupt }: SearchOptions,
): Promise<SizedPlan> {
  const plan = compaction.plan(maxRows);
  const path = join(tmp, "map.gz");
  const streams = { stdout: process.stdout, interrupt, isScratch: true, force: true, tmp };
  await withMapOutput(path, streams, (output) => writePlan(compaction, plan, output));
  const { size } = await stat(path);
  await rm(path);
  return { plan, gzipBytes: size };
}
