import { CLOSE_PAREN, COMMA, DELETE, QUESTION, SLASH, SPACE, STAR } from "../bytes/ascii.ts";
import { EMPTY_HASH, extendHash } from "./key-hash.ts";

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
      if (byte === COMMA) {
        this.#addLabel(at, hash);
      } else if (byte === CLOSE_PAREN) {
        if (bytes[at + 1] !== SLASH) return false;
        this.#addLabel(at, hash);
        this.hostEnd = at;
        this.hostHash = extendHash(hash, byte);
        return this.#scanPath(bytes, at + 1, end);
      } else if (isOdd(byte) || byte === QUESTION) {
        return false;
      }
      hash = extendHash(hash, byte);
    }
    return false;
  }

  #scanPath(bytes: Uint8Array, start: number, end: number): boolean {
    let hash = this.hostHash;
    let pathEnd = start;
    let pathHash = hash;
    let at = start;
    for (; at < end; at++) {
      const byte = bytes[at];
      if (byte === QUESTION) break;
      if (isOdd(byte)) return false;
      hash = extendHash(hash, byte);
      if (byte === SLASH) {
        this.#addSlash(at + 1, hash);
        // Further slashes belong to the path only if something else follows them.
        if (at > start) continue;
      }
      pathEnd = at + 1;
      pathHash = hash;
    }
    while (this.slashEnds[this.slashCount - 1] > pathEnd) this.slashCount--;
    this.pathEnd = pathEnd;
    this.pathHash = pathHash;
    this.hasQuery = at < end;
    for (; at < end; at++) {
      const byte = bytes[at];
      if (isOdd(byte)) return false;
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

function isOdd(byte: number): boolean {
  return byte <= SPACE || byte === STAR || byte === DELETE;
}

function doubled(array: Int32Array): Int32Array {
  const larger = new Int32Array(array.length * 2);
  larger.set(array);
  return larger;
}
