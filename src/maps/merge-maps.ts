import { CLOSE_BRACE, compareBytes, STAR } from "../bytes/bytes.ts";
import type { ByteSource } from "../bytes/byte-source.ts";
import { isSpreadKey } from "../surt/key.ts";
import { columnEnd } from "../ukvs/record.ts";
import {
  type Fields,
  formatHeader,
  formatJson,
  type Header,
  SIZE_HEADER,
  SizedHead,
  UkvsHeaders,
} from "../ukvs/header.ts";
import type { RecordBatch } from "../ukvs/reader.ts";
import { type ByteSink, type MapSink, UkvsWriter } from "../ukvs/writer.ts";
import { Union } from "./union.ts";
import { type LogicalMap, openLogicalMaps, type OpenMapsOptions } from "./logical-map.ts";
import { rowsOverTime } from "./merge-over-time.ts";
import {
  addedRow,
  addRows,
  compareKeys,
  datetimeParts,
  isZeroColumn,
  isZeroRow,
  type MergeRow,
  recordOf,
  rowAt,
} from "./merge-row.ts";
import { type RowGroup, RowGroups } from "./row-groups.ts";
import { OrderCheck, sortedMap } from "./sorted-map.ts";
import type { SpillStore } from "../files/scratch.ts";
import { checkSignal } from "../interruption.ts";
import { MementoMapError, quote } from "../errors.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export interface MergeOptions extends OpenMapsOptions {
  /** Takes what is sorted and does not fit in memory. */
  readonly spill?: SpillStore | undefined;
  /** How much of a map to sort in memory; 64 MiB by default. */
  readonly memoryBytes?: number | undefined;
}

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
 * looked up. For a time that is asked for, and where rows are of times and there are spread keys, it
 * does so wherever one of them does, and seldom elsewhere.
 *
 * - Rows with the same keys become one: frequencies are added, and so are the parts by time of JSON
 *   blocks. Other values, and the rest of the block, stay if all rows have the same, and are left out
 *   otherwise.
 * - A void stays only where every other map says absent for all that it covers, in its time.
 * - Spread keys (`X,*)/p`) beside voids may need rows that no map has; these state the count of
 *   the wider row as an upper bound.
 * - The pages of a split count as one map.
 * - Records are written in the form of writers: one space, strict JSON, `com,cnn)/` for `com,cnn)`,
 *   `%2a` for a `*` that is not a wildcard, percent-encoded UTF-8.
 * - A map whose rows are in another order, such as that of an index, or that has keys twice, is sorted
 *   first; rows of one key are added up.
 *
 * Reads each map twice, and once more when it has to be sorted, or when there are both voids and spread
 * keys among them. Looks up those keys only that are void. Holds a block per map, the rows of one key, the
 * spread keys and the rows added for them; and 64 MiB of rows that are sorted.
 *
 * @throws MM_BAD_INPUT when columns or contexts differ, or a page is missing; MM_BAD_KEY; MM_CUT and
 *   MM_EMPTY unless `checkSize` is false; MM_INTERRUPTED; what reading a map throws.
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
    const scan = await scanMap(map, fields);
    scans.push(scan.isInOrder ? scan : await scanMap(await sortedMap(map, options), fields));
  }
  const isMapSink = "writeHead" in sink;
  if (isMapSink) await sink.writeHead(headers);
  const writer = new UkvsWriter(sink, headers, { writesHead: !isMapSink });
  const summary = await mergeRecords(scans, writer, fields);
  if (summary.recordsOut > 0 || isMapSink) await writer.flush();
  // A map without a record says that this is meant.
  else await sink.write(new SizedHead(headers).bytes({ bytes: 0, records: 0 }));
  return summary;
}

async function mergeRecords(
  scans: readonly MapScan[],
  writer: UkvsWriter,
  fields: Fields,
): Promise<MergeSummary> {
  const maps = scans.map(({ map }) => map);
  const union = new Union(maps, fields);
  for (const key of scans.flatMap(({ spreads }) => spreads)) {
    if (union.covering(key).kind === "spread") union.addSpread(key);
  }
  const isTimed = fields.keys.includes("datetime") || scans.some((scan) => scan.isTimed);
  const isNeeded = maps.length > 1 && scans.some(({ hasVoid }) => hasVoid) && union.hasSpreads;
  const added = isNeeded ? await rowsForOverlaps(maps, union, fields, isTimed) : [];
  const decide = isTimed ? rowsOverTime : maps.length === 1 ? keepAll : rowsOfUnion;
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
      for (const { bytes } of await decide(group, union, fields)) {
        await writer.writeLine(bytes, 0, bytes.length);
        recordsOut++;
      }
    }
  } finally {
    await groups.close();
  }
  return { maps: maps.length, recordsIn: groups.recordsIn, recordsOut };
}

function keepAll({ rows }: RowGroup, _: Union, fields: Fields): Promise<MergeRow[]> {
  return Promise.resolve(addRows(rows, fields));
}

