import { COMMA, QUESTION, SLASH, STAR } from "../../bytes/bytes.ts";
import { enlarged } from "../compact/budget/budget-survey.ts";
import { KEY_KIND, type KeyKind, keyShape, rejectOrder } from "../compact/key-tree.ts";
import type { MapRow, RowSink } from "../compact/map-lines.ts";
import { frequencyCount, frequencyIsZero } from "../../ukvs/frequency.ts";
import { LastKey } from "../../ukvs/record.ts";
import { NameHash } from "../../packed/name-hash.ts";
import { FLAG, MAX_DEPTH } from "../../packed/packed-file.ts";

/** What a packed map needs to know of a key. */
export interface NameShape {
  readonly kind: KeyKind;
  /** The end of the name of its host: behind the parenthesis, or all of `com,cnn,*`; 0 for opaque keys. */
  readonly hostEnd: number;
  /** Segments of the path, or of the folder before `/*`. */
  readonly depth: number;
  /** The `?`, or the end. */
  readonly pageEnd: number;
}

/** Takes a key apart. */
export function nameShape(key: Uint8Array): NameShape {
  const { length } = key;
  const { kind, hostEnd } = keyShape(key, length);
  if (kind === KEY_KIND.opaque) return { kind, hostEnd: 0, depth: 1, pageEnd: length };
  if (kind === KEY_KIND.hostWildcard) return { kind, hostEnd: length, depth: 0, pageEnd: length };
  let [depth, pageEnd] = [0, length];
  for (let at = hostEnd + 1; at < pageEnd; at++) {
    if (key[at] === SLASH) depth++;
    else if (key[at] === QUESTION) pageEnd = at;
  }
  // A home page has a slash and no segment, and the last slash of a wildcard leads to none.
  if (kind === KEY_KIND.pathWildcard || pageEnd - hostEnd <= 2) depth = Math.max(0, depth - 1);
  return { kind, hostEnd: hostEnd + 1, depth, pageEnd };
}

/** Which rows of a map are packed. */
export interface RowKinds {
  /** Whether pages have their queries. */
  readonly queries: boolean;
  /** Whether voids are packed; leaving them out only makes mistakes of the kind that is allowed. */
  readonly keepsVoids: boolean;
}

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
  readonly #queries: boolean;
  readonly #keepsVoids: boolean;
  readonly #hash = new NameHash();
  readonly #lastKey = new LastKey(1);
  #last = new Uint8Array(256);
  #lastLength = -1;

  /** @param queries whether rows may be of pages with their queries. */
  constructor({ queries, keepsVoids }: RowKinds) {
    this.#queries = queries;
    this.#keepsVoids = keepsVoids;
  }

  add(row: MapRow): void {
    const { bytes, start, keyEnd, frequencyStart, frequencyEnd } = row;
    if (keyEnd - start === 1 && bytes[start] === STAR) return;
    const isTimed = row.moreKeysEnd > row.moreKeysStart;
    const order = this.#lastKey.compareTo(bytes, start, keyEnd);
    if (order > 0 || (order === 0 && !isTimed)) {
      rejectOrder(-order, bytes.subarray(start, keyEnd), this.#lastKey.text());
    }
    this.#lastKey.remember(bytes, start, keyEnd);
    const key = bytes.subarray(start, keyEnd);
    const isVoid = frequencyIsZero(bytes, frequencyStart, frequencyEnd);
    // A void of a part of time says nothing of the rest.
    if (isVoid && isTimed) return;
    this.addKey(key, isVoid ? 0 : Math.max(1, frequencyCount(bytes, frequencyStart, frequencyEnd)));
  }

  /** @param captures 0 for a void. */
  addKey(key: Uint8Array, captures: number): void {
    const shape = nameShape(key);
    // A void of one query says nothing of the page.
    const isOfQuery = shape.pageEnd < key.length;
    if (captures === 0 && (!this.#keepsVoids || (!this.#queries && isOfQuery))) return;
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
    if (this.#queries && pageEnd < key.length) {
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
