import { MementoMapError } from "../errors.ts";
import type { Memento, MementoList, MementoSequence } from "../memento/memento-list.ts";
import { epochMs } from "../memento/datetime.ts";

/** What an archive answered, or a page of it. */
export interface MergeSource {
  /** The place of the archive in the list of archives; several sources may be of one archive. */
  readonly archive: number;
  readonly mementos: MementoList;
}

const MAX_SOURCES = 2 ** 16;

/**
 * Merges the mementos of archives in the order of time.
 *
 * Mementos of the same second are in the order of the archives, then in that of their TimeMap. Of
 * those with the same URI and datetime the first is kept. Sources need no order; those that are not
 * sorted are, for which an index of four bytes a memento is held. Takes n log k steps for n mementos
 * of k sources.
 *
 * @throws MM_LIMIT for more than 65,536 sources.
 *
 * @example
 * ```ts
 * import { mergeTimeMaps, readTimeMap } from "mementomap";
 *
 * const timeMap = (year: number) =>
 *   new Blob([`<http://x.example/${year}>; rel="memento"; datetime="Mon, 01 Jan ${year} 00:00:00 GMT"`]);
 * const [a, b] = await Promise.all([readTimeMap(timeMap(2018)), readTimeMap(timeMap(2007))]);
 * const merged = mergeTimeMaps([
 *   { archive: 0, mementos: a.mementos },
 *   { archive: 1, mementos: b.mementos },
 * ]);
 * console.log(merged.count, merged.at(0).uri);
 * ```
 * ```
 * 2 http://x.example/2007
 * ```
 */
export function mergeTimeMaps(sources: Iterable<MergeSource>): MergedTimeMap {
  const inOrder = Array.from(sources)
    .filter(({ mementos }) => mementos.count > 0)
    .sort((a, b) => a.archive - b.archive);
  if (inOrder.length > MAX_SOURCES) {
    throw new MementoMapError("MM_LIMIT", `more than ${MAX_SOURCES} TimeMaps to merge`);
  }
  const lists = inOrder.map(({ mementos }) => mementos);
  const total = lists.reduce((sum, { count }) => sum + count, 0);
  const merging = new Merging(lists, total);
  const heads = new Heads(lists);
  while (heads.top !== -1) {
    merging.add(heads.top, heads.topPlace);
    heads.advance();
  }
  return new MergedTimeMap({
    lists,
    archives: inOrder.map(({ archive }) => archive),
    ...merging.columns(),
  });
}

/** The next memento of every list, the oldest on top: a binary heap. */
class Heads {
  readonly #lists: readonly MementoList[];
  /** The order to take each list in, where its own is not that of time. */
  readonly #orders: readonly (Uint32Array | undefined)[];
  /** How many were taken from each list. */
  readonly #taken: Uint32Array;
  readonly #datetimes: Float64Array;
  /** Lists, parents before their children. */
  readonly #heap: Uint16Array;
  #size: number;