/** What the merged map says of a key that maps have, where no row is of a time. */
async function rowsOfUnion(
  { key, rows }: RowGroup,
  union: Union,
  fields: Fields,
): Promise<MergeRow[]> {
  const isDecided = rows.some((row) => row.map < 0 || !isZeroRow(row));
  if (isDecided || union.covering(key).kind === "inert") return addRows(rows, fields);
  const row = await union.row(key);
  if (row === undefined) return [];
  return row.present ? [addedRow(key, row.frequency, fields)] : addRows(rows, fields);
}

/** What the merging of a map needs to know of it. */
interface MapScan {
  readonly map: LogicalMap;
  readonly isInOrder: boolean;
  readonly hasVoid: boolean;
  /** Whether a row is of a time. */
  readonly isTimed: boolean;
  readonly spreads: readonly string[];
}

/** Reads a map once, or as far as to a row that is out of order. */
async function scanMap(map: LogicalMap, fields: Fields): Promise<MapScan> {
  const order = new OrderCheck(map);
  const spreads: string[] = [];
  let [hasVoid, isTimed] = [false, false];
  for await (const batch of map.batches({ checkOrder: false })) {
    for (let i = 0; i < batch.count; i++) {
      order.take(batch, i);
      if (!order.isInOrder) return { map, isInOrder: false, hasVoid, isTimed, spreads };
      const scan = scanRow(batch, i);
      hasVoid ||= scan.isVoid;
      isTimed ||= scan.hasBlock && hasParts(batch, i, fields);
      if (scan.hasStar && isSpreadKey(keyOf(batch, i))) spreads.push(keyOf(batch, i));
    }
  }
  return { map, isInOrder: order.isInOrder, hasVoid, isTimed, spreads };
}

/** The rows that spread keys need beside voids, for keys where a wildcard and a spread key meet. */
async function rowsForOverlaps(
  maps: readonly LogicalMap[],
  union: Union,
  fields: Fields,
  isTimed: boolean,
): Promise<MergeRow[]> {
  const added = new Map<string, MergeRow>();
  for (const map of maps) {
    for await (const batch of map.batches()) {
      for (let i = 0; i < batch.count; i++) {
        if (!scanRow(batch, i).hasStar) continue;
        for (const overlap of union.overlaps(keyOf(batch, i))) {
          if (added.has(overlap)) continue;
          const row = await overlapRow(overlap, union, fields, isTimed);
          if (row !== undefined) added.set(overlap, row);
        }
      }
    }
  }
  return [...added.values()].sort(compareKeys);
}

async function overlapRow(
  key: string,
  union: Union,
  fields: Fields,
  isTimed: boolean,
): Promise<MergeRow | undefined> {
  if (isTimed) {
    // The rows of a map for the key itself may say nothing of some times.
    const frequency = await union.rowOverTime(key);
    return frequency === undefined ? undefined : addedRow(key, frequency, fields);
  }
  if (await union.isInSomeMap(key)) return undefined;
  const row = await union.row(key);
  return row === undefined ? undefined : addedRow(key, row.frequency, fields);
}

interface ScannedRow {
  readonly isVoid: boolean;
  readonly hasBlock: boolean;
  readonly hasStar: boolean;
}

function scanRow(
  { bytes, keyStarts, keyEnds, restStarts, restEnds }: RecordBatch,
  i: number,
): ScannedRow {
  const start = restStarts[i];
  const end = restEnds[i];
  let star = keyStarts[i];
  while (star < keyEnds[i] && bytes[star] !== STAR) star++;
  const hasBlock = bytes[end - 1] === CLOSE_BRACE;
  return {
    // A block may have voids too.
    isVoid: hasBlock || isZeroColumn(bytes, start, columnEnd(bytes, start, end)),
    hasBlock,
    hasStar: star < keyEnds[i],
  };
}

function hasParts(batch: RecordBatch, i: number, fields: Fields): boolean {
  return datetimeParts(recordOf(rowAt(batch, i, 0), fields)) !== undefined;
}

function keyOf({ bytes, keyStarts, keyEnds }: RecordBatch, i: number): string {
  return decoder.decode(bytes.subarray(keyStarts[i], keyEnds[i]));
}

/** The part of a map that its headers' merge needs. */
interface Headed {
  readonly name: string;
  readonly headers: UkvsHeaders;
}

const MERGED_FROM = "merged_from";
const encoder = new TextEncoder();

/** Headers that are made for the merged map; all others are kept as they are. */
const REBUILT: ReadonlySet<string> = new Set([
  "context",
  "fields",
  "id",
  "keys",
  "meta",
  SIZE_HEADER,
]);

/**
 * The headers of a merged map; those of one map stay as they are.
 *
 * What all maps say alike stays. Where `!id` or a member of `!meta` differs, `merged_from` in
 * `!meta` lists what each map said of itself, in byte order; `updated_at` becomes the latest. Other
 * headers are all kept. The order of the maps does not matter.
 *
 * @throws MM_BAD_INPUT when maps have different columns, or state different contexts.
 */
