import CachePolicy from "http-cache-semantics";
import { LRUCache } from "lru-cache";
import type { HttpHeaders } from "../../http/http-client.ts";
import { MementoList } from "../../memento/memento-list.ts";

/** An archive's cached answer for an original. Times are milliseconds since 1970. */
export interface Holding {
  readonly mementos: MementoList;
  /** When the archive was queried. */
  readonly askedAt: number;
  /** When the answer was generated: an intermediate cache may have stored it. */
  readonly madeAt: number;
  /** Until then the archive is not queried again. */
  readonly freshUntil: number;
  /** Until then it is served while the archive is queried again, and if that fails. */
  readonly staleUntil: number;
}

/** Stores holdings by key: as bytes, which are compact in memory and in files alike. Any entry may be evicted. */
export interface Cache {
  get(key: string): Uint8Array | undefined;
  set(key: string, bytes: Uint8Array): void;
  close(): Promise<void>;
}

/** Overhead of each entry: its key and the tables of the cache. */
const ENTRY_BYTES = 200;

/** An in-memory LRU cache of this many bytes. */
export function memoryCache(maxBytes: number): Cache {
  const entries = new LRUCache<string, Uint8Array>({
    maxSize: maxBytes,
    sizeCalculation: (bytes, key) => bytes.length + key.length + ENTRY_BYTES,
  });
  return {
    get: (key) => entries.get(key),
    set: (key, bytes) => entries.set(key, bytes),
    close: () => Promise.resolve(),
  };
}

/** Lifetimes of cached answers. */
export interface Lifetimes {
  /** Of answers with mementos and without an explicit lifetime; default a day. */
  readonly freshMs: number;
  /** Of answers without mementos; default an hour. */
  readonly missMs: number;
  /** How long mementos are served after that, while the archive is queried again; default 15 days. */
  readonly staleMs: number;
}

const HOUR_MS = 3_600_000;
export const DEFAULT_LIFETIMES: Lifetimes = {
  freshMs: 24 * HOUR_MS,
  missMs: HOUR_MS,
  staleMs: 15 * 24 * HOUR_MS,
};

/**
 * The cache entry of a new answer, with the archive's explicit lifetime or else ours. Undefined if it must not be
 * stored. A miss is never served stale.
 */
export function holdingOf(
  mementos: MementoList,
  headers: HttpHeaders,
  { freshMs, missMs, staleMs }: Lifetimes,
): Holding | undefined {
  const askedAt = Date.now();
  const isHit = mementos.count > 0;
  const fields = Object.fromEntries(
    ["age", "cache-control", "date", "expires"].map((name) => [name, headers.get(name) ?? ""]),
  );
  const cacheControl = fields["cache-control"];
  const madeAt = askedAt - 1000 * Math.max(0, Number(fields["age"]) || 0);
  let ms = isHit ? freshMs : missMs;
  if (cacheControl !== "" || fields["expires"] !== "") {
    const policy = new CachePolicy({ headers: {} }, { status: 200, headers: fields });
    if (!policy.storable()) return undefined;
    const isExplicit = /max-age|s-maxage|no-cache/i.test(cacheControl) || fields["expires"] !== "";
    if (isExplicit) ms = policy.timeToLive();
  }
  const freshUntil = askedAt + ms;
  const mayBeStale = isHit && !/must-revalidate|proxy-revalidate|no-cache/i.test(cacheControl);
  const staleUntil = freshUntil + (mayBeStale ? staleMs : 0);
  return { mementos, askedAt, madeAt, freshUntil, staleUntil };
}

/** Entries with another format number are ignored. */
const FORMAT = 1;
/** The format number, four times, and the number of mementos. */
const HEAD_NUMBERS = 6;

/** Encodes a holding: numbers, then the datetime and URI length of each memento, then the URIs. */
export function encodeHolding(holding: Holding): Uint8Array {
  const { mementos, askedAt, madeAt, freshUntil, staleUntil } = holding;
  const { count } = mementos;
  const numbers = HEAD_NUMBERS + 2 * count;
  let length = numbers * 8;
  for (let i = 0; i < count; i++) length += mementos.uriLengthAt(i);
  const bytes = new Uint8Array(length);
  const columns = new Float64Array(bytes.buffer, 0, numbers);
  columns.set([FORMAT, askedAt, madeAt, freshUntil, staleUntil, count]);
  for (let i = 0, at = numbers * 8; i < count; i++) {
    columns[HEAD_NUMBERS + 2 * i] = mementos.datetimeAt(i);
    columns[HEAD_NUMBERS + 2 * i + 1] = mementos.uriLengthAt(i);
    at = mementos.copyUri(i, bytes, at);
  }
  return bytes;
}

/** Decodes a holding; undefined for invalid bytes. */
export function decodeHolding(bytes: Uint8Array): Holding | undefined {
  if (bytes.length < HEAD_NUMBERS * 8) return undefined;
  const head = numbersOf(bytes, 0, HEAD_NUMBERS * 8);
  const [form, askedAt, madeAt, freshUntil, staleUntil, count] = head;
  const start = (HEAD_NUMBERS + 2 * count) * 8;
  if (form !== FORMAT || !(start <= bytes.length)) return undefined;
  const columns = numbersOf(bytes, HEAD_NUMBERS * 8, start);
  const mementos = new MementoList();
  for (let i = 0, at = start; i < count; i++) {
    const end = at + columns[2 * i + 1];
    mementos.addBytes(bytes, at, end, columns[2 * i]);
    at = end;
  }
  return { mementos, askedAt, madeAt, freshUntil, staleUntil };
}

/** A copy, as bytes need not be aligned; `slice` does not copy the `Buffer`s that LMDB returns. */
function numbersOf(bytes: Uint8Array, start: number, end: number): Float64Array {
  return new Float64Array(new Uint8Array(bytes.subarray(start, end)).buffer);
}
