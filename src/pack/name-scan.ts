import {
  CLOSE_PAREN,
  COMMA,
  commonPrefix,
  DELETE,
  QUESTION,
  SLASH,
  SPACE,
  STAR,
} from "../bytes/bytes.ts";
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
import type { MapRow } from "../compact/map-lines.ts";
import { type HostColumns, HostProfiles, OPAQUE_HOST } from "./host-profiles.ts";
import { plainKeyEnd, type PlainRowSink, plainRowEnd, startsPlain } from "./map-rows.ts";
import { LIST, type ListKind, type NameLists } from "./name-log.ts";

/** Which rows of a map are packed. */
export interface RowKinds {
  /** Whether pages have their queries. */
  readonly queries: boolean;
  /** Domains with a void, such as `com,cnn,*`, up to their star. */
  readonly voidDomains: readonly string[];
}

/** Keys without a host, such as `dns:a.com`, are rows of depth 1 of a host without a name. */
const OPAQUE = -1;

/** What the bytes of a key are, as bits; 0 for most. */
const IS_ODD = 1;
const IS_QUESTION = 2;
const CLASSES: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte === QUESTION ? IS_QUESTION : byte === STAR || byte >= DELETE ? IS_ODD : 0,
);

/**
 * Collects what is packed of the rows of a map: the profiles of its hosts, and the names of its rows. Rows must
 * come in byte order, so that those of a host follow each other.
 *
 * Neighbours share most of their bytes, so the state of the hash behind every slash of the last key is kept.
 */
export class NameScan implements PlainRowSink {
  readonly profiles: HostProfiles = new HostProfiles();
  readonly #kinds: RowKinds;
  readonly #lists: NameLists | undefined;
  readonly #name = new NameHash();
  /** The last key. */
  #key: Uint8Array = new Uint8Array(1024);
  #view: DataView = new DataView(this.#key.buffer);
  #length = -1;
  /** Where its `)` or the end of its `,*` is, or OPAQUE; and its `?` or end. */
  #hostEnd = OPAQUE;
  #pageEnd = 0;
  /** The state of the hash behind it, and those behind its slashes; the first is that of no byte. */
  #a = START_A;
  #b = START_B;
  #slashes = 0;
  /** How many of these are those of the key before, too. */
  #sharedSlashes = 0;
  #slashEnds: Int32Array = new Int32Array(256);
  #slashA: Int32Array = new Int32Array(256).fill(START_A);
  #slashB: Int32Array = new Int32Array(256).fill(START_B);
  /** The bits of all bytes that `#hash` read. */
  #classes = 0;
  /** Where the name of the host ends that was added last; how much of it the last key has. */
  #nameEnd = -1;
  #sharedWithName = 0;
  /** The bytes that are read, for comparing four at a time. */
  #block: Uint8Array = this.#key;
  #blockView: DataView = this.#view;

  /** @param lists where names go, if they are wanted. */
  constructor(kinds: RowKinds, lists: NameLists | undefined) {
    this.#kinds = kinds;
    this.#lists = lists;
  }

