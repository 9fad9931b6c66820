import { joinBytes } from "../bytes/join.ts";
import { LF } from "../bytes/ascii.ts";
import { peek } from "../bytes/peek.ts";
import { MAX_LINE_BYTES, wholeLines } from "../bytes/whole-lines.ts";
import { MementoMapError, quote } from "../errors.ts";
import { containerRows } from "../input/container-rows.ts";
import type { DetectedFormat, InputFormat, KeyTrust } from "../input/detect.ts";
import { detectFormat } from "../input/detect.ts";
import type { CaptureFilter } from "../input/filter.ts";
import { trustedFormat } from "../input/key-check.ts";
import type { IndexCounts } from "./index-counts.ts";
import { IndexReader } from "./index-reader.ts";
import { KeyTable } from "./key-table.ts";
import type { MapDescription } from "./map-headers.ts";
import { mapHeaders } from "./map-headers.ts";
import { MapRows } from "./map-rows.ts";
import { mergeRuns } from "./merge-runs.ts";
import type { RunIndex } from "./run.ts";
import { memoryRun, RunReader, writeRun } from "./run.ts";

/** An index to read: its bytes, decompressed, and a name for errors. */
export interface IndexSource {
  readonly name: string;
  readonly chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

export interface GenerateMapOptions {
  readonly format?: InputFormat | undefined;
  readonly filter?: CaptureFilter | undefined;
  /** Whether to trust key columns; by default only where a sample agrees with the URIs. */
  readonly keys?: KeyTrust | undefined;
  /** Which archive to take from logs and TimeMaps of aggregators. */
  readonly archive?: string | undefined;
  /** Count captures of the same URI and time once; always done for logs and TimeMaps. */
  readonly distinct?: boolean | undefined;
  /** Count originals (distinct URIs) too. */
  readonly originals?: boolean | undefined;
  /** Digits of the datetime to split rows by, 0 (the default) to 14. */
  readonly datetimeDigits?: number | undefined;
  /** Count and leave out lines that cannot be read, instead of failing. */
  readonly skipBad?: boolean | undefined;
  readonly description?: MapDescription | undefined;
  readonly maxLineBytes?: number | undefined;
}

/** A map made in memory. */
export interface GeneratedMap {
  /** The whole file: headers and rows. */
  readonly bytes: Uint8Array;
  readonly rows: number;
  readonly counts: IndexCounts;
}

const TABLE_BYTES = 64 * 2 ** 20;
const HEAD_BYTES = 1 << 16;

/**
 * Makes a map from indexes, in memory: for browsers, tests and small archives.
 *
 * Reads every source once, sorted or not. Holds all keys; `generateFiles` of `mementomap/node` does
 * the same for any size in bounded memory, with the same rows.
 *
 * @throws MM_BAD_INPUT, MM_BAD_LINE with source and line, MM_LIMIT
 */
export async function generateMap(
  sources: Iterable<IndexSource>,
  options: GenerateMapOptions = {},
): Promise<GeneratedMap> {
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
  const readerOptions = {
    distinct: options.distinct === true || open.some(({ format }) => format.repeats === true),
    filter: options.filter ?? {},
    originals: options.originals ?? false,
    datetimeDigits: options.datetimeDigits ?? 0,
    skipBad: options.skipBad ?? false,
    maxLineBytes: options.maxLineBytes ?? MAX_LINE_BYTES,
  };
  const reader = new IndexReader(readerOptions, table, drain);
  for (const source of open) await readSource(source, reader, options);
  drain();
  const isSample = reader.counts.samples > 0;
  const description = { ...options.description, isSample };
  const blocks = [mapHeaders(description, readerOptions.datetimeDigits)];
  const rows = new MapRows({ ...readerOptions, isSample }, (block) => {
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
  return { bytes: joinBytes(blocks), rows: rows.rows, counts: reader.counts };
}

/** A source whose format has been made out. */
interface OpenSource {
  readonly name: string;
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly format: DetectedFormat;
}

async function openSource(source: IndexSource, options: GenerateMapOptions): Promise<OpenSource> {
  const { head, chunks } = await peek(source.chunks, HEAD_BYTES);
  const format = detectFormat(head, options.format ?? "auto", source.name);
  const sample = head.length < HEAD_BYTES ? head : head.subarray(0, head.lastIndexOf(LF) + 1);
  const name = source.name;
  return { name, chunks, format: trustedFormat(format, sample, options.keys ?? "auto") };
}

async function readSource(
  { name, chunks, format }: OpenSource,
  reader: IndexReader,
  options: GenerateMapOptions,
): Promise<void> {
  const maxLineBytes = options.maxLineBytes ?? MAX_LINE_BYTES;
  const { archive } = options;
  reader.startPart(format);
  const rows = containerRows(chunks, format, { source: name, maxLineBytes, archive });
  const linesRead = (): number => reader.partLines;
  for await (const lines of wholeLines(rows, name, maxLineBytes, linesRead)) {
    const fault = reader.readLines(lines, 0, lines.length);
    if (fault === undefined) continue;
    throw new MementoMapError(fault.code, `${fault.message}: ${quote(fault.line)}`, {
      position: { source: name, line: fault.linesBefore + 1 },
    });
  }
}
