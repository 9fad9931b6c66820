import {
  CLOSE_PAREN,
  COMMA,
  commonPrefix,
  copyRange,
  QUESTION,
  SLASH,
  STAR,
  withRoom,
} from "../bytes/bytes.ts";
import type { MapRow, RowSink } from "../compact/map-lines.ts";
import {
  extendA,
  extendB,
  finishHigh,
  finishLow,
  NameHash,
  START_A,
  START_B,
} from "../packed/name-hash.ts";
import { FLAG, MAX_DEPTH } from "../packed/packed-file.ts";
import { frequencyIsZero } from "../ukvs/frequency.ts";
import { rejectOrder } from "../ukvs/key-tree.ts";
import { copied, HostProfiles } from "./host-profiles.ts";
import { NAME, type NameKind, type NameLog } from "./name-log.ts";

export interface NameScanOptions {
  /** Whether names of pages include queries. */
  readonly queries: boolean;
  /** Known domains with a void, such as `com,cnn,*`, up to the star. */
  readonly voidDomains: readonly string[];
  /** Receives the names, if set. */
  readonly names: NameLog | undefined;
}

/** The `hostEnd` of keys without a host, such as `dns:a.com`: stored at depth 1 of a host with an empty name. */
const OPAQUE = -1;

/**
 * Collects the profiles of the hosts of a map and the names of its rows. Rows must be added in byte order, so that
 * rows of a host are adjacent.
 *
 * Adjacent keys share most bytes, so the hash state after every slash of the last key is stored for reuse.
 */
export class NameScan implements RowSink {
  readonly profiles: HostProfiles = new HostProfiles();
  readonly #queries: boolean;
  readonly #voidDomains: readonly string[];
  readonly #names: NameLog | undefined;
  readonly #hash = new NameHash();
  /** The last key. */
  #key: Uint8Array<ArrayBuffer> = new Uint8Array(1024);
  #length = -1;
  /** Offsets of its `)` or the end of its `,*`, or OPAQUE; and of its `?` or end. */
  #hostEnd = OPAQUE;
  #pageEnd = 0;
  /** The hash state after the key, and after each of its slashes; the first is the initial state. */
  #a = START_A;
  #b = START_B;
  #slashes = 0;
  #slashEnds: Int32Array = new Int32Array(256);
  #slashA: Int32Array = new Int32Array(256).fill(START_A);
  #slashB: Int32Array = new Int32Array(256).fill(START_B);
  /** The host number used for keys without a host; -1 if there are none. */
  #opaqueHost = -1;
  /** The host added last: the end of its name, its number, and the length it shares with the last key. */
  #nameEnd = -1;
  #host = -1;
  #sharedWithName = 0;

  constructor({ queries, voidDomains, names }: NameScanOptions) {
    this.#queries = queries;
    this.#voidDomains = voidDomains;
    this.#names = names;
  }

