import { compareRanges, SLASH, SPACE, STAR } from "../bytes/bytes.ts";
import { coveringKey, FORM, type Form, NONE } from "../surt/covering-keys.ts";
import { hostEndOf, type Key } from "../surt/lookup-key.ts";
import { foreignSpellings } from "../surt/spelling.ts";
import { frequencyIsZero } from "../ukvs/frequency.ts";
import { PageRange } from "../ukvs/head.ts";
import type { UkvsHeaders } from "../ukvs/header.ts";
import type { DatetimeRange } from "../ukvs/record.ts";
import {
  isKeyEnd,
  keyEnd as keyEndAt,
  lineEnd,
  nextLine,
  plainRowNext,
  type RowRange,
} from "../ukvs/row.ts";
import { decide, type KeyAnswer, verdictOf } from "./decide.ts";
import { hashOf, sameBytes } from "./hash-table.ts";
import { RowIndex } from "./row-index.ts";
import { SourceLookup } from "./map-lookup.ts";
import type { Verdict } from "./source.ts";

export { MAX_INDEX_BYTES } from "./row-index.ts";

/** A few milliseconds of work: the first inserts into a table cost a page fault each. */
const SLICE_BYTES = 64 * 1024;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * A text map in memory with an index over its keys, for servers and batches. Lookups are synchronous.
 *
 * Holds the bytes of the map, 16 to 32 bytes a key and about 50 a host.
 */
export class MemoryIndex extends SourceLookup {
  readonly headers: UkvsHeaders;
  readonly readsQueries: boolean;
  /** The map as passed to `build`. */
  readonly bytes: Uint8Array;
  /** The same rows; a page answers from them alone, without MM_PAGE for keys on other pages. */
  readonly ownRows: MemoryIndex;
  readonly #index: RowIndex;
  /** The range of a single page; undefined for a whole map. */
  readonly #page: PageRange | undefined;
  #period: DatetimeRange | undefined;
  /** The row that `ask` found last, or -1, and the end of its key. */
  #lastRow = -1;
  #foundEnd = 0;
  /** The result for the key found last, if its rows had to be parsed. */
  #decided: KeyAnswer | undefined;

  private constructor(bytes: Uint8Array, index: RowIndex, page?: PageRange) {
    super();
    this.bytes = bytes;
    this.headers = index.head.headers;
    this.readsQueries = index.layout.fields.queries === true || index.hasQueries;
    this.ownRows = page === undefined ? this : new MemoryIndex(bytes, index);
    this.#index = index;
    this.#page = page;
  }

