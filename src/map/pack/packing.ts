import { enlarged } from "../compact/budget/budget-survey.ts";
import { KEY_KIND } from "../compact/key-tree.ts";
import type { MapRow, RowSink } from "../compact/map-lines.ts";
import type { Header } from "../../ukvs/header.ts";
import type { HostProfiles } from "./host-profiles.ts";
import { type RowKinds, rowName } from "./row-name.ts";
import { bitsOf, fingerprint, NameHash, shardOf } from "../../packed/name-hash.ts";
import {
  crc32,
  type DeltaPlace,
  type Descriptor,
  type Filter,
  type FilterKind,
  formatHead,
  type PackedHeader,
  type Shard,
} from "../../packed/packed-file.ts";
import { buildRibbon } from "../../packed/ribbon.ts";

/** Names of a shard: small ones need the fewest slots for each, and are fetched alone. */
const SHARD_NAMES = 8192;
/** A void must not hide what is held: few names collide with one, and these get rows of their own. */
const VOID_BITS = 12;

/** How a packed map is laid out. */
export interface PackedLayout {
  /** Bits of a row, in eighths. */
  readonly width: number;
  /** Bits in the table of hosts. */
  readonly fingerprintBits: number;
  readonly descriptorBits: number;
  readonly countBits: number;
  /** The descriptor of each host, and what they are. */
  readonly descriptors: readonly Descriptor[];
  readonly descriptorOf: Uint16Array;
}

/** Names for one filter. */
class NameList {
  count = 0;
  low: Uint32Array = new Uint32Array(4096);
  high: Uint32Array = new Uint32Array(4096);
  values: Uint32Array | undefined;

  constructor(hasValues: boolean) {
    if (hasValues) this.values = new Uint32Array(4096);
  }

  add(low: number, high: number, value: number): void {
    if (this.count === this.low.length) this.#grow();
    this.low[this.count] = low;
    this.high[this.count] = high;
    if (this.values !== undefined) this.values[this.count] = value;
    this.count++;
  }

  #grow(): void {
    const size = 2 * this.count;
    this.low = enlarged(new Uint32Array(size), this.low);
    this.high = enlarged(new Uint32Array(size), this.high);
    if (this.values !== undefined) this.values = enlarged(new Uint32Array(size), this.values);
  }
}

/** Collects the names of all rows for the filters of their width. */
export class RowNames implements RowSink {
  readonly #profiles: HostProfiles;
  readonly #layout: PackedLayout;
  readonly #kinds: RowKinds;
  readonly #hash = new NameHash();
  readonly rows: NameList[] = [];
  readonly voids: NameList = new NameList(false);
  #host = -1;
  #hostLow = -1;
  #hostHigh = -1;

  constructor(profiles: HostProfiles, layout: PackedLayout, kinds: RowKinds) {
    this.#profiles = profiles;
    this.#layout = layout;
    this.#kinds = kinds;
  }

