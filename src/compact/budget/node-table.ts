import type { SpillStore } from "../pending-text.ts";

/** What is known of a node; each is a number of its record. */
export const FIELD = {
  /**
   * A number from 1 up that no node open at the same time has: sums over children are kept by it.
   * Sub-trees may lie within each other's keys (`a)/x`, `a+b)/`, `a,c)/`), so a depth would not do.
   */
  slot: 0,
  /** Names the node; see `nodeName`. */
  name: 1,
  /** One of LAYER. */
  layer: 2,
  /** 1 for a top-level domain, `uk,co` and the like, where every child is a site of its own. */
  isSuffix: 3,
  /** Rows of the node itself. */
  rows: 4,
  /** Rows of the whole sub-tree. */
  keys: 5,
  /** Children that hold something. */
  children: 6,
  /** Children of one row; they have no record of their own. */
  singles: 7,
  /** Those of them that are not the row itself but lead to it: `/a` for `/a/b/c`. */
  singleFolders: 8,
  /** Children of a host that are hosts. */
  subdomains: 9,
  /** Missed lookups in the sub-tree. */
  misses: 10,
  /** Missed lookups that fall on the node itself, or below a child that holds nothing. */
  ownMisses: 11,
  /** Missed lookups below children of one row. */
  singleMisses: 12,
  /** For the passes: a sum over the children, expected lookups, rows. */
  scratch: 13,
  /** Expected missed lookups that only a roll-up of this node, or above, would answer wrongly. */
  newMisses: 14,
  /** What a plan decides: a sum of DECISION. */
  decision: 15,
  /** Rows if it is rolled up: one, and the exclusions below. */
  rolledUpRows: 16,
  /** The slot of its parent; 0 for none. */
  parent: 17,
} as const;

/** Numbers in a record. */
export const STRIDE = 18;
const PAGE_RECORDS = 4096;
const PAGE_BYTES = PAGE_RECORDS * STRIDE * 8;
/** Pages held in memory before others go to the spill store: 72 MiB. */
const MEMORY_PAGES = 128;

/** Receives a record: its numbers begin at `at`. It may change them. */
export type VisitRecord = (page: Float64Array, at: number, index: number) => void;

/**
 * The nodes of a key tree that hold at least two rows, children before their parents.
 *
 * Only ever read from one end to the other, so that a table too large for memory can stay in a
 * spill store: at most 72 MiB are held where there is one. Read backwards, parents come before
 * their children.
 */
export class NodeTable {
  /** Records in the table. */
  size = 0;
  readonly #pages: Float64Array[] = [];
  readonly #spill: SpillStore | undefined;
  /** The page that is in memory only while it is worked on, and its number. */
  #window = new Float64Array(0);
  #windowPage = -1;

  constructor(spill?: SpillStore) {
    this.#spill = spill;
  }

  /** Adds a record and returns it; its numbers begin at {@link lastOffset}, and are 0. */
  push(): Float64Array {
    const page = this.#page(Math.floor(this.size / PAGE_RECORDS));
    this.size++;
    return page;
  }

  /** Where in its page the last record begins. */
  get lastOffset(): number {
    return ((this.size - 1) % PAGE_RECORDS) * STRIDE;
  }

  /** Visits every record, children before their parents. */
  forEach(visit: VisitRecord): void {
    this.forEachPage((page, first, count) => {
      for (let i = 0; i < count; i++) visit(page, i * STRIDE, first + i);
    });
  }

  /** Visits pages of records in the same order: for passes that are made many times. */
  forEachPage(visit: (page: Float64Array, first: number, count: number) => void): void {
    for (let first = 0; first < this.size; first += PAGE_RECORDS) {
      const page = this.#page(first / PAGE_RECORDS);
      visit(page, first, Math.min(this.size - first, PAGE_RECORDS));
    }
  }

  /** Visits every record, parents before their children. */
  forEachBackwards(visit: VisitRecord): void {
    const last = Math.ceil(this.size / PAGE_RECORDS) - 1;
    for (let number = last; number >= 0; number--) {
      const page = this.#page(number);
      const first = number * PAGE_RECORDS;
      const end = Math.min(this.size, first + PAGE_RECORDS);
      for (let index = end - 1; index >= first; index--) {
        visit(page, (index - first) * STRIDE, index);
      }
    }
  }

  #page(number: number): Float64Array {
    if (this.#spill === undefined || number < MEMORY_PAGES) {
      this.#pages[number] ??= new Float64Array(PAGE_RECORDS * STRIDE);
      return this.#pages[number];
    }
    if (number === this.#windowPage) return this.#window;
    const offset = (page: number): number => (page - MEMORY_PAGES) * PAGE_BYTES;
    if (this.#windowPage !== -1) {
      this.#spill.write(offset(this.#windowPage), new Uint8Array(this.#window.buffer));
    } else {
      this.#window = new Float64Array(PAGE_RECORDS * STRIDE);
    }
    this.#windowPage = number;
    if (number * PAGE_RECORDS < this.size) {
      this.#spill.read(offset(number), new Uint8Array(this.#window.buffer));
    } else {
      this.#window.fill(0);
    }
    return this.#window;
  }
}
