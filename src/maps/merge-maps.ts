import { CLOSE_BRACE, STAR } from "../bytes/bytes.ts";
import type { ByteSource } from "../bytes/byte-source.ts";
import { isSpreadKey } from "../surt/key.ts";
import { columnEnd } from "../ukvs/record.ts";
import { type Fields, SizedHead } from "../ukvs/header.ts";
import { type ByteSink, type MapSink, UkvsWriter } from "../ukvs/writer.ts";
import { Union } from "./union.ts";
import { type LogicalMap, openLogicalMaps, type OpenMapsOptions } from "./logical-map.ts";
import { mergeKey } from "./merge-key.ts";
import {
  addedRow,
  compareKeys,
  datetimeParts,
  isZeroColumn,
  type MergeRow,
  recordOf,
  rowAt,
} from "./merge-row.ts";
import { mergeHeaders } from "./merge-headers.ts";
import { visitRows, type RowCursor } from "./row-cursor.ts";
import { RowGroups } from "./row-groups.ts";
import { OrderCheck, sortedMap } from "./sorted-map.ts";
import type { SpillStore } from "../files/scratch.ts";
import { checkSignal } from "../interruption.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export interface MergeOptions extends OpenMapsOptions {
  /** Stores sorted rows that do not fit in memory. */
  readonly spill?: SpillStore | undefined;
  /** How much of a map to sort in memory; 64 MiB by default. */
  readonly memoryBytes?: number | undefined;
}

/** Statistics of a merge. */
export interface MergeSummary {
  /** Number of maps; the pages of a split count as one. */
  readonly maps: number;
  /** Records read and written. */
  readonly recordsIn: number;
  readonly recordsOut: number;
}

/**
 * Merges maps into one that is present exactly where at least one of them is, for every URI. For
 * lookups with a time, if rows have times and there are spread keys, it is present wherever one of
 * them is, and seldom elsewhere.
 *
 * - Rows with the same keys become one: frequencies are added, and so are the parts by time of JSON
 *   blocks. Other values, and the rest of the block, stay if all rows agree, and are dropped
 *   otherwise.
 * - A void stays only if every other map is absent for everything it covers, during its time.
 * - Spread keys (`X,*)/p`) next to voids may need additional rows; these state the count of the
 *   broader row as an upper bound.
 * - The pages of a split count as one map.
 * - Records are written in canonical form: one space, strict JSON, `com,cnn)/` for `com,cnn)`,
 *   `%2a` for a `*` that is not a wildcard, percent-encoded UTF-8.
 * - A map in another order, such as that of an index, or with duplicate keys is sorted first; rows of
 *   one key are added up.
 *
 * Reads each map twice, and once more to sort it, or when the maps have both voids and spread keys.
 * Looks up void keys only. Holds a block per map, the rows of one key, the spread keys and the rows
 * added for them; and 64 MiB of rows while sorting.
 *
 * @throws MM_BAD_INPUT when columns or contexts differ, or a page is missing; MM_BAD_KEY; MM_CUT and
 *   MM_EMPTY unless `checkSize` is false; MM_INTERRUPTED; read errors of a map.
 */
export async function mergeMaps(
  sources: readonly ByteSource[],
  sink: ByteSink | MapSink,
  options: MergeOptions = {},
): Promise<MergeSummary> {
  checkSignal(options.signal);
  const given = await openLogicalMaps(sources, options);
  const headers = mergeHeaders(given);
  const { fields } = headers;
  const scans: MapScan[] = [];
  for (const map of given) {
    const scan = (await scanMap(map)) ?? (await scanMap(await sortedMap(map, options)));
    if (scan !== undefined) scans.push(scan);
  }
  const isMapSink = "writeHead" in sink;
  if (isMapSink) await sink.writeHead(headers);
  const writer = new UkvsWriter(sink, headers, { writesHead: !isMapSink });
  const summary = await mergeRecords(scans, writer, fields);
  if (summary.recordsOut > 0 || isMapSink) await writer.flush();
  // An empty map states its size, which marks it as intended.
  else await sink.write(new SizedHead(headers).bytes({ bytes: 0, records: 0 }));
  return summary;
}

async function mergeRecords(
  scans: readonly MapScan[],
  writer: UkvsWriter,
  fields: Fields,
): Promise<MergeSummary> {
  const maps = scans.map(({ map }) => map);
  const isTimed = fields.keys.includes("datetime") || scans.some((scan) => scan.isTimed);
  const union = new Union(maps, fields, isTimed);
  for (const key of scans.flatMap(({ spreads }) => spreads)) {
    if (union.covering(key).kind === "spread") union.addSpread(key);
  }
  const isNeeded = maps.length > 1 && scans.some(({ hasVoid }) => hasVoid) && union.hasSpreads;
  const added = isNeeded ? await rowsForOverlaps(maps, union, fields) : [];
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
      for (const { bytes } of await mergeKey(group, union, fields)) {
        await writer.writeLine(bytes, 0, bytes.length);
        recordsOut++;
      }
    }
  } finally {
    await groups.close();
  }
  return { maps: maps.length, recordsIn: groups.recordsIn, recordsOut };
}

/** Facts about a map that the merge needs. */
interface MapScan {
  readonly map: LogicalMap;
  readonly hasVoid: boolean;
  /** Whether any row has a time. */
  readonly isTimed: boolean;
  readonly spreads: readonly string[];
}

/** Scans a map once; undefined if its rows are not in canonical order or spelling. */
async function scanMap(map: LogicalMap): Promise<MapScan | undefined> {
  const { fields } = map.headers;
  const order = new OrderCheck(map);
  const spreads: string[] = [];
  let [hasVoid, isTimed] = [false, false];
  await visitRows(map.batches({ checkOrder: false }), (row) => {
    if (!order.take(row)) return false;
    const { bytes, restStart, end } = row;
    const hasBlock = bytes[end - 1] === CLOSE_BRACE;
    // A block may have voids too.
    hasVoid ||= hasBlock || isZeroColumn(bytes, restStart, columnEnd(bytes, restStart, end));
    isTimed ||= hasBlock && datetimeParts(recordOf(rowAt(row, 0), fields)) !== undefined;
    if (hasStar(row) && isSpreadKey(keyOf(row))) spreads.push(keyOf(row));
    return true;
  });
  return order.isInOrder ? { map, hasVoid, isTimed, spreads } : undefined;
}

/** Additional rows for keys where a wildcard and a spread key overlap, needed next to voids. */
async function rowsForOverlaps(
  maps: readonly LogicalMap[],
  union: Union,
  fields: Fields,
): Promise<MergeRow[]> {
  const overlaps = new Set<string>();
  for (const map of maps) {
    await visitRows(map.batches(), (row) => {
      if (!hasStar(row)) return;
      for (const key of union.overlaps(keyOf(row))) overlaps.add(key);
    });
  }
  const rows: MergeRow[] = [];
  for (const key of overlaps) {
    const frequency = await union.overlapRow(key);
    if (frequency !== undefined) rows.push(addedRow(key, frequency, fields));
  }
  return rows.sort(compareKeys);
}

function hasStar({ bytes, start, keyEnd }: RowCursor): boolean {
  let at = start;
  while (at < keyEnd && bytes[at] !== STAR) at++;
  return at < keyEnd;
}

function keyOf({ bytes, start, keyEnd }: RowCursor): string {
  return decoder.decode(bytes.subarray(start, keyEnd));
}
