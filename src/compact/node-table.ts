import type { SpillStore } from "../files/scratch.ts";

/** Records of a page. */
const PAGE_RECORDS = 4096;

/** The fields of a node: the offset of each column in a page. */
export const FIELD = {
  /**
   * A number from 1 up, unique among open nodes, by which sums over children are indexed. A depth would
   * not be unique, as sub-trees may interleave (`a)/x`, `a+b)/`, `a,c)/`).
   */
  slot: 0,
  /** The slot of its parent; 0 for none. */
  parent: 1 * PAGE_RECORDS,
  /** Names the node; see `TreeNode.name`. */
  name: 2 * PAGE_RECORDS,
  /** One of LAYER. */
  layer: 3 * PAGE_RECORDS,
  /** Rows of the node itself. */
  rows: 4 * PAGE_RECORDS,
  /** Rows of the whole sub-tree. */
  keys: 5 * PAGE_RECORDS,
  /** Children that hold something. */
  children: 6 * PAGE_RECORDS,
  /** Children of one row; they have no record of their own. */
  singles: 7 * PAGE_RECORDS,
  /** Children of a host that are hosts. */
  subdomains: 8 * PAGE_RECORDS,
  /** Missed lookups in the sub-tree. */
  misses: 9 * PAGE_RECORDS,
  /** Missed lookups of the node itself, or below a child that holds nothing. */
  ownMisses: 10 * PAGE_RECORDS,
  /** Missed lookups below children of one row. */
  singleMisses: 11 * PAGE_RECORDS,
  /** For the passes: a sum over the children, expected lookups, rows. */
  scratch: 12 * PAGE_RECORDS,
  /** Expected missed lookups in the sub-tree: the false positives of a roll-up of the node. */
  missesWithin: 13 * PAGE_RECORDS,
  /** The decisions of a plan: a sum of DECISION. */
  decision: 14 * PAGE_RECORDS,
  /** Rows if it is rolled up: one, and the exclusions below. */
  rolledUpRows: 15 * PAGE_RECORDS,
} as const;

/** Numbers of a page. */
const PAGE_NUMBERS = PAGE_RECORDS * 16;
const PAGE_BYTES = PAGE_NUMBERS * 8;
/** Pages held in memory before others go to the spill store: 64 MiB. */
const MEMORY_PAGES = 128;

/**
 * Receives a page, which may be modified, and its number of records; `first` is the number of the first
 * record. The fields of record `first + at` are at `at` in every column.
 */
type VisitPage = (page: Float64Array, first: number, count: number) => void;

/**
 * The nodes of a key tree that hold at least two rows, children before their parents.
 *
 * A page stores each field of its records in a column, because most passes need few fields. Pages are only
 * read sequentially, so that a table too large for memory can stay in a spill store: at most 64 MiB are
 * held if there is one. Read backwards, parents come before their children.
 */
export class NodeTable {
  /** Records in the table. */
  size = 0;
  /** One more than the largest slot of any record. */
  slots = 1;
  readonly #pages: Float64Array[] = [];
  readonly #spill: SpillStore | undefined;
  /** The spilled page that is currently loaded, and its number. */
  #window = new Float64Array(0);
  #windowPage = -1;

  constructor(spill?: SpillStore) {
    this.#spill = spill;
  }

  /** Adds a record of zeros with a slot; returns its page, and its offset in every column. */
  push(slot: number): { readonly page: Float64Array; readonly at: number } {
    const page = this.#page(Math.floor(this.size / PAGE_RECORDS));
    const at = this.size++ % PAGE_RECORDS;
    page[at + FIELD.slot] = slot;
    this.slots = Math.max(this.slots, slot + 1);
    return { page, at };
  }

  /** Visits pages from the first to the last: children come before their parents. */
  forEachPage(visit: VisitPage): void {
    for (let number = 0; number < this.#pageCount; number++) this.#show(number, visit);
  }

  /** Visits pages from the last to the first; read backwards, parents come before their children. */
  forEachPageBackwards(visit: VisitPage): void {
    for (let number = this.#pageCount - 1; number >= 0; number--) this.#show(number, visit);
  }

  get #pageCount(): number {
    return Math.ceil(this.size / PAGE_RECORDS);
  }

  #show(number: number, visit: VisitPage): void {
    const first = number * PAGE_RECORDS;
    visit(this.#page(number), first, Math.min(this.size - first, PAGE_RECORDS));
  }

  #page(number: number): Float64Array {
    if (this.#spill === undefined || number < MEMORY_PAGES) {
      this.#pages[number] ??= new Float64Array(PAGE_NUMBERS);
      return this.#pages[number];
    }
    if (number === this.#windowPage) return this.#window;
    const offset = (page: number): number => (page - MEMORY_PAGES) * PAGE_BYTES;
    if (this.#windowPage === -1) this.#window = new Float64Array(PAGE_NUMBERS);
    else this.#spill.write(offset(this.#windowPage), new Uint8Array(this.#window.buffer));
    this.#windowPage = number;
    const isNew = number * PAGE_RECORDS >= this.size;
    if (isNew) this.#window.fill(0);
    else this.#spill.read(offset(number), new Uint8Array(this.#window.buffer));
    return this.#window;
  }
}
