import { KeyPath, LEVEL } from "./key-path.ts";

/** The part of the memory that the table has: eight bytes for a name of some 25. */
const TABLE_SHARE = 0.25;
const MOST_LOAD = 0.7;
/** Longer prefixes have no name: nobody can fill the memory with a few. */
const LONGEST = 512;

const LF = 0x0a;
const COMMA = 0x2c;
const SLASH = 0x2f;

/**
 * The text of prefixes, of which other tables know only hashes, in a fixed amount of memory.
 *
 * Names are as in keys, without the `*`: `com,` `com,example,` `com,example)/` `com,example)/a/`. They
 * stand one after the other in one block of bytes. When that is full, those of least worth go.
 */
export class PrefixNames {
  readonly #block: Uint8Array;
  /** Where names begin, plus 1, by their hashes; 0 for none. */
  readonly #starts: Uint32Array;
  readonly #hashes: Uint32Array;
  readonly #path = new KeyPath();
  #length = 0;
  #count = 0;

  constructor(bytes: number) {
    const entries = Math.max(16, Math.floor((bytes * TABLE_SHARE) / 8));
    this.#starts = new Uint32Array(entries);
    this.#hashes = new Uint32Array(entries);
    this.#block = new Uint8Array(Math.max(2 * LONGEST, Math.floor(bytes) - entries * 8));
  }

  get count(): number {
    return this.#count;
  }

  /** All names, each with a line feed at its end. */
  get text(): Uint8Array {
    return this.#block.subarray(0, this.#length);
  }

  /** Whether no more names are taken until {@link clearUp}. */
  get isFull(): boolean {
    const isBlockFull = this.#length + LONGEST > this.#block.length;
    return isBlockFull || this.#count >= this.#starts.length * MOST_LOAD;
  }

  /** Every name; none may be added meanwhile. */
  *[Symbol.iterator](): Generator<Uint8Array, void, undefined> {
    let start = 0;
    while (start < this.#length) {
      const end = this.#block.indexOf(LF, start);
      yield this.#block.subarray(start, end);
      start = end + 1;
    }
  }

  /** Takes the name of a prefix of a SURT, unless it is known or cannot be a key. */
  add(surt: Uint8Array, path: KeyPath, place: number): void {
    const hash = path.lows[place];
    const at = this.#find(hash);
    const level = path.levels[place];
    const end = path.ends[place];
    if (this.#starts[at] !== 0 || end + 2 > LONGEST || this.isFull) return;
    if (level === LEVEL.all || level === LEVEL.original || !isKey(surt, end, level)) return;
    const start = this.#length;
    this.#block.set(surt.subarray(0, end), start);
    this.#block[start + end] = level < LEVEL.host ? COMMA : SLASH;
    this.#enter(at, hash, end + 1);
  }

  /** Takes names as {@link text} has them. */
  restore(text: Uint8Array): void {
    for (let start = 0; start < text.length;) {
      const end = text.indexOf(LF, start);
      if (end < 0) return;
      this.#append(text.subarray(start, end));
      start = end + 1;
    }
  }

  /** Drops the half of least worth, and all of none. */
  clearUp(worthOf: (name: Uint8Array) => number): void {
    const names = Array.from(this, (name) => ({ name: name.slice(), worth: worthOf(name) }));
    names.sort((a, b) => b.worth - a.worth);
    this.#starts.fill(0);
    this.#length = this.#count = 0;
    for (const { name, worth } of names.slice(0, names.length >> 1)) {
      if (worth > 0) this.#append(name);
    }
  }

  #append(name: Uint8Array): void {
    this.#path.take(name);
    const place = this.#path.length - 2;
    if (place < 0 || name.length + 1 > LONGEST || this.isFull) return;
    const hash = this.#path.lows[place];
    const at = this.#find(hash);
    if (this.#starts[at] !== 0) return;
    this.#block.set(name, this.#length);
    this.#enter(at, hash, name.length);
  }

  /** The name stands behind the others. */
  #enter(at: number, hash: number, length: number): void {
    this.#starts[at] = this.#length + 1;
    this.#hashes[at] = hash;
    this.#block[this.#length + length] = LF;
    this.#length += length + 1;
    this.#count++;
  }

  /** Where a hash is, or belongs. */
  #find(hash: number): number {
    const starts = this.#starts;
    let at = hash % starts.length;
    while (starts[at] !== 0 && this.#hashes[at] !== hash)
      at = at + 1 === starts.length ? 0 : at + 1;
    return at;
  }
}

const COLON = 0x3a;
/** What begins a header or a quoted column, or is part of another kind of key. */
const ODD_STARTS: ReadonlySet<number> = new Set(new TextEncoder().encode('!@"{'));
const STAR = 0x2a;

/** Whether a prefix can be written as a key: of printable characters, and without a port in a domain. */
function isKey(surt: Uint8Array, end: number, level: number): boolean {
  if (end === 0 || ODD_STARTS.has(surt[0])) return false;
  for (let at = 0; at < end; at++) {
    const byte = surt[at];
    if (byte <= 0x20 || byte >= 0x7f || byte === STAR) return false;
    if (byte === COLON && level < LEVEL.host) return false;
  }
  return true;
}
