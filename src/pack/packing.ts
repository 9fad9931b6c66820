import type { Header } from "../ukvs/header.ts";
import { shardOf } from "../packed/name-hash.ts";
import { type Filter, FLAG, formatHead } from "../packed/packed-file.ts";
import { joinWords, type MapNames, type NameSelection } from "./build-shards.ts";
import type { FilterPlan, ShardNames } from "./dealt-names.ts";
import type { HostProfiles } from "./host-profiles.ts";
import type { PackedLayout } from "./layout.ts";
import { LIST, listOf, NAME_WORDS, namesIn, namesOf } from "./name-log.ts";
import type { PackLanes } from "./pack-job.ts";
import type { ScannedMap } from "./scan-map.ts";
import type { ShardStore } from "./shard-store.ts";

/** Names of a shard: small ones need the fewest slots for each, and are fetched alone. */
const SHARD_NAMES = 8192;
/** Shards of hosts that are built together. */
const HOST_SHARDS = 16;

/** What goes into the header besides what follows from the names. */
export interface PackedInfo {
  readonly headers: readonly Header[];
  readonly sourceRows: number;
  /** The digest of the map that is packed, in hexadecimal. */
  readonly sha256?: string | undefined;
}

/** What names are packed with. */
export interface PackTools {
  readonly lanes: PackLanes;
  readonly store: ShardStore;
  /** Notified of the share of the shards that was built since the last call. */
  readonly onBuilt?: ((share: number) => void) | undefined;
}

/**
 * Makes a packed map: puts its shards into a store, and gives what comes before them.
 *
 * Reads the names of the map twice. Every shard is asked for all of its names where it is built.
 */
export async function packNames(
  map: ScannedMap,
  layout: PackedLayout,
  info: PackedInfo,
  { lanes, store, onBuilt }: PackTools,
): Promise<Uint8Array> {
  const { profiles, names } = map;
  if (names === undefined) throw new Error("names are wanted");
  checkDescriptors(profiles, layout);
  const { fingerprintBits, descriptorBits } = layout;
  const partitions = Array.from({ length: 2 ** names.partitionBits }, (_, i) => i);
  const filters: Filter[] = [];
  const addFilter = (kind: Filter["kind"], bits: number, count: number): FilterPlan => {
    const shards = Math.max(1, Math.round(count / SHARD_NAMES));
    filters.push({ kind, bits, shards });
    return { filter: filters.length - 1, bits, shards };
  };
  await lanes.useNames(names);
  const tableBits = tableBitsOf(layout);
  if (fingerprintBits > 0 && profiles.count > 0) {
    const plan = addFilter("hosts", tableBits, profiles.count);
    const shards = hostShards(profiles, layout, plan);
    await lanes.run(batches(shards, HOST_SHARDS), async (lane, batch) => {
      store.add(await lane.solve(batch, tableBits, fingerprintBits));
    });
  }
  const rows = rowSelections(layout);
  const counts = await lanes.run(partitions, (lane, partition) => lane.count(partition, rows));
  const rowPlans = counts[0].flatMap((_, bits) => {
    const count = counts.reduce((sum, one) => sum + one[bits], 0);
    return count === 0 || bits === 0 ? [] : [addFilter("rows", bits, count)];
  });
  const pieces: ShardNames[] = [];
  await lanes.run(partitions, async (lane, partition) => {
    if (rowPlans.length > 0) {
      const built = await lane.build(partition, rows, rowPlans);
      for (const run of built.runs) store.add(run);
      pieces.push(...built.pieces);
    }
    onBuilt?.(1 / partitions.length);
  });
  await lanes.run(joinPieces(pieces), async (lane, shard) => {
    const { bits } = filters[shard.filter];
    store.add(await lane.solve([shard], bits, bits));
  });
  const voids = voidsOf(names);
  return formatHead(
    {
      headers: info.headers,
      queries: map.kinds.queries,
      rows: profiles.rowCount,
      hosts: profiles.count,
      voids: voids.length / 2,
      table: {
        fingerprint: fingerprintBits,
        descriptor: descriptorBits,
      },
      hostWildcards: profiles.hostWildcards >>> 0,
      hostSpreads: profiles.hostSpreads >>> 0,
      filters,
      source: { rows: info.sourceRows, sha256: info.sha256 },
    },
    layout.descriptors,
    store.directory(filters.map(({ bits }) => bits)),
    voids,
  );
}

