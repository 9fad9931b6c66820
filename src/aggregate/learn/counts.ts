/** How often a row was used lately, at most: as many others must be dropped before it goes. */
const MAX_USES = 3;

/** Numbers in rows: some of the row itself, then as many for each archive. */
export interface Table {
  readonly data: Float32Array | Float64Array | Uint8Array;
  /** Numbers of the row itself, and of each archive. */
  readonly own: number;
  readonly each: number;
}

/**
 * Which row of a fixed number belongs to which key. When all are taken, a new key gets that of one that
 * was seldom used lately.
 */
export class Rows<Key extends string | number> {
  readonly capacity: number;
  readonly keys: Key[] = [];
  readonly #rows = new Map<Key, number>();
  readonly #uses: Uint8Array;
  #hand = 0;

  constructor(capacity: number) {
    this.capacity = capacity;
    this.#uses = new Uint8Array(capacity);
  }

  /** The row of a key, or -1. */
  find(key: Key): number {
    return this.#rows.get(key) ?? -1;
  }

  use(row: number): void {
    if (this.#uses[row] < MAX_USES) this.#uses[row]++;
  }

  /** A row for a key that has none, in a table where it is made zero. */
  enter(key: Key, { data, own, each }: Table, archives: number): number {
    const row = this.keys.length < this.capacity ? this.keys.length : this.#drop();
    this.keys[row] = key;
    this.#rows.set(key, row);
    const width = own + each * archives;
    data.fill(0, row * width, (row + 1) * width);
    return row;
  }

  #drop(): number {
    for (;;) {
      this.#hand = (this.#hand + 1) % this.capacity;
      if (this.#uses[this.#hand] === 0) break;
      this.#uses[this.#hand]--;
    }
    this.#rows.delete(this.keys[this.#hand]);
    return this.#hand;
  }
}

/** Counts are halved at this size, so that what an archive holds now weighs more. */
const MAX_ASKED = 4096;
/** Lookups; a set of networks and one of days that lookups came from, as bits. */
const OWN = 3;
const NETWORKS = 1;
const DAYS = 2;
/** As many as a float holds exactly. */
const BITS = 24;
const ALL_BITS = 2 ** BITS - 1;
/** Bytes of a row beside its numbers: its key, twice. */
const KEY_BYTES = 150;

/** Where an answer comes from, as far as it may be told to others. */
export interface Witness {
  /** A number for the network of the client; undefined for the operator's own. */
  readonly network: number | undefined;
  /** Days since 1970; undefined for what was logged earlier. */
  readonly day: number | undefined;
}

/** What archives answered below prefixes of keys: how often each was asked, and how often it had something. */
export class PrefixCounts implements Table {
  readonly rows: Rows<string>;
  readonly data: Float32Array;
  readonly own: number = OWN;
  readonly each: number = 2;
  readonly archives: number;
  readonly #width: number;

