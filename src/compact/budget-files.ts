import { formatAmount } from "../format.ts";
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { countLines } from "../bytes/bytes.ts";
import { BudgetCompaction, type ReadMap } from "./budget-compaction.ts";
import { type MissList, readMissList } from "./misses.ts";
import type { Plan } from "./roll-up-plan.ts";
import type { Prior } from "./prior.ts";
import { MAX_LINE_BYTES } from "../bytes/lines.ts";
import { ioError, MementoMapError, systemCode } from "../errors.ts";
import { MEMGATOR_LINE } from "../input/line-kind.ts";
import { memgatorMisses } from "../input/memgator-holdings.ts";
import { SizedHead } from "../ukvs/header.ts";
import { fileChunks, type FileSource, openInput } from "../files/input-file.ts";
import { peekHead } from "../input/stream-lines.ts";
import { type MapStreams, withMapSources } from "../lookup/map-sources.ts";
import type { MapOutput } from "../maps/map-output.ts";
import { ScratchSpill, withTempDir } from "../files/scratch.ts";
import type { KeyOptions } from "../surt/key.ts";
import { headOf } from "./compact-files.ts";

/** How large a map may be; the smallest of what is given counts. */
export interface Budget {
  /** Lines, headers included. */
  readonly maxLines?: number | undefined;
  /** Bytes after gzip. */
  readonly maxBytes?: number | undefined;
  /** Lines for each original; or for each row of the map if `originals` is not known. */
  readonly relativeCost?: number | undefined;
  readonly originals?: number | undefined;
}

export interface BudgetFileOptions {
  readonly budget: Budget;
  /** A list of lookups that missed, URIs or SURTs, or the log of a MemGator. */
  readonly misses?: string | undefined;
  /** Whose misses to take from a log. */
  readonly archive?: string | undefined;
  readonly allowsExclusions?: boolean | undefined;
  /** The folder for scratch files. */
  readonly scratch?: string | undefined;
  readonly streams: MapStreams;
  /** Told how many bytes of the map were read since the last call; it is read twice or more. */
  readonly onRead?: ((bytes: number) => void) | undefined;
}

export interface BudgetFileSummary {
  readonly rowsRead: number;
  readonly rows: number;
  readonly rollUps: number;
  readonly exclusions: number;
  /** Bytes of the new map, before compression. */
  readonly bytes: number;
  /** Bytes after gzip, where the budget is in bytes. */
  readonly gzipBytes: number | undefined;
  /** What a row is worth, in expected wrong answers. */
  readonly price: number;
  readonly prior: Prior;
  /** Lines of the misses that were left out, because they are neither URIs nor SURTs. */
  readonly oddLines: number;
}

/** The share of a budget in bytes that may stay unused. */
const MAX_SLACK = 0.02;
/** Maps made in search of a size in bytes. */
const MAX_TRIES = 8;
/** What a first guess takes a row to need after gzip; the tries correct it. */
const GUESSED_ROW_BYTES = 16;
const READ_BYTES = 1 << 20;
/** Enough to tell a log by its first line. */
const LOG_HEAD_BYTES = 64;

/**
 * Makes the map of a given size that is expected to answer the fewest lookups wrongly.
 *
 * Reads the map twice, or once more for each try where the size is in bytes. What cannot be read
 * twice is first written to a scratch file. Memory: see `BudgetCompaction`.
 *
 * @throws as BudgetCompaction, and MM_IO, MM_BAD_INPUT, MM_INTERRUPTED
 */
export async function compactFileToBudget(
  path: string,
  output: MapOutput,
  options: BudgetFileOptions,
): Promise<BudgetFileSummary> {
  const { streams, scratch: parent } = options;
  return withMapSources([path], { io: streams, tmp: parent }, ([source]) =>
    withTempDir({ parent, interrupt: streams.interrupt }, async (scratch) => {
      const misses =
        options.misses === undefined
          ? undefined
          : await readMisses(
              { path: options.misses, archive: options.archive },
              streams,
              (await headOf(source)).headers.fields,
            );
      const spill = new ScratchSpill(join(scratch, "nodes"));
      try {
        const compaction = await BudgetCompaction.survey(reading(source, options), {
          source: source.name,
          misses,
          allowsExclusions: options.allowsExclusions,
          spill,
        });
        const summary = await writeWithin(compaction, join(scratch, "map"), output, options);
        return { ...summary, oddLines: misses?.oddLines ?? 0 };
      } finally {
        spill.close();
      }
    }),
  );
}

/** Where lookups that missed are listed. */
export interface MissesFile {
  readonly path: string;
  /** Whose misses to take from the log of an aggregator; needed where it has several archives. */
  readonly archive?: string | undefined;
}

/**
 * Reads the lookups that missed, from a list of URIs or SURTs, or from the log of a MemGator; holds
 * them all.
 *
 * @param keys whether they keep their queries, for maps with queries
 * @throws MM_BAD_INPUT for what is neither, or has no miss; MM_USAGE for an archive that a log lacks
 */
export async function readMisses(
  { path, archive }: MissesFile,
  streams: MapStreams,
  keys: KeyOptions = {},
): Promise<MissList> {
  const input = await openInput(path, streams, { signal: streams.interrupt?.signal });
  const { head, chunks } = await peekHead(input.chunks);
  const isLog = MEMGATOR_LINE.test(new TextDecoder().decode(head.subarray(0, LOG_HEAD_BYTES)));
  if (!isLog) return readMissList(chunks, input.name, keys);
  const options = { archive, source: input.name, maxLineBytes: MAX_LINE_BYTES };
  return readMissList(memgatorMisses(chunks, options), input.name, keys);
}

