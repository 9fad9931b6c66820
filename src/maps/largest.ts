/** The largest of all that were added, of those alike in size the first. Holds twice as many. */
export class Largest<T> {
  readonly #most: number;
  #found: { readonly size: number; readonly item: T }[] = [];
  #least = -Infinity;

  constructor(most: number) {
    this.#most = most;
  }

  /** Whether something of this size has a place among them. */
  takes(size: number): boolean {
    return size > this.#least || this.#found.length < this.#most;
  }

  add(size: number, item: T): void {
    this.#found.push({ size, item });
    if (this.#found.length > 2 * this.#most) this.#cut();
  }

  get items(): T[] {
    this.#cut();
    return this.#found.map(({ item }) => item);
  }

  #cut(): void {
    this.#found.sort((a, b) => b.size - a.size);
    if (this.#found.length < this.#most) return;
    this.#found.length = this.#most;
    this.#least = this.#found[this.#most - 1].size;
  }
}
