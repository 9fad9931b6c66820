import { newDamageLog } from "../src/input/damage.ts";
import type { CaptureFilter } from "../src/input/filter.ts";
import type { InputFormat } from "../src/input/detect.ts";
import { countDamage } from "../src/generate/index-counts.ts";
import type { IndexCounts } from "../src/generate/index-counts.ts";
import { IndexReader } from "../src/generate/index-reader.ts";
import type { KeyRunScanner } from "../src/generate/key-run-scanner.ts";
import { KeyTable } from "../src/generate/key-table.ts";
import { openSource, readSource } from "../src/generate/open-source.ts";
import { Violation } from "./check.ts";

export interface ReadIndexOptions {
  readonly format: InputFormat;
  readonly archive?: string | undefined;
  readonly filter?: CaptureFilter | undefined;
  readonly skipBad?: boolean | undefined;
  readonly originals?: boolean | undefined;
  readonly distinct?: boolean | undefined;
  readonly datetimeDigits?: number | undefined;
  readonly scanner?: KeyRunScanner | undefined;
}

/** What an index comes to. */
export interface ReadIndex {
  /** Keys with their counts, in order; they have marks in them with `originals` or `distinct`. */
  readonly rows: readonly (readonly [key: string, count: number])[];
  readonly counts: IndexCounts;
}

export const MAX_LINE_BYTES = 20_000;
/** A new table for each input would take longer than reading it. */
const table = new KeyTable(2 ** 20);

/** Reads an index as `generateMap` does, up to the keys. */
export async function readIndex(
  chunks: Iterable<Uint8Array>,
  options: ReadIndexOptions,
): Promise<ReadIndex> {
  const { filter = {}, skipBad = false, originals = false, datetimeDigits = 0 } = options;
  table.clear();
  const sourceOptions = {
    format: options.format,
    archive: options.archive,
    maxLineBytes: MAX_LINE_BYTES,
  };
  const source = await openSource({ name: "input", chunks }, sourceOptions);
  const reader = new IndexReader(
    {
      filter,
      skipBad,
      originals,
      datetimeDigits,
      distinct: options.distinct === true || source.format.repeats === true,
      maxLineBytes: MAX_LINE_BYTES,
    },
    table,
    () => {
      throw new Violation("an input of 64 KiB does not fill the table");
    },
    options.scanner,
  );
  const damage = newDamageLog();
  await readSource(source, reader, sourceOptions, skipBad ? damage : undefined);
  countDamage(reader.counts, damage);
  const rows: [string, number][] = [];
  table.sort().forEach((bytes, start, end, count) => {
    rows.push([Buffer.from(bytes.subarray(start, end)).toString("latin1"), count]);
  });
  return { rows, counts: reader.counts };
}
