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
 * Names are as in keys, without the `*`: `com,` `com,example,` `com,example)/` `com,example)/a/`. They stand
 * in two halves. When one is full, the other is emptied and takes the next; a name that is added again by
 * then stays. So those go that were not added for longest, and nothing has to be looked through.
 */
export class PrefixNames {
  readonly #path = new KeyPath();
  #young: Half;
  #old: Half;

  constructor(bytes: number) {
    this.#young = new Half(bytes / 2);
    this.#old = new Half(bytes / 2);
  }

  /** All names, each with a line feed at its end; those that were added last stand last. */
  get text(): Uint8Array {
    const text = new Uint8Array(this.#old.length + this.#young.length);
    let length = 0;
    for (const name of this) {
      text.set(name, length);
      text[length + name.length] = LF;
      length += name.length + 1;
    }
    return text.subarray(0, length);
  }

  /** Every name; none may be added meanwhile. */
  *[Symbol.iterator](): Generator<Uint8Array, void, undefined> {
    for (const [name, hash] of this.#old) if (!this.#young.has(hash)) yield name;
    for (const [name] of this.#young) yield name;
  }

  /** Takes the name of a prefix of a SURT, unless it cannot be a key. */
  add(surt: Uint8Array, path: KeyPath, place: number): void {
    const hash = path.lows[place];
    const level = path.levels[place];
    const end = path.ends[place];
    if (this.#young.has(hash) || end + 2 > LONGEST) return;
    if (level === LEVEL.all || level === LEVEL.original || !isKey(surt, end, level)) return;
    this.#append(surt.subarray(0, end), hash, level < LEVEL.host ? COMMA : SLASH);
  }

  /** Takes names as {@link text} has them. */
  restore(text: Uint8Array): void {
    for (let start = 0; start < text.length;) {
      const end = text.indexOf(LF, start);
      if (end < 0) return;
      this.#path.take(text.subarray(start, end));
      const place = this.#path.length - 2;
      const hash = this.#path.lows[Math.max(0, place)];
      if (place >= 0 && end - start + 1 <= LONGEST && !this.#young.has(hash)) {
        this.#append(text.subarray(start, end - 1), hash, text[end - 1]);
      }
      start = end + 1;
    }
  }

  #append(name: Uint8Array, hash: number, last: number): void {
    if (this.#young.isFull) {
      [this.#young, this.#old] = [this.#old, this.#young];
      this.#young.clear();
    }
    this.#young.append(name, hash, last);
  }
}

/** Names one after the other in a block of bytes, and where they are, by hashes. */
class Half {
  length = 0;
  readonly #block: Uint8Array;
  /** Where names begin, plus 1, by their hashes; 0 for none. */
  readonly #starts: Uint32Array;
  readonly #hashes: Uint32Array;
  #count = 0;

  constructor(bytes: number) {
    const entries = Math.max(16, Math.floor((bytes * TABLE_SHARE) / 8));
    this.#starts = new Uint32Array(entries);
    this.#hashes = new Uint32Array(entries);
    this.#block = new Uint8Array(Math.max(2 * LONGEST, Math.floor(bytes) - entries * 8));
  }

  get isFull(): boolean {
    const isBlockFull = this.length + LONGEST > this.#block.length;
    return isBlockFull || this.#count >= this.#starts.length * MOST_LOAD;
  }

  has(hash: number): boolean {
    return this.#starts[this.#find(hash)] !== 0;
  }

  clear(): void {
    this.#starts.fill(0);
    this.length = this.#count = 0;
  }

  /** Takes a name that is not here, and its last byte. */
  append(name: Uint8Array, hash: number, last: number): void {
    const at = this.#find(hash);
    this.#starts[at] = this.length + 1;
    this.#hashes[at] = hash;
    this.#block.set(name, this.length);
    this.length += name.length;
    this.#block[this.length++] = last;
    this.#block[this.length++] = LF;
    this.#count++;
  }

  *[Symbol.iterator](): Generator<readonly [Uint8Array, number], void, undefined> {
    for (const [at, start] of this.#starts.entries()) {
      if (start === 0) continue;
      const name = this.#block.subarray(start - 1, this.#block.indexOf(LF, start));
      yield [name, this.#hashes[at]];
    }
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
