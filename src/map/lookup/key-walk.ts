import {
  AT,
  BANG,
  CLOSE_PAREN,
  COMMA,
  DELETE,
  MINUS,
  OPEN_BRACE,
  OPEN_BRACKET,
  PERCENT,
  QUESTION,
  QUOTE,
  SLASH,
  SPACE,
  STAR,
} from "../../bytes/bytes.ts";
import { EMPTY_HASH, extendHash, extendHashRange } from "./row-table.ts";

const ORDINARY = 0;
const SEPARATOR = 1;
const QUERY = 2;
const ODD = 3;

/** One look tells whether a byte needs attention: most do not. */
const PATH_KINDS: Readonly<Uint8Array> = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte === SLASH) return SEPARATOR;
  if (byte === QUESTION) return QUERY;
  return byte <= SPACE || byte === STAR || byte >= DELETE ? ODD : ORDINARY;
});
/** In hosts, escapes and brackets are odd too: older maps spell such keys otherwise. */
const HOST_KINDS: Readonly<Uint8Array> = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte === COMMA || byte === CLOSE_PAREN) return SEPARATOR;
  const isUpperCase = byte >= 0x41 && byte <= 0x5a;
  const isOdd = isUpperCase || [SLASH, QUESTION, PERCENT, OPEN_BRACKET].includes(byte);
  return isOdd ? ODD : PATH_KINDS[byte];
});
/** What a host does not begin with: other lines do, and older maps have none in place of `-`. */
const STARTS_NO_HOST: readonly number[] = [COMMA, CLOSE_PAREN, MINUS, BANG, AT, QUOTE, OPEN_BRACE];

/**
 * The parts of one SURT that its lookup keys are made of, with the hash up to each.
 *
 * One pass over the bytes, no allocation: an instance is used again and again. The lists are valid
 * up to their counts, until the next `scan`.
 *
 *     com,example,www2)/a/b?x=1
 *        ^       ^    ^           labelEnds; the last is hostEnd
 *                       ^ ^       slashEnds, behind each slash of the path
 *                          ^      pathEnd
 */
export class KeyScan {
  /** The offset of the `)` before the path. */
  hostEnd = 0;
  /** Behind the path without its query and its trailing slashes, the root's own excepted. */
  pathEnd = 0;
  /** The hash of everything. */
  fullHash = 0;
  /** The hash up to `pathEnd`. */
  pathHash = 0;
  /** The hash up to and with the `)` before the path. */
  hostHash = 0;
  hasQuery = false;
  labelCount = 0;
  labelEnds: Int32Array = new Int32Array(32);
  labelHashes: Int32Array = new Int32Array(32);
  slashCount = 0;
  slashEnds: Int32Array = new Int32Array(64);
  slashHashes: Int32Array = new Int32Array(64);

  /** Whether the path is `/`. */
  get isRoot(): boolean {
    return this.pathEnd === this.hostEnd + 2;
  }

  /**
   * Takes `bytes[start, end)` apart if it is plain: a host, `)/`, a path, perhaps a query.
   *
   * False for what needs `surtKey` first, or may have an older key: no path at all, blanks, control
   * characters and `*`, what is not ASCII, a host with other characters than names have, slashes
   * before a query. The lists then hold nothing of use.
   */
  scan(bytes: Uint8Array, start: number, end: number): boolean {
    this.labelCount = 0;
    this.slashCount = 0;
    let hash = EMPTY_HASH;
    if (STARTS_NO_HOST.includes(bytes[start])) return false;
    for (let at = start; at < end - 1; at++) {
      const byte = bytes[at];
      const kind = HOST_KINDS[byte];
      if (kind === ODD) return false;
      if (kind === SEPARATOR) {
        this.#addLabel(at, hash);
        if (byte === CLOSE_PAREN) {
          if (bytes[at + 1] !== SLASH || bytes[at - 1] === COMMA) return false;
          this.hostEnd = at;
          this.hostHash = extendHash(hash, byte);
          return this.#scanPath(bytes, at + 1, end);
        }
      }
      hash = extendHash(hash, byte);
    }
    return false;
  }

  #scanPath(bytes: Uint8Array, start: number, end: number): boolean {
    let hash = this.hostHash;
    let at = start;
    // The path without slashes at its end; the first slash is the root's.
    let pathEnd = start + 1;
    let pathHash = extendHash(hash, SLASH);
    for (; at < end; at++) {
      const byte = bytes[at];
      const kind = PATH_KINDS[byte];
      if (kind >= SEPARATOR) {
        if (kind === ODD) return false;
        if (kind === QUERY) break;
        if (at > start && bytes[at - 1] !== SLASH) {
          pathEnd = at;
          pathHash = hash;
        }
        hash = extendHash(hash, byte);
        this.#addSlash(at + 1, hash);
      } else {
        hash = extendHash(hash, byte);
      }
    }
    if (at > start + 1 && bytes[at - 1] !== SLASH) {
      pathEnd = at;
      pathHash = hash;
    }
    while (this.slashEnds[this.slashCount - 1] > pathEnd) this.slashCount--;
    this.pathEnd = pathEnd;
    this.pathHash = pathHash;
    this.hasQuery = at < end;
    if (this.hasQuery && at !== pathEnd) return false;
    for (; at < end; at++) {
      const byte = bytes[at];
      if (PATH_KINDS[byte] === ODD) return false;
      hash = extendHash(hash, byte);
    }
    this.fullHash = hash;
    return true;
  }

  #addLabel(labelEnd: number, hash: number): void {
    if (this.labelCount === this.labelEnds.length) {
      this.labelEnds = doubled(this.labelEnds);
      this.labelHashes = doubled(this.labelHashes);
    }
    this.labelEnds[this.labelCount] = labelEnd;
    this.labelHashes[this.labelCount++] = hash;
  }

  #addSlash(slashEnd: number, hash: number): void {
    if (this.slashCount === this.slashEnds.length) {
      this.slashEnds = doubled(this.slashEnds);
      this.slashHashes = doubled(this.slashHashes);
    }
    this.slashEnds[this.slashCount] = slashEnd;
    this.slashHashes[this.slashCount++] = hash;
  }
}

