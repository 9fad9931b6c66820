import {
  byteString,
  CLOSE_PAREN,
  COLON,
  COMMA,
  copyRange,
  QUESTION,
  SLASH,
} from "../bytes/bytes.ts";
import { canonicalSurt } from "./canonical-surt.ts";
import { asciiSurt, surtKey } from "./key.ts";
import { keyEndInSurt } from "./plain-key.ts";
import { afterPlainHost, plainKeyBytes, writePlainHost, writePlainPath } from "./uri-to-surt.ts";

const encoder = new TextEncoder();
/** Behind the key, for readers that take four bytes at a time and for the ends of wider keys. */
const SPARE_BYTES = 16;
/** Bytes of a URI for each of its code units, at most. */
const MAX_BYTES_PER_CODE_UNIT = 3;
const NOT_READ = -1;

/**
 * The key that is looked up, in bytes and taken apart. Make one and use it for one lookup after the
 * other: nothing is allocated for plain URIs and SURTs.
 *
 *     com,example,www2)/a/b?x=1
 *        ^       ^    ^           labelEnds; the last is hostEnd
 *                      ^ ^ ^      folderEnds; the last is pageEnd
 *                               ^ length
 *
 * The path of a plain URI is read when it is first asked for: most lookups end at a host that a map
 * does not have. Until then, the bytes of the URI must not change.
 */
export class Key {
  /** The key is `bytes[0, length)`. There are some bytes to spare behind it. */
  bytes: Uint8Array = new Uint8Array(4096);
  view: DataView = new DataView(this.bytes.buffer);
  /** Where the key ends, with its query. Valid behind {@link readPath}. */
  length = 0;
  /** Where the `)` behind the host is; -1 for a key without a host, such as `dns:example.com`. */
  hostEnd = -1;
  /** Where the page ends: the key without its query. Valid behind {@link readPath}. */
  pageEnd = 0;
  /** By depth, where each folder ends; `)` is that of depth 0. Valid behind {@link readPath}. */
  folderEnds: Int32Array = new Int32Array(64);
  /** Segments of the path. Valid behind {@link readPath}. */
  depth = 0;
  /** Where each label of the host ends, the widest first. Valid behind {@link readLabels}. */
  labelEnds: Int32Array = new Int32Array(32);

  /** How far above the key the one is that was asked for last. */
  distance = 0;
  /** Which form of key that is, and of which folder or label. */
  form = 0;
  index = 0;
  /** Whether that was in a map with queries. */
  queries = false;

  /** For sources: which wider keys may exist, and what they found out about the host. */
  below = -1;
  spreads = -1;
  hostsBelow = -1;
  host = -1;
  /** The hash of the host, and that of the page; 0 until it is known. */
  hostHash = 0;
  pageHash = 0;
  /** What was read only to have it in the cache. */
  touched = 0;

  #labelCount = NOT_READ;
  #isPathRead = true;
  #readsQueries = false;
  #uri: Uint8Array = this.bytes;
  #start = 0;
  #path = 0;
  #end = 0;
  #text: Uint8Array = new Uint8Array(0);

