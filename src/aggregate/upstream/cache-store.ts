import { LF } from "../../bytes/bytes.ts";

/** An answer as a cache keeps it. */
export interface CachedAnswer {
  /** When it came, or was last found unchanged: milliseconds since 1970. */
  readonly receivedAt: number;
  readonly status: number;
  /** Where it came from, after redirects. */
  readonly url: string;
  /** Its headers, about the decompressed body, as they are sent: `Name: value`, CR, LF. */
  readonly headerBlock: string;
  /** The headers it was asked for with, by lower-case names. */
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** Keeps answers by their requests; forgets some when there are too many. */
export interface CacheStore {
  find(key: string): CachedAnswer | undefined | Promise<CachedAnswer | undefined>;
  put(key: string, answer: CachedAnswer): void;
  delete(key: string): void;
  /** Ends what is under way. */
  close(): Promise<void>;
}

/*
 * All about a kept answer but its body, in lines. Every character stands for a byte: addresses and
 * headers come from and go to the network as bytes, and have no line ends.
 *
 *     <key, of two lines; the second is the address that was asked for>
 *     <status> <received at>
 *     <address the answer came from, or nothing where it is the same>
 *     <number of request headers>
 *     <request headers, a line each: Name: value, CR>
 *     <headers, the same>
 */

/** A head with the key it is kept by. */
interface KeptHead {
  readonly key: string;
  readonly answer: Omit<CachedAnswer, "body">;
}

export function encodeHead(key: string, answer: CachedAnswer): string {
  return `${key}${aboutAnswer(key, answer)}${answer.headerBlock}`;
}

/** What is between the key and the headers. */
function aboutAnswer(key: string, answer: CachedAnswer): string {
  const { receivedAt, status, url, requestHeaders } = answer;
  const start = key.length - url.length;
  const isAsked = start > 0 && key.charCodeAt(start - 1) === LF && key.endsWith(url);
  const place = isAsked ? "" : url;
  let asked = "";
  let count = 0;
  for (const name of Object.keys(requestHeaders)) {
    asked += `${name}: ${requestHeaders[name]}\r\n`;
    count += 1;
  }
  return `\n${status} ${receivedAt}\n${place}\n${count}\n${asked}`;
}

/** The opposite of `encodeHead`. */
export function decodeHead(text: string): KeptHead {
  const lines = text.split("\n", 5);
  const [keyStart, keyEnd, numbers, place, count] = lines;
  const [status, receivedAt] = numbers.split(" ", 2);
  const from = lines.reduce((length, line) => length + line.length + 1, 0);
  let cut = from;
  for (let line = 0; line < Number(count); line++) cut = text.indexOf("\n", cut) + 1;
  return {
    key: `${keyStart}\n${keyEnd}`,
    answer: {
      receivedAt: Number(receivedAt),
      status: Number(status),
      url: place === "" ? keyEnd : place,
      requestHeaders: headersOfBlock(text.slice(from, cut)),
      headerBlock: text.slice(cut),
    },
  };
}

/**
 * Headers by their lower-case names, from lines as they are sent. Fields of one name are joined by
 * commas.
 */
export function headersOfBlock(block: string): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of block.split("\r\n")) {
    const colon = line.indexOf(":");
    if (colon === -1) continue;
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    const earlier = Object.hasOwn(headers, name) ? headers[name] : undefined;
    headers[name] = earlier === undefined ? value : `${earlier}, ${value}`;
  }
  return headers;
}

const SLAB_BYTES = 1024 * 1024;
/** Length of the head, length of the body: four bytes each. */
const FRAME_BYTES = 8;
/** What an entry has at least, so that the index has a place for each. */
const LEAST_ENTRY_BYTES = 256;
/** Beyond all offsets within a slab, so that a slab and an offset are one number. */
const SLAB_STEP = 2 ** 32;

interface Slab {
  readonly bytes: Buffer;
  used: number;
}

