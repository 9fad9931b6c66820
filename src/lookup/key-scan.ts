import { CLOSE_PAREN, COMMA, DELETE, QUESTION, SLASH, SPACE, STAR } from "../bytes/ascii.ts";
import { EMPTY_HASH, extendHash } from "./key-hash.ts";

const ORDINARY = 0;
const HOST_SEPARATOR = 1;
const SEPARATOR = 2;
const QUERY = 3;
const ODD = 4;

/** One look tells whether a byte needs attention: most do not. */
const KINDS: Readonly<Uint8Array> = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte === COMMA || byte === CLOSE_PAREN) return HOST_SEPARATOR;
  if (byte === SLASH) return SEPARATOR;
  if (byte === QUESTION) return QUERY;
  return byte <= SPACE || byte === STAR || byte === DELETE ? ODD : ORDINARY;
});

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
   * False for what needs `surtKey` first: no path at all, blanks and control characters, `*` (it
   * may have to be escaped), `?` within the host, an empty first label. The lists then hold nothing of use.
   */
  scan(bytes: Uint8Array, start: number, end: number): boolean {
    this.labelCount = 0;
    this.slashCount = 0;
    let hash = EMPTY_HASH;
    // An empty first label is no host to look above.
    if (bytes[start] === COMMA || bytes[start] === CLOSE_PAREN) return false;
    for (let at = start; at < end - 1; at++) {
      const byte = bytes[at];
      const kind = KINDS[byte];
      if (kind > SEPARATOR) return false;
      if (kind === HOST_SEPARATOR) {
        this.#addLabel(at, hash);
        if (byte === CLOSE_PAREN) {
          if (bytes[at + 1] !== SLASH) return false;
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
      const kind = KINDS[byte];
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
      if (KINDS[byte] === ODD) return false;
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