  /** Takes the key of a URI; without `queries`, without its query. */
  ofUriText(uri: string, queries: boolean): this {
    const room = MAX_BYTES_PER_CODE_UNIT * uri.length;
    if (this.#text.length < room) this.#text = new Uint8Array(2 * room);
    const { written } = encoder.encodeInto(uri, this.#text);
    return this.ofUri(this.#text, 0, written, queries);
  }

  /** Takes the key of the URI in `bytes[start, end)`. */
  ofUri(bytes: Uint8Array, start: number, end: number, queries: boolean): this {
    this.#reset(queries);
    this.#reserve(end - start);
    this.#uri = bytes;
    this.#start = start;
    this.#end = end;
    const hostEnd = writePlainHost(bytes, start, end, this.bytes, 0);
    if (hostEnd < 0) return this.#ofOddUri();
    this.hostEnd = hostEnd - 1;
    this.#path = afterPlainHost();
    this.#isPathRead = false;
    return this;
  }

  /** Takes the key of a SURT. */
  ofSurtText(surt: string, queries: boolean): this {
    const bytes = encoder.encode(surt);
    return this.ofSurt(bytes, 0, bytes.length, queries);
  }

  /** Takes the key of the SURT in `bytes[start, end)`. */
  ofSurt(bytes: Uint8Array, start: number, end: number, queries: boolean): this {
    this.#reset(queries);
    const keyEnd = keyEndInSurt(bytes, start, end, queries);
    if (keyEnd < 0) return this.#take(surtKey(asciiSurt(bytes, start, end), { queries }));
    this.#reserve(end - start);
    copyRange(bytes, start, keyEnd, this.bytes, 0);
    return this.#split(keyEnd - start);
  }

  /** Reads the path and the query, unless that was done. */
  readPath(): void {
    if (this.#isPathRead) return;
    this.#isPathRead = true;
    const at = this.hostEnd + 1;
    const kind = plainKeyBytes(this.#readsQueries);
    const end = writePlainPath(this.#uri, this.#path, this.#end, this.bytes, at, kind);
    if (end < 0) this.#ofOddUri();
    else this.#splitPath(end);
  }

  /** Reads the labels of the host; returns how many there are. */
  readLabels(): number {
    if (this.#labelCount !== NOT_READ) return this.#labelCount;
    const { bytes, hostEnd } = this;
    let count = 0;
    for (let at = 0; at <= hostEnd; at++) {
      if (at < hostEnd && bytes[at] !== COMMA) continue;
      if (count === this.labelEnds.length) this.labelEnds = doubled(this.labelEnds);
      this.labelEnds[count++] = at;
    }
    this.#labelCount = count;
    return count;
  }

  /** Another one with the same key, for lookups that have to wait. */
  copy(): Key {
    this.readPath();
    const copy = new Key();
    copy.#reset(this.#readsQueries);
    copy.#reserve(this.length);
    copyRange(this.bytes, 0, this.length, copy.bytes, 0);
    return copy.#split(this.length);
  }

  #reset(queries: boolean): void {
    this.#readsQueries = queries;
    this.#labelCount = NOT_READ;
    this.#isPathRead = true;
    this.hostEnd = -1;
    this.below = -1;
    this.spreads = -1;
    this.hostsBelow = -1;
    this.host = -1;
    this.hostHash = 0;
    this.pageHash = 0;
    this.distance = 0;
  }

  #ofOddUri(): this {
    const surt = canonicalSurt(byteString(this.#uri, this.#start, this.#end));
    return this.#take(surtKey(surt, { queries: this.#readsQueries }));
  }

  /** Takes a key, which is ASCII. */
  #take(key: string): this {
    this.#reserve(key.length);
    for (let i = 0; i < key.length; i++) this.bytes[i] = key.charCodeAt(i);
    return this.#split(key.length);
  }

  /** Takes the key in `bytes[0, length)` apart. */
  #split(length: number): this {
    this.hostEnd = hostEndOf(this.bytes, length);
    if (this.hostEnd >= 0) {
      this.#splitPath(length);
      return this;
    }
    const query = this.bytes.indexOf(QUESTION);
    this.pageEnd = query >= 0 && query < length ? query : length;
    this.length = length;
    this.depth = 0;
    return this;
  }

  #splitPath(length: number): void {
    const { bytes, hostEnd } = this;
    let { folderEnds } = this;
    folderEnds[0] = hostEnd + 1;
    let depth = 0;
    let at = hostEnd + 2;
    // The slash of a home page leads to no segment.
    if (at < length && bytes[at] !== QUESTION) {
      for (; at < length; at++) {
        const byte = bytes[at];
        // A slash or a question mark, which differ in this bit.
        if ((byte | 0x10) !== QUESTION) continue;
        if (byte === QUESTION) break;
        if (++depth === folderEnds.length) this.folderEnds = folderEnds = doubled(folderEnds);
        folderEnds[depth] = at;
      }
      if (++depth === folderEnds.length) this.folderEnds = folderEnds = doubled(folderEnds);
      folderEnds[depth] = at < length ? at : length;
    }
    this.depth = depth;
    this.pageEnd = at < length ? at : length;
    this.length = length;
  }

  /** Makes room for the key of an input of this many bytes. */
  #reserve(inputBytes: number): void {
    const room = MAX_BYTES_PER_CODE_UNIT * inputBytes + SPARE_BYTES;
    if (this.bytes.length >= room) return;
    const larger = new Uint8Array(2 * room);
    this.bytes = larger;
    this.view = new DataView(larger.buffer);
  }
}

/** Where the `)` behind the host is, or -1. What has a scheme, as `urn:a?b)/c`, may have one in its query. */
export function hostEndOf(bytes: Uint8Array, length: number): number {
  let hasColon = false;
  for (let at = 0; at < length; at++) {
    const byte = bytes[at];
    if (byte === COLON) hasColon = true;
    else if (byte === QUESTION && hasColon) return -1;
    else if (byte === CLOSE_PAREN && (at + 1 === length || bytes[at + 1] === SLASH)) return at;
  }
  return -1;
}

function doubled(array: Int32Array): Int32Array {
  const larger = new Int32Array(array.length * 2);
  larger.set(array);
  return larger;
}
