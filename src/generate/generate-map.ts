import { joinBytes } from "../bytes/bytes.ts";
import { MAX_LINE_BYTES } from "../bytes/lines.ts";
import { type Damage, type DamageLog, newDamageLog } from "../bytes/damage.ts";
import type { CaptureFilter } from "../input/filter.ts";
import { SizedHead } from "../ukvs/header.ts";
import { countDamage, type IndexCounts } from "./index-counts.ts";
import { KeyCounter } from "./key-counter.ts";
import { KeyTable } from "./key-table.ts";
import { type MapDescription, mapHeaders, MapRows } from "./map-rows.ts";
import { memoryRun, mergeRuns, type RunIndex, RunReader, writeRun } from "./runs.ts";
import { checkSignal, interruptibleChunks } from "../interruption.ts";
import { peek } from "../bytes/peek.ts";
import { MementoMapError, quote } from "../errors.ts";
import { detectFormat } from "../input/detect.ts";
import type { DetectedFormat, InputFormat } from "../input/formats.ts";
import { readStream } from "../input/read-stream.ts";
import { RowReader } from "../input/row-reader.ts";

export interface GenerateMapOptions extends SourceOptions {
  readonly filter?: CaptureFilter | undefined;
  /** Count captures of the same URI and time once; always done for logs and TimeMaps. */
  readonly distinct?: boolean | undefined;
  /** Count originals (distinct URIs) too. */
  readonly originals?: boolean | undefined;
  /** Digits of the datetime to split rows by, 0 (the default) to 14. */
  readonly datetimeDigits?: number | undefined;
  /** Count and leave out lines and records that cannot be read, instead of failing. */
  readonly skipBad?: boolean | undefined;
  readonly description?: MapDescription | undefined;
}

/** A map made in memory. */
export interface GeneratedMap {
  /** The whole file: headers and rows. */
  readonly bytes: Uint8Array;
  readonly rows: number;
  readonly counts: IndexCounts;
  /** The first few places that could not be read. */
  readonly damages: readonly Damage[];
}

const TABLE_BYTES = 64 * 2 ** 20;

/**
 * Makes a map from indexes, in memory: for browsers, tests and small archives.
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
  checkSignal(options.signal);
  const runs: { index: RunIndex; bytes: Uint8Array }[] = [];
  const table = new KeyTable(TABLE_BYTES);
  const drain = (): void => {
    const parts: Uint8Array[] = [];
    table.drain((keys) => {
      const index = writeRun(keys, (chunk) => void parts.push(chunk.slice()));
      runs.push({ index, bytes: joinBytes(parts) });
    });
  };
  const open: OpenSource[] = [];
  for (const source of sources) open.push(await openSource(source, options));
  const keyOptions = {
    distinct: options.distinct === true || open.some(({ format }) => format.repeats === true),
    originals: options.originals ?? false,
    datetimeDigits: options.datetimeDigits ?? 0,
    queries: options.queries ?? false,
  };
  const { filter = {}, maxLineBytes = MAX_LINE_BYTES, skipBad = false } = options;
  const counter = new KeyCounter(keyOptions, table, drain);
  const { counts } = counter;
  const reader = new RowReader(counter, { filter, skipBad, maxLineBytes });
  const damage = newDamageLog();
  for (const source of open)
    await readSource(source, reader, options, skipBad ? damage : undefined);
  countDamage(counts, damage);
  drain();
  const isSample = counts.samples > 0;
  const description = { ...options.description, isSample };
  const blocks: Uint8Array[] = [];
  const rows = new MapRows({ ...keyOptions, isSample }, (block) => {
    blocks.push(block.slice());
  });
  mergeRuns(
    runs.map(({ index, bytes }) => new RunReader(index, memoryRun(bytes))),
    {},
    (key, keyLength, count) => {
      rows.add(key, keyLength, count);
    },
  );
  rows.end();
  const head = new SizedHead(mapHeaders(description, keyOptions));
  const bytes = blocks.reduce((sum, block) => sum + block.length, 0);
  return {
    bytes: joinBytes([head.bytes({ bytes, records: rows.rows }), ...blocks]),
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
  /** Ends the work with MM_INTERRUPTED when it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

/** A source whose format was detected. */
export interface OpenSource {
  readonly name: string;
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly format: DetectedFormat;
}

const HEAD_BYTES = 1 << 16;

/**
 * Detects the format of a source. Holds its first 64 KiB.
 *
 * @throws MM_BAD_INPUT when no format fits.
 */
export async function openSource(source: IndexSource, options: SourceOptions): Promise<OpenSource> {
  const { head, chunks } = await peek(
    interruptibleChunks(source.chunks, options.signal),
    HEAD_BYTES,
  );
  const { name } = source;
  return { name, chunks, format: detectFormat(head, options.format ?? "auto", name) };
}

/**
 * Hands all rows of a source to a reader. Holds one chunk and the longest line.
 *
 * @param damage where to note records that are broken, and to go on with the next.
 * @throws MM_BAD_LINE and MM_LIMIT with source and line; MM_BAD_INPUT
 */
export async function readSource(
  { name, chunks, format }: OpenSource,
  reader: RowReader,
  { maxLineBytes = MAX_LINE_BYTES, archive }: SourceOptions,
  damage?: DamageLog,
): Promise<void> {
  reader.startPart(format);
  const options = { source: name, maxLineBytes, archive, damage };
  const fault = await readStream(chunks, format, reader, options);
  if (fault === undefined) return;
  throw new MementoMapError(fault.code, `${fault.message}: ${quote(fault.line)}`, {
    position: { source: name, line: fault.linesBefore + 1 },
  });
}
