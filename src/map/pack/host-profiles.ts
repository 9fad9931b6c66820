import { COMMA, STAR } from "../../bytes/bytes.ts";
import { enlarged } from "../compact/budget/budget-survey.ts";
import { KEY_KIND, rejectOrder } from "../compact/key-tree.ts";
import type { MapRow, RowSink } from "../compact/map-lines.ts";
import { LastKey } from "../../ukvs/record.ts";
import { NameHash } from "../../packed/name-hash.ts";
import { FLAG, MAX_DEPTH } from "../../packed/packed-file.ts";
import { type NameShape, type RowKinds, type RowName, rowName } from "./row-name.ts";

/**
 * What the rows of one host are, in columns: hosts are known by their number. Rows must come in byte
 * order, so that those of a host follow each other.
 */
export class HostProfiles implements RowSink {
  count = 0;
  /** The hashes of their names. */
  low: Uint32Array = new Uint32Array(1024);
  high: Uint32Array = new Uint32Array(1024);
  /** Rows by depth, a bit each, as in a descriptor; with voids and flags. */
  masks: Uint32Array = new Uint32Array(1024);
  flags: Uint8Array = new Uint8Array(1024);
  rows: Uint32Array = new Uint32Array(1024);
  captures: Float64Array = new Float64Array(1024);
  hostWildcards = 0;
  hostSpreads = 0;
  /** Rows that need a place in a filter, and voids. */
  rowCount = 0;
  voidCount = 0;
  /** Whether there are voids, of pages or of hosts. */
  hasVoids = false;
  /** Whether some row covers more than one URI, so that not all that is held can be listed. */
  hasWildcards = false;
  readonly #kinds: RowKinds;
  readonly #hash = new NameHash();
  readonly #lastKey = new LastKey(1);
  #last = new Uint8Array(256);
  #lastLength = -1;

  constructor(kinds: RowKinds) {
    this.#kinds = kinds;
  }

  add(row: MapRow): void {
    const { bytes, start, keyEnd } = row;
    if (keyEnd - start === 1 && bytes[start] === STAR) return;
    const order = this.#lastKey.compareTo(bytes, start, keyEnd);
    const isTimed = row.moreKeysEnd > row.moreKeysStart;
    if (order > 0 || (order === 0 && !isTimed)) {
      rejectOrder(-order, bytes.subarray(start, keyEnd), this.#lastKey.text());
    }
    this.#lastKey.remember(bytes, start, keyEnd);
    const name = rowName(row, this.#kinds);
    if (name !== undefined) this.#addName(name);
  }

  #addName({ key, shape, captures }: RowName): void {
    this.hasVoids ||= captures === 0;
    this.hasWildcards ||= captures > 0 && isWildcard(key, shape);
    const host = this.#hostOf(key, shape.hostEnd);
    this.captures[host] += captures;
    if (shape.kind === KEY_KIND.hostWildcard) {
      this.hostWildcards |= labelBit(key, key.length - 2);
      this.flags[host] |= captures === 0 ? FLAG.none : FLAG.all;
      return;
    }
    if (shape.kind === KEY_KIND.spread) this.hostSpreads |= labelBit(key, shape.hostEnd - 3);
    this.#addRow(host, shape, captures === 0, key);
  }

  #addRow(
    host: number,
    { kind, depth, pageEnd }: NameShape,
    isVoid: boolean,
    key: Uint8Array,
  ): void {
    const bit = 1 << Math.min(depth, MAX_DEPTH);
    const isWildcard = kind === KEY_KIND.pathWildcard;
    if (isVoid) {
      this.masks[host] |= bit << (isWildcard ? 24 : 16);
      this.voidCount++;
      return;
    }
    if (this.#kinds.queries && pageEnd < key.length) {
      this.flags[host] |= isAnyQuery(key, pageEnd) ? FLAG.anyQuery : FLAG.query;
    } else if (depth === 0 && kind !== KEY_KIND.spread) {
      this.flags[host] |= isWildcard ? FLAG.all : FLAG.home;
      return;
    } else {
      this.masks[host] |= bit << (isWildcard ? 8 : 0);
    }
    this.rows[host]++;
    this.rowCount++;
  }

  /** The number of a host; a new one where it is not that of the row before. */
  #hostOf(key: Uint8Array, length: number): number {
    if (length === this.#lastLength) {
      let at = 0;
      while (at < length && this.#last[at] === key[at]) at++;
      if (at === length) return this.count - 1;
    }
    if (length > this.#last.length) this.#last = new Uint8Array(2 * length);
    for (let i = 0; i < length; i++) this.#last[i] = key[i];
    this.#lastLength = length;
    if (this.count === this.low.length) this.#grow();
    const { low, high } = this.#hash.reset().extend(key, 0, length).finish();
    this.low[this.count] = low;
    this.high[this.count] = high;
    return this.count++;
  }

  #grow(): void {
    const size = 2 * this.count;
    this.low = enlarged(new Uint32Array(size), this.low);
    this.high = enlarged(new Uint32Array(size), this.high);
    this.masks = enlarged(new Uint32Array(size), this.masks);
    this.flags = enlarged(new Uint8Array(size), this.flags);
    this.rows = enlarged(new Uint32Array(size), this.rows);
    this.captures = enlarged(new Float64Array(size), this.captures);
  }
}

/** Whether a key covers more than one URI. */
function isWildcard(key: Uint8Array, { kind, pageEnd }: NameShape): boolean {
  const { pathWildcard, hostWildcard, spread } = KEY_KIND;
  return (
    kind === pathWildcard || kind === hostWildcard || kind === spread || isAnyQuery(key, pageEnd)
  );
}

/** Whether a key with a query is that of a page with any query, `/a?*`. */
function isAnyQuery(key: Uint8Array, pageEnd: number): boolean {
  return key.length - pageEnd === 2 && key[pageEnd + 1] === STAR;
}

/** The bit for a number of labels. */
function labelBit(key: Uint8Array, end: number): number {
  let labels = 1;
  for (let at = 0; at < end; at++) if (key[at] === COMMA) labels++;
  return 1 << Math.min(labels, 31);
}

/** Lookups of each host, by the rows that the whole map has of it: n rows are worth n^β. */
export function expectedLookups(
  profiles: HostProfiles,
  whole: HostProfiles,
  demand: { readonly lookups: number; readonly heapsExponent: number } | undefined,
): Float64Array {
  const lookups = new Float64Array(profiles.count);
  let [at, sum] = [0, 0];
  for (let host = 0; host < profiles.count; host++) {
    // Both are in key order; what is rolled up into a host wildcard has no host in the whole map.
    let next = at;
    while (
      next < whole.count &&
      !(whole.low[next] === profiles.low[host] && whole.high[next] === profiles.high[host])
    ) {
      next++;
    }
    const rows = next < whole.count ? whole.rows[next] + 1 : profiles.rows[host] + 1;
    if (next < whole.count) at = next + 1;
    lookups[host] = rows ** (demand?.heapsExponent ?? 0.5);
    sum += lookups[host];
  }
  const scale = (demand?.lookups ?? sum) / sum;
  return lookups.map((count) => count * scale);
}
