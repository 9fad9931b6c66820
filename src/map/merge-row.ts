import { CLOSE_PAREN, SLASH } from "../bytes/ascii.ts";
import {
  addFrequencies,
  type Frequency,
  formatFrequency,
  parseFrequency,
} from "../ukvs/frequency.ts";
import { frequencyIsZero } from "../ukvs/frequency-sum.ts";
import { columnEnd, columnsEnd, compareColumns, skipBlanks } from "../ukvs/columns.ts";
import type { Fields } from "../ukvs/header.ts";
import { formatRecord, parseRecord, type UkvsRecord } from "../ukvs/record.ts";
import { formatJson } from "../ukvs/relaxed-json.ts";

/** A row of one of the maps that are merged, in bytes of its own. */
export interface MergeRow {
  readonly bytes: Uint8Array;
  /** The end of the first key. */
  readonly keyEnd: number;
  /** The end of the last key. */
  readonly tupleEnd: number;
  /** Which map it is of; -1 for a row that the merge added. */
  readonly map: number;
  /** Whether the map wrote the home page `com,cnn)/` as `com,cnn)`. */
  readonly wasBare: boolean;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Writes a row that the merge adds, for a key that no map has. */
export function addedRow(key: string, frequency: Frequency, fields: Fields): MergeRow {
  const [, ...otherKeys] = fields.keys;
  const [, ...otherValues] = fields.values;
  const keys = [key, ...otherKeys.map((name) => (name === "datetime" ? ":" : "-"))];
  const values = [formatFrequency(frequency), ...otherValues.map(() => undefined)];
  return rowOf(formatRecord({ keys, values }, fields), fields, -1);
}

/** The row of a home page under the key that lookups ask for. */
export function withRootSlash(row: MergeRow): MergeRow {
  const bytes = new Uint8Array(row.bytes.length + 1);
  bytes.set(row.bytes.subarray(0, row.keyEnd));
  bytes[row.keyEnd] = SLASH;
  bytes.set(row.bytes.subarray(row.keyEnd), row.keyEnd + 1);
  return {
    bytes,
    keyEnd: row.keyEnd + 1,
    tupleEnd: row.tupleEnd + 1,
    map: row.map,
    wasBare: true,
  };
}

/** Whether a key is a home page without its slash; a path may end in `)` too. */
export function isBareHome(bytes: Uint8Array, start: number, end: number): boolean {
  return bytes[end - 1] === CLOSE_PAREN && bytes.indexOf(CLOSE_PAREN, start) === end - 1;
}

/** Whether a row says absent. */
export function isZeroRow({ bytes, tupleEnd }: MergeRow): boolean {
  const start = skipBlanks(bytes, tupleEnd, bytes.length);
  return frequencyIsZero(bytes, start, columnEnd(bytes, start, bytes.length));
}

/** Puts rows of one key in order, and makes one row of those whose further keys are the same too. */
export function addRows(rows: readonly MergeRow[], fields: Fields): MergeRow[] {
  if (rows.length === 1) return [...rows];
  const sorted = rows.toSorted(compareRows);
  const sums: MergeRow[] = [];
  for (let from = 0, to = 1; from < sorted.length; from = to, to++) {
    while (to < sorted.length && compareRows(sorted[from], sorted[to]) === 0) to++;
    sums.push(to - from === 1 ? sorted[from] : sumOf(sorted.slice(from, to), fields));
  }
  return sums;
}

function compareRows(a: MergeRow, b: MergeRow): number {
  return compareColumns(a.bytes, 0, a.tupleEnd, b.bytes, 0, b.tupleEnd);
}

function sumOf(rows: readonly MergeRow[], fields: Fields): MergeRow {
  const records = rows.map(({ bytes }) => parseRecord(decoder.decode(bytes), fields));
  const frequency = records.map(frequencyOf).reduce(addFrequencies);
  const [first] = records;
  const values = first.values.map((value, column) =>
    records.every((record) => record.values[column] === value) ? value : undefined,
  );
  values[0] = formatFrequency(frequency);
  const json = sharedJson(records);
  const sum: UkvsRecord = { keys: first.keys, values, ...(json === undefined ? {} : { json }) };
  return rowOf(formatRecord(sum, fields), fields, rows[0].map);
}

function frequencyOf({ values: [frequency = "/"] }: UkvsRecord): Frequency {
  return parseFrequency(frequency);
}

function sharedJson(records: readonly UkvsRecord[]): UkvsRecord["json"] {
  const texts = new Set(records.map(({ json }) => (json === undefined ? "" : formatJson(json))));
  return texts.size === 1 ? records[0].json : undefined;
}

function rowOf(line: string, fields: Fields, map: number): MergeRow {
  const bytes = encoder.encode(line);
  return {
    bytes,
    keyEnd: columnEnd(bytes, 0, bytes.length),
    tupleEnd: columnsEnd(bytes, 0, bytes.length, fields.keys.length),
    map,
    wasBare: false,
  };
}