  constructor(lists: readonly MementoList[]) {
    this.#lists = lists;
    this.#orders = lists.map((list) => (list.isSorted ? undefined : timeOrder(list)));
    this.#taken = new Uint32Array(lists.length);
    this.#datetimes = new Float64Array(lists.length);
    this.#heap = Uint16Array.from(lists.keys());
    this.#size = lists.length;
    for (let list = 0; list < lists.length; list++) {
      this.#datetimes[list] = lists[list].datetimeAt(this.#placeIn(list));
    }
    for (let slot = (this.#size >>> 1) - 1; slot >= 0; slot--) this.#sink(slot);
  }

  /** The list whose next memento is the oldest; -1 when all are taken. */
  get top(): number {
    return this.#size === 0 ? -1 : this.#heap[0];
  }

  /** Where that memento is in its list. */
  get topPlace(): number {
    return this.#placeIn(this.#heap[0]);
  }

  /** Goes on to the next of that list. */
  advance(): void {
    const list = this.#heap[0];
    if (++this.#taken[list] < this.#lists[list].count) {
      this.#datetimes[list] = this.#lists[list].datetimeAt(this.#placeIn(list));
    } else {
      this.#heap[0] = this.#heap[--this.#size];
    }
    this.#sink(0);
  }

  #placeIn(list: number): number {
    const taken = this.#taken[list];
    return this.#orders[list]?.[taken] ?? taken;
  }

  #sink(from: number): void {
    const heap = this.#heap;
    const list = heap[from];
    let slot = from;
    for (;;) {
      let child = slot * 2 + 1;
      if (child >= this.#size) break;
      if (child + 1 < this.#size && this.#isBefore(heap[child + 1], heap[child])) child++;
      if (!this.#isBefore(heap[child], list)) break;
      heap[slot] = heap[child];
      slot = child;
    }
    heap[slot] = list;
  }

  #isBefore(a: number, b: number): boolean {
    const difference = this.#datetimes[a] - this.#datetimes[b];
    return difference < 0 || (difference === 0 && a < b);
  }
}

/** The places of a list in the order of time, and for the same time in their own. */
function timeOrder(list: MementoList): Uint32Array {
  return Uint32Array.from({ length: list.count }, (_, i) => i).sort(
    (a, b) => list.datetimeAt(a) - list.datetimeAt(b) || a - b,
  );
}

/** Beyond this many mementos in one second, those seen are looked up in a set instead of scanned. */
const MAX_COMPARED = 8;

/** Takes mementos in their order, and leaves out those it has. */
class Merging {
  readonly #lists: readonly MementoList[];
  readonly #listOf: Uint16Array;
  readonly #placeOf: Uint32Array;
  #count = 0;
  /** Where the mementos of the current second begin, and their URIs when there are many. */
  #secondStart = 0;
  #second = Number.NaN;
  #urisOfSecond: Set<string> | undefined;

  constructor(lists: readonly MementoList[], total: number) {
    this.#lists = lists;
    this.#listOf = new Uint16Array(total);
    this.#placeOf = new Uint32Array(total);
  }

  add(list: number, place: number): void {
    const datetime = this.#lists[list].datetimeAt(place);
    if (datetime !== this.#second) {
      this.#second = datetime;
      this.#secondStart = this.#count;
      this.#urisOfSecond = undefined;
    } else if (this.#has(list, place)) {
      return;
    }
    this.#listOf[this.#count] = list;
    this.#placeOf[this.#count] = place;
    this.#count++;
  }

  columns(): { listOf: Uint16Array; placeOf: Uint32Array } {
    return {
      listOf: this.#listOf.subarray(0, this.#count),
      placeOf: this.#placeOf.subarray(0, this.#count),
    };
  }

  #has(list: number, place: number): boolean {
    const uris = this.#lists[list];
    if (this.#count - this.#secondStart <= MAX_COMPARED) {
      for (let i = this.#secondStart; i < this.#count; i++) {
        if (uris.hasSameUri(place, this.#lists[this.#listOf[i]], this.#placeOf[i])) return true;
      }
      return false;
    }
    this.#urisOfSecond ??= this.#identitiesFrom(this.#secondStart);
    const uri = uris.uriIdentityAt(place);
    if (this.#urisOfSecond.has(uri)) return true;
    this.#urisOfSecond.add(uri);
    return false;
  }

  #identitiesFrom(start: number): Set<string> {
    const identities = new Set<string>();
    for (let i = start; i < this.#count; i++) {
      identities.add(this.#lists[this.#listOf[i]].uriIdentityAt(this.#placeOf[i]));
    }
    return identities;
  }
}

/** A memento, and the archive that has it. */
export interface MergedMemento extends Memento {
  /** The place of the archive in the list that was merged. */
  readonly archive: number;
}

/** Mementos from `start` to before `end`, by their places. */
export interface MementoRange {
  readonly start: number;
  readonly end: number;
}

/** Where mementos of a merge are: `lists[listOf[i]]` has the one at place `i`, at `placeOf[i]`. */
export interface MergeColumns {
  readonly lists: readonly MementoList[];
  /** The archive of each list. */
  readonly archives: readonly number[];
  readonly listOf: Uint16Array;
  readonly placeOf: Uint32Array;
}

/**
 * The mementos of several archives in the order of time; see `mergeTimeMaps`.
 *
 * Six bytes for each, besides the lists they are in. Places count from 0.
 */
export class MergedTimeMap implements MementoSequence {
  readonly count: number;
  readonly isPlain: boolean;
  readonly #columns: MergeColumns;

  constructor(columns: MergeColumns) {
    this.#columns = columns;
    this.count = columns.placeOf.length;
    this.isPlain = columns.lists.every((list) => list.isPlain);
  }

  at(index: number): MergedMemento {
    return {
      uri: this.uriAt(index),
      datetime: this.datetimeAt(index),
      archive: this.archiveAt(index),
    };
  }

  archiveAt(index: number): number {
    return this.#columns.archives[this.#columns.listOf[index]];
  }

  datetimeAt(index: number): number {
    const { lists, listOf, placeOf } = this.#columns;
    return lists[listOf[index]].datetimeAt(placeOf[index]);
  }

  uriAt(index: number): string {
    const { lists, listOf, placeOf } = this.#columns;
    return lists[listOf[index]].uriAt(placeOf[index]);
  }

  uriLengthAt(index: number): number {
    const { lists, listOf, placeOf } = this.#columns;
    return lists[listOf[index]].uriLengthAt(placeOf[index]);
  }

  copyUri(index: number, target: Uint8Array, at: number): number {
    const { lists, listOf, placeOf } = this.#columns;
    return lists[listOf[index]].copyUri(placeOf[index], target, at);
  }

  *[Symbol.iterator](): Generator<MergedMemento, void, undefined> {
    for (let i = 0; i < this.count; i++) yield this.at(i);
  }

  /** How many mementos each archive has, of those that have any. */
  countsByArchive(): Map<number, number> {
    return this.#countBy((index) => this.archiveAt(index));
  }

  /** How many mementos there are of each year that has any, in the order of time. */
  countsByYear(): Map<number, number> {
    return this.#countBy((index) => Math.floor(this.datetimeAt(index) / 1e10));
  }

  /** Mementos of a time, both ends included; an end that is not given is open. */
  range(from: number = 0, until: number = Number.POSITIVE_INFINITY): MementoRange {
    const start = this.#firstNotBefore(from);
    return { start, end: Math.max(start, this.#firstNotBefore(until, true)) };
  }

  /** A part as a list of its own, which shares its memory with this one. */
  part({ start, end }: MementoRange): MergedTimeMap {
    const { listOf, placeOf, ...rest } = this.#columns;
    return new MergedTimeMap({
      ...rest,
      listOf: listOf.subarray(start, end),
      placeOf: placeOf.subarray(start, end),
    });
  }

  /** All mementos, cut in parts of `size` and one of what remains. */
  pages(size: number): MementoRange[] {
    const pages: MementoRange[] = [];
    for (let start = 0; start < this.count; start += size) {
      pages.push({ start, end: Math.min(this.count, start + size) });
    }
    return pages;
  }

  /**
   * The place of the memento nearest in time, -1 if there are none. Of several that are equally near
   * it is the last in the list.
   */
  closest(datetime: number): number {
    if (this.count === 0) return -1;
    const after = this.#firstNotBefore(datetime);
    if (after === this.count) return after - 1;
    const afterDatetime = this.datetimeAt(after);
    if (after > 0) {
      const asked = epochMs(datetime);
      const distanceAfter = epochMs(afterDatetime) - asked;
      const distanceBefore = asked - epochMs(this.datetimeAt(after - 1));
      if (distanceBefore < distanceAfter) return after - 1;
    }
    return this.#firstNotBefore(afterDatetime, true) - 1;
  }

  /** The first place that is not before a time, or the first that is behind it. */
  #firstNotBefore(datetime: number, isBehind: boolean = false): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const here = this.datetimeAt(middle);
      if (here < datetime || (isBehind && here === datetime)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #countBy(keyOf: (index: number) => number): Map<number, number> {
    const counts = new Map<number, number>();
    for (let i = 0; i < this.count; i++) {
      const key = keyOf(i);
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    return counts;
  }
}
