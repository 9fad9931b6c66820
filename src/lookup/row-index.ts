import { byteString, COMMA, copyRange, countLines, LF, SLASH, STAR } from "../bytes/bytes.ts";
import { isMementoMapError, MementoMapError } from "../errors.ts";
import { bitOf } from "../surt/covering-keys.ts";
import { hostEndOf } from "../surt/lookup-key.ts";
import { plainHostEnd, plainPathEnd } from "../surt/plain-key.ts";
import { ownSpelling } from "../surt/spelling.ts";
import { checkSize } from "../ukvs/header.ts";
import { type MapHead, mapHeadOf, refuseCut } from "../ukvs/head.ts";
import { notSorted } from "../ukvs/record.ts";
import { respelled } from "./respelled.ts";
import {
  checkFrequency,
  keyEnd as keyEndAt,
  plainRowNext,
  readRow,
  Row,
  type RowLayout,
  rowLayout,
} from "../ukvs/row.ts";
import { HashTable, hashOf, sameBytes } from "./hash-table.ts";

/** So much of a map tells about how many rows it has; a table for fewer grows. */
const SAMPLE_BYTES = 2 ** 18;

/** The largest map that can be held: offsets of rows have 31 bits. */
export const MAX_INDEX_BYTES: number = 2 ** 31 - 1;

/**
 * Where the rows of a map in memory are, which are known by the offsets at which they begin. Reads all of
 * them, and checks them.
 */
export class RowIndex {
  bytes: Uint8Array;
  view: DataView;
  readonly head: MapHead;
  readonly layout: RowLayout;
  /** Rows of keys without `*` and of `X,*)/p`, by the hash of their path, seeded with that of the host. */
  pages: HashTable;
  /** Rows `X,*`. There are few, so that their table stays in the cache. */
  hostWildcards!: HashTable;
  /** Numbers of hosts, by the hashes of their names: nine lookups in ten end here. */
  hosts!: HashTable;
  /** The names of hosts side by side, 20 bytes each, so that those that are asked for stay in the cache. */
  #names!: Uint8Array;
  #namesView!: DataView;
  /** By host: where its name begins; where its wildcards begin among all; the depths of their folders, as a mask of a key. */
  #nameStarts: number[] = [];
  #firstWildcards: number[] = [];
  #below: number[] = [];
  /** Rows `…/*`, by host and in their order. */
  #wildcards: number[] = [];
  /** Which numbers of labels some X of `X,*` has, and some X of `X,*)/p`, as masks of a key. */
  hostsBelow = 0;
  spreads = 0;
  /** The longest of them, in bytes. */
  longestAbove = 0;
  records = 0;
  keyCount = 0;
  /** Whether some key has a query. */
  hasQueries = false;
  /** Whether the rows of some key need a closer look to know whether they decide. */
  hasOddRows = false;
  /** Whether some key has several rows. */
  hasSeveralRows = false;
  readonly #read = new Row();
  #row: number;
  // Of the last key: where it is, its length, that of its host (0 for none), and of what is plain.
  #last = 0;
  #lastLength = 0;
  #hostLength = 0;
  #plainLength = 0;
  #hostHash = 0;

  /** @throws what is wrong with the head of the map; MM_LIMIT, MM_CUT, MM_EMPTY. */
  constructor(map: Uint8Array, source: string) {
    if (map.length > MAX_INDEX_BYTES) {
      throw new MementoMapError(
        "MM_LIMIT",
        `a map of ${map.length} bytes is too large to index in memory; search the file instead`,
        { position: { source } },
      );
    }
    // A `Buffer` beside it would make the loops below twice as slow.
    this.bytes = new Uint8Array(map.buffer, map.byteOffset, map.length);
    this.view = new DataView(map.buffer, map.byteOffset, map.length);
    this.head = mapHeadOf(this.bytes, source);
    this.layout = rowLayout(this.head.headers.fields, source);
    refuseCut(this.head, map.length, source);
    this.#row = this.head.recordsOffset;
    const sample = this.bytes.subarray(this.#row, this.#row + SAMPLE_BYTES);
    this.pages = new HashTable((countLines(sample) * map.length) / Math.max(1, sample.length));
    this.#clear();
  }

  #clear(): void {
    this.hostWildcards = new HashTable(0);
    this.hosts = new HashTable(0);
    this.#names = new Uint8Array(65_536);
    this.#namesView = new DataView(this.#names.buffer);
    this.#nameStarts = [0];
    this.#firstWildcards = [];
    this.#below = [];
    this.#wildcards = [];
    this.records = 0;
    this.keyCount = 0;
    this.#lastLength = 0;
    this.#hostLength = 0;
    this.#plainLength = 0;
  }

