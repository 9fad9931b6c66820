import { MEMENTOS_PER_ORIGINAL, ORIGINALS_PER_KEY } from "./archive-shape.ts";
import { BLANK_IMAGE, ROBOTS } from "./names.ts";
import type { Extension } from "./names.ts";
import { drawPowerLaw, exponentForMean } from "./power-law.ts";
import type { Random } from "../../bytes/random.ts";

/** So low that some blank image reaches the limit, as in table pt-top-urirs. The value is ours. */
const BLANK_IMAGE_EXPONENT = 0.5;
/** Crawlers ask for robots.txt first and often. The factor is ours. */
const ROBOTS_EXPONENT = exponentForMean(MEMENTOS_PER_ORIGINAL * 3);

/**
 * Deals the lines of a group of hosts to its originals: a power law, and the exact total.
 *
 * Every key gets a line. When the draws run ahead of the plan or behind it, the next ones are made
 * smaller or larger; the last key takes what is left.
 */
export class LineBudget {
  readonly #random: Random;
  readonly #linesPerKey: number;
  readonly #most: number;
  readonly #exponent: number;
  readonly #tolerance: number;
  #keysLeft: number;
  #linesLeft: number;

  constructor(random: Random, group: { keys: number; lines: number }, most: number) {
    this.#random = random;
    this.#keysLeft = group.keys;
    this.#linesLeft = group.lines;
    this.#linesPerKey = group.lines / group.keys;
    this.#most = most;
    this.#exponent = exponentForMean(this.#linesPerKey / ORIGINALS_PER_KEY);
    this.#tolerance = Math.min(256, Math.max(4, group.lines / 50));
  }

  /** Whether an original that no key depends on can still be had. */
  get hasSpare(): boolean {
    return this.#linesLeft > this.#keysLeft;
  }

  /** Says that the next original is the first of its key. */
  startKey(): void {
    this.#keysLeft--;
  }

  /** How many mementos the next original has. Call only while there is a spare line. */
  draw(resource: Extension): number {
    const spare = this.#linesLeft - this.#keysLeft;
    const behind = this.#linesLeft - this.#keysLeft * this.#linesPerKey;
    let mementos = drawPowerLaw(this.#random, this.#exponentOf(resource), this.#most);
    mementos = Math.max(1, mementos + Math.trunc(behind / this.#tolerance));
    if (mementos > spare || this.#keysLeft === 0) mementos = spare;
    this.#linesLeft -= mementos;
    return mementos;
  }

  #exponentOf(resource: Extension): number {
    if (resource === BLANK_IMAGE) return BLANK_IMAGE_EXPONENT;
    return resource === ROBOTS ? ROBOTS_EXPONENT : this.#exponent;
  }
}
