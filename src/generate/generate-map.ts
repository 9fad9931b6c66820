import { joinBytes } from "../bytes/bytes.ts";
import { type Damage, type DamageLog, newDamageLog } from "../bytes/damage.ts";
import { MAX_LINE_BYTES } from "../bytes/lines.ts";
import { peek } from "../bytes/peek.ts";
import { MementoMapError, quote } from "../errors.ts";
import { detectFormat } from "../input/detect.ts";
import type { CaptureFilter } from "../input/filter.ts";
import type { DetectedFormat, InputFormat } from "../input/formats.ts";
import { linesOf } from "../input/stream-lines.ts";
import { RowReader } from "../input/row-reader.ts";
import { checkSignal, interruptibleChunks } from "../interruption.ts";
import { SizedHead } from "../ukvs/header.ts";
import { countDamage, type IndexCounts } from "./index-counts.ts";
import { KeyCounter } from "./key-counter.ts";
import { KeyTable } from "./key-table.ts";
import { type MapDescription, mapHeaders, MapRows } from "./map-rows.ts";
import { memorize, type MemoryRun, readerOf, RunMerge } from "./runs.ts";

export interface GenerateMapOptions extends SourceOptions {
  readonly filter?: CaptureFilter | undefined;
  /** Count captures of the same URI and time once; always done for logs and TimeMaps. */
  readonly distinct?: boolean | undefined;
  /** Count originals (distinct URIs) too. */
  readonly originals?: boolean | undefined;
  /** Digits of the datetime to split rows by, 0 (the default) to 14. */
  readonly datetimeDigits?: number | undefined;
  /** Count and skip unreadable lines and records, instead of failing. */
  readonly skipBad?: boolean | undefined;
  readonly description?: MapDescription | undefined;
}

/** A map made in memory. */
export interface GeneratedMap {
  /** The whole file: headers and rows. */
  readonly bytes: Uint8Array;
  readonly rows: number;
  readonly counts: IndexCounts;
  /** The first few unreadable places. */
  readonly damages: readonly Damage[];
}

const TABLE_BYTES = 64 * 2 ** 20;
/** Bytes used to detect a format. */
const HEAD_BYTES = 1 << 16;

/**
 * Generates a map from indexes, in memory: for browsers, tests and small archives.
 *
 * Reads every source once, sorted or not. Holds all keys; `generateFiles` of `mementomap/node` does
 * the same for any size in bounded memory, with the same rows.
 *
 * @throws MM_BAD_INPUT, MM_BAD_LINE with source and line, MM_LIMIT, MM_INTERRUPTED
 */
export async function generateMap(
  sources: Iterable<IndexSource>,
  options: GenerateMapOptions = {},
): Promise<GeneratedMap> {
  const { filter = {}, maxLineBytes = MAX_LINE_BYTES, skipBad = false } = options;
  checkSignal(options.signal);
  const open: OpenSource[] = [];
  for (const source of sources) open.push(await openSource(source, options));
  const keyOptions = {
    distinct: options.distinct === true || open.some(({ format }) => format.repeats === true),
    originals: options.originals ?? false,
    datetimeDigits: options.datetimeDigits ?? 0,
    queries: options.queries ?? false,
  };
  const runs: MemoryRun[] = [];
  const table = new KeyTable(TABLE_BYTES);
  const drain = (): void => table.drain((keys) => void runs.push(memorize(keys)));
  const counter = new KeyCounter(keyOptions, table, drain);
  const { counts } = counter;
  const reader = new RowReader(counter, { filter, skipBad, maxLineBytes });
  const damage = newDamageLog();
  for (const source of open) {
    await readSource(source, reader, options, skipBad ? damage : undefined);
  }
  countDamage(counts, damage);
  drain();
  const isSample = counts.samples > 0;
  const rows = new MapRows({ ...keyOptions, isSample });
  const merge = new RunMerge(runs.map((run) => readerOf(run)));
  while (merge.next()) rows.add(merge.key, merge.keyLength, merge.count);
  rows.end();
  const body = rows.take();
  const head = new SizedHead(mapHeaders({ ...options.description, isSample }, keyOptions));
  return {
    bytes: joinBytes([head.bytes({ bytes: body.length, records: rows.rows }), body]),
    rows: rows.rows,
    counts,
    damages: damage.first,
  };
}

/** An index to read: its bytes, decompressed, and a name for errors. */
export interface IndexSource {
  readonly name: string;
  readonly chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

export interface SourceOptions {
  readonly format?: InputFormat | undefined;
  /** Keep queries: a row for each URI, in a map with queries. */
  readonly queries?: boolean | undefined;
  /** Which archive to take from logs and TimeMaps of aggregators. */
  readonly archive?: string | undefined;
  readonly maxLineBytes?: number | undefined;
  /** When aborted, the work fails with MM_INTERRUPTED. */
  readonly signal?: AbortSignal | undefined;
}

/** A source whose format was detected. */
interface OpenSource {
  readonly name: string;
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly format: DetectedFormat;
}

/**
 * Detects the format of a source by its first 64 KiB.
 *
 * @throws MM_BAD_INPUT if no format matches.
 */
export async function openSource(
  { name, chunks: given }: IndexSource,
  { format = "auto", signal }: SourceOptions,
): Promise<OpenSource> {
  const { head, chunks } = await peek(interruptibleChunks(given, signal), HEAD_BYTES);
  return { name, chunks, format: detectFormat(head, format, name) };
}

/**
 * Hands all rows of a source to a reader. Holds one chunk and the longest line.
 *
 * @param damage records broken records, which are then skipped.
 * @throws MM_BAD_LINE and MM_LIMIT with source and line; MM_BAD_INPUT
 */
export async function readSource(
  { name: source, chunks, format }: OpenSource,
  reader: RowReader,
  { maxLineBytes = MAX_LINE_BYTES, archive }: SourceOptions,
  damage?: DamageLog,
): Promise<void> {
  reader.startPart(format);
  const options = { source, maxLineBytes, archive, damage };
  const fault = await reader.readBlocks(linesOf(chunks, format, options));
  if (fault === undefined) return;
  throw new MementoMapError(fault.code, `${fault.message}: ${quote(fault.line)}`, {
    position: { source, line: fault.linesBefore + 1 },
  });
}
