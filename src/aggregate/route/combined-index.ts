import { finishHash, type RowTable } from "../../map/lookup/row-table.ts";
import { KeyScan, KeyWalk } from "../../map/lookup/key-walk.ts";
import type { MemoryIndex } from "../../map/lookup/memory-index.ts";
import type { RowFinder } from "../../map/lookup/row-finder.ts";

/** A few milliseconds of work: the first keys put into a table cost a page fault each. */
const SLICE_PLACES = 4096;

/**
 * Several maps, asked at once.
 *
 * One pass over a SURT makes the hashes of all keys that cover it; for each, one look into a table
 * over the keys of all maps tells which maps may have it, and only those are asked. Most URIs are in
 * few maps, so that the cost is about that of one lookup, however many maps there are.
 *
 * Holds the indexes it is made of and 16 to 32 bytes for each key of each. It never changes: where
 * one map is replaced, another index is built beside it.
 */
export class CombinedIndex {
  /** As given to `build`. */
  readonly indexes: readonly (MemoryIndex | undefined)[];
  /**
   * For each map the first row of the key that decides, or -1 when none does or there is no map;
   * valid until the next lookup.
   */
  readonly rows: Int32Array;
  /** For each map how far above the URI that key is. */
  readonly distances: Int32Array;
  readonly #groups: readonly MapGroup[];
  readonly #scan = new KeyScan();

  private constructor(
    indexes: readonly (MemoryIndex | undefined)[],
    groups: readonly IndexGroup[],
  ) {
    this.indexes = indexes;
    this.rows = new Int32Array(indexes.length);
    this.distances = new Int32Array(indexes.length);
    const found = { rows: this.rows, distances: this.distances };
    this.#groups = groups.map((group) => new MapGroup(group, found));
  }

  /** Takes the indexes of maps by their number; where there is no map, nothing is found. */
  static build(indexes: readonly (MemoryIndex | undefined)[]): CombinedIndex {
    const groups = groupsOf(indexes);
    for (const part of groups.flatMap(partsOf)) {
      let isMore = true;
      while (isMore) isMore = part.advance();
    }
    return new CombinedIndex(indexes, groups);
  }

  /** As `build`, for programs that may not stand still: `pause` is awaited every few milliseconds. */
  static async buildInSlices(
    indexes: readonly (MemoryIndex | undefined)[],
    pause: () => Promise<void>,
  ): Promise<CombinedIndex> {
    const groups = groupsOf(indexes);
    for (const part of groups.flatMap(partsOf)) {
      do await pause();
      while (part.advance());
    }
    return new CombinedIndex(indexes, groups);
  }

