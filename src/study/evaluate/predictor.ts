import { MemoryIndex } from "../../map/lookup/memory-index.ts";
import { Match } from "../../map/lookup/memory-index.ts";
import { BloomFilter } from "./bloom-filter.ts";
import type { MadeBy } from "./paper-sweep.ts";

/** Something that says of a key whether an archive may hold it. */
export interface Predictor {
  readonly name: string;
  /** Rows, without headers; none for what is no map. */
  readonly lines: number | undefined;
  readonly bytes: number;
  readonly gzipBytes: number;
  /** How a map of the paper's sweep was made. */
  readonly made?: MadeBy | undefined;
  says(key: Uint8Array): boolean;
}

/** A map held in memory, as a predictor. */
export class MapPredictor implements Predictor {
  readonly name: string;
  readonly lines: number;
  readonly bytes: number;
  readonly gzipBytes: number;
  readonly made: MadeBy | undefined;
  readonly #index: MemoryIndex;
  readonly #match = new Match();

  /** @throws what is wrong with the map */
  constructor(name: string, map: Uint8Array, gzipBytes: number, made?: MadeBy) {
    this.name = name;
    this.made = made;
    this.#index = MemoryIndex.build(map, { source: name });
    this.lines = countRows(map);
    this.bytes = map.length;
    this.gzipBytes = gzipBytes;
  }

  says(key: Uint8Array): boolean {
    return this.#index.lookupKeyBytes(key, 0, key.length, this.#match);
  }
}

/** A Bloom filter of a given size. */
export class BloomPredictor implements Predictor {
  readonly name: string;
  readonly lines = undefined;
  readonly bytes: number;
  readonly gzipBytes: number;
  readonly #filter: BloomFilter;

  constructor(name: string, bytes: number, keys: number) {
    this.name = name;
    this.bytes = this.gzipBytes = bytes;
    this.#filter = new BloomFilter(bytes, keys);
  }

  add(key: Uint8Array): void {
    this.#filter.add(key);
  }

  says(key: Uint8Array): boolean {
    return this.#filter.has(key);
  }
}

/** Lines that are neither headers nor empty. */
function countRows(map: Uint8Array): number {
  let rows = 0;
  for (let at = 0; at < map.length;) {
    const end = map.indexOf(0x0a, at);
    const next = end === -1 ? map.length : end + 1;
    const isRow = map[at] !== 0x21 && map[at] !== 0x40 && map[at] > 0x20;
    if (isRow) rows++;
    at = next;
  }
  return rows;
}
