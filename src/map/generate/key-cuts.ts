import { closeSync, openSync } from "node:fs";
import { isKeyCut } from "./key-cut.ts";
import { cutAfter } from "../../files/input-file.ts";
import { ioError } from "../../files/io-error.ts";
import type { Part, RangeTask } from "../../input/index-input.ts";

/** How far a better place for a cut is looked for. */
const SEARCHED_BYTES = 1 << 20;

/**
 * Moves the cuts between ranges of a file to where keys can be told apart, if that is near: then all
 * keys of a part of a sorted file come before those of the next.
 *
 * A cut is looked for when a part beside it is asked for, and without a pause: a pause would last as
 * long as whatever else this thread does.
 */
export class KeyCuts {
  readonly #parts: readonly Part[];
  readonly #ranges: readonly RangeTask[];
  readonly #cuts = new Map<number, number>();
  #file: number | undefined;

  constructor(parts: readonly Part[]) {
    this.#parts = parts;
    this.#ranges = parts.map(({ task }) => task as RangeTask); // what a ranged input has
  }

  /** @throws MM_IO */
  part(n: number): Part {
    return {
      ...this.#parts[n],
      task: { ...this.#ranges[n], start: this.#cut(n), end: this.#cut(n + 1) },
    };
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
  }

  #cut(n: number): number {
    const cut = this.#cuts.get(n) ?? this.#findCut(n);
    this.#cuts.set(n, cut);
    return cut;
  }

  #findCut(n: number): number {
    if (n === this.#ranges.length) return this.#ranges[n - 1].end;
    const { path, start, end } = this.#ranges[n];
    if (n === 0) return start;
    try {
      this.#file ??= openSync(path, "r");
      return cutAfter(this.#file, start, Math.min(end, start + SEARCHED_BYTES), isKeyCut) ?? start;
    } catch (error) {
      throw ioError(error, path);
    }
  }
}