  takePlain(bytes: Uint8Array, start: number, end: number): number {
    if (this.#block !== bytes) {
      this.#block = bytes;
      this.#blockView = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    if (!startsPlain(bytes[start])) return 0;
    const shared = this.#sharedWith(start, end);
    const keyEnd = this.#hash(bytes, start, shared);
    const isPlain = (this.#classes & IS_ODD) === 0 || keyEnd === plainKeyEnd(bytes, start);
    const rowEnd = isPlain ? plainRowEnd(bytes, keyEnd, end) : 0;
    const length = keyEnd - start;
    if (rowEnd === 0 || length < 2 || !this.#isBehind(bytes, start, length, shared)) {
      this.#slashes = this.#sharedSlashes;
      return 0;
    }
    this.#goTo(bytes, start, length, shared);
    this.#addName(frequencyIsZero(bytes, keyEnd + 1, rowEnd), false);
    return rowEnd + 1;
  }

  add(row: MapRow): void {
    const { bytes, start, keyEnd, frequencyStart, frequencyEnd } = row;
    const length = keyEnd - start;
    if (length === 1 && bytes[start] === STAR) return;
    const shared = commonPrefix(this.#key, 0, Math.max(0, this.#length), bytes, start, keyEnd);
    if (!this.#isBehind(bytes, start, length, shared)) {
      const last = new TextDecoder().decode(this.#key.subarray(0, this.#length));
      const order = shared === length && length === this.#length ? 0 : -1;
      rejectOrder(order, bytes.subarray(start, keyEnd), last);
    }
    this.#hash(bytes, start, shared);
    this.#goTo(bytes, start, length, shared);
    const isVoid = frequencyIsZero(bytes, frequencyStart, frequencyEnd);
    this.#addName(isVoid, row.moreKeysEnd > row.moreKeysStart);
  }

  /** How many bytes the last key shares with what begins at `start` in the block. */
  #sharedWith(start: number, end: number): number {
    const limit = Math.min(this.#length, end - start);
    const view = this.#view;
    const block = this.#blockView;
    let i = 0;
    while (i + 4 <= limit && view.getInt32(i) === block.getInt32(start + i)) i += 4;
    while (i < limit && this.#key[i] === this.#block[start + i]) i++;
    return i;
  }

  /** Goes on with the hash, from the last slash that is shared with the last key; returns where the key ends. */
  #hash(bytes: Uint8Array, start: number, shared: number): number {
    let slash = this.#slashes;
    while (this.#slashEnds[slash] > shared) slash--;
    this.#sharedSlashes = slash;
    let at = start + this.#slashEnds[slash];
    let a = this.#slashA[slash];
    let b = this.#slashB[slash];
    let classes = 0;
    for (let byte = bytes[at]; byte > SPACE; byte = bytes[++at]) {
      a = extendA(a, byte);
      b = extendB(b, byte);
      classes |= CLASSES[byte];
      if (byte !== SLASH) continue;
      if (++slash === this.#slashEnds.length) this.#reserveSlashes();
      this.#slashEnds[slash] = at + 1 - start;
      this.#slashA[slash] = a;
      this.#slashB[slash] = b;
    }
    this.#a = a;
    this.#b = b;
    this.#slashes = slash;
    this.#classes = classes;
    return at;
  }

  #isBehind(bytes: Uint8Array, start: number, length: number, shared: number): boolean {
    if (shared === length) return false;
    return shared >= this.#length || bytes[start + shared] > this.#key[shared];
  }

  /** Makes `bytes[start, start + length)` the key, of which so many bytes are those of the last one. */
  #goTo(bytes: Uint8Array, start: number, length: number, shared: number): void {
    const isSameHost = this.#hostEnd >= 0 && shared > this.#hostEnd + 1;
    const hadQuery = this.#pageEnd < this.#length && this.#pageEnd < shared;
    if (shared < this.#sharedWithName) this.#sharedWithName = shared;
    if (length > this.#key.length) this.#reserve(length);
    const key = this.#key;
    for (let i = shared; i < length; i++) key[i] = bytes[start + i];
    this.#length = length;
    if (!isSameHost) this.#hostEnd = this.#findHostEnd();
    this.#pageEnd = length;
    const mayHaveQuery = hadQuery || (this.#classes & IS_QUESTION) !== 0;
    if (!mayHaveQuery) return;
    const query = key.subarray(0, length).indexOf(QUESTION, Math.max(0, this.#hostEnd));
    if (query < 0) return;
    if (!this.#kinds.queries) this.profiles.hasOtherKeys = true;
    else if (this.#hostEnd !== OPAQUE) this.#pageEnd = query;
  }

  /** Where the `)` of the key is, or the end of `com,cnn,*`. */
  #findHostEnd(): number {
    const key = this.#key;
    const length = this.#length;
    for (let at = 0; at < length; at++) {
      if (key[at] === CLOSE_PAREN && (at + 1 === length || key[at + 1] === SLASH)) return at;
    }
    return length > 2 && key[length - 1] === STAR && key[length - 2] === COMMA ? length : OPAQUE;
  }

  /** @param isOfPart whether it is about a part of time. */
  #addName(isVoid: boolean, isOfPart: boolean): void {
    const { profiles } = this;
    const key = this.#key;
    const length = this.#length;
    const hostEnd = this.#hostEnd;
    const pageEnd = this.#pageEnd;
    const hasQuery = pageEnd < length;
    // A void of a part of time says nothing of the rest.
    if (isVoid && isOfPart) return;
    const isOpaque = hostEnd === OPAQUE;
    const isHostWildcard = hostEnd === length;
    const hasPath = !isOpaque && !isHostWildcard;
    const isSpread = hasPath && key[hostEnd - 1] === STAR && key[hostEnd - 2] === COMMA;
    const isBelow = hasPath && !isSpread && key[length - 1] === STAR && key[length - 2] === SLASH;
    const isAnyQuery = hasQuery && length - pageEnd === 2 && key[pageEnd + 1] === STAR;
    this.#goToHost(isOpaque ? 0 : isHostWildcard ? length : hostEnd + 1);
    const hosts = isOpaque ? profiles.opaque : profiles;
    const host = hosts.count - 1;
    let list: ListKind;
    if (isHostWildcard) profiles.hostWildcards |= this.#labelBit(length - 2);
    if (isSpread) profiles.hostSpreads |= this.#labelBit(hostEnd - 2);
    if (isVoid) {
      hosts.flags[host] |= FLAG.voids;
      if (isHostWildcard || isSpread) {
        const domain = isSpread ? hostEnd - 1 : length - 1;
        profiles.voidDomains.push(new TextDecoder().decode(key.subarray(0, domain)));
      }
      list = LIST.voids;
    } else if (isHostWildcard) {
      hosts.flags[host] |= FLAG.all;
      list = LIST.wholes;
    } else {
      const depth = this.#depth(isBelow);
      if (!isBelow) profiles.depths[Math.min(depth, MAX_DEPTH)]++;
      const flag = !hasQuery ? 0 : isAnyQuery ? FLAG.anyQuery : FLAG.query;
      list = addRow(hosts, host, profiles, { depth, flag, isBelow, isSpread });
    }
    if (this.#lists === undefined) return;
    const name = isOpaque ? OPAQUE_HOST : host;
    const low = finishLow(this.#a, this.#b);
    this.#lists.add(list, low, finishHigh(this.#b, low), name);
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
    // A home page has a slash and no segment, and the last slash of a wildcard leads to none.
    return isBelow || pageEnd - hostEnd <= 2 ? Math.max(0, slashes - 1) : slashes;
  }

  /** Goes to the host `key[0, end)`: a new one if it is not that of the row before. */
  #goToHost(end: number): void {
    if (end === this.#nameEnd && this.#sharedWithName >= end) return;
    this.#nameEnd = end;
    this.#sharedWithName = end;
    const { low, high } = this.#hashOf(end);
    const { opaque } = this.profiles;
    if (end > 0) {
      const host = this.profiles.push(low, high);
      if (this.#isBelowVoid(end)) this.profiles.flags[host] |= FLAG.voids;
    } else if (opaque.count === 0) opaque.push(low, high);
  }

  /** Whether the host `key[0, end)` is in a domain with a void. */
  #isBelowVoid(end: number): boolean {
    const { voidDomains } = this.#kinds;
    if (voidDomains.length === 0) return false;
    const name = new TextDecoder().decode(this.#key.subarray(0, end - 1));
    return voidDomains.some((domain) => `${name},`.startsWith(domain));
  }

  /** The bit for the number of labels before `end`. */
  #labelBit(end: number): number {
    let labels = 1;
    for (let at = 0; at < end; at++) if (this.#key[at] === COMMA) labels++;
    return 1 << Math.min(labels, 31);
  }

  /** The hash of the first bytes of the key. */
  #hashOf(end: number): NameHash {
    return this.#name.reset().extend(this.#key, 0, end).finish();
  }

  #reserve(length: number): void {
    const larger = new Uint8Array(2 * length);
    larger.set(this.#key);
    this.#key = larger;
    this.#view = new DataView(larger.buffer);
  }

  #reserveSlashes(): void {
    const room = 2 * this.#slashEnds.length;
    this.#slashEnds = enlarged(this.#slashEnds, new Int32Array(room));
    this.#slashA = enlarged(this.#slashA, new Int32Array(room));
    this.#slashB = enlarged(this.#slashB, new Int32Array(room));
  }
}

function enlarged(old: Int32Array, larger: Int32Array): Int32Array {
  larger.set(old);
  return larger;
}

/** What kind of a row it is that is held. */
interface RowForm {
  readonly depth: number;
  /** For rows with a query. */
  readonly flag: number;
  readonly isBelow: boolean;
  readonly isSpread: boolean;
}

function addRow(
  hosts: HostColumns,
  host: number,
  profiles: HostProfiles,
  { depth, flag, isBelow, isSpread }: RowForm,
): ListKind {
  if (flag !== 0) {
    hosts.flags[host] |= flag;
  } else if (depth === 0 && !isSpread) {
    hosts.flags[host] |= isBelow ? FLAG.all : FLAG.home;
    return isBelow ? LIST.wholes : LIST.homes;
  } else {
    hosts.masks[host] |= depthBit(depth) << (isBelow ? 8 : 0);
  }
  hosts.rows[host]++;
  profiles.rowCount++;
  return LIST.rows;
}

function depthBit(depth: number): number {
  return 1 << Math.min(depth, MAX_DEPTH);
}
