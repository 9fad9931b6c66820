import { isPacked, PACKED_MAGIC } from "../bytes/bytes.ts";
import { isMementoMapError, MementoMapError } from "../errors.ts";
import { type Header, isJsonObject, UkvsHeaders } from "../ukvs/header.ts";
import { BAND, BLOCK_SLOTS, MAX_BITS, ribbonWords } from "./ribbon.ts";

/*
 * The layout of a packed map; docs/packed.md specifies it. All numbers are little-endian.
 *
 *   0   magic, 8 bytes
 *   8   version · bytes of the header · descriptors · shards, 4 bytes each
 *   24  CRC-32 of all from byte 32 to the data · where the data begins
 *   32  descriptors, 4 bytes each · directory, 16 bytes for each shard · header, JSON · zeros ·
 *       voids, 8 bytes each
 *   ..  data: the words of the shards, one after the other
 */

const VERSION = 1;
/** Bytes before the descriptors. */
const PREAMBLE_BYTES = 32;
const DESCRIPTOR_BYTES = 4;
const SHARD_BYTES = 16;
const VOID_BYTES = 8;
/** The head is held in memory as objects; a larger one is treated as damaged. */
const MAX_HEAD_BYTES = 2 ** 26;
const MAX_DESCRIPTORS = 2 ** 16;
/** Readers allocate a buffer of this size. */
const MAX_DATA_BYTES = 2 ** 32;
const MAX_UINT32 = 2 ** 32 - 1;

/** Maximum bits per row: with so many, false positives are negligible. */
export const MAX_ROW_BITS = 31;
/** The rows of a host. Bit 0 stands for its home page or `/*`, bit 7 for depth 7 and deeper. */
export interface Descriptor {
  readonly exact: number;
  readonly wildcards: number;
  /** A sum of {@link FLAG}. */
  readonly flags: number;
  /** Bits per row, in eighths. */
  readonly width: number;
}

/** Flags of a descriptor. */
export const FLAG = {
  /** The home page is held. */
  home: 1,
  /** All of the host is held, except for voids. */
  all: 2,
  /** Some rows have a query. */
  query: 4,
  /** Some rows match any query, `/a?*`. */
  anyQuery: 8,
  /** Some names of the host, or a domain that contains it, are voids. */
  voids: 16,
} as const;

const ALL_FLAGS = 31;

/** The last bit of a depth mask; it stands for all greater depths, too. */
export const MAX_DEPTH = 7;

type FilterKind = "hosts" | "rows";

/** A set of names, stored in shards of one ribbon each. */
export interface Filter {
  readonly kind: FilterKind;
  /** Bits per slot. */
  readonly bits: number;
  readonly shards: number;
}

/** The header of a packed map. */
export interface PackedHeader {
  /** The headers of the map it was made from. */
  readonly headers: readonly Header[];
  /** Whether names of pages include queries. */
  readonly queries: boolean;
  /** Numbers of names in the filters. */
  readonly rows: number;
  readonly hosts: number;
  /** Number of names in the list of voids. */
  readonly voids: number;
  /** Field widths of a value in the table of hosts, lowest bits first. */
  readonly table: {
    readonly fingerprint: number;
    readonly descriptor: number;
  };
  /** Label counts of keys `com,cnn,*` and of keys `com,cnn,*)/a`, as bits. */
  readonly hostWildcards: number;
  readonly hostSpreads: number;
  readonly filters: readonly Filter[];
  /** The text map it was made from: its rows and digest. */
  readonly source?: { readonly rows: number; readonly sha256?: string | undefined } | undefined;
}

/** A shard: the offset of its words from the start of the data, and the parameters of its ribbon. */
export interface Shard {
  readonly words: number;
  readonly slots: number;
  readonly seed: number;
  readonly crc: number;
}

/** A packed map without its data. */
export interface PackedHead {
  readonly header: PackedHeader;
  readonly descriptors: readonly Descriptor[];
  readonly shards: readonly Shard[];
  /** Hashes of voids, low and high half of each; sorted by the low half. */
  readonly voids: Uint32Array;
  /** Start and end of the data. */
  readonly dataStart: number;
  readonly end: number;
}

