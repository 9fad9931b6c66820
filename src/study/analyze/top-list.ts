/** Something ranked: more is better; of equals, the name that sorts first. */
export interface Ranked {
  readonly name: string;
  readonly rank: number;
}

/**
 * Keeps the `size` best of any number of entries, in memory for that many.
 *
 * The result does not depend on the order in which entries are offered.
 */
export class TopList<T extends Ranked> {
  readonly #size: number;
  /** A binary heap; the worst entry is first. */
  readonly #heap: T[] = [];

  constructor(size: number) {
    this.#size = size;
  }

  /** Whether an entry of this rank could still get in: ask before making one. */
  accepts(rank: number): boolean {
    return this.#size > 0 && (this.#heap.length < this.#size || rank >= this.#heap[0].rank);
  }

  offer(entry: T): void {
    const heap = this.#heap;
    if (heap.length < this.#size) {
      heap.push(entry);
      this.#rise(heap.length - 1);
    } else if (this.#size > 0 && isBetter(entry, heap[0])) {
      heap[0] = entry;
      this.#sink(0);
    }
  }

  /** The entries kept, best first. */
  best(): T[] {
    return [...this.#heap].sort((a, b) => (isBetter(a, b) ? -1 : 1));
  }

  #rise(from: number): void {
    const heap = this.#heap;
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (isBetter(heap[at], heap[parent])) return;
      [heap[at], heap[parent]] = [heap[parent], heap[at]];
      at = parent;
    }
  }

  #sink(from: number): void {
    const heap = this.#heap;
    let at = from;
    for (;;) {
      let worst = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < heap.length && isBetter(heap[worst], heap[child])) worst = child;
      }
      if (worst === at) return;
      [heap[at], heap[worst]] = [heap[worst], heap[at]];
      at = worst;
    }
  }
}

function isBetter(a: Ranked, b: Ranked): boolean {
  return a.rank === b.rank ? a.name < b.name : a.rank > b.rank;
}
