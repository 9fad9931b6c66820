import type { SpillStore } from "../files/scratch.ts";

/** What the nodes of a key tree hold, and which lookups missed there. */
export interface Survey {
  readonly table: NodeTable;
  readonly branches: BranchList;
  readonly heaps: HeapsFit;
  /** Rows that stay whatever is rolled up: exclusions, and keys outside the tree. */
  readonly fixedRows: number;
  /** Rows that say that something is held. */
  readonly heldRows: number;
  /** Hosts and top-level domains of one row, which have no record. */
  readonly topSingles: number;
  readonly singleHosts: number;
  /** Whether the map has wildcards that hold something: what they cover cannot be told from it. */
  readonly hasWildcards: boolean;
}

/** What is known of a node: where in a page the column of each number begins. */
export interface NodeFields {
  /**
   * A number from 1 up that no node open at the same time has: sums over children are kept by it.
   * Sub-trees may lie within each other's keys (`a)/x`, `a+b)/`, `a,c)/`), so a depth would not do.
   */
  readonly slot: number;
  /** Names the node; see `nodeName`. */
  readonly name: number;
  /** One of LAYER. */
  readonly layer: number;
  /** Rows of the node itself. */
  readonly rows: number;
  /** Rows of the whole sub-tree. */
  readonly keys: number;
  /** Children that hold something. */
  readonly children: number;
  /** Children of one row; they have no record of their own. */
  readonly singles: number;
  /** Children of a host that are hosts. */
  readonly subdomains: number;
  /** Missed lookups in the sub-tree. */
  readonly misses: number;
  /** Missed lookups that fall on the node itself, or below a child that holds nothing. */
  readonly ownMisses: number;
  /** Missed lookups below children of one row. */
  readonly singleMisses: number;
  /** For the passes: a sum over the children, expected lookups, rows. */
  readonly scratch: number;
  /** Expected missed lookups in the sub-tree: all that a roll-up of the node answers wrongly. */
  readonly missesWithin: number;
  /** What a plan decides: a sum of DECISION. */
  readonly decision: number;
  /** Rows if it is rolled up: one, and the exclusions below. */
  readonly rolledUpRows: number;
  /** The slot of its parent; 0 for none. */
  readonly parent: number;
}

/** Records of a page. */
const PAGE_RECORDS = 4096;

export const FIELD: NodeFields = {
  slot: 0,
  name: 1 * PAGE_RECORDS,
  layer: 2 * PAGE_RECORDS,
  rows: 3 * PAGE_RECORDS,
  keys: 4 * PAGE_RECORDS,
  children: 5 * PAGE_RECORDS,
  singles: 6 * PAGE_RECORDS,
  subdomains: 7 * PAGE_RECORDS,
  misses: 8 * PAGE_RECORDS,
  ownMisses: 9 * PAGE_RECORDS,
  singleMisses: 10 * PAGE_RECORDS,
  scratch: 11 * PAGE_RECORDS,
  missesWithin: 12 * PAGE_RECORDS,
  decision: 13 * PAGE_RECORDS,
  rolledUpRows: 14 * PAGE_RECORDS,
  parent: 15 * PAGE_RECORDS,
};

/** Numbers of a record. */
const FIELDS = 16;
/** Numbers of a page. */
const PAGE_NUMBERS = PAGE_RECORDS * FIELDS;
const PAGE_BYTES = PAGE_NUMBERS * 8;
/** Pages held in memory before others go to the spill store: 64 MiB. */
const MEMORY_PAGES = 128;

/**
 * Receives a page and how many records it has; `first` is the number of the first one. The numbers of
 * record `first + at` are at `at` in every column.
 */
export type VisitPage = (page: Float64Array, first: number, count: number) => void;