  /** The number of the host `view[0, length)`; -1 where it has no rows. */
  findHost(hash: number, view: DataView, length: number): number {
    const { places, mask } = this.hosts;
    const starts = this.#nameStarts;
    for (let place = hash & mask; places[2 * place] !== 0; place = (place + 1) & mask) {
      if (places[2 * place] !== hash) continue;
      const host = places[2 * place + 1];
      const start = starts[host];
      const isFound =
        starts[host + 1] - start === length && sameBytes(this.#namesView, start, view, 0, length);
      if (isFound) return host;
    }
    return -1;
  }

  /** Reads the name of the host that has the first place for a hash, so that it is in the cache. */
  touchHost(hash: number): number {
    const { places, mask } = this.hosts;
    return this.#names[this.#nameStarts[places[2 * (hash & mask) + 1]]];
  }

  below(host: number): number {
    return this.#below[host];
  }

  /** Where the rows `…/*` of a host begin among all; those of the next one behind. */
  firstWildcard(host: number): number {
    const isAny = host < this.#below.length;
    return isAny ? this.#firstWildcards[host] : this.#wildcards.length;
  }

  wildcard(number: number): number {
    return this.#wildcards[number];
  }

  /**
   * Takes the next rows, about this many bytes; false when there are no more.
   *
   * @throws MM_NOT_SORTED; MM_BAD_HEADER, MM_BAD_LINE, MM_BAD_KEY, MM_BAD_FREQUENCY; MM_CUT at the end
   *   when the map states another number of records.
   */
  advance(byteCount: number): boolean {
    const until = Math.min(this.bytes.length, this.#row + byteCount);
    while (this.#row < until) this.#row = this.#take(this.#row);
    if (this.#row < this.bytes.length) return true;
    checkSize(this.head.headers.size, { records: this.records }, this.layout.source);
    for (const table of [this.pages, this.hostWildcards, this.hosts]) table.settle();
    return false;
  }

  /** Takes the row at `row`; returns where the next line begins. */
  #take(row: number): number {
    if (this.layout.fields.keys.length !== 1) return this.#takeOdd(row);
    const bytes = this.bytes;
    const size = bytes.length;
    const shared = this.#sharedWithLast(row);
    let hostLength = this.#hostLength;
    let known = this.#plainLength < shared ? this.#plainLength : shared;
    if (hostLength === 0 || known < hostLength + 2) {
      const hostEnd = plainHostEnd(bytes, row, size);
      if (hostEnd === -1) return this.#takeOdd(row);
      hostLength = bytes[hostEnd] === STAR ? 0 : hostEnd - row;
      known = hostEnd + 2 - row;
    }
    const keyEnd =
      hostLength === 0
        ? row + known - 1
        : plainPathEnd(bytes, row + hostLength + 1, row + known, size);
    const next = keyEnd === -1 ? -1 : plainRowNext(bytes, keyEnd, size);
    if (next === -1) return this.#takeOdd(row);
    this.#add(row, keyEnd, hostLength, shared);
    this.#plainLength = bytes[keyEnd - 1] === STAR ? keyEnd - 1 - row : keyEnd - row;
    return next;
  }

  /** Takes a row that is not plain. */
  #takeOdd(row: number): number {
    const bytes = this.bytes;
    const read = this.#read;
    try {
      if (!readRow(bytes, row, bytes.length, this.layout.fields, read)) return read.next;
      checkFrequency(bytes, read);
    } catch (error) {
      throw isMementoMapError(error) ? error.at(this.#position(row)) : error;
    }
    const { keyEnd } = read;
    const key = byteString(bytes, row, keyEnd);
    if (ownSpelling(key, this.layout.fields) !== key) return this.#respell();
    const hostEnd = hostEndOf(bytes.subarray(row, keyEnd), keyEnd - row);
    this.#add(row, keyEnd, Math.max(0, hostEnd), this.#sharedWithLast(row));
    this.#plainLength = 0;
    if (key.includes("?")) this.hasQueries = true;
    if (!read.isPlain && plainRowNext(bytes, keyEnd, bytes.length) !== read.next) {
      this.hasOddRows = true;
    }
    return read.next;
  }

  #sharedWithLast(row: number): number {
    const view = this.view;
    const bytes = this.bytes;
    const last = this.#last;
    const left = bytes.length - row;
    const limit = this.#lastLength < left ? this.#lastLength : left;
    let i = 0;
    while (i + 4 <= limit && view.getInt32(row + i, true) === view.getInt32(last + i, true)) i += 4;
    while (i < limit && bytes[row + i] === bytes[last + i]) i++;
    return i;
  }

  /** Adds a key of which `shared` bytes are those of the last one. */
  #add(row: number, keyEnd: number, hostLength: number, shared: number): void {
    const bytes = this.bytes;
    const length = keyEnd - row;
    const isSameHost = hostLength === this.#hostLength && shared >= hostLength;
    const last = this.#last;
    const lastLength = this.#lastLength;
    this.records++;
    this.#last = row;
    this.#lastLength = length;
    this.#hostLength = hostLength;
    if (shared === length || (shared < lastLength && bytes[row + shared] < bytes[last + shared])) {
      if (shared !== lastLength || length !== lastLength) throw this.#unsorted(row, last);
      this.hasSeveralRows = true;
      this.hasOddRows = true;
      return;
    }
    this.keyCount++;
    const view = this.view;
    if (hostLength === 0) {
      const hash = hashOf(view, row, length, 0);
      const isAbove = bytes[keyEnd - 1] === STAR && bytes[keyEnd - 2] === COMMA;
      if (isAbove) {
        this.hostsBelow |= this.#labelBit(row, keyEnd - 2);
        this.hostWildcards.add(hash, row);
      } else this.pages.add(hash, row);
      return;
    }
    if (!isSameHost) this.#addHost(row, hostLength);
    const path = row + hostLength + 1;
    if (bytes[keyEnd - 1] === STAR && bytes[keyEnd - 2] === SLASH) {
      this.#wildcards.push(row);
      let depth = -1;
      for (let at = path; at < keyEnd; at++) if (bytes[at] === SLASH) depth++;
      this.#below[this.#below.length - 1] |= bitOf(depth);
    } else this.pages.add(hashOf(view, path, keyEnd - path, this.#hostHash), row);
  }

  #addHost(row: number, length: number): void {
    const bytes = this.bytes;
    this.#hostHash = hashOf(this.view, row, length, 0);
    this.hosts.add(this.#hostHash, this.#below.length);
    const start = this.#nameStarts[this.#below.length];
    if (start + length > this.#names.length) {
      const larger = new Uint8Array(2 * (start + length));
      larger.set(this.#names);
      this.#names = larger;
      this.#namesView = new DataView(larger.buffer);
    }
    this.#nameStarts.push(copyRange(bytes, row, row + length, this.#names, start));
    this.#firstWildcards.push(this.#wildcards.length);
    this.#below.push(0);
    const end = row + length;
    if (bytes[end - 1] === STAR && bytes[end - 2] === COMMA) {
      this.spreads |= this.#labelBit(row, end - 2);
    }
  }

  /** The bit of the labels in `bytes[start, end)`, behind which come a comma and a star. */
  #labelBit(start: number, end: number): number {
    this.longestAbove = Math.max(this.longestAbove, end + 2 - start);
    let label = 0;
    for (let at = start; at < end; at++) if (this.bytes[at] === COMMA) label++;
    return bitOf(label);
  }

  /** Begins again with the map as this tool would have written it. */
  #respell(): number {
    const { recordsOffset } = this.head;
    this.bytes = respelled(this.bytes, recordsOffset, this.layout);
    this.view = new DataView(this.bytes.buffer);
    this.pages = new HashTable(this.pages.count);
    this.#clear();
    return recordsOffset;
  }

  #unsorted(row: number, last: number): MementoMapError {
    const bytes = this.bytes;
    const [key, previous] = [row, last].map((at) => byteString(bytes, at, keyEndAt(bytes, at)));
    return notSorted(1, key, previous, this.#position(row));
  }

  #position(row: number): { source: string; line: number } {
    let line = 1;
    const bytes = this.bytes;
    for (let at = bytes.indexOf(LF); at !== -1 && at < row; at = bytes.indexOf(LF, at + 1)) line++;
    return { source: this.layout.source, line };
  }
}