/** Formats the head: all bytes of a packed map before its data. */
export function formatHead(
  header: PackedHeader,
  descriptors: readonly Descriptor[],
  shards: readonly Shard[],
  voids: Uint32Array = new Uint32Array(0),
): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(header));
  const tables = descriptors.length * DESCRIPTOR_BYTES + shards.length * SHARD_BYTES;
  const voidsStart = 8 * Math.ceil((PREAMBLE_BYTES + tables + json.length) / 8);
  const dataStart = voidsStart + 4 * voids.length;
  const bytes = new Uint8Array(dataStart);
  const view = new DataView(bytes.buffer);
  bytes.set(PACKED_MAGIC);
  [VERSION, json.length, descriptors.length, shards.length].forEach((number, i) => {
    view.setUint32(8 + 4 * i, number, true);
  });
  let at = PREAMBLE_BYTES;
  for (const one of descriptors) {
    bytes.set([one.exact, one.wildcards, one.flags, one.width], at);
    at += DESCRIPTOR_BYTES;
  }
  for (const { words, slots, seed, crc } of shards) {
    [words, slots, seed, crc].forEach((number, i) => view.setUint32(at + 4 * i, number, true));
    at += SHARD_BYTES;
  }
  bytes.set(json, at);
  voids.forEach((half, i) => view.setUint32(voidsStart + 4 * i, half, true));
  view.setUint32(24, crc32(bytes, PREAMBLE_BYTES, dataStart), true);
  view.setUint32(28, dataStart, true);
  return bytes;
}

/**
 * Reads the offset of the data from the first bytes of a file.
 *
 * @throws MM_BAD_INPUT if it is not a packed map, or of another version; MM_CUT
 */
export function dataStartOf(start: Uint8Array, source: string): number {
  if (!isPacked(start)) throw unusable("is not a packed map", source);
  if (start.length < PREAMBLE_BYTES) throw cut(source);
  const view = new DataView(start.buffer, start.byteOffset, start.byteLength);
  const version = view.getUint32(8, true);
  if (version !== VERSION) {
    throw unusable(`is a packed map of version ${version}; this program reads ${VERSION}`, source);
  }
  const dataStart = view.getUint32(28, true);
  if (dataStart % 8 !== 0 || dataStart < PREAMBLE_BYTES || dataStart > MAX_HEAD_BYTES) {
    throw damaged("preamble", source);
  }
  return dataStart;
}

/**
 * Parses the head of a packed map.
 *
 * @param size the size of the file.
 * @throws MM_BAD_INPUT if it is not a packed map, of another version, or damaged; MM_CUT; MM_LIMIT
 */
export function parseHead(bytes: Uint8Array, size: number, source: string): PackedHead {
  const dataStart = dataStartOf(bytes, source);
  if (bytes.length < dataStart || size < dataStart) throw cut(source);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint32(24, true) !== crc32(bytes, PREAMBLE_BYTES, dataStart)) {
    throw damaged("header", source);
  }
  const [jsonBytes, descriptorCount, shardCount] = [12, 16, 20].map((at) =>
    view.getUint32(at, true),
  );
  const tables = descriptorCount * DESCRIPTOR_BYTES + shardCount * SHARD_BYTES;
  const jsonStart = PREAMBLE_BYTES + tables;
  if (descriptorCount > MAX_DESCRIPTORS) throw damaged("descriptors", source);
  if (jsonStart + jsonBytes > dataStart) throw damaged("preamble", source);
  const header = readHeader(bytes.subarray(jsonStart, jsonStart + jsonBytes), source);
  const voidsStart = 8 * Math.ceil((jsonStart + jsonBytes) / 8);
  if (voidsStart + VOID_BYTES * header.voids !== dataStart) throw damaged("preamble", source);
  let at = PREAMBLE_BYTES;
  const descriptors = Array.from({ length: descriptorCount }, () => {
    const [exact, wildcards, flags, width] = bytes.subarray(at, at + DESCRIPTOR_BYTES);
    at += DESCRIPTOR_BYTES;
    if (flags > ALL_FLAGS) throw damaged("descriptors", source);
    return { exact, wildcards, flags, width };
  });
  const shards: Shard[] = [];
  for (const end = at + shardCount * SHARD_BYTES; at < end; at += SHARD_BYTES) {
    shards.push({
      words: view.getUint32(at, true),
      slots: view.getUint32(at + 4, true),
      seed: view.getUint32(at + 8, true),
      crc: view.getUint32(at + 12, true),
    });
  }
  const voids = Uint32Array.from({ length: 2 * header.voids }, (_, i) =>
    view.getUint32(voidsStart + 4 * i, true),
  );
  checkFilters(header, descriptorCount, source);
  const words = checkShards(header, shards, source);
  if (4 * words > MAX_DATA_BYTES) {
    throw new MementoMapError("MM_LIMIT", "the packed map is larger than 4 GiB", {
      position: { source },
    });
  }
  const end = dataStart + 4 * words;
  if (end > size) throw cut(source);
  if (end < size) throw damaged("end: bytes follow the last shard", source);
  return { header, descriptors, shards, voids, dataStart, end };
}