/**
 * Keeps answers in memory, up to a number of bytes.
 *
 * They are written one after the other into large buffers, and the oldest buffer goes when there is
 * no room; what is asked for again moves to the front before. Nothing is left to the garbage
 * collector, which would else spend more time on them than the requests take.
 */
export class MemoryStore implements CacheStore {
  readonly #maxBytes: number;
  readonly #slabBytes: number;
  readonly #seed = Math.trunc(Math.random() * 0x7fff_ffff);
  /** By the hash of a key: the number of its slab, times `SLAB_STEP`, and the offset there. */
  #places: PlaceIndex;
  #slabs: Slab[] = [];
  /** The number of the oldest slab. */
  #oldest = 0;
  #bytes = 0;

  constructor(options: { /** Default 64 MiB. */ readonly maxBytes?: number | undefined } = {}) {
    this.#maxBytes = options.maxBytes ?? 64 * 2 ** 20;
    this.#slabBytes = Math.min(SLAB_BYTES, Math.ceil(this.#maxBytes / 8));
    this.#places = new PlaceIndex(this.#maxBytes / LEAST_ENTRY_BYTES);
  }

  /** Bytes of all buffers. */
  get bytes(): number {
    return this.#bytes;
  }

  find(key: string): CachedAnswer | undefined {
    const hash = textHash(key, this.#seed);
    const place = this.#places.find(hash, this.#oldest * SLAB_STEP);
    if (place === undefined) return undefined;
    const number = Math.floor(place / SLAB_STEP);
    const { bytes } = this.#slabs[number - this.#oldest];
    const offset = place % SLAB_STEP;
    const headStart = offset + FRAME_BYTES;
    const bodyStart = headStart + bytes.readUInt32LE(offset);
    const bodyEnd = bodyStart + bytes.readUInt32LE(offset + 4);
    const head = decodeHead(bytes.toString("latin1", headStart, bodyStart));
    if (head.key !== key) return undefined;
    // A copy: the buffer may be given up while somebody still reads.
    const answer = { ...head.answer, body: new Uint8Array(bytes.subarray(bodyStart, bodyEnd)) };
    if (number - this.#oldest < this.#slabs.length / 2 - 1) this.put(key, answer);
    return answer;
  }

  /** Answers of more than a quarter of all room are not kept. */
  put(key: string, answer: CachedAnswer): void {
    const hash = textHash(key, this.#seed);
    const { headerBlock, body } = answer;
    const about = aboutAnswer(key, answer);
    const headLength = key.length + about.length + headerBlock.length;
    const size = FRAME_BYTES + headLength + body.byteLength;
    if (size > this.#maxBytes / 4) {
      this.#places.delete(hash);
      return;
    }
    const slab = this.#slabFor(size);
    const { bytes, used } = slab;
    bytes.writeUInt32LE(headLength, used);
    bytes.writeUInt32LE(body.byteLength, used + 4);
    // Part by part: to join them takes as much memory again.
    let at = used + FRAME_BYTES;
    for (const part of [key, about, headerBlock]) at += bytes.write(part, at, "latin1");
    bytes.set(body, at);
    slab.used += size;
    this.#places.set(hash, (this.#oldest + this.#slabs.length - 1) * SLAB_STEP + used);
  }

  delete(key: string): void {
    this.#places.delete(textHash(key, this.#seed));
  }

  /** All that is kept, the oldest first, for {@link restore} of another process. */
  dump(): Uint8Array[] {
    return this.#slabs.map(({ bytes, used }) => bytes.subarray(0, used));
  }

  /** Keeps what another store had; what does not fit is left out, the oldest first. */
  restore(slabs: readonly Uint8Array[]): void {
    for (const slab of slabs) {
      const bytes = Buffer.from(slab.buffer, slab.byteOffset, slab.byteLength);
      let at = 0;
      while (at + FRAME_BYTES <= bytes.length) {
        const headStart = at + FRAME_BYTES;
        const bodyStart = headStart + bytes.readUInt32LE(at);
        at = bodyStart + bytes.readUInt32LE(headStart - 4);
        const { key, answer } = decodeHead(bytes.toString("latin1", headStart, bodyStart));
        this.put(key, { ...answer, body: bytes.subarray(bodyStart, at) });
      }
    }
  }

  close(): Promise<void> {
    this.#places = new PlaceIndex(0);
    this.#slabs = [];
    this.#bytes = 0;
    return Promise.resolve();
  }

  /** The newest slab if it has room, else a new one. */
  #slabFor(size: number): Slab {
    const newest = this.#slabs.at(-1);
    if (newest !== undefined && newest.used + size <= newest.bytes.length) return newest;
    const wanted = Math.max(size, this.#slabBytes);
    let bytes: Buffer | undefined;
    while (this.#bytes + wanted > this.#maxBytes && this.#slabs.length > 0) {
      const freed = this.#dropOldest();
      if (freed.length === wanted) bytes = freed;
    }
    bytes ??= Buffer.allocUnsafeSlow(wanted);
    const slab = { bytes, used: 0 };
    this.#slabs.push(slab);
    this.#bytes += bytes.length;
    return slab;
  }

  /** Its buffer can be written again: readers have copies. */
  #dropOldest(): Buffer {
    const [{ bytes }] = this.#slabs;
    this.#slabs.shift();
    this.#oldest += 1;
    this.#bytes -= bytes.length;
    return bytes;
  }
}

const WAYS = 8;

/**
 * Where things lie, by a hash of 32 bits: a table of fixed size, in groups of eight.
 *
 * Places are numbers that only grow. In a full group the lowest, which is the oldest, is forgotten;
 * places below a floor count as forgotten, so that many can be given up at once.
 */
export class PlaceIndex {
  readonly #hashes: Uint32Array;
  /** One more than the place, 0 for none. */
  readonly #places: Float64Array;
  readonly #mask: number;

  /** @param count How many places there may be; some more are kept. */
  constructor(count: number) {
    const slots = 2 ** Math.ceil(Math.log2(Math.max(2 * WAYS, count * 1.5)));
    this.#hashes = new Uint32Array(slots);
    this.#places = new Float64Array(slots);
    this.#mask = slots - WAYS;
  }

  find(hash: number, floor: number): number | undefined {
    const slot = this.#slotOf(hash);
    if (slot === -1) return undefined;
    const place = this.#places[slot] - 1;
    return place < floor ? undefined : place;
  }

  set(hash: number, place: number): void {
    let slot = this.#slotOf(hash);
    if (slot === -1) {
      const first = hash & this.#mask;
      slot = first;
      for (let at = first + 1; at < first + WAYS; at++) {
        if (this.#places[at] < this.#places[slot]) slot = at;
      }
    }
    this.#hashes[slot] = hash;
    this.#places[slot] = place + 1;
  }

  delete(hash: number): void {
    const slot = this.#slotOf(hash);
    if (slot !== -1) this.#places[slot] = 0;
  }

  /** All hashes with their places, the lowest place first. */
  entries(): [hash: number, place: number][] {
    return Array.from(this.#places, (place, slot): [number, number] => [
      this.#hashes[slot],
      place - 1,
    ])
      .filter(([, place]) => place >= 0)
      .sort(([, a], [, b]) => a - b);
  }

  #slotOf(hash: number): number {
    const first = hash & this.#mask;
    for (let at = first; at < first + WAYS; at++) {
      if (this.#hashes[at] === hash && this.#places[at] > 0) return at;
    }
    return -1;
  }
}

/** A number of 32 bits for a text; with another seed another one. */
export function textHash(text: string, seed: number): number {
  let hash = seed;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x0100_0193);
  }
  return (hash ^ (hash >>> 15)) >>> 0;
}
