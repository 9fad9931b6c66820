import { compareRanges, ZERO } from "../bytes/bytes.ts";
import { plainKeyEnd } from "../ukvs/row.ts";
import {
  columnEnd,
  columnsEnd,
  compareColumns,
  formatRecord,
  parseColumn,
  parseRecord,
  skipBlanks,
  type UkvsRecord,
} from "../ukvs/record.ts";
import {
  addFrequencies,
  formatFrequency,
  type Frequency,
  frequencyIsZero,
  parseFrequency,
} from "../ukvs/frequency.ts";
import { type Fields, formatJson, isJsonObject } from "../ukvs/header.ts";
import type { RowCursor } from "./row-cursor.ts";

/** A row of one of the merged maps, with its own copy of the bytes. */
export interface MergeRow {
  readonly bytes: Uint8Array;
  /** The end of the first key. */
  readonly keyEnd: number;
  /** The end of the last key. */
  readonly tupleEnd: number;
  /** The index of its map; -1 for a row that the merge added. */
  readonly map: number;
}

/** Copies a row of a map. */
export function rowAt({ bytes, start, keyEnd, tupleEnd, end }: RowCursor, map: number): MergeRow {
  return {
    bytes: bytes.slice(start, end),
    keyEnd: keyEnd - start,
    tupleEnd: tupleEnd - start,
    map,
  };
}

export function compareKeys(a: MergeRow, b: MergeRow): number {
  return compareRanges(a.bytes, 0, a.keyEnd, b.bytes, 0, b.keyEnd);
}

/** The members of a JSON block that divide a row by time. */
export type DatetimeParts = Readonly<Record<string, unknown>>;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Builds a row that the merge adds. */
export function addedRow(
  key: string,
  frequency: Frequency,
  fields: Fields,
  datetime: string = ":",
): MergeRow {
  const [, ...otherKeys] = fields.keys;
  const [, ...otherValues] = fields.values;
  const keys = [key, ...otherKeys.map((name) => (name === "datetime" ? datetime : "-"))];
  const values = [formatFrequency(frequency), ...otherValues.map(() => undefined)];
  return rowOf({ keys, values }, fields, -1);
}

/** Whether a row itself is absent; its JSON block may differ for some times. */
export function isZeroRow({ bytes, tupleEnd }: MergeRow): boolean {
  const start = skipBlanks(bytes, tupleEnd, bytes.length);
  return isZeroColumn(bytes, start, columnEnd(bytes, start, bytes.length));
}

/** Whether a frequency, quoted or not, means absent. */
export function isZeroColumn(bytes: Uint8Array, start: number, end: number): boolean {
  if (bytes[start] !== 0x22) return frequencyIsZero(bytes, start, end);
  const text = encoder.encode(parseColumn(decoder.decode(bytes.subarray(start, end))));
  return frequencyIsZero(text, 0, text.length);
}

/** Sorts the rows of one key, and joins those that agree in their other keys too. */
export function addRows(rows: readonly MergeRow[], fields: Fields): MergeRow[] {
  const sorted = rows
    .map((row) => (isPlain(row) ? row : canonicalRow(row, fields)))
    .toSorted(compareRows);
  const sums: MergeRow[] = [];
  for (let from = 0, to = 1; from < sorted.length; from = to, to++) {
    while (to < sorted.length && compareRows(sorted[from], sorted[to]) === 0) to++;
    sums.push(to - from === 1 ? sorted[from] : sumOf(sorted.slice(from, to), fields));
  }
  return sums;
}

/** Whether the row is in canonical form, by a quick check. */
function isPlain({ bytes }: MergeRow): boolean {
  const keyEnd = plainKeyEnd(bytes, 0, bytes.length);
  return keyEnd !== -1 && bytes[keyEnd + 1] !== ZERO;
}

/** The row in canonical form. */
function canonicalRow(row: MergeRow, fields: Fields): MergeRow {
  const record = recordOf(row, fields);
  const [, ...others] = record.values;
  return rowOf(
    { ...record, values: [formatFrequency(frequencyOf(record)), ...others] },
    fields,
    row.map,
  );
}

export function recordOf({ bytes }: MergeRow, fields: Fields): UkvsRecord {
  return parseRecord(decoder.decode(bytes), fields);
}

function compareRows(a: MergeRow, b: MergeRow): number {
  return compareColumns(a.bytes, 0, a.tupleEnd, b.bytes, 0, b.tupleEnd);
}

function sumOf(rows: readonly MergeRow[], fields: Fields): MergeRow {
  const records = rows.map((row) => recordOf(row, fields));
  const frequency = records.map(frequencyOf).reduce(addFrequencies);
  const [first] = records;
  const values = first.values.map((value, column) =>
    records.every((record) => record.values[column] === value) ? value : undefined,
  );
  values[0] = formatFrequency(frequency);
  const json = sharedJson(records);
  const sum: UkvsRecord = { keys: first.keys, values, ...(json === undefined ? {} : { json }) };
  return rowOf(sum, fields, rows[0].map);
}

export function frequencyOf({ values: [frequency = "/"] }: UkvsRecord): Frequency {
  return parseFrequency(frequency);
}

/** The parts of a row by time; undefined if it has none. */
export function datetimeParts({ json }: UkvsRecord): DatetimeParts | undefined {
  const parts = json?.["datetime"];
  return isJsonObject(parts) ? parts : undefined;
}

/** A JSON block with other parts by time, or with none. */
export function withParts(
  json: UkvsRecord["json"],
  parts: DatetimeParts | undefined,
): UkvsRecord["json"] {
  const { datetime: _datetime, ...rest } = json ?? {};
  const changed = parts === undefined ? rest : { ...rest, datetime: parts };
  return Object.keys(changed).length === 0 ? undefined : changed;
}

/** The members common to all blocks, and the sums of their parts by time. */
function sharedJson(records: readonly UkvsRecord[]): UkvsRecord["json"] {
  const others = records.map((record) => withParts(record.json, undefined));
  const texts = new Set(others.map((json) => (json === undefined ? "" : formatJson(json))));
  const parts = records.map(datetimeParts).filter((some) => some !== undefined);
  return withParts(
    texts.size === 1 ? others[0] : undefined,
    parts.length > 0 ? sumOfParts(parts) : undefined,
  );
}

function sumOfParts(all: readonly DatetimeParts[]): DatetimeParts {
  const sums = new Map<string, Frequency>();
  for (const [datetime, value] of all.flatMap((parts) => Object.entries(parts))) {
    const frequency = parseFrequency(String(value));
    const sum = sums.get(datetime);
    sums.set(datetime, sum === undefined ? frequency : addFrequencies(sum, frequency));
  }
  return Object.fromEntries(
    Array.from(sums, ([datetime, sum]) => [datetime, formatFrequency(sum)] as const).toSorted(
      ([a], [b]) => (a < b ? -1 : 1),
    ),
  );
}

/** Converts a record to a row. */
export function rowOf(record: UkvsRecord, fields: Fields, map: number): MergeRow {
  const bytes = encoder.encode(formatRecord(record, fields));
  return {
    bytes,
    keyEnd: columnEnd(bytes, 0, bytes.length),
    tupleEnd: columnsEnd(bytes, 0, bytes.length, fields.keys.length),
    map,
  };
}
