import { COLON, copyRange, SLASH } from "../bytes/bytes.ts";

/** Mementos by their place in an order. */
export interface MementoSequence {
  readonly count: number;
  datetimeAt(index: number): number;
  uriAt(index: number): string;
}

const FIRST_URI_BYTES = 1024;
/** Most archives have nothing: a list takes room with its first memento only. */
const NO_BYTES = new Uint8Array(0);
const STRICT_DECODER = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });
/** Every byte is a character of its own. */
const ONE_BYTE_DECODER = new TextDecoder("latin1");
const ENCODER = new TextEncoder();
const HTTP = ENCODER.encode("https");

/**
 * Mementos in the order they were added, as columns: sixteen bytes for each, and those of its URI.
 *
 * What is read at a place that does not exist is meaningless, as with the arrays beneath.
 */
export class MementoList implements MementoSequence {
  #count = 0;
  readonly #datetimes: number[] = [];
  /** Where each URI ends in the bytes of all; it starts where the one before ends. */
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

  /** Whether none is older than the one before it. */
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

  /** Adds all of another list, such as those of the next page. */
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

  /** Copies the bytes of a URI; returns the offset behind them. */
  copyUri(index: number, target: Uint8Array, at: number): number {
    return copyRange(this.#uris, this.#startAt(index), this.#ends[index], target, at);
  }

  at(index: number): Memento {
    return { uri: this.uriAt(index), datetime: this.#datetimes[index] };
  }

  /** Whether all are addresses of the web, `http:` and `https:`. */
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

  /** A text that is the same for the same bytes, and for no others. */
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

/** Bytes as text. Those of a URI that is not UTF-8 are percent-encoded: decoding would change them. */
export function uriText(bytes: Uint8Array, start: number, end: number): string {
  const range = bytes.subarray(start, end);
  try {
    return STRICT_DECODER.decode(range);
  } catch {
    return asciiBytes(ONE_BYTE_DECODER.decode(range));
  }
}

/** A version of a page in an archive. */
export interface Memento {
  /** Where it is: the URI-M, as the archive wrote it. */
  readonly uri: string;
  /** Fourteen digits as a number, `20150213094521`, so that their order is the order of time. */
  readonly datetime: number;
}

/** What no URI has in it (RFC 3986, 2), besides bytes that are not ASCII. */
const FORBIDDEN = /[^!#$%&'()*+,\-./0-9:;=?@A-Z[\]_a-z~]/gu;
const NOT_ASCII = /[\u0080-\u{10ffff}]/gu;

/**
 * A URI as it can be sent: blanks, controls, quotes, angle brackets, braces, `|`, `\`, `^`, a
 * backtick and all that is not ASCII are percent-encoded. Nothing is decoded or normalised.
 *
 * Characters up to U+00FF stand for bytes, as they do in what comes from the network; those beyond
 * are encoded as UTF-8.
 */
export function sendableUri(uri: string): string {
  return uri.replaceAll(FORBIDDEN, percentEncoded);
}

/** The same for bytes that are not ASCII only: what else is there has a meaning, as in `Link`. */
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