function readHeader(json: Uint8Array, source: string): PackedHeader {
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(json));
  } catch (cause) {
    throw new MementoMapError("MM_BAD_INPUT", "the header of the packed map is not JSON", {
      position: { source },
      cause,
    });
  }
  if (!isHeader(header)) throw damaged("header", source);
  try {
    headersOf(header);
  } catch (error) {
    if (!isMementoMapError(error)) throw error;
    throw damaged(`header: ${error.message}`, source);
  }
  return header;
}

/** Whether a header has all members that lookups rely on; a checksum does not prove that. */
function isHeader(value: unknown): value is PackedHeader {
  if (!isJsonObject(value)) return false;
  const { headers, queries, rows, hosts, voids, table, filters, source } = value as Partial<
    Record<keyof PackedHeader, unknown>
  >;
  return (
    Array.isArray(headers) &&
    headers.every((one) => isJsonObject(one) && typeof one["name"] === "string") &&
    typeof queries === "boolean" &&
    [rows, hosts, voids].every((count) => isWithin(count, 0, Number.MAX_SAFE_INTEGER)) &&
    [value["hostWildcards"], value["hostSpreads"]].every((bits) => isWithin(bits, 0, MAX_UINT32)) &&
    isJsonObject(table) &&
    isWithin(table["fingerprint"], 0, MAX_BITS) &&
    isWithin(table["descriptor"], 0, 16) &&
    Array.isArray(filters) &&
    filters.every(isFilter) &&
    (source === undefined || isJsonObject(source))
  );
}

function isFilter(value: unknown): value is Filter {
  return (
    isJsonObject(value) &&
    ["hosts", "rows"].includes(value["kind"] as string) &&
    isWithin(value["bits"], 1, MAX_BITS) &&
    isWithin(value["shards"], 1, MAX_UINT32)
  );
}

function isWithin(value: unknown, min: number, max: number): boolean {
  return Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
}

/** Checks that filters are unique, and that the table of hosts matches the header. */
function checkFilters(header: PackedHeader, descriptors: number, source: string): void {
  const { filters, table } = header;
  const names = filters.map(({ kind, bits }) => (kind === "rows" ? `rows ${bits}` : kind));
  if (new Set(names).size < names.length) throw damaged("filters", source);
  const hosts = filters.find(({ kind }) => kind === "hosts");
  const bits = table.fingerprint + table.descriptor;
  const isSound =
    table.fingerprint === 0
      ? hosts === undefined && descriptors === 1
      : hosts === undefined || (hosts.bits === bits && descriptors > 0);
  if (!isSound) throw damaged("table of hosts", source);
}

/** Checks that the shards are contiguous; returns their total number of words. */
function checkShards({ filters }: PackedHeader, shards: readonly Shard[], source: string): number {
  let [at, words] = [0, 0];
  for (const { bits, shards: count } of filters) {
    for (let i = 0; i < count; i++, at++) {
      const shard = shards.at(at);
      if (
        shard === undefined ||
        shard.words !== words ||
        shard.slots < BAND ||
        shard.slots % BLOCK_SLOTS !== 0
      ) {
        throw damaged("directory", source);
      }
      words += ribbonWords(shard.slots, bits);
    }
  }
  if (at !== shards.length) throw damaged("directory", source);
  return words;
}

/** The headers of the text map. */
export function headersOf({ headers }: PackedHeader): UkvsHeaders {
  return new UkvsHeaders(headers);
}

/** The error for an unusable file. */
function unusable(problem: string, source: string): MementoMapError {
  return new MementoMapError("MM_BAD_INPUT", problem, { position: { source } });
}

/** The error for a damaged part. */
export function damaged(part: string, source: string): MementoMapError {
  return unusable(`the packed map is damaged: ${part}; fetch or create it again`, source);
}

/** The error for a truncated file. */
export function cut(source: string): MementoMapError {
  return new MementoMapError("MM_CUT", "the packed map is cut short; fetch or create it again", {
    position: { source },
  });
}

const CRC_TABLE: Uint32Array = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});

/** CRC-32 as in gzip and PNG. */
export function crc32(bytes: Uint8Array, start: number, end: number): number {
  let crc = -1;
  for (let i = start; i < end; i++) crc = (crc >>> 8) ^ CRC_TABLE[(crc ^ bytes[i]) & 0xff];
  return ~crc >>> 0;
}
