import { MementoMapError } from "../errors.ts";
import type { Memento, MementoList, MementoSequence } from "../memento/memento-list.ts";
import { epochMs } from "../memento/datetime.ts";

/** Mementos of an archive's answer, or of a page of it. */
export interface MergeSource {
  /** Index of the archive in the list of archives; several sources may belong to one archive. */
  readonly archive: number;
  readonly mementos: MementoList;
}

const MAX_SOURCES = 2 ** 16;

/**
 * Merges the mementos of archives in chronological order.
 *
 * Mementos of the same second are ordered by archive, then as in their TimeMap. Of duplicates with the
 * same URI and datetime the first is kept. Sources may be unsorted; an unsorted one takes an index of
 * four bytes per memento. Takes O(n log k) steps for n mementos of k sources.
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
  let runs = lists.map(toRun);
  while (runs.length > 1) {
    // Merges neighbours, so that each memento is compared once per doubling.
    runs = runs.flatMap((run, i) => {
      if (i % 2 === 1) return [];
      return i + 1 < runs.length ? [mergeRuns(lists, run, runs[i + 1])] : [run];
    });
  }
  const archives = inOrder.map(({ archive }) => archive);
  return new MergedTimeMap({ lists, archives, ...dropRepeats(lists, runs[0] ?? NO_RUN) });
}

/** Mementos in chronological order: the list of each, and its index in that list. */
type Run = Pick<MergeColumns, "listOf" | "placeOf">;

const NO_RUN: Run = { listOf: new Uint16Array(0), placeOf: new Uint32Array(0) };

function toRun(list: MementoList, number: number): Run {
  const placeOf = Uint32Array.from({ length: list.count }, (_, place) => place);
  if (!list.isSorted) {
    placeOf.sort((a, b) => list.datetimeAt(a) - list.datetimeAt(b) || a - b);
  }
  return { listOf: new Uint16Array(list.count).fill(number), placeOf };
}

/** Within the same second, mementos of the first run come first. */
function mergeRuns(lists: readonly MementoList[], first: Run, second: Run): Run {
  const count = first.placeOf.length + second.placeOf.length;
  const [listOf, placeOf] = [new Uint16Array(count), new Uint32Array(count)];
  const datetimeAt = (run: Run, i: number): number =>
    i < run.placeOf.length ? lists[run.listOf[i]].datetimeAt(run.placeOf[i]) : Infinity;
  let [a, b] = [0, 0];
  let [ofFirst, ofSecond] = [datetimeAt(first, 0), datetimeAt(second, 0)];
  for (let i = 0; i < count; i++) {
    const isFirst = ofFirst <= ofSecond;
    const [run, at] = isFirst ? [first, a++] : [second, b++];
    listOf[i] = run.listOf[at];
    placeOf[i] = run.placeOf[at];
    if (isFirst) ofFirst = datetimeAt(first, a);
    else ofSecond = datetimeAt(second, b);
  }
  return { listOf, placeOf };
}

/** Drops duplicates with the same URI and second, in place. */
function dropRepeats(lists: readonly MementoList[], { listOf, placeOf }: Run): Run {
  const uriAt = (i: number): string => lists[listOf[i]].uriIdentityAt(placeOf[i]);
  let count = 0;
  let second = Number.NaN;
  /** URIs of the current second, if it has several. */
  let uris: Set<string> | undefined;
  for (let i = 0; i < placeOf.length; i++) {
    const datetime = lists[listOf[i]].datetimeAt(placeOf[i]);
    if (datetime === second) {
      uris ??= new Set([uriAt(count - 1)]);
      const { size } = uris;
      if (uris.add(uriAt(i)).size === size) continue;
    } else {
      second = datetime;
      uris = undefined;
    }
    listOf[count] = listOf[i];
    placeOf[count] = placeOf[i];
    count += 1;
  }
  return { listOf: listOf.subarray(0, count), placeOf: placeOf.subarray(0, count) };
}

/** A memento, and the archive that has it. */
export interface MergedMemento extends Memento {
  /** Index of the archive, as in the sources. */
  readonly archive: number;
}

/** Mementos from index `start` to before `end`. */
export interface MementoRange {
  readonly start: number;
  readonly end: number;
}

/** Memento `i` of a merge is at index `placeOf[i]` of `lists[listOf[i]]`. */
export interface MergeColumns {
  readonly lists: readonly MementoList[];
  /** The archive of each list. */
  readonly archives: readonly number[];
  readonly listOf: Uint16Array;
  readonly placeOf: Uint32Array;
}

/**
 * The mementos of several archives in chronological order; see `mergeTimeMaps`.
 *
 * Takes six bytes per memento besides the source lists. Indexes start at 0.
 */
export class MergedTimeMap implements MementoSequence {
  readonly count: number;
  readonly #columns: MergeColumns;

  constructor(columns: MergeColumns) {
    this.#columns = columns;
    this.count = columns.placeOf.length;
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

  *[Symbol.iterator](): Generator<MergedMemento, void, undefined> {
    for (let i = 0; i < this.count; i++) yield this.at(i);
  }

  /** Mementos of a period, both ends included; an omitted end is open. */
  range(from: number = 0, until: number = Number.POSITIVE_INFINITY): MementoRange {
    const start = this.#firstNotBefore(from);
    return { start, end: Math.max(start, this.#firstNotBefore(until, true)) };
  }

  /** A range as a separate list that shares its memory with this one. */
  part({ start, end }: MementoRange): MergedTimeMap {
    const { listOf, placeOf, ...rest } = this.#columns;
    return new MergedTimeMap({
      ...rest,
      listOf: listOf.subarray(start, end),
      placeOf: placeOf.subarray(start, end),
    });
  }

  /** All mementos in ranges of `size`; the last may be shorter. */
  pages(size: number): MementoRange[] {
    const pages: MementoRange[] = [];
    for (let start = 0; start < this.count; start += size) {
      pages.push({ start, end: Math.min(this.count, start + size) });
    }
    return pages;
  }

  /** Index of the memento nearest in time, the last of several that are equally near; -1 if there are none. */
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

  /** Index of the first memento not before a time, or of the first after it. */
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
}