function reading(source: FileSource, { streams, onRead }: BudgetFileOptions): ReadMap {
  return () => fileChunks(source, streams.interrupt?.signal, onRead);
}

async function writeWithin(
  compaction: BudgetCompaction,
  scratch: string,
  output: MapOutput,
  options: BudgetFileOptions,
): Promise<Omit<BudgetFileSummary, "oddLines">> {
  const { budget } = options;
  const maxRows = rowsWithin(budget, compaction);
  let plan: Plan;
  let gzipBytes: number | undefined;
  if (budget.maxBytes === undefined) {
    plan = compaction.plan(maxRows);
    await output.writeHead(compaction.headers);
    for await (const block of compaction.rows(plan)) await output.write(block);
  } else {
    const written = await largestWithin(compaction, scratch, maxRows, budget.maxBytes);
    ({ plan, gzipBytes } = written);
    await output.writeHead(compaction.headers);
    await output.copy(written.file, written.rows);
  }
  return {
    rowsRead: compaction.rowsRead,
    rows: plan.rows,
    rollUps: plan.chosen.length,
    exclusions: plan.excluded.length,
    bytes: output.headBytes + output.size.bytes,
    gzipBytes,
    price: plan.price,
    prior: compaction.prior,
  };
}

/** The rows that the budget leaves, without the headers. */
export function rowsWithin(budget: Budget, compaction: BudgetCompaction): number {
  const { maxLines = Infinity, relativeCost = Infinity } = budget;
  const lines = Math.min(
    maxLines,
    Math.floor(relativeCost * (budget.originals ?? compaction.rowsRead)),
  );
  const headerLines = new SizedHead(compaction.headers).lines;
  if (lines < Infinity && lines <= headerLines) {
    throw new MementoMapError(
      "MM_BUDGET",
      `a budget of ${formatAmount(lines, "line")} leaves none for rows: the map has ${formatAmount(headerLines, "header")}`,
    );
  }
  return lines - headerLines;
}

interface Written {
  readonly plan: Plan;
  readonly rows: number;
  readonly gzipBytes: number;
  /** The rows, without headers. */
  readonly file: string;
}

/** Writes rows to scratch files until a map of them is at most so large after gzip, and nearly so. */
async function largestWithin(
  compaction: BudgetCompaction,
  scratch: string,
  maxRows: number,
  maxBytes: number,
): Promise<Written> {
  let best: Written | undefined;
  const least = Math.min(compaction.leastRows, compaction.rowsRead);
  // The rows known to fit, and known not to.
  let [fits, exceeds] = [least - 1, Math.min(maxRows, compaction.rowsRead) + 1];
  const guess = Math.ceil(maxBytes / GUESSED_ROW_BYTES);
  let rows = Math.min(exceeds - 1, Math.max(least, guess));
  for (let attempt = 0; attempt < MAX_TRIES && fits + 1 < exceeds; attempt++) {
    const written = await writeScratch(compaction, rows, `${scratch}-${attempt}`);
    const { gzipBytes } = written;
    if (gzipBytes <= maxBytes) {
      best = written;
      fits = rows;
      if (gzipBytes >= maxBytes * (1 - MAX_SLACK)) break;
    } else {
      exceeds = rows;
    }
    const scaled = Math.floor((rows * maxBytes * (1 - MAX_SLACK / 2)) / gzipBytes);
    rows = scaled > fits && scaled < exceeds ? scaled : Math.floor((fits + exceeds) / 2);
  }
  if (best !== undefined) return best;
  const smallest = await writeScratch(compaction, Math.min(least, maxRows), `${scratch}-least`);
  if (smallest.gzipBytes <= maxBytes) return smallest;
  throw new MementoMapError(
    "MM_BUDGET",
    `the map cannot be made smaller than ${smallest.gzipBytes} bytes after gzip; ` +
      `allow that many instead of ${maxBytes}`,
  );
}

async function writeScratch(
  compaction: BudgetCompaction,
  maxRows: number,
  file: string,
): Promise<Written> {
  const plan = compaction.plan(maxRows);
  let rows = 0;
  let bytes = 0;
  try {
    const target = await open(file, "wx");
    try {
      for await (const block of compaction.rows(plan)) {
        rows += countLines(block);
        bytes += block.length;
        await target.writeFile(block);
      }
    } finally {
      await target.close();
    }
    const head = new SizedHead(compaction.headers).bytes({ bytes, records: rows });
    return { plan, rows, gzipBytes: await gzippedBytes(head, file), file };
  } catch (error) {
    throw systemCode(error) === undefined ? error : ioError(error, file);
  }
}

/** The size of a map as an output whose name ends in .gz has it. */
async function gzippedBytes(head: Uint8Array, rows: string): Promise<number> {
  let bytes = 0;
  const map = async function* chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    yield head;
    yield* createReadStream(rows, { highWaterMark: READ_BYTES });
  };
  await pipeline(map, createGzip({ chunkSize: READ_BYTES }), async (compressed) => {
    for await (const block of compressed) bytes += (block as Uint8Array).length; // not in object mode
  });
  return bytes;
}
