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
/** Padding after the key, for reading four bytes at a time and for the suffixes of covering keys. */
const SPARE_BYTES = 16;
/** Max UTF-8 bytes per UTF-16 code unit. */
const MAX_BYTES_PER_CODE_UNIT = 3;
const NOT_READ = -1;

/**
 * A lookup key in bytes, split into its parts. Reuse one instance for all lookups: nothing is allocated for plain
 * URIs
 * and SURTs.
 *
 *     com,example,www2)/a/b?x=1
 *        ^       ^    ^           labelEnds; the last is hostEnd
 *                      ^ ^ ^      folderEnds; the last is pageEnd
 *                               ^ length
 *
 * The path of a plain URI is read lazily, because most lookups end at a host that is not in the map. Until then, the
 * bytes of the URI must not change.
 */
export class Key {
  /** The key is `bytes[0, length)`, followed by padding. */
  bytes: Uint8Array = new Uint8Array(4096);
  view: DataView = new DataView(this.bytes.buffer);
  /** The end of the key with its query. Valid after {@link readPath}. */
  length = 0;
  /** The offset of the `)` after the host; -1 for a key without a host, such as `dns:example.com`. */
  hostEnd = -1;
  /** The end of the page, i.e. the key without its query. Valid after {@link readPath}. */
  pageEnd = 0;
  /** The end of each folder by depth; depth 0 ends after `)`. Valid after {@link readPath}. */
  folderEnds: Int32Array = new Int32Array(64);
  /** The number of path segments. Valid after {@link readPath}. */
  depth = 0;
  /** The end of each host label, top-level domain first. Valid after {@link readLabels}. */
  labelEnds: Int32Array = new Int32Array(32);

  /** The distance of the last key queried. */
  distance = 0;
  /** The form of the last key queried, and the number of its folder or label. */
  form = 0;
  index = 0;
  /** Whether the map includes queries. */
  queries = false;

  /** For sources: masks of the covering keys that may exist, and a cached result for the host. */
  below = -1;
  spreads = -1;
  hostsBelow = -1;
  host = -1;
  /** The hashes of the host and the page; 0 until computed. */
  hostHash = 0;
  pageHash = 0;
  /** A sink for reads that only warm the CPU cache. */
  touched = 0;

  #labelCount = NOT_READ;
  #isPathRead = true;
  #readsQueries = false;
  #uri: Uint8Array = this.bytes;
  #start = 0;
  #path = 0;
  #end = 0;
  #text: Uint8Array = new Uint8Array(0);

  /** Sets the key of a URI; the query is included only with `queries`. */
  ofUriText(uri: string, queries: boolean): this {
    const room = MAX_BYTES_PER_CODE_UNIT * uri.length;
    if (this.#text.length < room) this.#text = new Uint8Array(2 * room);
    const { written } = encoder.encodeInto(uri, this.#text);
    return this.ofUri(this.#text, 0, written, queries);
  }

  /** Sets the key of the URI in `bytes[start, end)`. */
  ofUri(bytes: Uint8Array, start: number, end: number, queries: boolean): this {
    this.#reset(queries);
    this.#reserve(end - start);
    this.#uri = bytes;
    this.#start = start;
    this.#end = end;
    const hostEnd = writePlainHost(bytes, start, end, this.bytes, 0);
    if (hostEnd < 0) return this.#ofUnusualUri();
    this.hostEnd = hostEnd - 1;
    this.#path = afterPlainHost();
    this.#isPathRead = false;
    return this;
  }

  /** Sets the key of a SURT. */
  ofSurtText(surt: string, queries: boolean): this {
    const bytes = encoder.encode(surt);
    return this.ofSurt(bytes, 0, bytes.length, queries);
  }

  /** Sets the key of the SURT in `bytes[start, end)`. */
  ofSurt(bytes: Uint8Array, start: number, end: number, queries: boolean): this {
    this.#reset(queries);
    const keyEnd = keyEndInSurt(bytes, start, end, queries);
    if (keyEnd < 0) return this.#take(surtKey(asciiSurt(bytes, start, end), { queries }));
    this.#reserve(end - start);
    copyRange(bytes, start, keyEnd, this.bytes, 0);
    return this.#split(keyEnd - start);
  }

  /** Reads the path and query, if not done yet. */
  readPath(): void {
    if (this.#isPathRead) return;
    this.#isPathRead = true;
    const at = this.hostEnd + 1;
    const kind = plainKeyBytes(this.#readsQueries);
    const end = writePlainPath(this.#uri, this.#path, this.#end, this.bytes, at, kind);
    if (end < 0) this.#ofUnusualUri();
    else this.#splitPath(end);
  }

  /** Reads the labels of the host; returns their number. */
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

  /** A copy of the key, for lookups that have to wait. */
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

  #ofUnusualUri(): this {
    const surt = canonicalSurt(byteString(this.#uri, this.#start, this.#end));
    return this.#take(surtKey(surt, { queries: this.#readsQueries }));
  }

  /** Sets the key from ASCII text. */
  #take(key: string): this {
    this.#reserve(key.length);
    for (let i = 0; i < key.length; i++) this.bytes[i] = key.charCodeAt(i);
    return this.#split(key.length);
  }

  /** Splits the key in `bytes[0, length)` into its parts. */
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
    // A home page has no segments.
    if (at < length && bytes[at] !== QUESTION) {
      for (; at < length; at++) {
        const byte = bytes[at];
        // Matches a slash or a question mark, which differ in this bit.
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

  /** Reserves room for the key of an input of this many bytes. */
  #reserve(inputBytes: number): void {
    const room = MAX_BYTES_PER_CODE_UNIT * inputBytes + SPARE_BYTES;
    if (this.bytes.length >= room) return;
    const larger = new Uint8Array(2 * room);
    this.bytes = larger;
    this.view = new DataView(larger.buffer);
  }
}

/**
 * The offset of the `)` after the host, or -1. A URI with a scheme, such as `urn:a?b)/c`, may have `)` in its
 * query.
 */
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
