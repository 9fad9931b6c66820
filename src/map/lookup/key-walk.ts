import { COMMA, PERCENT, SLASH, STAR } from "../../bytes/bytes.ts";
import { extendHash } from "./key-hash.ts";
import type { KeyScan } from "./key-scan.ts";

const JUST_STAR: Uint8Array = Uint8Array.of(STAR);
const SLASH_STAR: Uint8Array = Uint8Array.of(SLASH, STAR);
export const COMMA_STAR: Uint8Array = Uint8Array.of(COMMA, STAR);

/** What kinds of keys there are to ask for, besides pages and wildcards. */
export interface KeyKinds {
  readonly hasSpreadKeys: boolean;
  readonly hasQueryKeys: boolean;
  /** Home pages written `com,cnn)`. */
  readonly hasBareHomes: boolean;
  /** Keys with a `*` within a label or segment, which is written `%2a` now. */
  readonly hasRawStars: boolean;
  /** Keys with characters that are not ASCII, which are percent-encoded now. */
  readonly hasRawCharacters: boolean;
}

/**
 * Goes through the keys that cover a SURT, the most specific first, without making them.
 *
 * The order is that of `lookupKeys`. Each key is asked for by its hash, which comes from one pass
 * over the SURT, and by the pieces it would be made of. Whoever is asked ends the walk with a number
 * that is not negative.
 */
export abstract class KeyWalk {
  /** How far above the URI the key is that is being asked for, or ended the walk. */
  distance = 0;
  readonly #kinds: KeyKinds;

  constructor(kinds: KeyKinds) {
    this.#kinds = kinds;
  }

  /** Asks for the key `bytes[start, end)`. */
  protected abstract page(hash: number, bytes: Uint8Array, start: number, end: number): number;

  /** Asks for the key `bytes[start, end) + ending`. */
  protected abstract wildcard(
    hash: number,
    bytes: Uint8Array,
    start: number,
    end: number,
    ending: Uint8Array,
  ): number;

  /** Asks for the key that spreads the scanned path over the hosts at and below `labelEnd`. */
  protected abstract spread(
    hash: number,
    bytes: Uint8Array,
    start: number,
    labelEnd: number,
    scan: KeyScan,
  ): number;

  /** Whether a SURT that was scanned can be walked for: its keys may be spelled otherwise in older maps. */
  protected canWalk(bytes: Uint8Array, start: number, end: number): boolean {
    const { hasRawStars, hasRawCharacters } = this.#kinds;
    if (hasRawStars && hasEscapedStar(bytes, start, end)) return false;
    return !hasRawCharacters || !hasEscapedCharacter(bytes, start, end);
  }

  /** Walks for what was scanned of `bytes[start, end)`; the number that ended it, or -1. */
  protected walk(scan: KeyScan, bytes: Uint8Array, start: number, end: number): number {
    this.distance = 0;
    if (this.#kinds.hasQueryKeys && scan.hasQuery) {
      const found = this.page(scan.fullHash, bytes, start, end);
      if (found >= 0) return found;
    }
    const found = this.page(scan.pathHash, bytes, start, scan.pathEnd);
    if (found >= 0) return found;
    if (this.#kinds.hasBareHomes && scan.isRoot) {
      const home = this.page(scan.hostHash, bytes, start, scan.hostEnd + 1);
      if (home >= 0) return home;
    }
    const above = this.#walkPath(scan, bytes, start);
    return above >= 0 ? above : this.#walkHost(scan, bytes, start);
  }

  #walkPath(scan: KeyScan, bytes: Uint8Array, start: number): number {
    if (!scan.isRoot) {
      this.distance++;
      const hash = extendHash(extendHash(scan.pathHash, SLASH), STAR);
      const found = this.wildcard(hash, bytes, start, scan.pathEnd, SLASH_STAR);
      if (found >= 0) return found;
    }
    for (let i = scan.slashCount - 1; i >= 0; i--) {
      this.distance++;
      const hash = extendHash(scan.slashHashes[i], STAR);
      const found = this.wildcard(hash, bytes, start, scan.slashEnds[i], JUST_STAR);
      if (found >= 0) return found;
    }
    return -1;
  }

  #walkHost(scan: KeyScan, bytes: Uint8Array, start: number): number {
    for (let i = scan.labelCount - 1; i >= 0; i--) {
      const labelEnd = scan.labelEnds[i];
      const hash = extendHash(extendHash(scan.labelHashes[i], COMMA), STAR);
      this.distance++;
      if (this.#kinds.hasSpreadKeys) {
        const found = this.spread(hash, bytes, start, labelEnd, scan);
        if (found >= 0) return found;
      }
      // The spread key of a top-level domain is as far up as its wildcard.
      if (i > 0) this.distance++;
      const found = this.wildcard(hash, bytes, start, labelEnd, COMMA_STAR);
      if (found >= 0) return found;
    }
    return -1;
  }
}

function hasEscapedStar(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end - 2; at++) {
    if (bytes[at] === PERCENT && bytes[at + 1] === 0x32 && bytes[at + 2] === 0x61) return true;
  }
  return false;
}

/** Whether there is an escaped byte that is not ASCII: `%c3`. */
function hasEscapedCharacter(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end - 2; at++) {
    if (
      bytes[at] === PERCENT &&
      (bytes[at + 1] >= 0x61 || (bytes[at + 1] >= 0x38 && bytes[at + 1] <= 0x39))
    )
      return true;
  }
  return false;
}
