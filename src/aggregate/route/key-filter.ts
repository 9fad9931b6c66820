import { finishHash } from "../../map/lookup/key-hash.ts";
import type { RowTable } from "../../map/lookup/row-table.ts";

const MAX_LOAD = 0.5;

/** One bit of a number for each map. */
export const MAPS_PER_FILTER = 32;

/**
 * Which of up to 32 maps have a key, going by the hash of the key.
 *
 * Never misses a map that has it. May name one that does not, as rarely as two keys have the same
 * hash of 32 bits: ask the map. Eight bytes a place, 16 to 32 bytes a key.
 */
export class KeyFilter {
  /** Finished hash and bits of maps side by side, so that a miss costs one cache line. */
  readonly #places: Uint32Array;
  readonly #mask: number;

  /** @param mostKeys room for so many keys, those of several maps counted for each. */
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
