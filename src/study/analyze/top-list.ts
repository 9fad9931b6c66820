/** A ranked entry: higher ranks first, ties by name. */
export interface Ranked {
  readonly name: string;
  readonly rank: number;
}

/**
 * Keeps the `size` best of any number of entries, in memory proportional to `size`.
 *
 * The result does not depend on the order in which entries are offered.
 */
export class TopList<T extends Ranked> {
  readonly #size: number;
  /** At most twice the size; reduced to the best entries when full. */
  readonly #kept: T[] = [];
  #least: T | undefined;

  constructor(size: number) {
    this.#size = size;
  }

  /** Whether an entry of this rank would enter the list: check before making one. */
  accepts(rank: number): boolean {
    return this.#size > 0 && (this.#least === undefined || rank >= this.#least.rank);
  }

  offer(entry: T): void {
    if (this.#size === 0 || (this.#least !== undefined && isBetter(this.#least, entry))) return;
    if (this.#kept.push(entry) >= 2 * this.#size) this.best();
  }

  best(): T[] {
    this.#kept.sort((a, b) => (isBetter(a, b) ? -1 : 1));
    this.#kept.length = Math.min(this.#kept.length, this.#size);
    if (this.#kept.length === this.#size) this.#least = this.#kept.at(-1);
    return [...this.#kept];
  }
}

function isBetter(a: Ranked, b: Ranked): boolean {
  return a.rank === b.rank ? a.name < b.name : a.rank > b.rank;
}