  static #of(bytes: Uint8Array, index: RowIndex): MemoryIndex {
    return new MemoryIndex(bytes, index, PageRange.of(index.head.headers, index.layout.source));
  }

  /**
   * Indexes a map. The bytes must not change afterwards.
   *
   * @throws MM_NOT_SORTED; MM_LIMIT from 2 GiB on; MM_BAD_HEADER, MM_BAD_LINE, MM_BAD_KEY and
   *   MM_BAD_FREQUENCY for errors in the map; MM_BAD_INPUT for another kind of file; MM_CUT and MM_EMPTY
   *   for an incomplete map.
   */
  static build(
    bytes: Uint8Array,
    { source = "memory" }: { readonly source?: string } = {},
  ): MemoryIndex {
    const index = new RowIndex(bytes, source);
    while (index.advance(bytes.length));
    return MemoryIndex.#of(bytes, index);
  }

  /** As `build`, without blocking the event loop: `pause` is awaited every few milliseconds. */
  static async buildInSlices(
    bytes: Uint8Array,
    { source = "memory", pause }: { readonly source?: string; readonly pause: () => Promise<void> },
  ): Promise<MemoryIndex> {
    const index = new RowIndex(bytes, source);
    while (index.advance(SLICE_BYTES)) await pause();
    return MemoryIndex.#of(bytes, index);
  }

  /** Size of the map in bytes. */
  get size(): number {
    return this.bytes.length;
  }

  /** The number of distinct keys. */
  get keyCount(): number {
    return this.#index.keyCount;
  }

  get isEmpty(): boolean {
    return this.#index.records === 0;
  }

  /** Whether keys have queries. */
  get hasQueries(): boolean {
    return this.headers.fields.queries === true;
  }

  open(key: Key, period?: DatetimeRange): number {
    const index = this.#index;
    this.#period = period;
    if (key.hostEnd < 0) return 0;
    if (key.hostHash === 0) key.hostHash = hashOf(key.view, 0, key.hostEnd, 0);
    key.host = index.findHost(key.hostHash, key.view, key.hostEnd);
    // On a single page all covering keys are tried, so that keys that may be on another page are rejected.
    if (this.#page !== undefined) return 0;
    key.below = key.host < 0 ? 0 : index.below(key.host);
    key.spreads = index.spreads;
    key.hostsBelow = index.hostsBelow;
    return key.host < 0 && (index.spreads | index.hostsBelow) === 0 ? NONE : 0;
  }

  openAll(keys: readonly Key[], count: number, opened: Int32Array, period?: DatetimeRange): void {
    const index = this.#index;
    const { bytes } = index;
    const { places, mask } = index.pages;
    // Loops as short as these overlap the cache misses of many keys.
    for (let i = 0; i < count; i++) {
      const key = keys[i];
      if (key.hostEnd >= 0) key.hostHash = hashOf(key.view, 0, key.hostEnd, 0);
    }
    for (let i = 0; i < count; i++) keys[i].touched = index.touchHost(keys[i].hostHash);
    for (let i = 0; i < count; i++) opened[i] = this.open(keys[i], period);
    for (let i = 0; i < count; i++) if (keys[i].host >= 0) this.#hashPage(keys[i]);
    for (let i = 0; i < count; i++) {
      const { pageHash } = keys[i];
      const place = 2 * (pageHash & mask);
      keys[i].touched = places[place] === pageHash ? places[place + 1] : 0;
    }
    for (let i = 0; i < count; i++) keys[i].touched = bytes[keys[i].touched];
  }

  #hashPage(key: Key): void {
    key.readPath();
    const end = this.readsQueries ? key.length : key.pageEnd;
    key.pageHash = hashOf(key.view, key.hostEnd + 1, end - key.hostEnd - 1, key.hostHash);
  }

  ask(key: Key, form: Form, index: number): number {
    const page = this.#page;
    const covering = page && coveringKey(key);
    if (covering !== undefined) page?.require(covering);
    let row: number;
    if (form === FORM.below) row = this.#folderRow(key, index);
    else if (form > FORM.page) row = this.#otherRow(key, form, index);
    else row = this.#pageRow(key, form === FORM.exact ? key.length : key.pageEnd);
    this.#lastRow = row;
    // All spellings of a key are on one page.
    if (row < 0 && covering !== undefined) this.#requireSpellings(covering);
    if (row < 0 || !this.#index.hasComplexRows) return row;
    return this.#isDeciding(row) ? row : NONE;
  }

  answer(_key: Key, _hit: number, into: Verdict): void {
    if (this.#decided !== undefined) {
      verdictOf(this.#decided, into);
      return;
    }
    const { bytes } = this.#index;
    const start = this.#foundEnd + 1;
    let end = start;
    while (end < bytes.length && bytes[end] > SPACE) end++;
    into.bytes = bytes;
    into.start = start;
    into.end = end;
    into.present = !frequencyIsZero(bytes, start, end);
  }

  lastRows(): string[] {
    if (this.#lastRow < 0) return [];
    return this.#rowsAt(this.#lastRow).map(({ bytes, start, end }) =>
      decoder.decode(bytes.subarray(start, end)),
    );
  }

  /** Whether the rows of a key decide for the period. Sets `#decided` if they had to be parsed. */
  #isDeciding(row: number): boolean {
    const index = this.#index;
    this.#decided = undefined;
    const next = plainRowNext(index.bytes, this.#foundEnd, index.bytes.length);
    const isSingle =
      next >= 0 &&
      index.layout.fields.keys.length === 1 &&
      !(index.hasSeveralRows && this.#isSameKey(row, next));
    if (isSingle) return true;
    const key = decoder.decode(index.bytes.subarray(row, this.#foundEnd));
    this.#decided = decide(key, this.#rowsAt(row), index.layout, this.#period);
    return this.#decided.decides;
  }

  /** @throws MM_PAGE if another spelling of the key may be on another page. */
  #requireSpellings(key: Uint8Array): void {
    for (const spelling of foreignSpellings(decoder.decode(key), this.headers.fields)) {
      this.#page?.require(encoder.encode(spelling));
    }
  }

  /** The row of the page `key.bytes[0, end)`. */
  #pageRow(key: Key, end: number): number {
    if (key.host < 0 && key.hostEnd >= 0) return NONE;
    const isHashed = key.pageHash !== 0 && end === (this.readsQueries ? key.length : key.pageEnd);
    const path = key.hostEnd + 1;
    const hash = isHashed ? key.pageHash : hashOf(key.view, path, end - path, key.hostHash);
    return this.#find(this.#index.pages, hash, key.view, end);
  }

  /** The row `X)/p/*` for a folder of the key, by binary search among the wildcards of the host. */
  #folderRow(key: Key, folder: number): number {
    const { host, hostEnd } = key;
    if (host < 0) return NONE;
    const index = this.#index;
    const { bytes } = index;
    const end = key.folderEnds[folder];
    let low = index.firstWildcard(host);
    let high = index.firstWildcard(host + 1);
    while (low < high) {
      const middle = (low + high) >>> 1;
      const row = index.wildcard(middle);
      let i = hostEnd + 1;
      while (i < end && bytes[row + i] === key.bytes[i]) i++;
      let order = i < end ? bytes[row + i] - key.bytes[i] : bytes[row + i] - SLASH;
      if (order === 0) order = bytes[row + end + 1] - STAR;
      if (order === 0 && !isKeyEnd(bytes, row + end + 2)) order = 1;
      if (order === 0) {
        this.#foundEnd = row + end + 2;
        return row;
      }
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return NONE;
  }

  /** The row of a covering key that is not a prefix of the key looked up. */
  #otherRow(key: Key, form: Form, index: number): number {
    if (form > FORM.below && key.labelEnds[index] + 2 > this.#index.longestAbove) return NONE;
    if (form === FORM.anyQuery && key.host < 0 && key.hostEnd >= 0) return NONE;
    return this.#rowOf(coveringKey(key));
  }

  /** The row of a key that is not a path wildcard. */
  #rowOf(bytes: Uint8Array): number {
    const index = this.#index;
    const end = bytes.length;
    const view = new DataView(bytes.buffer);
    const hostEnd = hostEndOf(bytes, end);
    if (hostEnd < 0) {
      const hash = hashOf(view, 0, end, 0);
      const row = this.#find(index.hostWildcards, hash, view, end);
      return row < 0 ? this.#find(index.pages, hash, view, end) : row;
    }
    const hostHash = hashOf(view, 0, hostEnd, 0);
    const hash = hashOf(view, hostEnd + 1, end - hostEnd - 1, hostHash);
    return this.#find(index.pages, hash, view, end);
  }

  #find({ places, mask }: RowIndex["pages"], hash: number, view: DataView, length: number): number {
    const { bytes, view: map } = this.#index;
    for (let place = hash & mask; places[2 * place] !== 0; place = (place + 1) & mask) {
      if (places[2 * place] !== hash) continue;
      const row = places[2 * place + 1];
      if (
        isKeyEnd(bytes, row + length) &&
        row + length < bytes.length &&
        sameBytes(map, row, view, 0, length)
      ) {
        this.#foundEnd = row + length;
        return row;
      }
    }
    return NONE;
  }

  /** The row at an offset and the following rows with the same key. */
  #rowsAt(row: number): RowRange[] {
    const { bytes } = this.#index;
    const rows: RowRange[] = [];
    let start = row;
    do {
      const end = lineEnd(bytes, start);
      rows.push({ bytes, start, end });
      start = nextLine(bytes, end);
      while (start < bytes.length && bytes[start] <= SPACE) {
        start = nextLine(bytes, lineEnd(bytes, start));
      }
    } while (this.#index.hasSeveralRows && this.#isSameKey(row, start));
    return rows;
  }

  #isSameKey(row: number, other: number): boolean {
    const { bytes } = this.#index;
    const length = keyEndAt(bytes, row) - row;
    return (
      other + length < bytes.length &&
      isKeyEnd(bytes, other + length) &&
      compareRanges(bytes, other, other + length, bytes, row, row + length) === 0
    );
  }
}
