import {
  AT,
  BANG,
  CLOSE_PAREN,
  COMMA,
  DELETE,
  MINUS,
  OPEN_BRACE,
  PERCENT,
  QUESTION,
  QUOTE,
  SLASH,
  SPACE,
  STAR,
} from "../../bytes/bytes.ts";
import { EMPTY_HASH, extendHash } from "./key-hash.ts";

const ORDINARY = 0;
const SEPARATOR = 1;
const QUERY = 2;
const ODD = 3;
const OPEN_BRACKET = 0x5b;

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
   * characters and `*`, what is not ASCII, a host with other characters than names have. The lists
   * then hold nothing of use.
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
