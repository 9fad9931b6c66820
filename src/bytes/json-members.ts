import {
  BACKSLASH,
  CLOSE_BRACE,
  COLON,
  COMMA,
  OPEN_BRACE,
  QUOTE,
  skipBlanks,
  SLASH,
  SPACE,
  standsAt,
} from "./bytes.ts";

const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/**
 * Iterates over the members of a single-line JSON object without creating strings.
 *
 * Limited to the needs of index files: names and scalar values as byte ranges, escapes unchanged,
 * nested values skipped. It does not validate JSON; it only rejects input that it cannot parse.
 */
export class JsonMembers {
  nameStart = 0;
  nameEnd = 0;
  /** For a string, the text between the quotes; for other values, their text. */
  valueStart = 0;
  valueEnd = 0;
  #bytes: Uint8Array = new Uint8Array(0);
  #view: DataView = new DataView(new ArrayBuffer(0));
  #at = 0;
  #end = 0;

  /** A view of the bytes. */
  get view(): DataView {
    return this.#view;
  }

  /** The offset after the current value; at the end of the object, that of its brace. */
  get offset(): number {
    return this.#at;
  }

  /** Whether the current value is a string. */
  get isString(): boolean {
    return this.#bytes[this.valueStart - 1] === QUOTE;
  }

  /** Whether the current value is neither an object nor an array. */
  get isScalar(): boolean {
    if (this.isString) return true;
    const first = this.#bytes[this.valueStart];
    return first !== OPEN_BRACE && first !== OPEN_BRACKET;
  }

  /** Starts at the object in `bytes[start, end)`; false if it does not begin with `{`. */
  open(bytes: Uint8Array, start: number, end: number): boolean {
    if (bytes !== this.#bytes) {
      this.#bytes = bytes;
      this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    this.#end = end;
    this.#at = skipBlanks(bytes, start, end);
    if (bytes[this.#at] !== OPEN_BRACE) return false;
    this.#at++;
    return true;
  }

  /** Moves to the next member; 1 if there is one, 0 at the end, -1 if this is not JSON. */
  next(): 1 | 0 | -1 {
    const bytes = this.#bytes;
    const view = this.#view;
    const end = this.#end;
    let at = skipBlanks(bytes, this.#at, end);
    if (at < end && bytes[at] === COMMA) at = skipBlanks(bytes, at + 1, end);
    if (at >= end) return -1;
    if (bytes[at] === CLOSE_BRACE) {
      this.#at = at;
      return 0;
    }
    if (bytes[at] !== QUOTE) return -1;
    this.nameStart = at + 1;
    at = stringEnd(bytes, view, at + 1, end);
    if (at === -1) return -1;
    this.nameEnd = at;
    at = skipBlanks(bytes, at + 1, end);
    if (bytes[at] !== COLON) return -1;
    at = skipBlanks(bytes, at + 1, end);
    if (bytes[at] === QUOTE) {
      this.valueStart = at + 1;
      at = stringEnd(bytes, view, at + 1, end);
      if (at === -1) return -1;
      this.valueEnd = at++;
    } else {
      this.valueStart = at;
      at = valueEnd(bytes, view, at, end);
      if (at === -1) return -1;
      this.valueEnd = at;
    }
    this.#at = at;
    return 1;
  }

  /** Whether the current member has this (ASCII) name. */
  isNamed(name: Uint8Array): boolean {
    const { nameStart, nameEnd } = this;
    return nameEnd - nameStart === name.length && standsAt(this.#bytes, nameStart, nameEnd, name);
  }
}

/** A byte order mark at the start of a string belongs to it. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Unescapes the JSON string with the content `bytes[start, end)`.
 *
 * Invalid JSON is returned unchanged: iterating over members does not validate them.
 */
export function unescapeJson(bytes: Uint8Array, start: number, end: number): string {
  const text = decoder.decode(bytes.subarray(start, end));
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return text;
  }
}

/** As {@link unescapeJson}, as bytes. Only `\/`, which PHP writes in every URI, needs no string. */
export function unescapedBytes(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const text = new Uint8Array(end - start);
  let to = 0;
  for (let at = start; at < end; at++) {
    if (bytes[at] === BACKSLASH && bytes[++at] !== SLASH) {
      return new TextEncoder().encode(unescapeJson(bytes, start, end));
    }
    text[to++] = bytes[at];
  }
  return text.subarray(0, to);
}

const FOUR_QUOTES = 0x22222222;
const FOUR_BACKSLASHES = 0x5c5c5c5c;

/** The offset of the quote that ends a string, or -1. Checks four bytes at a time. */
export function stringEnd(bytes: Uint8Array, view: DataView, from: number, end: number): number {
  let at = from;
  for (;;) {
    while (at + 4 <= end) {
      const four = view.getInt32(at);
      if (hasZeroByte(four ^ FOUR_QUOTES) || hasZeroByte(four ^ FOUR_BACKSLASHES)) break;
      at += 4;
    }
    const stop = at + 4 <= end ? at + 4 : end;
    for (; at < stop; at++) {
      const byte = bytes[at];
      if (byte === QUOTE) return at;
      if (byte === BACKSLASH) at++;
    }
    if (at >= end) return -1;
  }
}

/** Whether one of the four bytes of a number is zero. */
function hasZeroByte(four: number): boolean {
  return ((four - 0x01010101) & ~four & 0x80808080) !== 0;
}

/** The end of a value; -1 if no delimiter follows it before `end`. */
export function valueEnd(bytes: Uint8Array, view: DataView, from: number, end: number): number {
  let depth = 0;
  for (let at = from; at < end; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = stringEnd(bytes, view, at + 1, end);
      if (at === -1) return -1;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth++;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (depth === 0) return at;
      depth--;
    } else if (depth === 0 && (byte === COMMA || byte <= SPACE)) {
      return at;
    }
  }
  return -1;
}
