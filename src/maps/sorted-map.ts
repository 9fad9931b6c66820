import { type ByteSource, MemorySource } from "../bytes/byte-source.ts";
import { CLOSE_BRACE, joinBytes } from "../bytes/bytes.ts";
import type { SpillStore } from "../files/scratch.ts";
import { ownSpelling } from "../surt/spelling.ts";
import { type Fields, SIZE_HEADER, UkvsHeaders } from "../ukvs/header.ts";
import { LastKey } from "../ukvs/record.ts";
import { isPresent, parseFrequency } from "../ukvs/frequency.ts";
import { plainKeyEnd } from "../ukvs/row.ts";
import { UkvsWriter } from "../ukvs/writer.ts";
import { type LogicalMap, openLogicalMaps } from "./logical-map.ts";
import {
  addRows,
  compareKeys,
  datetimeParts,
  isZeroRow,
  type MergeRow,
  recordOf,
  rowAt,
  rowOf,
  withParts,
} from "./merge-row.ts";
import { requireFrequency, RowCursor } from "./row-cursor.ts";
import { type Line, RowGroups } from "./row-groups.ts";

export interface SortOptions {
  /** Stores rows that do not fit in memory. */
  readonly spill?: SpillStore | undefined;
  readonly memoryBytes?: number | undefined;
}

const MEMORY_BYTES = 2 ** 26;
/** Memory per row besides its bytes. */
const ROW_BYTES = 200;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Checks that the rows of a map are in canonical order and spelling, each key once. */
export class OrderCheck {
  isInOrder = true;
  readonly #source: string;
  readonly #fields: Fields;
  readonly #last: LastKey;

  constructor({ name, headers: { fields } }: Pick<LogicalMap, "name" | "headers">) {
    this.#source = name;
    this.#fields = fields;
    this.#last = new LastKey(fields.keys.length);
  }