  /** Finds for every map the row that decides about the SURT `bytes[start, end)`. */
  lookupKeyBytes(bytes: Uint8Array, start: number, end: number): void {
    this.rows.fill(-1);
    if (this.#groups.length === 0) return;
    const scan = this.#scan.scan(bytes, start, end) ? this.#scan : undefined;
    for (const group of this.#groups) group.find(scan, bytes, start, end);
  }
}

/** Up to 32 indexes, all of maps with queries or all without, with the filters over their keys. */
interface IndexGroup {
  /** The number of the first. */
  readonly first: number;
  readonly indexes: readonly (MemoryIndex | undefined)[];
  readonly pages: KeyFilter;
  /** There are few, so their filter stays in the cache, and they are asked for most. */
  readonly wildcards: KeyFilter;
}

function groupsOf(indexes: readonly (MemoryIndex | undefined)[]): IndexGroup[] {
  const groups: IndexGroup[] = [];
  for (const { first, members } of alikeMembers(indexes)) {
    const sum = (count: (index: MemoryIndex) => number): number =>
      members.reduce((all, index) => all + (index === undefined ? 0 : count(index)), 0);
    groups.push({
      first,
      indexes: members,
      pages: new KeyFilter(sum(({ rows }) => rows.pages.count)),
      wildcards: new KeyFilter(sum(({ rows }) => rows.wildcards.count)),
    });
  }
  return groups;
}

/** Runs of 32 indexes, once without those of maps with queries and once with them alone. */
function alikeMembers(
  indexes: readonly (MemoryIndex | undefined)[],
): { readonly first: number; readonly members: (MemoryIndex | undefined)[] }[] {
  return [false, true].flatMap((queries) =>
    Array.from({ length: Math.ceil(indexes.length / MAPS_PER_FILTER) }, (_, i) => {
      const first = i * MAPS_PER_FILTER;
      const members = indexes
        .slice(first, first + MAPS_PER_FILTER)
        .map((index) => (index?.rows.queries === queries ? index : undefined));
      return { first, members };
    }).filter(({ members }) => members.some((index) => index !== undefined)),
  );
}

function partsOf({ indexes, pages, wildcards }: IndexGroup): FilterPart[] {
  return indexes.flatMap((index, i) =>
    index === undefined
      ? []
      : [
          new FilterPart(pages, index.rows.pages, 1 << i),
          new FilterPart(wildcards, index.rows.wildcards, 1 << i),
        ],
  );
}

/** The keys of one table, on their way into a filter. */
class FilterPart {
  readonly #filter: KeyFilter;
  readonly #table: RowTable;
  readonly #bit: number;
  #place = 0;

  constructor(filter: KeyFilter, table: RowTable, bit: number) {
    this.#filter = filter;
    this.#table = table;
    this.#bit = bit;
  }

  /** Adds some more; false when there are none left. */
  advance(): boolean {
    const until = Math.min(this.#table.capacity, this.#place + SLICE_PLACES);
    this.#filter.add(this.#table, this.#place, until, this.#bit);
    this.#place = until;
    return until < this.#table.capacity;
  }
}

/** Where a group puts what it finds, by the number of the map. */
interface Found {
  readonly rows: Int32Array;
  readonly distances: Int32Array;
}

/** Walks the keys of a SURT once for all maps of a group. */
class MapGroup extends KeyWalk {
  readonly #group: IndexGroup;
  readonly #found: Found;
  readonly #all: number;
  readonly #timed: readonly MemoryIndex[];
  /** The bits of the maps in which no key was found yet. */
  #undecided = 0;

  constructor(group: IndexGroup, found: Found) {
    const kinds = group.indexes.flatMap((index) => (index === undefined ? [] : [index.rows]));
    super({
      queries: kinds.some(({ queries }) => queries),
      hasSpreadKeys: kinds.some(({ hasSpreadKeys }) => hasSpreadKeys),
      hasQueryKeys: kinds.some(({ hasQueryKeys }) => hasQueryKeys),
      hasBareHomes: kinds.some(({ hasBareHomes }) => hasBareHomes),
      hasRawStars: kinds.some(({ hasRawStars }) => hasRawStars),
      hasRawCharacters: kinds.some(({ hasRawCharacters }) => hasRawCharacters),
    });
    this.#group = group;
    this.#found = found;
    this.#timed = group.indexes.flatMap((index) => (index?.rows.hasTimes === true ? [index] : []));
    this.#all = group.indexes.reduce((bits, index, i) => (index ? bits | (1 << i) : bits), 0);
  }

  /** Finds rows; without a scan for text that is not plain. */
  find(scan: KeyScan | undefined, bytes: Uint8Array, start: number, end: number): void {
    if (this.#all === 0) return;
    if (scan !== undefined && this.canWalk(bytes, start, end)) {
      this.#undecided = this.#all;
      for (const { finder } of this.#timed) finder.ask(undefined);
      this.walk(scan, bytes, start, end);
    } else {
      this.#askEach(bytes, start, end);
    }
  }

  #askEach(bytes: Uint8Array, start: number, end: number): void {
    const { first, indexes } = this.#group;
    for (const [number, index] of indexes.entries()) {
      if (index === undefined) continue;
      this.#found.rows[first + number] = index.finder.decidingRow(bytes, start, end);
      this.#found.distances[first + number] = index.finder.distance;
    }
  }

  protected override page(hash: number, bytes: Uint8Array, start: number, end: number): number {
    const maps = this.#group.pages.mapsWith(hash) & this.#undecided;
    return maps === 0 ? -1 : this.#ask(maps, (finder) => finder.page(hash, bytes, start, end));
  }

  protected override wildcard(
    hash: number,
    bytes: Uint8Array,
    start: number,
    end: number,
    ending: Uint8Array,
  ): number {
    const maps = this.#group.wildcards.mapsWith(hash) & this.#undecided;
    if (maps === 0) return -1;
    return this.#ask(maps, (finder) => finder.wildcard(hash, bytes, start, end, ending));
  }

  protected override spread(
    hash: number,
    bytes: Uint8Array,
    start: number,
    labelEnd: number,
    hostEnd: number,
    end: number,
    ending: Uint8Array,
  ): number {
    const maps = this.#group.wildcards.mapsWith(hash) & this.#undecided;
    if (maps === 0) return -1;
    return this.#ask(maps, (finder) =>
      finder.spread(hash, bytes, start, labelEnd, hostEnd, end, ending),
    );
  }

  /** Asks the maps of these bits for a row; ends the walk when all maps are decided. */
  #ask(maps: number, find: (finder: RowFinder) => number): number {
    const { first, indexes } = this.#group;
    for (let left = maps; left !== 0;) {
      const i = 31 - Math.clz32(left);
      left ^= 1 << i;
      const index = indexes[i];
      const row = index === undefined ? -1 : find(index.finder);
      if (row < 0) continue;
      this.#found.rows[first + i] = row;
      this.#found.distances[first + i] = this.distance;
      this.#undecided &= ~(1 << i);
    }
    return this.#undecided === 0 ? 0 : -1;
  }
}

const MAX_LOAD = 0.5;

/** One bit of a number for each map. */
const MAPS_PER_FILTER = 32;

/**
 * Which of up to 32 maps have a key, going by the hash of the key.
 *
 * Never misses a map that has it. May name one that does not, as rarely as two keys have the same
 * hash of 32 bits: ask the map. Eight bytes a place, 16 to 32 bytes a key.
 */
class KeyFilter {
  /** Finished hash and bits of maps side by side, so that a miss costs one cache line. */
  readonly #places: Uint32Array;
  readonly #mask: number;

  /** @param mostKeys how many keys fit; a key of several maps counts once for each. */
  constructor(mostKeys: number) {
    let capacity = 16;
    while (capacity * MAX_LOAD < mostKeys) capacity *= 2;
    this.#places = new Uint32Array(2 * capacity);
    this.#mask = capacity - 1;
  }

  /** The bits of the maps that seem to have a key with this hash. */
  mapsWith(hash: number): number {
    const finished = finishHash(hash);
    const places = this.#places;
    let place = finished & this.#mask;
    for (;;) {
      const found = places[2 * place];
      if (found === finished) return places[2 * place + 1];
      if (found === 0) return 0;
      place = (place + 1) & this.#mask;
    }
  }

  /** Adds the keys at some places of a table. */
  add(table: RowTable, fromPlace: number, untilPlace: number, bit: number): void {
    const places = this.#places;
    const mask = this.#mask;
    for (let from = fromPlace; from < untilPlace; from++) {
      const finished = table.finishedHash(from);
      if (finished === 0) continue;
      let place = finished & mask;
      let found = places[2 * place];
      while (found !== 0 && found !== finished) {
        place = (place + 1) & mask;
        found = places[2 * place];
      }
      places[2 * place] = finished;
      places[2 * place + 1] |= bit;
    }
  }
}