function doubled(array: Int32Array): Int32Array {
  const larger = new Int32Array(array.length * 2);
  larger.set(array);
  return larger;
}

const JUST_STAR: Uint8Array = Uint8Array.of(STAR);
const SLASH_STAR: Uint8Array = Uint8Array.of(SLASH, STAR);
const QUESTION_STAR: Uint8Array = Uint8Array.of(QUESTION, STAR);
export const NOTHING: Uint8Array = new Uint8Array(0);
export const COMMA_STAR: Uint8Array = Uint8Array.of(COMMA, STAR);

/** What kinds of keys there are to ask for, besides pages and wildcards. */
export interface KeyKinds {
  /** Whether maps are with queries, so that a page without one does not speak for those with one. */
  readonly queries: boolean;
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
 * over the SURT, and by the pieces it would be made of. The visitor ends the walk with a number
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

  /** Asks for the key `bytes[start, labelEnd) + ",*" + bytes[hostEnd, end) + ending`. */
  protected abstract spread(
    hash: number,
    bytes: Uint8Array,
    start: number,
    labelEnd: number,
    hostEnd: number,
    end: number,
    ending: Uint8Array,
  ): number;

  /** Whether a SURT that was scanned can be walked for: its keys may be spelled otherwise in older maps. */
  protected canWalk(bytes: Uint8Array, start: number, end: number): boolean {
    const { queries, hasBareHomes, hasRawStars, hasRawCharacters } = this.#kinds;
    if (queries && hasBareHomes) return false;
    if (hasRawStars && hasEscapedStar(bytes, start, end)) return false;
    return !hasRawCharacters || !hasEscapedCharacter(bytes, start, end);
  }

  /** Walks for what was scanned of `bytes[start, end)`; the number that ended it, or -1. */
  protected walk(scan: KeyScan, bytes: Uint8Array, start: number, end: number): number {
    this.distance = 0;
    if (this.#kinds.queries) return this.#walkWithQueries(scan, bytes, start, end);
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
    return above >= 0 ? above : this.#walkHost(scan, bytes, start, scan.pathEnd);
  }

  #walkWithQueries(scan: KeyScan, bytes: Uint8Array, start: number, end: number): number {
    // A `?` without anything behind it is none.
    const hasQuery = scan.hasQuery && scan.pathEnd + 1 < end;
    const keyEnd = hasQuery ? end : scan.pathEnd;
    const found = this.page(hasQuery ? scan.fullHash : scan.pathHash, bytes, start, keyEnd);
    if (found >= 0) return found;
    this.distance++;
    const hash = extendHash(extendHash(scan.pathHash, QUESTION), STAR);
    const any = this.wildcard(hash, bytes, start, scan.pathEnd, QUESTION_STAR);
    if (any >= 0) return any;
    const above = this.#walkPath(scan, bytes, start);
    return above >= 0 ? above : this.#walkHost(scan, bytes, start, keyEnd);
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

  #walkHost(scan: KeyScan, bytes: Uint8Array, start: number, keyEnd: number): number {
    for (let i = scan.labelCount - 1; i >= 0; i--) {
      const labelEnd = scan.labelEnds[i];
      const hash = extendHash(extendHash(scan.labelHashes[i], COMMA), STAR);
      this.distance++;
      if (this.#kinds.hasSpreadKeys) {
        const found = this.#walkSpread(hash, scan, bytes, start, labelEnd, keyEnd);
        if (found >= 0) return found;
      }
      // The spread key of a top-level domain is as far up as its wildcard.
      if (i > 0) this.distance++;
      const found = this.wildcard(hash, bytes, start, labelEnd, COMMA_STAR);
      if (found >= 0) return found;
    }
    return -1;
  }

  /** @param hostHash the hash of `bytes[start, labelEnd) + ",*"`. */
  #walkSpread(
    hostHash: number,
    { hostEnd, pathEnd }: KeyScan,
    bytes: Uint8Array,
    start: number,
    labelEnd: number,
    keyEnd: number,
  ): number {
    const keyHash = extendHashRange(hostHash, bytes, hostEnd, keyEnd);
    const found = this.spread(keyHash, bytes, start, labelEnd, hostEnd, keyEnd, NOTHING);
    if (found >= 0 || !this.#kinds.queries) return found;
    const pathHash = extendHashRange(hostHash, bytes, hostEnd, pathEnd);
    const hash = extendHash(extendHash(pathHash, QUESTION), STAR);
    return this.spread(hash, bytes, start, labelEnd, hostEnd, pathEnd, QUESTION_STAR);
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
