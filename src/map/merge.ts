import { STAR } from "../bytes/ascii.ts";
import { compareBytes } from "../bytes/compare.ts";
import type { ByteSource } from "../lookup/byte-source.ts";
import { columnEnd } from "../ukvs/columns.ts";
import { frequencyIsZero } from "../ukvs/frequency-sum.ts";
import type { Fields } from "../ukvs/header.ts";
import type { RecordBatch } from "../ukvs/record-batch.ts";
import { type ByteSink, type MapSink, UkvsWriter } from "../ukvs/writer.ts";
import { SizedHead } from "../ukvs/sized-head.ts";
import { coveringKeys } from "./covering-keys.ts";
import { type LogicalMap, openLogicalMaps, type OpenMapsOptions } from "./logical-map.ts";
import { mergeHeaders } from "./merge-headers.ts";
import { addedRow, addRows, isZeroRow, type MergeRow } from "./merge-row.ts";
import { type RowGroup, RowGroups } from "./row-groups.ts";
import { Union } from "./union.ts";

const decoder = new TextDecoder();

export type MergeOptions = OpenMapsOptions;

/** What a merge did. */
export interface MergeSummary {
  /** Maps, the pages of a split counted as one. */
  readonly maps: number;
  /** Records read and written. */
  readonly recordsIn: number;
  readonly recordsOut: number;
}

/**
 * Merges maps into one that says present exactly where at least one of them does, whatever URI is
 * looked up (without a time).
 *
 * - Rows with the same keys become one: frequencies are added. Other values, and the JSON block,
 *   stay if all rows have the same, and are left out otherwise.
 * - An exclusion stays only where every other map says absent for all it covers.
 * - Spread keys (`X,*)/p`) beside exclusions may need rows that no map has; these state the count of
 *   the wider row as an upper bound.
 * - The pages of a split count as one map; one map alone keeps its records byte for byte.
 * - Home pages written `com,cnn)` are written `com,cnn)/` when there is more than one map.
 *
 * The maps must be sorted. Reads each twice, and three times when there are both exclusions and
 * spread keys among them; one map alone once. Looks up those keys only that exclude. Holds a block per map, the rows of
 * one key, the spread keys and the rows added for them.
 *
 * @throws MM_BAD_INPUT when columns or contexts differ, or a page is missing; MM_NOT_SORTED; MM_CUT and
 *   MM_EMPTY unless `checkSize` is false; what reading a map throws.
 */
export async function mergeMaps(
  sources: readonly ByteSource[],
  sink: ByteSink | MapSink,
  options: MergeOptions = {},
): Promise<MergeSummary> {
  const maps = await openLogicalMaps(sources, options);
  const headers = mergeHeaders(maps);
  const isMapSink = "writeHead" in sink;
  if (isMapSink) await sink.writeHead(headers);
  const writer = new UkvsWriter(sink, headers, { writesHead: !isMapSink });
  const summary =
    maps.length === 1
      ? await copyRecords(maps, writer)
      : await mergeRecords(maps, writer, headers.fields);
  if (summary.recordsOut > 0 || isMapSink) await writer.flush();
  // A map without a record says that this is meant.
  else await sink.write(new SizedHead(headers).bytes({ bytes: 0, records: 0 }));
  return summary;
}

async function copyRecords(maps: readonly LogicalMap[], writer: UkvsWriter): Promise<MergeSummary> {
  let records = 0;
  for (const map of maps) {
    for await (const batch of map.batches()) {
      for (let i = 0; i < batch.count; i++) {
        const waiting = writer.writeLine(batch.bytes, batch.keyStarts[i], batch.restEnds[i]);
        if (waiting !== undefined) await waiting;
      }
      records += batch.count;
    }
  }
  return { maps: maps.length, recordsIn: records, recordsOut: records };
}

async function mergeRecords(
  maps: readonly LogicalMap[],
  writer: UkvsWriter,
  fields: Fields,
): Promise<MergeSummary> {
  const union = new Union(maps);
  const added = await rowsForOverlaps(maps, union, fields);
  const groups = await RowGroups.open(maps, added);
  let recordsOut = 0;
  try {
    for (;;) {
      for (let line = groups.plainLine(); line !== undefined; line = groups.plainLine()) {
        const waiting = writer.writeLine(line.bytes, line.start, line.end);
        if (waiting !== undefined) await waiting;
        recordsOut++;
      }
      const group = await groups.next();
      if (group === undefined) break;
      for (const { bytes } of await rowsOfUnion(group, union, fields)) {
        await writer.writeLine(bytes, 0, bytes.length);
        recordsOut++;
      }
    }
  } finally {
    await groups.close();
  }
  return { maps: maps.length, recordsIn: groups.recordsIn, recordsOut };
}

/** What the merged map says of a key that maps have. */
async function rowsOfUnion(
  { key, rows }: RowGroup,
  union: Union,
  fields: Fields,
): Promise<MergeRow[]> {
  const speaking = rows.filter((row) => !isShadowed(row, rows));
  const isDecided = speaking.some((row) => row.map < 0 || !isZeroRow(row));
  if (isDecided || coveringKeys(key).kind === "inert") return addRows(speaking, fields);
  const row = await union.row(key);
  if (row === undefined) return [];
  return row.present ? [addedRow(key, row.frequency, fields)] : addRows(speaking, fields);
}

/** A map that has `com,cnn)/` is never asked for its `com,cnn)`. */
function isShadowed(row: MergeRow, rows: readonly MergeRow[]): boolean {
  return row.wasBare && rows.some((other) => other.map === row.map && !other.wasBare);
}

/** The rows that spread keys need beside exclusions, for keys that no map has, in key order. */
async function rowsForOverlaps(
  maps: readonly LogicalMap[],
  union: Union,
  fields: Fields,
): Promise<MergeRow[]> {
  let hasZero = false;
  for (const map of maps) {
    for await (const batch of map.batches()) {
      hasZero ||= hasZeroRow(batch);
      for (const key of keysWithStar(batch)) {
        if (coveringKeys(key).kind === "spread") union.addSpread(key);
      }
    }
  }
  if (!hasZero || !union.hasSpreads) return [];

  const added = new Map<string, MergeRow>();
  for (const map of maps) {
    for await (const batch of map.batches()) {
      for (const overlap of keysWithStar(batch).flatMap((key) => union.overlaps(key))) {
        if (added.has(overlap) || (await union.isInSomeMap(overlap))) continue;
        const row = await union.row(overlap);
        if (row !== undefined) added.set(overlap, addedRow(overlap, row.frequency, fields));
      }
    }
  }
  return [...added.values()].sort((a, b) => compareBytes(a.bytes, b.bytes));
}

function hasZeroRow({ bytes, count, restStarts, restEnds }: RecordBatch): boolean {
  for (let i = 0; i < count; i++) {
    const end = columnEnd(bytes, restStarts[i], restEnds[i]);
    if (frequencyIsZero(bytes, restStarts[i], end)) return true;
  }
  return false;
}

function keysWithStar({ bytes, count, keyStarts, keyEnds }: RecordBatch): string[] {
  const keys: string[] = [];
  for (let i = 0; i < count; i++) {
    let at = keyStarts[i];
    while (at < keyEnds[i] && bytes[at] !== STAR) at++;
    if (at < keyEnds[i]) keys.push(decoder.decode(bytes.subarray(keyStarts[i], keyEnds[i])));
  }
  return keys;
}
