/** What a prefix of a key ends at. */
export const LEVEL = {
  all: 0,
  tld: 1,
  domain: 2,
  label: 3,
  host: 4,
  folder: 5,
  folder2: 6,
  folder3: 7,
  original: 8,
} as const;

export const LEVELS = 9;

/** The longest chain of prefixes: all, five labels, the host, six folders, the original. */
const MOST_PREFIXES = 14;
const MOST_LABELS = 5;
const MOST_FOLDERS = 6;

const COMMA = 0x2c;
const SLASH = 0x2f;
const QUESTION = 0x3f;
const CLOSE = 0x29;

/** How many shapes of keys there are: by depth, with and without a query. */
export const SHAPES = 8;

/**
 * The prefixes of a SURT along the key tree, from everything to the original itself, as hashes of
 * 64 bits: `com,` `com,example,` `com,example)` `com,example)/a/` and the whole, with its query.
 *
 * Make one and use it again: it never allocates.
 */
export class KeyPath {
  readonly highs: Uint32Array = new Uint32Array(MOST_PREFIXES);
  readonly lows: Uint32Array = new Uint32Array(MOST_PREFIXES);
  /** One of {@link LEVEL} for each prefix. */
  readonly levels: Uint8Array = new Uint8Array(MOST_PREFIXES);
  /** Where in the SURT each prefix ends. */
  readonly ends: Int32Array = new Int32Array(MOST_PREFIXES);
  /** How many prefixes there are; the last is the original. */
  length = 0;
  /** The depth of the path up to 3, and 4 more with a query. */
  shape = 0;
  #first = 0;
  #second = 0;

  /** Takes `surt[0, end)`. */
  take(surt: Uint8Array, end: number = surt.length): void {
    this.length = 0;
    this.#first = 0x811c9dc5;
    this.#second = 0x9747b28c;
    this.#add(LEVEL.all, 0);
    const path = this.#takeHost(surt, end);
    const folders = this.#takePath(surt, path, end);
    this.#add(LEVEL.original, end);
    this.shape = folders;
  }

  /** The text of a prefix of the SURT that was taken. */
  textOf(surt: Uint8Array, place: number): string {
    return String.fromCharCode(...surt.subarray(0, Math.min(this.ends[place], 512)));
  }

  /** Returns where the path begins. */
  #takeHost(surt: Uint8Array, end: number): number {
    let labels = 0;
    let start = 0;
    for (let at = 0; at < end; at++) {
      const byte = surt[at];
      if (byte !== COMMA && byte !== CLOSE) continue;
      this.#mixAll(surt, start, at);
      start = at + 1;
      labels++;
      this.#mix(COMMA);
      if (labels <= MOST_LABELS) this.#add(labelLevel(labels), at);
      if (byte === COMMA) continue;
      this.#mix(CLOSE);
      this.#add(LEVEL.host, at + 1);
      return start;
    }
    this.#mixAll(surt, start, end);
    return end;
  }

  /** Returns the shape of the key. */
  #takePath(surt: Uint8Array, path: number, end: number): number {
    let folders = 0;
    let hasQuery = false;
    let start = surt[path] === SLASH ? path + 1 : path;
    let isEmpty = start >= end;
    for (let at = start; at < end && !hasQuery; at++) {
      const byte = surt[at];
      if (byte !== SLASH && byte !== QUESTION) continue;
      this.#mixAll(surt, start, at);
      start = at + 1;
      isEmpty = byte === SLASH && start === end;
      folders++;
      this.#mix(SLASH);
      if (folders <= MOST_FOLDERS) {
        this.#add(Math.min(LEVEL.folder + folders - 1, LEVEL.folder3), at);
      }
      hasQuery = byte === QUESTION;
    }
    this.#mixAll(surt, start, end);
    const depth = folders + (hasQuery || isEmpty ? 0 : 1);
    return Math.min(depth, 3) + (hasQuery ? 4 : 0);
  }

  #mix(byte: number): void {
    this.#first = firstMixed(this.#first, byte);
    this.#second = secondMixed(this.#second, byte);
  }

  /** In local variables, which is faster than in fields. */
  #mixAll(surt: Uint8Array, start: number, end: number): void {
    let first = this.#first;
    let second = this.#second;
    for (let at = start; at < end; at++) {
      first = firstMixed(first, surt[at]);
      second = secondMixed(second, surt[at]);
    }
    this.#first = first;
    this.#second = second;
  }

  /** The level is in the hash: an original differs from the folder of the same letters. */
  #add(level: number, end: number): void {
    const place = this.length;
    const salt = level === LEVEL.original ? 0x3c6ef372 : 0;
    this.lows[place] = finished(this.#first ^ salt);
    this.highs[place] = finished(this.#second + salt) | 1; // never 0, which means no entry
    this.levels[place] = level;
    this.ends[place] = end;
    this.length = place + 1;
  }
}

function firstMixed(hash: number, byte: number): number {
  return Math.imul(hash ^ byte, 0x01000193);
}

function secondMixed(hash: number, byte: number): number {
  return Math.imul(((hash << 5) | (hash >>> 27)) ^ byte, 0x5bd1e995);
}

function labelLevel(labels: number): number {
  return labels === 1 ? LEVEL.tld : labels === 2 ? LEVEL.domain : LEVEL.label;
}

function finished(hash: number): number {
  let value = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return value ^ (value >>> 16);
}
