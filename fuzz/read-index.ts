import { joinBytes } from "../src/bytes/bytes.ts";
import { newDamageLog } from "../src/bytes/damage.ts";
import type { CaptureFilter } from "../src/input/filter.ts";
import type { InputFormat } from "../src/input/formats.ts";
import { RowReader } from "../src/input/row-reader.ts";
import { countDamage, type IndexCounts } from "../src/generate/index-counts.ts";
import { KeyCounter } from "../src/generate/key-counter.ts";
import { KeyTable } from "../src/generate/key-table.ts";
import { openSource, readSource } from "../src/generate/generate-map.ts";
import { mapHeaders, MapRows } from "../src/generate/map-rows.ts";
import { headerText } from "../src/ukvs/header.ts";
import { latin1, Violation } from "./check.ts";

export interface ReadIndexOptions {
  readonly format: InputFormat;
  readonly archive?: string | undefined;
  readonly filter?: CaptureFilter | undefined;
  readonly skipBad?: boolean | undefined;
  readonly originals?: boolean | undefined;
  readonly distinct?: boolean | undefined;
  readonly datetimeDigits?: number | undefined;
}

/** What an index comes to. */
export interface ReadIndex {
  /** Keys with their counts, in order; they have marks in them with `originals` or `distinct`. */
  readonly rows: readonly (readonly [key: string, count: number])[];
  readonly counts: IndexCounts;
}

const MAX_LINE_BYTES = 20_000;
/** A new table for each input would take longer than reading it. */
const table = new KeyTable(2 ** 20);

/** Reads an index as `generateMap` does, up to the keys. */
export async function readIndex(
  chunks: Iterable<Uint8Array>,
  options: ReadIndexOptions,
): Promise<ReadIndex> {
  const { counts } = await fillTable(chunks, options);
  const rows: [string, number][] = [];
  table.drain((keys) =>
    keys.forEach((bytes, start, end, count) => {
      rows.push([latin1(bytes.subarray(start, end)), count]);
    }),
  );
  return { rows, counts };
}

/** Makes a map of an index as `generateMap` does, without setting 64 MiB aside for each. */
export async function readMap(
  chunks: Iterable<Uint8Array>,
  options: ReadIndexOptions,
): Promise<Uint8Array> {
  const { originals = false, datetimeDigits = 0 } = options;
  const { counts, distinct } = await fillTable(chunks, options);
  const isSample = counts.samples > 0;
  const rows = new MapRows({ originals, distinct, isSample });
  table.drain((keys) =>
    keys.forEach((bytes, start, end, count) => {
      rows.add(bytes.subarray(start, end), end - start, count);
    }),
  );
  rows.end();
  return joinBytes([headerText(mapHeaders({ isSample }, { datetimeDigits })), rows.take()]);
}

async function fillTable(
  chunks: Iterable<Uint8Array>,
  options: ReadIndexOptions,
): Promise<{ readonly counts: IndexCounts; readonly distinct: boolean }> {
  const { filter = {}, skipBad = false, originals = false, datetimeDigits = 0 } = options;
  table.drain(() => undefined);
  const sourceOptions = {
    format: options.format,
    archive: options.archive,
    maxLineBytes: MAX_LINE_BYTES,
  };
  const source = await openSource({ name: "input", chunks }, sourceOptions);
  const distinct = options.distinct === true || source.format.repeats === true;
  const counter = new KeyCounter({ originals, datetimeDigits, distinct }, table, () => {
    throw new Violation("an input of 64 KiB does not fill the table");
  });
  const { counts } = counter;
  const reader = new RowReader(counter, { filter, skipBad, maxLineBytes: MAX_LINE_BYTES });
  const damage = newDamageLog();
  await readSource(source, reader, sourceOptions, skipBad ? damage : undefined);
  countDamage(counts, damage);
  return { counts, distinct };
}
