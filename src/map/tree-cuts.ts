import { CLOSE_PAREN, COMMA, SLASH } from "../bytes/bytes.ts";
import type { Cut } from "./split.ts";

/** A page may end this much before it is full, if the tree of keys has a better place there. */
const SLACK = 0.1;

/**
 * Cuts a map into pages of at most `maxRecords`, between sub-trees where that costs little.
 *
 * In the last tenth of a page the cut goes where the neighbouring keys have least in common: best
 * between two top-level domains, then between sites, hosts, folders. So most sites are on one page,
 * and pages are at most a tenth shorter than they could be. All rows of one key stay together.
 * Holds one number per page.
 */
export class TreeCuts {
  readonly #maxRecords: number;
  readonly #earliest: number;
  readonly #cuts: Cut[] = [];
  #page: Cut;
  #best: { offset: number; last: number; records: number; depth: number } | undefined;

  constructor(maxRecords: number, start: number) {
    this.#maxRecords = maxRecords;
    this.#earliest = Math.max(1, Math.floor(maxRecords * (1 - SLACK)));
    this.#page = { first: start, last: start, records: 0 };
  }

  /**
   * Takes the next record. `shared` is how many bytes its key has in common with the key before;
   * -1 when it is the same key, so that no page may begin here.
   */
  add(offset: number, bytes: Uint8Array, keyStart: number, shared: number): void {
    const page = this.#page;
    if (page.records === 0) page.first = offset;
    if (shared >= 0 && page.records >= this.#earliest) {
      const depth = sharedDepth(bytes, keyStart, keyStart + shared);
      if (this.#best === undefined || depth <= this.#best.depth) {
        this.#best = { offset, last: page.last, records: page.records, depth };
      }
    }
    if (page.records >= this.#maxRecords && this.#best !== undefined) this.#cut(this.#best);
    this.#page.last = offset;
    this.#page.records += 1;
  }

  /** The pages; there is always one. */
  finish(): readonly Cut[] {
    return [...this.#cuts, this.#page];
  }

  #cut({ offset, last, records }: { offset: number; last: number; records: number }): void {
    const { first, last: lastOfAll, records: all } = this.#page;
    this.#cuts.push({ first, last, records });
    this.#page = { first: offset, last: lastOfAll, records: all - records };
    this.#best = undefined;
  }
}

/** How many labels and segments the common beginning of two keys has. */
function sharedDepth(bytes: Uint8Array, start: number, end: number): number {
  let depth = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at];
    if (byte === COMMA || byte === CLOSE_PAREN || byte === SLASH) depth++;
  }
  return depth;
}