  constructor(archives: number, bytes: number) {
    this.archives = archives;
    this.#width = OWN + 2 * archives;
    this.rows = new Rows(Math.max(16, Math.floor(bytes / (4 * this.#width + KEY_BYTES))));
    this.data = new Float32Array(this.rows.capacity * this.#width);
  }

  /** A new row; the key is copied, as a part of a text keeps all of it in memory. */
  enter(prefix: string): number {
    return this.rows.enter(decoder.decode(encoder.encode(prefix)), this, this.archives);
  }

  /** Where in `data` the counts of an archive are: asked, and behind it hits. */
  at(row: number, archive: number): number {
    return row * this.#width + OWN + 2 * archive;
  }

  asked(row: number, archive: number): number {
    return this.data[this.at(row, archive)];
  }

  hits(row: number, archive: number): number {
    return this.data[this.at(row, archive) + 1];
  }

  lookups(row: number): number {
    return this.data[row * this.#width];
  }

  countLookup(row: number): number {
    return ++this.data[row * this.#width];
  }

  add(row: number, archive: number, isHit: boolean, { network, day }: Witness): void {
    const { data } = this;
    const at = this.at(row, archive);
    if (data[at] >= MAX_ASKED) {
      data[at] /= 2;
      data[at + 1] /= 2;
    }
    data[at]++;
    if (isHit) data[at + 1]++;
    const start = row * this.#width;
    data[start + NETWORKS] |= network === undefined ? ALL_BITS : 1 << (network % BITS);
    data[start + DAYS] |= day === undefined ? ALL_BITS : 1 << (day % BITS);
  }

  /** From how many networks, and on how many days, answers came at least. */
  witnesses(row: number): { readonly networks: number; readonly days: number } {
    const start = row * this.#width;
    return { networks: bits(this.data[start + NETWORKS]), days: bits(this.data[start + DAYS]) };
  }

  /** Makes all counts smaller. */
  decay(factor: number): void {
    const { data } = this;
    for (let start = 0; start < data.length; start += this.#width) {
      data[start] *= factor;
      for (let at = start + OWN; at < start + this.#width; at++) data[at] *= factor;
    }
  }
}

function bits(set: number): number {
  let count = 0;
  for (let rest = set; rest !== 0; rest &= rest - 1) count++;
  return count;
}

/** What an archive last answered for an original. */
export const KNOWN = { nothing: 0, miss: 1, hit: 2 } as const;

/** Lookups up to 255; the day of the last answer, in two bytes. */
const ANSWER_OWN = 3;
const ANSWER_KEY_BYTES = 60;

/** What each archive last answered for originals, by their hashes. */
export class Answers implements Table {
  readonly rows: Rows<number>;
  readonly data: Uint8Array;
  readonly own: number = ANSWER_OWN;
  readonly each: number = 1;
  readonly archives: number;
  readonly #width: number;

  constructor(archives: number, bytes: number) {
    this.archives = archives;
    this.#width = ANSWER_OWN + archives;
    this.rows = new Rows(Math.max(16, Math.floor(bytes / (this.#width + ANSWER_KEY_BYTES))));
    this.data = new Uint8Array(this.rows.capacity * this.#width);
  }

  enter(original: number): number {
    return this.rows.enter(original, this, this.archives);
  }

  /** One of {@link KNOWN}. */
  of(row: number, archive: number): number {
    return this.data[row * this.#width + ANSWER_OWN + archive];
  }

  note(row: number, archive: number, isHit: boolean, day: number): void {
    const start = row * this.#width;
    this.data[start + ANSWER_OWN + archive] = isHit ? KNOWN.hit : KNOWN.miss;
    this.data[start + 1] = day & 255;
    this.data[start + 2] = day >> 8;
  }

  /** How many days ago the last answer was. */
  age(row: number, day: number): number {
    const start = row * this.#width;
    return Math.max(0, day - this.data[start + 1] - 256 * this.data[start + 2]);
  }

  lookups(row: number): number {
    return this.data[row * this.#width];
  }

  countLookup(row: number): void {
    if (this.lookups(row) < 255) this.data[row * this.#width]++;
  }
}

/** A number of 53 bits for a text, which nobody can foresee who does not know the seed. */
export function hashOf(text: string, seed: number): number {
  let first = 0xdeadbeef ^ seed;
  let second = 0x41c6ce57 ^ Math.imul(seed, 0x9e3779b1);
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    first = Math.imul(first ^ unit, 0x9e3779b1);
    second = Math.imul(second ^ unit, 0x5f356495);
    second ^= first >>> 15;
  }
  first =
    Math.imul(first ^ (first >>> 16), 0x85ebca6b) ^ Math.imul(second ^ (second >>> 13), 0xc2b2ae35);
  second =
    Math.imul(second ^ (second >>> 16), 0x85ebca6b) ^ Math.imul(first ^ (first >>> 13), 0xc2b2ae35);
  return 2 ** 32 * (second & 0x1fffff) + (first >>> 0);
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
