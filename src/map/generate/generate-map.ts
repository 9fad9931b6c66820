import { joinBytes } from "../../bytes/bytes.ts";
import { MAX_LINE_BYTES } from "../../bytes/lines.ts";
import type { Damage } from "../../bytes/damage.ts";
import { newDamageLog } from "../../bytes/damage.ts";
import type { CaptureFilter } from "../../input/filter.ts";
import { SizedHead } from "../../ukvs/header.ts";
import type { IndexCounts } from "./index-counts.ts";
import { countDamage } from "./index-counts.ts";
import { IndexReader } from "./index-reader.ts";
import { KeyTable } from "./key-table.ts";
import type { MapDescription } from "./map-headers.ts";
import { mapHeaders } from "./map-headers.ts";
import { MapRows } from "./map-rows.ts";
import { mergeRuns } from "./merge-runs.ts";
import type { IndexSource, OpenSource, SourceOptions } from "./open-source.ts";
import { openSource, readSource } from "./open-source.ts";
import type { RunIndex } from "./run.ts";
import { memoryRun, RunReader, writeRun } from "./run.ts";
import { checkSignal } from "../../interruption.ts";

export type { IndexSource } from "./open-source.ts";

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
  const readerOptions = {
    distinct: options.distinct === true || open.some(({ format }) => format.repeats === true),
    filter: options.filter ?? {},
    originals: options.originals ?? false,
    datetimeDigits: options.datetimeDigits ?? 0,
    skipBad: options.skipBad ?? false,
    maxLineBytes: options.maxLineBytes ?? MAX_LINE_BYTES,
  };
  const reader = new IndexReader(readerOptions, table, drain);
  const damage = newDamageLog();
  const noted = readerOptions.skipBad ? damage : undefined;
  for (const source of open) await readSource(source, reader, options, noted);
  countDamage(reader.counts, damage);
  drain();
  const isSample = reader.counts.samples > 0;
  const description = { ...options.description, isSample };
  const blocks: Uint8Array[] = [];
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
  const head = new SizedHead(mapHeaders(description, readerOptions.datetimeDigits));
  const bytes = blocks.reduce((sum, block) => sum + block.length, 0);
  return {
    bytes: joinBytes([head.bytes({ bytes, records: rows.rows }), ...blocks]),
    rows: rows.rows,
    counts: reader.counts,
    damages: damage.first,
  };
}