  add(row: MapRow): void {
    const name = rowName(row, this.#kinds);
    if (name === undefined) return;
    const { key, shape, captures } = name;
    const { kind, hostEnd, depth, pageEnd } = shape;
    const isVoid = captures === 0;
    const host = this.#hostOf(key, hostEnd);
    const hasTable = this.#layout.fingerprintBits > 0;
    if (kind === KEY_KIND.hostWildcard && hasTable) return;
    const hash = this.#hash;
    const end = this.#kinds.queries ? key.length : pageEnd;
    if (isVoid) {
      hash.extend(key, hostEnd, end).finish();
      this.voids.add(hash.low, hash.high, 0);
      return;
    }
    const isFlag = depth === 0 && kind !== KEY_KIND.spread && end === pageEnd;
    if (isFlag && hasTable) return;
    hash.extend(key, hostEnd, end).finish();
    const { width } = this.#layout.descriptors[this.#layout.descriptorOf[host]];
    const bits = bitsOf(width, hash.high);
    if (bits === 0) return;
    (this.rows[bits] ??= new NameList(false)).add(hash.low, hash.high, 0);
  }

  /** The number of the host; hosts come in the order of the profiles. Leaves its state in the hash. */
  #hostOf(key: Uint8Array, hostEnd: number): number {
    const hash = this.#hash.reset().extend(key, 0, hostEnd).finish();
    if (hash.low === this.#hostLow && hash.high === this.#hostHigh) return this.#host;
    this.#hostLow = hash.low;
    this.#hostHigh = hash.high;
    this.#host++;
    if (this.#profiles.low[this.#host] !== hash.low) throw new Error("the map changed meanwhile");
    return this.#host;
  }
}

/** What goes into the header besides what follows from the names. */
export interface PackedInfo {
  readonly headers: readonly Header[];
  readonly queries: boolean;
  readonly sourceRows: number;
  /** The digest of the map that is packed, in hexadecimal. */
  readonly sha256?: string | undefined;
  /** Set for a delta. */
  readonly delta?: DeltaPlace | undefined;
}

/** Makes the bytes of a packed map. */
export function packNames(
  profiles: HostProfiles,
  names: RowNames,
  layout: PackedLayout,
  info: PackedInfo,
): Uint8Array<ArrayBuffer> {
  const filters: Filter[] = [];
  const shards: Shard[] = [];
  const data: Uint32Array[] = [];
  let words = 0;
  const addFilter = (kind: FilterKind, bits: number, list: NameList, checkedBits: number): void => {
    if (list.count === 0 || bits === 0) return;
    const built = buildShards(list, bits, checkedBits);
    filters.push({ kind, bits, shards: built.length });
    for (const ribbon of built) {
      const bytes = new Uint8Array(ribbon.words.buffer);
      shards.push({
        words,
        slots: ribbon.slots,
        seed: ribbon.seed,
        crc: crc32(bytes, 0, bytes.length),
      });
      data.push(ribbon.words);
      words += ribbon.words.length;
    }
  };
  const { fingerprintBits, descriptorBits, countBits } = layout;
  const step = countStep(profiles, countBits);
  const tableBits = fingerprintBits + descriptorBits + countBits;
  if (fingerprintBits > 0) {
    addFilter("hosts", tableBits, hostNames(profiles, layout, step), fingerprintBits);
  }
  names.rows.forEach((list, bits) => addFilter("rows", bits, list, bits));
  addFilter("voids", VOID_BITS, names.voids, VOID_BITS);
  const header: PackedHeader = {
    headers: info.headers,
    queries: info.queries,
    rows: profiles.rowCount,
    hosts: profiles.count,
    voids: profiles.voidCount,
    table: { fingerprint: fingerprintBits, descriptor: descriptorBits, count: countBits, step },
    hostWildcards: profiles.hostWildcards >>> 0,
    hostSpreads: profiles.hostSpreads >>> 0,
    filters,
    source: { rows: info.sourceRows, sha256: info.sha256 },
    delta: info.delta,
  };
  const head = formatHead(header, layout.descriptors, shards);
  const file = new Uint8Array(head.length + 4 * words);
  file.set(head);
  let at = head.length;
  for (const block of data) {
    file.set(new Uint8Array(block.buffer), at);
    at += 4 * block.length;
  }
  return file;
}

/** The bits of a count: powers of two, so many that the largest host has one. */
function countStep({ count, captures }: HostProfiles, bits: number): number {
  let most = 1;
  for (let i = 0; i < count; i++) most = Math.max(most, captures[i]);
  return Math.max(1, Math.ceil(Math.log2(most + 1) / 2 ** bits));
}

function hostNames(profiles: HostProfiles, layout: PackedLayout, step: number): NameList {
  const names = new NameList(true);
  const most = 2 ** layout.countBits - 1;
  for (let host = 0; host < profiles.count; host++) {
    const level = Math.floor(Math.log2(profiles.captures[host] + 1) / step);
    const value = layout.descriptorOf[host] + Math.min(most, level) * 2 ** layout.descriptorBits;
    names.add(profiles.low[host], profiles.high[host], value);
  }
  return names;
}

interface BuiltShard {
  readonly slots: number;
  readonly seed: number;
  readonly words: Uint32Array;
}

/** The ribbons of a filter: the names dealt out by hash, and each with its fingerprint and value. */
function buildShards(list: NameList, bits: number, checkedBits: number): BuiltShard[] {
  const count = Math.max(1, Math.round(list.count / SHARD_NAMES));
  const starts = new Uint32Array(count + 1);
  for (let i = 0; i < list.count; i++) starts[shardOf(list.low[i], count) + 1]++;
  for (let i = 0; i < count; i++) starts[i + 1] += starts[i];
  const next = starts.slice(0, count);
  const order = new Uint32Array(list.count);
  for (let i = 0; i < list.count; i++) order[next[shardOf(list.low[i], count)]++] = i;
  const mask = checkedBits === 32 ? -1 : (1 << checkedBits) - 1;
  return Array.from({ length: count }, (_, shard) => {
    const [from, to] = [starts[shard], starts[shard + 1]];
    const entries = {
      count: to - from,
      low: new Uint32Array(to - from),
      high: new Uint32Array(to - from),
      values: new Uint32Array(to - from),
    };
    for (let i = from; i < to; i++) {
      const [low, high] = [list.low[order[i]], list.high[order[i]]];
      entries.low[i - from] = low;
      entries.high[i - from] = high;
      const value = list.values === undefined ? 0 : list.values[order[i]];
      entries.values[i - from] =
        ((fingerprint(low, high) & mask) | (checkedBits === 32 ? 0 : value << checkedBits)) >>> 0;
    }
    return buildRibbon(entries, bits);
  });
}

/** About how many bytes names take in a filter, for planning. */
export function filterBytes(names: number, bits: number): number {
  if (names === 0 || bits === 0) return 0;
  const shards = Math.max(1, Math.round(names / SHARD_NAMES));
  return (names * SLOTS_PER_NAME + 48 * shards) * (bits / 8) + 16 * shards;
}

/** Slots for each name, as measured. */
export const SLOTS_PER_NAME = 1.03;
