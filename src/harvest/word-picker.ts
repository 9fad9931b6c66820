import { Random } from "../bytes/random.ts";

const WORD = /\p{L}[\p{L}\p{N}]{2,29}/gu;

/**
 * Chooses words to search for at random, and learns new ones from what was found.
 *
 * The same seed, first words and texts give the same choices; so do the words that `learn` found,
 * given to `add` after as many calls of `next`. Holds every word seen, up to a limit;
 * asks for each word once.
 */
export class WordPicker {
  readonly #random: Random;
  readonly #seen = new Set<string>();
  readonly #waiting: string[] = [];
  readonly #maxWords: number;

  constructor(seed: number, firstWords: readonly string[], maxWords: number = 1_000_000) {
    this.#random = new Random(seed, "words");
    this.#maxWords = maxWords;
    this.add(firstWords);
  }

  /** The next word to ask for; undefined when all that is known was asked for. */
  next(): string | undefined {
    const { length } = this.#waiting;
    if (length === 0) return undefined;
    const at = this.#random.below(length);
    const word = this.#waiting[at];
    // The order of the rest does not matter, only that it is the same each time.
    this.#waiting[at] = this.#waiting[length - 1];
    this.#waiting.pop();
    return word;
  }

  /** Takes the words of a text into account; returns those that are new, in their order. */
  learn(text: string): string[] {
    return this.add(Array.from(text.toLowerCase().matchAll(WORD), ([word]) => word));
  }

  /** Takes words into account, as they are; returns those that are new, in their order. */
  add(words: Iterable<string>): string[] {
    const added: string[] = [];
    for (const word of words) {
      if (this.#seen.size >= this.#maxWords || this.#seen.has(word)) continue;
      this.#seen.add(word);
      this.#waiting.push(word);
      added.push(word);
    }
    return added;
  }
}