/**
 * The nodes of a key tree that hold at least two rows, children before their parents.
 *
 * A page keeps each number of its records in a column, because most passes need few of them.
 * Only ever read from one end to the other, so that a table too large for memory can stay in a
 * spill store: at most 64 MiB are held where there is one. Read backwards, parents come before
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
  #isWindowChanged = false;
  #slots = 1;
  /** The size of the table when its slots were counted. */
  #slotsOfSize = 0;

  constructor(spill?: SpillStore) {
    this.#spill = spill;
  }

  /** Adds a record of zeros and returns its page; it is at {@link lastOffset} in every column. */
  push(): Float64Array {
    const page = this.#pageToChange(Math.floor(this.size / PAGE_RECORDS));
    this.size++;
    return page;
  }

  /** Where in the columns of its page the last record is. */
  get lastOffset(): number {
    return (this.size - 1) % PAGE_RECORDS;
  }

  /** One more than the largest slot of any record; found in a pass once the table is complete. */
  get slots(): number {
    if (this.#slotsOfSize !== this.size) {
      let largest = 0;
      this.forEachPage((page, _, count) => {
        for (let at = 0; at < count; at++) largest = Math.max(largest, page[at + FIELD.slot]);
      });
      this.#slots = largest + 1;
      this.#slotsOfSize = this.size;
    }
    return this.#slots;
  }

  /** Visits pages from the first to the last: children come before their parents. */
  forEachPage(visit: VisitPage): void {
    for (let number = 0; number < this.#pageCount; number++) this.#show(number, visit);
  }

  /** Visits pages from the last to the first; read backwards, parents come before their children. */
  forEachPageBackwards(visit: VisitPage): void {
    for (let number = this.#pageCount - 1; number >= 0; number--) this.#show(number, visit);
  }

  /** As {@link forEachPage}; what is visited may be changed. */
  changePages(visit: VisitPage): void {
    this.forEachPage((page, first, count) => {
      this.#isWindowChanged = true;
      visit(page, first, count);
    });
  }

  /** As {@link forEachPageBackwards}; what is visited may be changed. */
  changePagesBackwards(visit: VisitPage): void {
    this.forEachPageBackwards((page, first, count) => {
      this.#isWindowChanged = true;
      visit(page, first, count);
    });
  }

  get #pageCount(): number {
    return Math.ceil(this.size / PAGE_RECORDS);
  }

  #show(number: number, visit: VisitPage): void {
    const first = number * PAGE_RECORDS;
    visit(this.#page(number), first, Math.min(this.size - first, PAGE_RECORDS));
  }

  #pageToChange(number: number): Float64Array {
    const page = this.#page(number);
    this.#isWindowChanged = true;
    return page;
  }

  #page(number: number): Float64Array {
    if (this.#spill === undefined || number < MEMORY_PAGES) {
      this.#pages[number] ??= new Float64Array(PAGE_NUMBERS);
      return this.#pages[number];
    }
    if (number === this.#windowPage) return this.#window;
    const offset = (page: number): number => (page - MEMORY_PAGES) * PAGE_BYTES;
    if (this.#windowPage === -1) {
      this.#window = new Float64Array(PAGE_NUMBERS);
    } else if (this.#isWindowChanged) {
      this.#spill.write(offset(this.#windowPage), new Uint8Array(this.#window.buffer));
    }
    this.#isWindowChanged = false;
    this.#windowPage = number;
    if (number * PAGE_RECORDS < this.size) {
      this.#spill.read(offset(number), new Uint8Array(this.#window.buffer));
    } else {
      this.#window.fill(0);
    }
    return this.#window;
  }
}

/** A branch of the key tree that holds nothing but was asked for: what an exclusion could say. */
export interface Branch {
  /** The branch is the first `textLength` bytes of this miss. */
  readonly miss: number;
  readonly textLength: number;
  /** Missed lookups in the earlier half of the log, and in all of it. */
  readonly early: number;
  readonly misses: number;
  /** 1 for a host, to be written `com,cnn,*`. */
  readonly isHost: number;
}

/** Branches in the order of the records they belong to. Holds 40 bytes a branch. */
export class BranchList {
  count = 0;
  /** The record of the deepest node above that has one. */
  record = new Float64Array(64);
  miss = new Float64Array(64);
  textLength = new Int32Array(64);
  early = new Int32Array(64);
  misses = new Int32Array(64);
  isHost = new Uint8Array(64);

  add(record: number, { miss, textLength, early, misses, isHost }: Branch): void {
    if (this.count === this.record.length) this.#grow();
    const at = this.count++;
    this.record[at] = record;
    this.miss[at] = miss;
    this.textLength[at] = textLength;
    this.early[at] = early;
    this.misses[at] = misses;
    this.isHost[at] = isHost;
  }

  /** All of them, each with its record. */
  list(): (readonly [record: number, branch: Branch])[] {
    return Array.from({ length: this.count }, (_, i) => [
      this.record[i],
      {
        miss: this.miss[i],
        textLength: this.textLength[i],
        early: this.early[i],
        misses: this.misses[i],
        isHost: this.isHost[i],
      },
    ]);
  }

  #grow(): void {
    const size = this.count * 2;
    this.record = enlarged(new Float64Array(size), this.record);
    this.miss = enlarged(new Float64Array(size), this.miss);
    this.textLength = enlarged(new Int32Array(size), this.textLength);
    this.early = enlarged(new Int32Array(size), this.early);
    this.misses = enlarged(new Int32Array(size), this.misses);
    this.isHost = enlarged(new Uint8Array(size), this.isHost);
  }
}

/** Copies a column into a larger one. */
export function enlarged<T extends { set(source: ArrayLike<number>): void }>(
  larger: T,
  source: ArrayLike<number>,
): T {
  larger.set(source);
  return larger;
}

/**
 * Heaps' law of an archive: a host of n keys has about c · n^β distinct children.
 *
 * A least-squares line through the logarithms, one point a host. Holds five sums.
 */
export class HeapsFit {
  /** Hosts that have children. */
  hosts = 0;
  #x = 0;
  #y = 0;
  #xx = 0;
  #xy = 0;

  add(keys: number, children: number): void {
    const x = Math.log(keys);
    const y = Math.log(children);
    this.hosts++;
    this.#x += x;
    this.#y += y;
    this.#xx += x * x;
    this.#xy += x * y;
  }

  /** β, between 0 and 1; 1/2 where all hosts are of one size, so that there is nothing to fit. */
  get exponent(): number {
    const variance = this.hosts * this.#xx - this.#x * this.#x;
    if (!(variance > 1e-9 * this.hosts * this.#xx)) return 0.5;
    const slope = (this.hosts * this.#xy - this.#x * this.#y) / variance;
    return Math.min(1, Math.max(0, slope));
  }
}