  /**
   * Whether the row and all before it are in order.
   *
   * @throws MM_BAD_FREQUENCY
   */
  take(row: RowCursor): boolean {
    const { bytes, start, keyEnd, tupleEnd, end } = row;
    if (plainKeyEnd(bytes, start, end) === -1) {
      requireFrequency(row, this.#source);
      const written = decoder.decode(bytes.subarray(start, keyEnd));
      this.isInOrder &&= ownSpelling(written, this.#fields) === written;
    }
    this.isInOrder &&= this.#last.compareTo(bytes, start, tupleEnd) < 0;
    this.#last.remember(bytes, start, tupleEnd);
    return this.isInOrder;
  }
}

/**
 * Sorts a map into canonical order and spelling, adding up the rows of one key.
 *
 * Reads the map once. Holds 64 MiB of rows; further sorted runs go to the spill store, or stay in
 * memory without one.
 */
export async function sortedMap(
  map: LogicalMap,
  { spill, memoryBytes = MEMORY_BYTES }: SortOptions = {},
): Promise<LogicalMap> {
  const { fields } = map.headers;
  const scratch = new Scratch(map, spill);
  const runs: ByteSource[] = [];
  let rows: MergeRow[] = [];
  let bytes = 0;
  const endRun = async (): Promise<void> => {
    rows.sort(compareKeys);
    const sorted: MergeRow[] = [];
    for (let from = 0, to = 0; from < rows.length; from = to) {
      while (to < rows.length && compareKeys(rows[from], rows[to]) === 0) to++;
      sorted.push(...addRows(withoutDoubtfulVoids(rows.slice(from, to), fields), fields));
    }
    runs.push(await scratch.write(sorted.map(lineOf)));
    rows = [];
    bytes = 0;
  };
  const row = new RowCursor(map.batches({ checkOrder: false }));
  for (await row.advance(); !row.isDone; await row.advance()) {
    requireFrequency(row, map.name);
    const own = respelled(rowAt(row, 0), fields);
    rows.push(own);
    bytes += own.bytes.length + ROW_BYTES;
    if (bytes >= memoryBytes) await endRun();
  }
  await endRun();
  const [run] = runs;
  const sorted =
    runs.length === 1
      ? run
      : await scratch.write(mergedRuns(await openLogicalMaps(runs, NOT_SIZED), fields));
  const [whole] = await openLogicalMaps([sorted], NOT_SIZED);
  return whole;
}

const NOT_SIZED = { checkSize: false };

/** The rows of all runs, those of one key added up; each is valid until the next is read. */
async function* mergedRuns(
  runs: readonly LogicalMap[],
  fields: Fields,
): AsyncGenerator<Line, void, undefined> {
  const groups = await RowGroups.open(runs, []);
  for (;;) {
    for (let line = groups.plainLine(); line !== undefined; line = groups.plainLine()) yield line;
    const group = await groups.next();
    if (group === undefined) return;
    yield* addRows(withoutDoubtfulVoids(group.rows, fields), fields).map(lineOf);
  }
}

function lineOf({ bytes }: MergeRow): Line {
  return { bytes, start: 0, end: bytes.length };
}

/** Writes sorted rows with the headers of a map, one map after the other. */
class Scratch {
  readonly #map: LogicalMap;
  readonly #spill: SpillStore | undefined;
  #end = 0;

  constructor(map: LogicalMap, spill: SpillStore | undefined) {
    this.#map = map;
    this.#spill = spill;
  }

  async write(lines: Iterable<Line> | AsyncIterable<Line>): Promise<ByteSource> {
    const { name, headers } = this.#map;
    const spill = this.#spill;
    const start = this.#end;
    const kept: Uint8Array[] = [];
    const write = (block: Uint8Array): void => {
      if (spill === undefined) kept.push(block.slice());
      else spill.write(this.#end, block);
      this.#end += block.length;
    };
    const writer = new UkvsWriter({ write }, withoutSize(headers));
    for await (const { bytes, start: from, end } of lines) await writer.writeLine(bytes, from, end);
    await writer.flush();
    if (spill === undefined) return new MemorySource(joinBytes(kept), name);
    const size = this.#end - start;
    return {
      name,
      size,
      async read(offset, length) {
        const target = new Uint8Array(Math.max(0, Math.min(length, size - offset)));
        if (target.length > 0) spill.read(start + offset, target);
        return target;
      },
    };
  }
}

function withoutSize({ list }: UkvsHeaders): UkvsHeaders {
  return new UkvsHeaders(list.filter(({ name }) => name !== SIZE_HEADER));
}

/**
 * The rows of a key, without voids where rows for the same time, or from several spellings, hold
 * something: held content must not become absent.
 */
function withoutDoubtfulVoids(rows: readonly MergeRow[], fields: Fields): readonly MergeRow[] {
  if (rows.length === 1) return rows;
  const tuples = new Set(
    rows.map(({ bytes, tupleEnd }) => decoder.decode(bytes.subarray(0, tupleEnd))),
  );
  const isInDoubt = tuples.size < rows.length || rows.some(({ map }) => map !== rows[0].map);
  const held = rows.filter((row) => !isZeroRow(row) || row.bytes.at(-1) === CLOSE_BRACE);
  if (!isInDoubt || held.length === 0) return rows;
  return held.map((row) => {
    const record = recordOf(row, fields);
    const parts = datetimeParts(record);
    if (parts === undefined) return row;
    const left = Object.entries(parts).filter(([, part]) =>
      isPresent(parseFrequency(String(part))),
    );
    const json = withParts(record.json, left.length === 0 ? undefined : Object.fromEntries(left));
    return rowOf(
      { keys: record.keys, values: record.values, ...(json && { json }) },
      fields,
      row.map,
    );
  });
}

/** The row under the canonical spelling of its key; rewritten rows count as rows of map 1. */
function respelled(row: MergeRow, fields: Fields): MergeRow {
  const written = decoder.decode(row.bytes.subarray(0, row.keyEnd));
  const spelling = ownSpelling(written, fields);
  if (spelling === written) return row;
  const key = encoder.encode(spelling);
  return {
    bytes: joinBytes([key, row.bytes.subarray(row.keyEnd)]),
    keyEnd: key.length,
    tupleEnd: row.tupleEnd + key.length - row.keyEnd,
    map: 1,
  };
}
