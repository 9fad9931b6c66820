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
  let runs = lists.map(toRun);
  while (runs.length > 1) {
    // Neighbours, so that each memento is compared once for every doubling of what is merged.
    runs = runs.flatMap((run, i) => {
      if (i % 2 === 1) return [];
      return i + 1 < runs.length ? [mergeRuns(lists, run, runs[i + 1])] : [run];
    });
  }
  const archives = inOrder.map(({ archive }) => archive);
  return new MergedTimeMap({ lists, archives, ...dropRepeats(lists, runs[0] ?? NO_RUN) });
}

/** Mementos in the order of time: the list and the place in it of each. */
type Run = Pick<MergeColumns, "listOf" | "placeOf">;

const NO_RUN: Run = { listOf: new Uint16Array(0), placeOf: new Uint32Array(0) };

function toRun(list: MementoList, number: number): Run {
  const placeOf = Uint32Array.from({ length: list.count }, (_, place) => place);
  if (!list.isSorted) {
    placeOf.sort((a, b) => list.datetimeAt(a) - list.datetimeAt(b) || a - b);
  }
  return { listOf: new Uint16Array(list.count).fill(number), placeOf };
}

/** Of the same second those of the first run come first. */
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

/** Leaves out what was there with the same URI in the same second; in place. */
function dropRepeats(lists: readonly MementoList[], { listOf, placeOf }: Run): Run {
  const uriAt = (i: number): string => lists[listOf[i]].uriIdentityAt(placeOf[i]);
  let count = 0;
  let second = Number.NaN;
  /** URIs of the second, where it has more than one. */
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
}