  add(row: MapRow): void {
    const { bytes, start, keyEnd, frequencyStart, frequencyEnd } = row;
    const length = keyEnd - start;
    if (length === 1 && bytes[start] === STAR) return;
    const last = Math.max(0, this.#length);
    const shared =
      row.shared >= 0 ? row.shared : commonPrefix(this.#key, 0, last, bytes, start, keyEnd);
    this.#checkOrder(bytes, start, keyEnd, shared);
    this.#goTo(bytes, start, length, shared);
    const isVoid = frequencyIsZero(bytes, frequencyStart, frequencyEnd);
    // Nearly all rows are known to have no query.
    const query = row.count > 0 ? -1 : this.#findQuery();
    this.#pageEnd = length;
    if (query < 0 || (this.#queries && this.#hostEnd === OPAQUE)) {
      this.#addName(isVoid);
    } else if (this.#queries) {
      this.#pageEnd = query;
      this.#addName(isVoid);
    } else if (!isVoid) {
      this.#addPage(query);
    }
  }

  #checkOrder(bytes: Uint8Array, start: number, end: number, shared: number): void {
    const length = this.#length;
    const isBehind =
      shared < end - start && (shared >= length || bytes[start + shared] > this.#key[shared]);
    if (isBehind) return;
    const last = new TextDecoder().decode(this.#key.subarray(0, length));
    const order = shared === end - start && shared === length ? 0 : -1;
    rejectOrder(order, bytes.subarray(start, end), last);
  }

  /** Makes `bytes[start, start + length)` the current key; its first `shared` bytes are unchanged. */
  #goTo(bytes: Uint8Array, start: number, length: number, shared: number): void {
    const isSameHost = this.#hostEnd >= 0 && shared > this.#hostEnd + 1;
    if (shared < this.#sharedWithName) this.#sharedWithName = shared;
    this.#key = withRoom(this.#key, length);
    copyRange(bytes, start + shared, start + length, this.#key, shared);
    this.#length = length;
    if (!isSameHost) this.#hostEnd = this.#findHostEnd();
    // Resume the hash at the last slash that both keys share.
    let slash = this.#slashes;
    while (this.#slashEnds[slash] > shared) slash--;
    let a = this.#slashA[slash];
    let b = this.#slashB[slash];
    for (let at = this.#slashEnds[slash]; at < length; at++) {
      const byte = bytes[start + at];
      a = extendA(a, byte);
      b = extendB(b, byte);
      if (byte !== SLASH) continue;
      if (++slash === this.#slashEnds.length) this.#reserveSlashes();
      this.#slashEnds[slash] = at + 1;
      this.#slashA[slash] = a;
      this.#slashB[slash] = b;
    }
    this.#a = a;
    this.#b = b;
    this.#slashes = slash;
  }

  /** The offset of the `)` of the key, or the end of `com,cnn,*`. */
  #findHostEnd(): number {
    const key = this.#key;
    const length = this.#length;
    for (let at = 0; at < length; at++) {
      if (key[at] === CLOSE_PAREN && (at + 1 === length || key[at + 1] === SLASH)) return at;
    }
    return length > 2 && key[length - 1] === STAR && key[length - 2] === COMMA ? length : OPAQUE;
  }

  /** The offset of the query, or -1. In a map without queries, the query of a wildcard is part of the key. */
  #findQuery(): number {
    const key = this.#key.subarray(0, this.#length);
    const query = key.indexOf(QUESTION, Math.max(0, this.#hostEnd));
    return query < 0 || this.#queries || !key.includes(STAR) ? query : -1;
  }

  /** Adds a key with a query as its page: lookups in a map without queries ignore queries. */
  #addPage(query: number): void {
    const hostEnd = this.#hostEnd;
    let end = query;
    while (hostEnd !== OPAQUE && end > hostEnd + 2 && this.#key[end - 1] === SLASH) end--;
    const length = this.#length;
    this.#length = this.#pageEnd = end;
    ({ a: this.#a, b: this.#b } = this.#hash.reset().extend(this.#key, 0, end));
    this.#addName(false);
    this.#length = length;
  }

  #addName(isVoid: boolean): void {
    const { profiles } = this;
    const key = this.#key;
    const length = this.#length;
    const hostEnd = this.#hostEnd;
    const pageEnd = this.#pageEnd;
    const isOpaque = hostEnd === OPAQUE;
    const isHostWildcard = hostEnd === length;
    const hasPath = !isOpaque && !isHostWildcard;
    const isSpread = hasPath && key[hostEnd - 1] === STAR && key[hostEnd - 2] === COMMA;
    const isBelow = hasPath && !isSpread && key[length - 1] === STAR && key[length - 2] === SLASH;
    const host = isOpaque
      ? this.#goToOpaqueHost()
      : this.#goToHost(isHostWildcard ? length : hostEnd + 1);
    let kind: NameKind = NAME.row;
    let [mask, flag] = [0, 0];
    if (isHostWildcard) profiles.hostWildcards |= this.#labelBit(length - 2);
    if (isSpread) profiles.hostSpreads |= this.#labelBit(hostEnd - 2);
    if (isVoid) {
      kind = NAME.void;
      flag = FLAG.voids;
      if (isHostWildcard || isSpread) {
        const domain = isSpread ? hostEnd - 1 : length - 1;
        profiles.voidDomains.push(new TextDecoder().decode(key.subarray(0, domain)));
      }
    } else if (isHostWildcard) {
      kind = NAME.whole;
      flag = FLAG.all;
    } else {
      const depth = Math.min(this.#depth(isBelow), MAX_DEPTH);
      if (!isBelow) profiles.depths[depth]++;
      if (pageEnd < length) {
        const isAnyQuery = length - pageEnd === 2 && key[pageEnd + 1] === STAR;
        flag = isAnyQuery ? FLAG.anyQuery : FLAG.query;
      } else if (depth === 0 && !isSpread) {
        kind = isBelow ? NAME.whole : NAME.home;
        flag = isBelow ? FLAG.all : FLAG.home;
      } else {
        mask = (1 << depth) << (isBelow ? 8 : 0);
      }
    }
    const rows = kind === NAME.row ? 1 : 0;
    profiles.rowCount += rows;
    profiles.rows[host] += rows;
    profiles.masks[host] |= mask;
    profiles.flags[host] |= flag;
    const low = finishLow(this.#a, this.#b);
    this.#names?.add(kind, low, finishHigh(this.#b, low), host);
  }

  /** Segments of the path, or of the folder before `/*`. */
  #depth(isBelow: boolean): number {
    const hostEnd = this.#hostEnd;
    const pageEnd = this.#pageEnd;
    if (hostEnd < 0) return 1;
    let last = this.#slashes;
    while (this.#slashEnds[last] > pageEnd) last--;
    let first = last;
    while (this.#slashEnds[first] > hostEnd + 1) first--;
    const slashes = last - first;
    // A home page has a slash but no segment, and no segment follows the last slash of a wildcard.
    return isBelow || pageEnd - hostEnd <= 2 ? Math.max(0, slashes - 1) : slashes;
  }

  /** The number of the host `key[0, end)`; a new one unless the previous row has the same host. */
  #goToHost(end: number): number {
    if (end === this.#nameEnd && this.#sharedWithName >= end) return this.#host;
    this.#nameEnd = end;
    this.#sharedWithName = end;
    const { low, high } = this.#hash.reset().extend(this.#key, 0, end).finish();
    this.#host = this.profiles.push(low, high);
    if (this.#isBelowVoid(end)) this.profiles.flags[this.#host] |= FLAG.voids;
    return this.#host;
  }

  /** Keys without a host share one host with an empty name, wherever they are in the map. */
  #goToOpaqueHost(): number {
    if (this.#opaqueHost === -1) {
      const { low, high } = this.#hash.reset().finish();
      this.#opaqueHost = this.profiles.push(low, high);
    }
    return this.#opaqueHost;
  }

  /** Whether the host `key[0, end)` is in a domain with a void. */
  #isBelowVoid(end: number): boolean {
    if (this.#voidDomains.length === 0) return false;
    const name = new TextDecoder().decode(this.#key.subarray(0, end - 1));
    return this.#voidDomains.some((domain) => `${name},`.startsWith(domain));
  }

  /** The bit for the number of labels before `end`. */
  #labelBit(end: number): number {
    let labels = 1;
    for (let at = 0; at < end; at++) if (this.#key[at] === COMMA) labels++;
    return 1 << Math.min(labels, 31);
  }

  #reserveSlashes(): void {
    const room = 2 * this.#slashEnds.length;
    this.#slashEnds = copied(this.#slashEnds, new Int32Array(room));
    this.#slashA = copied(this.#slashA, new Int32Array(room));
    this.#slashB = copied(this.#slashB, new Int32Array(room));
  }
}
