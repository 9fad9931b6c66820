/**
 * First in, first out; one in the middle can step out.
 *
 * An array, for the reason why `UnderWay` is no `Map`.
 */
export class WaitingLine<Item> {
  #items: (Item | undefined)[] = [];
  #first = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(item: Item): void {
    this.#items.push(item);
    this.#size += 1;
  }

  shift(): Item | undefined {
    while (this.#first < this.#items.length) {
      const item = this.#items[this.#first];
      this.#items[this.#first] = undefined;
      this.#first += 1;
      if (item === undefined) continue;
      this.#size -= 1;
      this.#trim();
      return item;
    }
    return undefined;
  }

  /** Looks from the front, where those are that have waited too long. */
  delete(item: Item): void {
    const at = this.#items.indexOf(item, this.#first);
    if (at === -1) return;
    this.#items[at] = undefined;
    this.#size -= 1;
    while (this.#first < this.#items.length && this.#items[this.#first] === undefined) {
      this.#first += 1;
    }
    this.#trim();
  }

  /** Gives up the places in front, now and then. */
  #trim(): void {
    if (this.#first < 1024 || this.#first * 2 < this.#items.length) return;
    this.#items = this.#items.slice(this.#first);
    this.#first = 0;
  }
}