function mergeHeaders(maps: readonly Headed[]): UkvsHeaders {
  const [first, ...others] = maps;
  if (first === undefined) throw new MementoMapError("MM_USAGE", "there is no map to merge");
  if (others.length === 0) return first.headers;
  for (const other of others) {
    requireSame("fields", first, other, ({ fields }) => [fields.keys, fields.values]);
    requireSameQueries(first, other);
  }
  const [withContext, ...alsoWithContext] = maps.filter(
    ({ headers }) => headers.context.length > 0,
  );
  for (const other of alsoWithContext) {
    if (withContext !== undefined) requireSame("context", withContext, other, (h) => h.context);
  }

  const all = maps.map(({ headers }) => headers);
  const given = all.flatMap(({ list }) => list);
  const { fields, id } = first.headers;
  const meta = mergeMeta(all);
  const list = given.filter(({ name }) => !REBUILT.has(name));
  if (withContext !== undefined) list.push({ name: "context", value: withContext.headers.context });
  if (all.some(({ namesFields }) => namesFields)) {
    const queries = fields.queries === true ? { queries: true } : {};
    list.push({ name: "fields", value: { keys: fields.keys, values: fields.values, ...queries } });
  }
  if (id !== undefined && all.every((headers) => headers.id === id)) {
    const ids = distinct(given.filter(({ name }) => name === "id"));
    list.push(...(ids.length === 1 ? ids : [{ name: "id", value: { uri: id } }]));
  }
  if (Object.keys(meta).length > 0) list.push({ name: "meta", value: meta });
  return new UkvsHeaders(distinct(list));
}

function mergeMeta(all: readonly UkvsHeaders[]): Record<string, unknown> {
  const names = [...new Set(all.flatMap(({ meta }) => Object.keys(meta)))]
    .filter((name) => name !== MERGED_FROM)
    .sort(byBytes);
  const isShared = (name: string): boolean =>
    all.every(
      ({ meta }) =>
        Object.hasOwn(meta, name) && formatJson(meta[name]) === formatJson(all[0].meta[name]),
    );
  const shared = names.filter(isShared);
  const members = shared.map((name): [string, unknown] => [name, all[0].meta[name]]);
  const latest = shared.includes("updated_at") ? undefined : latestUpdate(all);
  if (latest !== undefined) members.push(["updated_at", latest]);
  // What one of them does not know to be absent, all together do not.
  const isSample = all.some(({ meta }) => meta["sample"] === true);
  if (isSample && !shared.includes("sample")) members.push(["sample", true]);
  const origins = originsOf(
    all,
    names.filter((name) => !isShared(name)),
  );
  if (origins.length > 0) members.push([MERGED_FROM, origins]);
  return Object.fromEntries(members.sort(([a], [b]) => byBytes(a, b)));
}

/** What each map says of itself that not all say, in byte order, what was merged before included. */
function originsOf(all: readonly UkvsHeaders[], names: readonly string[]): unknown[] {
  const hasOneId = all.every(({ id }) => id === all[0].id);
  const origins = all.flatMap(({ id, meta }) => {
    const earlier = meta[MERGED_FROM];
    if (Array.isArray(earlier)) return earlier as unknown[];
    const own = names
      .filter((name) => Object.hasOwn(meta, name))
      .map((name) => [name, meta[name]] as const);
    const isNamed = id !== undefined && (!hasOneId || own.length > 0);
    const origin = Object.fromEntries([...(isNamed ? [["uri", id] as const] : []), ...own]);
    return Object.keys(origin).length === 0 ? [] : [origin];
  });
  return [...new Set(origins.map(formatJson))]
    .sort(byBytes)
    .map((text) => JSON.parse(text) as unknown);
}

function latestUpdate(all: readonly UkvsHeaders[]): string | undefined {
  return all
    .map(({ meta }) => meta["updated_at"])
    .filter((time) => typeof time === "string")
    .sort(byBytes)
    .at(-1);
}

function distinct(list: readonly Header[]): Header[] {
  const byLine = new Map(list.map((header) => [formatHeader(header), header]));
  return [...byLine].sort(([a], [b]) => byBytes(a, b)).map(([, header]) => header);
}

function requireSame(
  name: string,
  a: Headed,
  b: Headed,
  part: (headers: UkvsHeaders) => unknown,
): void {
  const [left, right] = [a, b].map(({ headers }) => formatJson(part(headers)));
  if (left === right) return;
  throw new MementoMapError(
    "MM_BAD_INPUT",
    `its ${name} are ${quote(right ?? "")}, those of ${a.name} are ${quote(left ?? "")}; only maps with the same ${name} can be merged`,
    { position: { source: b.name } },
  );
}

function requireSameQueries(a: Headed, b: Headed): void {
  const [left, right] = [a, b].map(({ headers }) => headers.fields.queries === true);
  if (left === right) return;
  const [withQueries, without] = left ? [a, b] : [b, a];
  throw new MementoMapError(
    "MM_BAD_INPUT",
    `its keys have no queries, those of ${withQueries.name} do; generate one of them again, with --queries or without`,
    { position: { source: without.name } },
  );
}

function byBytes(a: string, b: string): number {
  return compareBytes(encoder.encode(a), encoder.encode(b));
}
