import {
  drawPowerLaw,
  exponentForMean,
  LARGEST_ORIGINAL_SHARE,
  MEMENTOS_PER_ORIGINAL,
  ORIGINALS_PER_KEY,
} from "./archive-shape.ts";
import { captureLines } from "./captures.ts";
import { hostGroups } from "./host-walk.ts";
import { Random } from "../../bytes/random.ts";
import { openSite, originalPaths } from "./path-walk.ts";
import { BLANK_IMAGE, type Extension, ROBOTS } from "./names.ts";

export interface SampleOptions {
  /** The number of captures, 1 or more. */
  readonly lines: number;
  /** A whole number; the same seed gives the same bytes. Default 1. */
  readonly seed?: number | undefined;
}

/** The maximum size of a chunk of lines. */
const CHUNK_BYTES = 250_000;

/**
 * Yields the index of a synthetic archive: CDXJ, sorted by bytes, in chunks of whole lines.
 *
 * Its shape is that of Arquivo.pt in the MementoMap paper: the shares of top-level domains, host
 * and path depths, children per node, originals per key, mementos per original, years and status
 * codes. It includes difficult cases: queries, ports, IP addresses, single-label and IDN hosts, and
 * names whose byte order differs from the order of the tree.
 *
 * The tree is walked in byte order, so only siblings are sorted. Memory is bounded by one
 * chunk and the siblings along one branch, whatever the number of lines.
 */
export function* sampleIndex({ lines, seed = 1 }: SampleOptions): Generator<Uint8Array> {
  const random = new Random(seed, "captures");
  const most = Math.max(20, Math.round(lines * LARGEST_ORIGINAL_SHARE));
  let text = "";
  for (const group of hostGroups(seed, lines)) {
    const budget = new LineBudget(random, group, most);
    for (const host of group.hosts) {
      const { authority, stops } = openSite(seed, host);
      for (const stop of stops) {
        if (stop.startsKey) budget.startKey();
        for (const path of originalPaths(stop)) {
          if (!budget.hasSpare) break;
          const original = {
            surt: `${host.surt})${path}`,
            address: authority + path,
            mime: stop.resource.mime,
            fate: random.real() * 100,
            isSecured: random.chance(0.4),
          };
          const count = budget.draw(stop.resource);
          for (const line of captureLines(random, original, count)) {
            text += line;
            if (text.length < CHUNK_BYTES) continue;
            yield Buffer.from(text, "latin1");
            text = "";
          }
        }
      }
    }
  }
  yield Buffer.from(text, "latin1");
}

/** So low that some blank image reaches the limit, as in table pt-top-urirs. The value is ours. */
const BLANK_IMAGE_EXPONENT = 0.5;
/** Crawlers request robots.txt first and often. The factor is ours. */
const ROBOTS_EXPONENT = exponentForMean(MEMENTOS_PER_ORIGINAL * 3);

/**
 * Distributes the lines of a group of hosts over its originals: a power law with the exact total.
 *
 * Every key gets a line. If the draws exceed the plan or fall short of it, the next ones are scaled
 * down or up; the last key gets the rest.
 */
class LineBudget {
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

  /** Whether lines are left for another original of the same key. */
  get hasSpare(): boolean {
    return this.#linesLeft > this.#keysLeft;
  }

  /** Call it before the first original of a key. */
  startKey(): void {
    this.#keysLeft--;
  }

  /** The number of mementos of the next original. Call only while there is a spare line. */
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
