import { hashRange } from "../../bytes/hash.ts";

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
    if (!this.accepts(hash)) return;
    this.draw({ hash, text: this.#decoder.decode(bytes.subarray(start, end)) });
  }

  /** Whether a text of this hash could still get in: ask before making one. */
  accepts(hash: number): boolean {
    return hash <= this.#limit;
  }

  /** Takes what another sample of the same kind drew. */
  join(others: readonly SampledText[]): void {
    for (const other of others) this.draw(other);
  }

  draw(drawn: SampledText): void {
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
