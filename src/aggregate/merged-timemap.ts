import { epochMs } from "../memento/datetime.ts";
import type { MementoList, MementoSequence } from "../memento/memento-list.ts";
import type { Memento } from "../memento/memento.ts";

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
