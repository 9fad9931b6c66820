import type { CachedAnswer, CacheStore } from "./cached-answer.ts";

/** What an entry takes besides its texts and its body. */
const ENTRY_BYTES = 1024;

interface Held {
  readonly answer: CachedAnswer;
  readonly bytes: number;
  wasUsed: boolean;
}

/**
 * Keeps answers in memory, up to so many bytes.
 *
 * What was used since it was last looked at gets a second chance before it goes: nearly as good as
 * strict order of use, and a hit changes nothing but a flag.
 */
export class MemoryStore implements CacheStore {
  readonly #maxBytes: number;
  readonly #held = new Map<string, Held>();
  #bytes = 0;

  constructor(options: { /** Default 64 MiB. */ readonly maxBytes?: number | undefined } = {}) {
    this.#maxBytes = options.maxBytes ?? 64 * 2 ** 20;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#held.size;
  }

  find(key: string): CachedAnswer | undefined {
    const held = this.#held.get(key);
    if (held === undefined) return undefined;
    held.wasUsed = true;
    return held.answer;
  }

  /** Answers of more than a quarter of all room are not kept. */
  put(key: string, answer: CachedAnswer): void {
    this.delete(key);
    const bytes = ENTRY_BYTES + 2 * key.length + answer.body.byteLength;
    if (bytes > this.#maxBytes / 4) return;
    while (this.#bytes + bytes > this.#maxBytes) this.#evict();
    this.#held.set(key, { answer, bytes, wasUsed: false });
    this.#bytes += bytes;
  }

  delete(key: string): void {
    const held = this.#held.get(key);
    if (held === undefined) return;
    this.#held.delete(key);
    this.#bytes -= held.bytes;
  }

  close(): Promise<void> {
    this.#held.clear();
    this.#bytes = 0;
    return Promise.resolve();
  }

  #evict(): void {
    for (const [key, held] of this.#held) {
      this.#held.delete(key);
      if (!held.wasUsed) {
        this.#bytes -= held.bytes;
        return;
      }
      held.wasUsed = false;
      this.#held.set(key, held);
    }
  }
}
