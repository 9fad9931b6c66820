import { hashRange } from "../bytes/hash.ts";

/** A text that was drawn, and the hash that drew it. */
export interface SampledText {
  readonly hash: number;
  readonly text: string;
}

/**
 * Draws `size` texts of any number, each distinct one with the same chance.
 *
 * Keeps those with the smallest hashes, so the sample does not depend on the order of texts or on
 * how they were shared out to threads.
 */
export class HashSample {
  readonly #size: number;
  readonly #kept: SampledText[] = [];
  readonly #decoder = new TextDecoder();
  #limit = Number.POSITIVE_INFINITY;

  constructor(size: number) {
    this.#size = size;
  }

  add(bytes: Uint8Array, start: number, end: number): void {
    const hash = hashRange(bytes, start, end);
    if (hash > this.#limit) return;
    this.#insert({ hash, text: this.#decoder.decode(bytes.subarray(start, end)) });
  }

  /** Takes what another sample of the same kind drew. */
  join(others: readonly SampledText[]): void {
    for (const other of others) this.#insert(other);
  }

  #insert(drawn: SampledText): void {
    if (this.#kept.some(({ hash, text }) => hash === drawn.hash && text === drawn.text)) return;
    this.#kept.push(drawn);
    this.#kept.sort((a, b) => a.hash - b.hash || (a.text < b.text ? -1 : 1));
    if (this.#kept.length > this.#size) this.#kept.pop();
    if (this.#kept.length === this.#size) this.#limit = this.#kept.at(-1)?.hash ?? 0;
  }

  data(): readonly SampledText[] {
    return this.#kept;
  }

  texts(): string[] {
    return this.#kept.map(({ text }) => text);
  }
}
