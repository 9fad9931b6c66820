import { COLON, copyRange, SLASH } from "../bytes/bytes.ts";

/** An ordered sequence of mementos. */
export interface MementoSequence {
  readonly count: number;
  datetimeAt(index: number): number;
  uriAt(index: number): string;
}

const FIRST_URI_BYTES = 1024;
/** Most lists stay empty, so memory is allocated with the first memento. */
const NO_BYTES = new Uint8Array(0);
const STRICT_DECODER = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });
/** Maps each byte to one character. */
const ONE_BYTE_DECODER = new TextDecoder("latin1");
const ENCODER = new TextEncoder();
const HTTP = ENCODER.encode("https");

/**
 * Mementos in insertion order, stored as columns: sixteen bytes per memento plus its URI.
 *
 * Indexes are not checked; reading out of range returns undefined results.
 */
export class MementoList implements MementoSequence {
  #count = 0;
  readonly #datetimes: number[] = [];
  /** The end of each URI in `#uris`; it starts at the end of the previous one. */
  readonly #ends: number[] = [];
  #uris: Uint8Array = NO_BYTES;
  #isSorted = true;

  /** For tests and small lists. */
  static of(mementos: Iterable<Memento>): MementoList {
    const list = new MementoList();
    for (const { uri, datetime } of mementos) list.add(uri, datetime);
    return list;
  }

  get count(): number {
    return this.#count;
  }

  /** Whether the mementos are in chronological order. */
  get isSorted(): boolean {
    return this.#isSorted;
  }

  add(uri: string, datetime: number): void {
    const bytes = ENCODER.encode(uri);
    this.addBytes(bytes, 0, bytes.length, datetime);
  }

  /** Adds a memento whose URI is `bytes[start, end)`, which is copied. */
  addBytes(bytes: Uint8Array, start: number, end: number, datetime: number): void {
    const index = this.#count;
    const before = index === 0 ? 0 : this.#ends[index - 1];
    const behind = before + end - start;
    if (behind > this.#uris.length) this.#growUris(behind);
    this.#uris.set(bytes.subarray(start, end), before);
    if (index > 0 && datetime < this.#datetimes[index - 1]) this.#isSorted = false;
    this.#datetimes.push(datetime);
    this.#ends.push(behind);
    this.#count = index + 1;
  }

  /** Appends another list, such as the next page. */
  append(other: MementoList): void {
    for (let i = 0; i < other.#count; i++) {
      this.addBytes(other.#uris, other.#startAt(i), other.#ends[i], other.#datetimes[i]);
    }
  }

  datetimeAt(index: number): number {
    return this.#datetimes[index];
  }

  uriAt(index: number): string {
    return uriText(this.#uris, this.#startAt(index), this.#ends[index]);
  }

  uriLengthAt(index: number): number {
    return this.#ends[index] - this.#startAt(index);
  }

  /** Copies the bytes of a URI; returns the offset after them. */
  copyUri(index: number, target: Uint8Array, at: number): number {
    return copyRange(this.#uris, this.#startAt(index), this.#ends[index], target, at);
  }

  at(index: number): Memento {
    return { uri: this.uriAt(index), datetime: this.#datetimes[index] };
  }

  /** Whether all are web addresses, `http:` or `https:`. */
  get areWebAddresses(): boolean {
    for (let i = 0; i < this.#count; i++) if (!this.#isWebAddress(this.#startAt(i))) return false;
    return true;
  }

  #isWebAddress(start: number): boolean {
    const bytes = this.#uris;
    for (let i = 0; i < 4; i++) if ((bytes[start + i] | 0x20) !== HTTP[i]) return false;
    const colon = (bytes[start + 4] | 0x20) === HTTP[4] ? start + 5 : start + 4;
    return bytes[colon] === COLON && bytes[colon + 1] === SLASH && bytes[colon + 2] === SLASH;
  }

  /** A text that identifies the bytes of the URI. */
  uriIdentityAt(index: number): string {
    return ONE_BYTE_DECODER.decode(this.#uris.subarray(this.#startAt(index), this.#ends[index]));
  }

  *[Symbol.iterator](): Generator<Memento, void, undefined> {
    for (let i = 0; i < this.#count; i++) yield this.at(i);
  }

  #startAt(index: number): number {
    return index === 0 ? 0 : this.#ends[index - 1];
  }

  #growUris(needed: number): void {
    const uris = new Uint8Array(Math.max(FIRST_URI_BYTES, needed, this.#uris.length * 2));
    uris.set(this.#uris);
    this.#uris = uris;
  }
}

/** Decodes bytes as UTF-8. If they are invalid, non-ASCII bytes are percent-encoded: decoding would change them. */
export function uriText(bytes: Uint8Array, start: number, end: number): string {
  const range = bytes.subarray(start, end);
  try {
    return STRICT_DECODER.decode(range);
  } catch {
    return asciiBytes(ONE_BYTE_DECODER.decode(range));
  }
}

/** An archived version of a page. */
export interface Memento {
  /** The URI-M, as the archive wrote it. */
  readonly uri: string;
  /** Fourteen digits as a number, `20150213094521`, so that numeric order is chronological. */
  readonly datetime: number;
}

/** Characters not allowed in URIs (RFC 3986, section 2). */
const FORBIDDEN = /[^!#$%&'()*+,\-./0-9:;=?@A-Z[\]_a-z~]/gu;
const NOT_ASCII = /[\u0080-\u{10ffff}]/gu;

/**
 * Makes a URI safe to send: blanks, controls, quotes, angle brackets, braces, `|`, `\`, `^`, backticks and non-ASCII
 * characters are percent-encoded. Nothing is decoded or normalized.
 *
 * Characters up to U+00FF represent bytes, as in network input; those above are encoded as UTF-8.
 */
export function sendableUri(uri: string): string {
  return uri.replaceAll(FORBIDDEN, percentEncoded);
}

/** Percent-encodes only non-ASCII characters, for texts with syntax such as `Link`. */
export function asciiBytes(text: string): string {
  return text.replaceAll(NOT_ASCII, percentEncoded);
}

function percentEncoded(character: string): string {
  const code = character.charCodeAt(0);
  if (code <= 0xff) return hex(code);
  return Array.from(ENCODER.encode(character), hex).join("");
}

function hex(byte: number): string {
  return `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
}