/** The hashes of all voids, both halves of each; sorted by the low half, then by the other. */
function voidsOf({ parts, partitionBits }: MapNames): Uint32Array {
  const hashes: bigint[] = [];
  for (let partition = 0; partition < 2 ** partitionBits; partition++) {
    for (const { names } of parts) {
      for (const chunk of namesOf(names, listOf(LIST.voids, partitionBits, partition))) {
        for (let at = 0; at < chunk.length; at += NAME_WORDS) {
          hashes.push((BigInt(chunk[at]) << 32n) | BigInt(chunk[at + 1]));
        }
      }
    }
  }
  const sorted = BigUint64Array.from(new Set(hashes)).sort();
  return Uint32Array.from(
    [...sorted].flatMap((hash) => [Number(hash >> 32n), Number(hash & 0xffffffffn)]),
  );
}

function batches<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, i) =>
    all.slice(i * size, (i + 1) * size),
  );
}

export function countNames({ names }: ScannedMap, kind: NameSelection["kind"]): number {
  if (names === undefined) return 0;
  const { parts, partitionBits } = names;
  const first = kind * 2 ** partitionBits;
  let count = 0;
  for (let list = first; list < first + 2 ** partitionBits; list++) {
    for (const part of parts) count += namesIn(part.names, list);
  }
  return count;
}

/** Which names are rows, and of how many bits: home pages, `/*` and `com,cnn,*` are, where no descriptor says so. */
function rowSelections(layout: PackedLayout): NameSelection[] {
  const widths = (flag: number): Uint8Array => {
    const ofDescriptors = layout.descriptors.map((one) => {
      const isAll = (one.flags & (FLAG.all | FLAG.voids)) === FLAG.all;
      return isAll || (one.flags & flag) !== 0 ? 0 : one.width;
    });
    return Uint8Array.from(layout.descriptorOf, (descriptor) => ofDescriptors[descriptor]);
  };
  const rows = [
    { kind: LIST.rows, widths: widths(0) },
    { kind: LIST.homes, widths: widths(FLAG.home) },
  ];
  const hasTable = layout.fingerprintBits > 0;
  return hasTable ? rows : [...rows, { kind: LIST.wholes, widths: layout.descriptors[0].width }];
}

/** Joins the names of each shard that several partitions have. */
function joinPieces(pieces: readonly ShardNames[]): ShardNames[] {
  const shards = new Map<string, ShardNames[]>();
  for (const piece of pieces) {
    const name = `${piece.filter} ${piece.shard}`;
    const own = shards.get(name);
    if (own === undefined) shards.set(name, [piece]);
    else own.push(piece);
  }
  return Array.from(shards.values(), (own) => ({
    filter: own[0].filter,
    shard: own[0].shard,
    low: joinWords(own.map(({ low }) => low)),
    high: joinWords(own.map(({ high }) => high)),
  }));
}

/**
 * Checks that the descriptor of every host leads to all of its rows.
 *
 * @throws Error where a layout is wrong
 */
