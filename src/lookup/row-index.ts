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

/** Bytes sampled to estimate the number of rows. The table grows if the estimate is too low. */
const SAMPLE_BYTES = 2 ** 18;

/** The largest map that can be indexed: row offsets have 31 bits. */
export const MAX_INDEX_BYTES: number = 2 ** 31 - 1;

/**
 * Index of the rows of a map in memory. A row is identified by its byte offset. Building it reads and
 * checks every row.
 */
export class RowIndex {
  bytes: Uint8Array;
  view: DataView;
  readonly head: MapHead;
  readonly layout: RowLayout;
  /** Rows of keys without `*` and of `X,*)/p`, by the hash of the path, seeded with the hash of the host. */
  pages: HashTable;
  /** Rows `X,*`: few, so their table stays in the cache. */
  hostWildcards!: HashTable;
  /** Host numbers by the hash of the name. Nine lookups in ten end here. */
  hosts!: HashTable;
  /** Host names, concatenated (about 20 bytes each), so that popular ones stay in the cache. */
  #names!: Uint8Array;
  #namesView!: DataView;
  /** By host: offset of its name; index of its first wildcard; depths of its wildcards, as a mask of a key. */
  #nameStarts: number[] = [];
  #firstWildcards: number[] = [];
  #below: number[] = [];
  /** Rows `…/*` by host, in map order. */
  #wildcards: number[] = [];
  /** Label counts of X over all `X,*`, and over all `X,*)/p`, as masks of a key. */
  hostsBelow = 0;
  spreads = 0;
  /** Length of the longest `X,*`, in bytes. */
  longestAbove = 0;
  records = 0;
  keyCount = 0;
  /** Whether some key has a query. */
  hasQueries = false;
  /** Whether rows of some key must be parsed to find out whether they decide. */
  hasComplexRows = false;
  /** Whether some key has several rows. */
  hasSeveralRows = false;
  readonly #read = new Row();
  #row: number;
  // The last key: its offset, its length, the length of its host (0 for none), the length of its plain prefix.
  #last = 0;
  #lastLength = 0;
  #hostLength = 0;
  #plainLength = 0;
  #hostHash = 0;

  /** @throws errors of the map's head; MM_LIMIT, MM_CUT, MM_EMPTY. */
  constructor(map: Uint8Array, source: string) {
    if (map.length > MAX_INDEX_BYTES) {
      throw new MementoMapError(
        "MM_LIMIT",
        `a map of ${map.length} bytes is too large to index in memory; search the file instead`,
        { position: { source } },
      );
    }
    // Never a `Buffer`: two types would make the loops below twice as slow.
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

  /** The number of the host `view[0, length)`; -1 if it has no rows. */
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

  /** Prefetches the name of the host at the first place for a hash. */
  touchHost(hash: number): number {
    const { places, mask } = this.hosts;
    return this.#names[this.#nameStarts[places[2 * (hash & mask) + 1]]];
  }

  below(host: number): number {
    return this.#below[host];
  }

  /** Index of the first row `…/*` of a host; for the number after the last host, the end. */
  firstWildcard(host: number): number {
    const isHost = host < this.#below.length;
    return isHost ? this.#firstWildcards[host] : this.#wildcards.length;
  }

  wildcard(number: number): number {
    return this.#wildcards[number];
  }

  /**
   * Indexes the next rows, about this many bytes; false at the end.
   *
   * @throws MM_NOT_SORTED; MM_BAD_HEADER, MM_BAD_LINE, MM_BAD_KEY, MM_BAD_FREQUENCY; MM_CUT at the end
   *   when the map states another number of records.
   */
  advance(byteCount: number): boolean {
    const until = Math.min(this.bytes.length, this.#row + byteCount);
    while (this.#row < until) this.#row = this.#addRow(this.#row);
    if (this.#row < this.bytes.length) return true;
    checkSize(this.head.headers.size, { records: this.records }, this.layout.source);
    for (const table of [this.pages, this.hostWildcards, this.hosts]) table.flush();
    return false;
  }

  /** Indexes the row at `row`; returns the offset of the next line. */
  #addRow(row: number): number {
    if (this.layout.fields.keys.length !== 1) return this.#parseRow(row);
    const bytes = this.bytes;
    const size = bytes.length;
    const shared = this.#sharedWithLast(row);
    let hostLength = this.#hostLength;
    let known = this.#plainLength < shared ? this.#plainLength : shared;
    if (hostLength === 0 || known < hostLength + 2) {
      const hostEnd = plainHostEnd(bytes, row, size);
      if (hostEnd === -1) return this.#parseRow(row);
      hostLength = bytes[hostEnd] === STAR ? 0 : hostEnd - row;
      known = hostEnd + 2 - row;
    }
    const keyEnd =
      hostLength === 0
        ? row + known - 1
        : plainPathEnd(bytes, row + hostLength + 1, row + known, size);
    const next = keyEnd === -1 ? -1 : plainRowNext(bytes, keyEnd, size);
    if (next === -1) return this.#parseRow(row);
    this.#add(row, keyEnd, hostLength, shared);
    this.#plainLength = bytes[keyEnd - 1] === STAR ? keyEnd - 1 - row : keyEnd - row;
    return next;
  }

  /** Indexes a row that is not plain. */
  #parseRow(row: number): number {
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
      this.hasComplexRows = true;
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

  /** Adds a key that shares its first `shared` bytes with the last one. */
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
      this.hasComplexRows = true;
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

  /** The bit for the number of labels in `bytes[start, end)`, which precedes `,*`. */
  #labelBit(start: number, end: number): number {
    this.longestAbove = Math.max(this.longestAbove, end + 2 - start);
    let label = 0;
    for (let at = start; at < end; at++) if (this.bytes[at] === COMMA) label++;
    return bitOf(label);
  }

  /** Restarts on a copy of the map in canonical spelling. */
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
