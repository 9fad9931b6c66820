import { setImmediate } from "node:timers/promises";
import { joinBytes } from "../bytes/bytes.ts";
import { checkSignal } from "../interruption.ts";
import type { Header } from "../ukvs/header.ts";
import { FLAG, formatHead } from "../packed/packed-file.ts";
import { MAX_BITS } from "../packed/ribbon.ts";
import { countBits, NameDealer, type NameWidths } from "./deal-names.ts";
import { FilterWriter, SHARD_NAMES, shardsOf } from "./filter-writer.ts";
import type { HostProfiles } from "./host-profiles.ts";
import type { PackedLayout } from "./layout.ts";
import { kindOfName, NAME, NAME_WORDS, type NameLog } from "./name-log.ts";
import type { ScannedMap } from "./scan-map.ts";

/** Parts of the header that do not follow from the names. */
export interface PackedInfo {
  readonly headers: readonly Header[];
  readonly sourceRows: number;
  /** The digest of the text map, in hexadecimal. */
  readonly sha256?: string | undefined;
}

export interface WritePackedOptions {
  /** Called with the fraction of the filters built since the last call. */
  readonly onBuilt?: ((share: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Writes a packed map. Every shard is verified by looking up all of its names.
 *
 * Reads the names of the map twice. Holds the file twice, and the names of two partitions.
 */
export async function packNames(
  map: ScannedMap,
  layout: PackedLayout,
  info: PackedInfo,
  { onBuilt, signal }: WritePackedOptions = {},
): Promise<Uint8Array> {
  const { profiles, names } = map;
  if (names === undefined) throw new Error("names are wanted");
  checkDescriptors(profiles, layout);
  const { fingerprintBits, descriptorBits, descriptors } = layout;
  const filters: FilterWriter[] = [];
  if (fingerprintBits > 0 && profiles.count > 0) filters.push(hostFilter(profiles, layout));
  const widths = rowWidths(layout);
  const counts = new Float64Array(MAX_BITS + 1);
  for (let partition = 0; partition < names.partitions; partition++) {
    countBits(names, partition, widths, counts);
  }
  for (let bits = 1; bits <= MAX_BITS; bits++) {
    if (counts[bits] > 0) filters.push(new FilterWriter("rows", counts[bits], bits));
  }
  const rowFilters = filters.filter(({ kind }) => kind === "rows");
  const dealer = new NameDealer(names, widths, rowFilters);
  for (let partition = 0; partition < names.partitions; partition++) {
    if (rowFilters.length > 0) dealer.deal(partition);
    onBuilt?.(1 / names.partitions);
    await setImmediate();
    checkSignal(signal);
  }
  const voids = voidsOf(names);
  let words = 0;
  const directory = filters.flatMap((filter) => {
    const shards = filter.directory(words);
    words += filter.words.reduce((sum, { length }) => sum + length, 0);
    return shards;
  });
  const head = formatHead(
    {
      headers: info.headers,
      queries: map.queries,
      rows: profiles.rowCount,
      hosts: profiles.count,
      voids: voids.length / 2,
      table: { fingerprint: fingerprintBits, descriptor: descriptorBits },
      hostWildcards: profiles.hostWildcards >>> 0,
      hostSpreads: profiles.hostSpreads >>> 0,
      filters: filters.map(({ kind, bits, shards }) => ({ kind, bits, shards })),
      source: { rows: info.sourceRows, sha256: info.sha256 },
    },
    descriptors,
    directory,
    voids,
  );
  const data = filters.flatMap((filter) =>
    filter.words.map((some) => new Uint8Array(some.buffer, some.byteOffset, some.byteLength)),
  );
  return joinBytes([head, ...data]);
}

/** The hashes of all voids, low and high half of each; sorted by the low half, then by the high half. */
function voidsOf(names: NameLog): Uint32Array {
  const hashes: bigint[] = [];
  const partitions = names.counts[NAME.void] === 0 ? 0 : names.partitions;
  for (let partition = 0; partition < partitions; partition++) {
    for (const chunk of names.namesOf(partition)) {
      for (let at = 0; at < chunk.length; at += NAME_WORDS) {
        if (kindOfName(chunk[at + 2]) !== NAME.void) continue;
        hashes.push((BigInt(chunk[at]) << 32n) | BigInt(chunk[at + 1]));
      }
    }
  }
  const sorted = BigUint64Array.from(new Set(hashes)).sort();
  return Uint32Array.from(
    [...sorted].flatMap((hash) => [Number(hash >> 32n), Number(hash & 0xffffffffn)]),
  );
}

/** The widths of names that are rows. Home pages, `/*` and `com,cnn,*` are rows unless a descriptor has them. */
function rowWidths({ descriptors, descriptorOf, fingerprintBits }: PackedLayout): NameWidths {
  const widths = (flag: number): Uint8Array => {
    const ofDescriptors = descriptors.map((one) => {
      const isAll = (one.flags & (FLAG.all | FLAG.voids)) === FLAG.all;
      return isAll || (one.flags & flag) !== 0 ? 0 : one.width;
    });
    return Uint8Array.from(descriptorOf, (descriptor) => ofDescriptors[descriptor]);
  };
  const all: (Uint8Array | number)[] = [];
  all[NAME.row] = widths(0);
  all[NAME.void] = 0;
  all[NAME.home] = widths(FLAG.home);
  all[NAME.whole] = fingerprintBits > 0 ? 0 : descriptors[0].width;
  return all;
}

/**
 * Checks that the descriptor of every host covers all of its rows.
 *
 * @throws Error if a layout is wrong
 */
function checkDescriptors(profiles: HostProfiles, layout: PackedLayout): void {
  for (let host = 0; host < profiles.count; host++) {
    const { exact, wildcards, flags } = layout.descriptors[layout.descriptorOf[host]];
    const [masks, own] = [profiles.masks[host], profiles.flags[host]];
    // The flags of a descriptor must be true of the host; a host held as a whole has no other rows.
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

/** The table of hosts: the descriptor number of each. */
function hostFilter(profiles: HostProfiles, layout: PackedLayout): FilterWriter {
  const { count, low, high } = profiles;
  const filter = new FilterWriter("hosts", count, tableBitsOf(layout), layout.fingerprintBits);
  const names = {
    low: low.subarray(0, count),
    high: high.subarray(0, count),
    values: Uint32Array.from(layout.descriptorOf),
  };
  for (const shard of shardsOf(names, filter.shards)) filter.add(shard);
  return filter;
}

/** The bits of a value in the table of hosts; 0 without a table. */
function tableBitsOf({ fingerprintBits, descriptorBits }: PackedLayout): number {
  return fingerprintBits === 0 ? 0 : fingerprintBits + descriptorBits;
}

/** Bytes of a void in the head; approximate bytes of the header. */
export const VOID_BYTES = 8;
const ESTIMATED_HEAD_BYTES = 800;
/** Slots per name, as measured. */
export const SLOTS_PER_NAME = 1.03;

/** Estimates the size of a filter, for planning. */
export function filterBytes(names: number, bits: number): number {
  if (names === 0 || bits === 0) return 0;
  const shards = Math.max(1, Math.round(names / SHARD_NAMES));
  return (names * SLOTS_PER_NAME + 48 * shards) * (bits / 8) + 16 * shards;
}

/** Number of names in the filters of rows; without a table this includes home pages and hosts held as a whole. */
export function countRows(
  { profiles, names }: ScannedMap,
  { fingerprintBits }: PackedLayout,
): number {
  const { counts } = names;
  const others = fingerprintBits > 0 ? 0 : counts[NAME.home] + counts[NAME.whole];
  return profiles.rowCount + others;
}

/** Estimates the size of a map with this layout. */
export function estimatedBytes({ profiles, names }: ScannedMap, layout: PackedLayout): number {
  const { descriptors, descriptorOf } = layout;
  let [count, eighths] = [0, 0];
  for (let host = 0; host < profiles.count; host++) {
    const { width, flags } = descriptors[descriptorOf[host]];
    if ((flags & FLAG.all) !== 0) continue;
    const home = profiles.flags[host] & ~flags & FLAG.home;
    count += profiles.rows[host] + home;
    eighths += (profiles.rows[host] + home) * width;
  }
  const wholes = layout.fingerprintBits === 0 ? names.counts[NAME.whole] : 0;
  count += wholes;
  eighths += wholes * descriptors[0].width;
  return (
    ESTIMATED_HEAD_BYTES +
    4 * descriptors.length +
    filterBytes(profiles.count, tableBitsOf(layout)) +
    filterBytes(count, eighths / 8 / Math.max(1, count)) +
    VOID_BYTES * names.counts[NAME.void]
  );
}