function checkDescriptors(profiles: HostProfiles, layout: PackedLayout): void {
  for (let host = 0; host < profiles.count; host++) {
    const { exact, wildcards, flags } = layout.descriptors[layout.descriptorOf[host]];
    const [masks, own] = [profiles.masks[host], profiles.flags[host]];
    // What a descriptor says is true of the host, and all of a host has no other rows.
    const isTrue = (flags & ~own & (FLAG.home | FLAG.all)) === 0;
    const isAll = (flags & FLAG.all) !== 0;
    const home = (own & ~flags & FLAG.home) === 0 ? 0 : 1;
    const all = (own & ~flags & FLAG.all) === 0 ? 0 : 1;
    const isFound =
      isAll ||
      ((((masks & 0xff) | home) & ~exact) === 0 &&
        ((((masks >>> 8) & 0xff) | all) & ~wildcards) === 0 &&
        (own & ~flags & (FLAG.query | FLAG.anyQuery | FLAG.voids)) === 0);
    if (!isTrue || !isFound) throw new Error("a descriptor does not lead to all rows of its host");
  }
}

/** The hosts, dealt out to the shards of their filter. */
function hostShards(
  profiles: HostProfiles,
  layout: PackedLayout,
  { filter, shards }: FilterPlan,
): ShardNames[] {
  const { count, low, high } = profiles;
  const starts = new Uint32Array(shards + 1);
  for (let i = 0; i < count; i++) starts[shardOf(low[i], shards) + 1]++;
  for (let i = 0; i < shards; i++) starts[i + 1] += starts[i];
  const next = starts.slice(0, shards);
  const [lows, highs, values] = Array.from({ length: 3 }, () => new Uint32Array(count));
  for (let host = 0; host < count; host++) {
    const at = next[shardOf(low[host], shards)]++;
    lows[at] = low[host];
    highs[at] = high[host];
    values[at] = layout.descriptorOf[host];
  }
  return Array.from({ length: shards }, (_, shard) => {
    const [from, to] = [starts[shard], starts[shard + 1]];
    return {
      filter,
      shard,
      low: lows.slice(from, to),
      high: highs.slice(from, to),
      values: values.slice(from, to),
    };
  });
}

/** About how many bytes names take in a filter, for planning. */
export function filterBytes(names: number, bits: number): number {
  if (names === 0 || bits === 0) return 0;
  const shards = Math.max(1, Math.round(names / SHARD_NAMES));
  return (names * SLOTS_PER_NAME + 48 * shards) * (bits / 8) + 16 * shards;
}

/** Names in the filters of rows: without a table, home pages and hosts that are held as a whole are among them. */
export function countRows(map: ScannedMap, { fingerprintBits }: PackedLayout): number {
  const { rowCount } = map.profiles;
  return fingerprintBits > 0
    ? rowCount
    : rowCount + countNames(map, LIST.homes) + countNames(map, LIST.wholes);
}

/** About how many bytes a map takes that is laid out so. */
export function estimatedBytes(map: ScannedMap, layout: PackedLayout): number {
  const { profiles } = map;
  const { descriptors, descriptorOf } = layout;
  let [names, eighths] = [0, 0];
  for (let host = 0; host < profiles.count; host++) {
    const { width, flags } = descriptors[descriptorOf[host]];
    if ((flags & FLAG.all) !== 0) continue;
    const home = profiles.flags[host] & ~flags & FLAG.home;
    names += profiles.rows[host] + home;
    eighths += (profiles.rows[host] + home) * width;
  }
  const isFlat = layout.fingerprintBits === 0;
  const wholes = isFlat ? countNames(map, LIST.wholes) : 0;
  names += wholes;
  eighths += wholes * descriptors[0].width;
  return (
    ESTIMATED_HEAD_BYTES +
    4 * descriptors.length +
    filterBytes(profiles.count, tableBitsOf(layout)) +
    filterBytes(names, eighths / 8 / Math.max(1, names)) +
    VOID_BYTES * countNames(map, LIST.voids)
  );
}

/** The bits of a value in the table of hosts; 0 without a table. */
function tableBitsOf({ fingerprintBits, descriptorBits }: PackedLayout): number {
  return fingerprintBits === 0 ? 0 : fingerprintBits + descriptorBits;
}

/** Of a void in the head. */
export const VOID_BYTES = 8;
/** Of a header, about. */
const ESTIMATED_HEAD_BYTES = 800;

/** Slots for each name, as measured. */
export const SLOTS_PER_NAME = 1.03;
