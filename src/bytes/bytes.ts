import { MementoMapError, badInput } from "../errors.ts";

/** Byte values with a meaning in our formats. */
export const TAB = 0x09;
export const LF = 0x0a;
export const CR = 0x0d;
export const SPACE = 0x20;
export const BANG = 0x21;
export const QUOTE = 0x22;
export const HASH = 0x23;
export const PERCENT = 0x25;
export const CLOSE_PAREN = 0x29;
export const STAR = 0x2a;
export const PLUS = 0x2b;
export const COMMA = 0x2c;
export const MINUS = 0x2d;
export const SLASH = 0x2f;
export const ZERO = 0x30;
export const NINE = 0x39;
export const COLON = 0x3a;
export const QUESTION = 0x3f;
export const AT = 0x40;
export const OPEN_BRACKET = 0x5b;
export const BACKSLASH = 0x5c;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
export const DELETE = 0x7f;

/** Whether a byte is an ASCII digit. */
export function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}

/** The value of an ASCII hexadecimal digit, or -1. */
export function hexValue(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

/** Whether a text is at an offset, and ends at or before `end`. */
export function standsAt(bytes: Uint8Array, at: number, end: number, text: Uint8Array): boolean {
  const { length } = text;
  if (at + length > end) return false;
  for (let i = 0; i < length; i++) if (bytes[at + i] !== text[i]) return false;
  return true;
}

/** The offset of the first byte from `from` on that is not a blank or control character, or `end`. */
export function skipBlanks(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && bytes[at] <= SPACE) at++;
  return at;
}

/** As {@link skipBlanks}, for lists with commas as separators. */
export function skipBlanksAndCommas(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && (bytes[at] <= SPACE || bytes[at] === COMMA)) at++;
  return at;
}

/**
 * Compares two byte ranges as unsigned bytes, the order of `LC_ALL=C sort`.
 *
 * Negative, zero or positive, as for `Array.prototype.sort`. A prefix comes before longer ranges.
 */
export function compareRanges(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
): number {
  const aLength = aEnd - aStart;
  const bLength = bEnd - bStart;
  const shared = aLength < bLength ? aLength : bLength;
  for (let i = 0; i < shared; i++) {
    const difference = a[aStart + i] - b[bStart + i];
    if (difference !== 0) return difference;
  }
  return aLength - bLength;
}

/** Compares two whole byte arrays as unsigned bytes. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  return compareRanges(a, 0, a.length, b, 0, b.length);
}

/** The number of leading bytes that two ranges share. */
export function commonPrefix(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
): number {
  const aLength = aEnd - aStart;
  const bLength = bEnd - bStart;
  const limit = aLength < bLength ? aLength : bLength;
  let i = 0;
  while (i < limit && a[aStart + i] === b[bStart + i]) i++;
  return i;
}

/**
 * The number of leading bytes that two ranges of the same bytes share, found four bytes at a time.
 *
 * For neighbouring lines of a sorted file, which share most of their bytes.
 */
export function commonPrefixWithin(
  view: DataView,
  aStart: number,
  aEnd: number,
  bStart: number,
  bEnd: number,
): number {
  const aLength = aEnd - aStart;
  const bLength = bEnd - bStart;
  const limit = aLength < bLength ? aLength : bLength;
  let i = 0;
  while (i + 4 <= limit && view.getInt32(aStart + i) === view.getInt32(bStart + i)) i += 4;
  while (i < limit && view.getUint8(aStart + i) === view.getUint8(bStart + i)) i++;
  return i;
}

/** Compares two ranges of the same bytes, as `compareRanges` does, four bytes at a time. */
export function compareWithin(
  view: DataView,
  aStart: number,
  aEnd: number,
  bStart: number,
  bEnd: number,
): number {
  const at = commonPrefixWithin(view, aStart, aEnd, bStart, bEnd);
  if (aStart + at === aEnd || bStart + at === bEnd) return aEnd - aStart - (bEnd - bStart);
  return view.getUint8(aStart + at) - view.getUint8(bStart + at);
}

/** Whether two ranges of the same bytes are equal. */
export function equalWithin(
  view: DataView,
  aStart: number,
  aEnd: number,
  bStart: number,
  bEnd: number,
): boolean {
  const length = aEnd - aStart;
  if (length !== bEnd - bStart) return false;
  return commonPrefixWithin(view, aStart, aEnd, bStart, bEnd) === length;
}

/** Below this, a plain loop beats the call to `TypedArray.prototype.set` on a fresh `subarray`. */
const LOOP_LIMIT = 96;

/** Copies `source[start, end)` into `target` at `at`; returns the offset after the copy. */
export function copyRange(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  at: number,
): number {
  const length = end - start;
  if (length > LOOP_LIMIT) {
    target.set(source.subarray(start, end), at);
  } else {
    for (let i = 0; i < length; i++) target[at + i] = source[start + i];
  }
  return at + length;
}

/** The array itself if it has at least `length` bytes, or else a larger copy. */
export function withRoom(bytes: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> {
  if (length <= bytes.length) return bytes;
  const larger = new Uint8Array(length * 2);
  larger.set(bytes);
  return larger;
}

/** Concatenates arrays into a new one. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/**
 * Finds the next occurrence of a byte for growing offsets. The last result is cached, so that no byte
 * is searched twice, however rare the byte is.
 */
export class NextByte {
  readonly #byte: number;
  #bytes: Uint8Array = new Uint8Array(0);
  #from = 0;
  #found = -1;

  constructor(byte: number) {
    this.#byte = byte;
  }

  /** Sets the bytes to search; in Node, a `Buffer` is much faster. */
  take(bytes: Uint8Array): void {
    this.#bytes = bytes;
    this.#found = -1;
  }

  /** The offset of the first occurrence at or after `from`, or the length of the array. */
  from(from: number): number {
    if (from <= this.#found && from >= this.#from) return this.#found;
    const found = this.#bytes.indexOf(this.#byte, from);
    this.#from = from;
    this.#found = found === -1 ? this.#bytes.length : found;
    return this.#found;
  }
}

const CHUNK = 8192;

/** The bytes of `source[start..end)` as a string with one char code per byte. */
export function byteString(source: Uint8Array, start: number, end: number): string {
  let text = "";
  for (let i = start; i < end; i += CHUNK) {
    text += String.fromCharCode(...source.subarray(i, Math.min(i + CHUNK, end)));
  }
  return text;
}

/** Writes a non-negative integer in decimal at `at`; returns the offset after it. */
export function writeDecimal(value: number, target: Uint8Array, at: number): number {
  if (value < 10) {
    target[at] = ZERO + value;
    return at + 1;
  }
  const digits = String(value);
  for (let i = 0; i < digits.length; i++) target[at + i] = digits.charCodeAt(i);
  return at + digits.length;
}

/**
 * A 32-bit hash of a byte range, for hash tables in memory only: it may change between versions
 * and must never be written to a file.
 *
 * FNV-1a with a final mix: one byte at a time is fast enough for short keys, and needs no alignment.
 */
export function hashRange(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ bytes[i], 0x01000193);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  hash ^= hash >>> 13;
  return hash >>> 0;
}

/** The number of line feeds in `bytes`. */
export function countLines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) count++;
  return count;
}

/**
 * Whether all bytes are printable ASCII, tabs, and line ends LF or CRLF: text that needs no further
 * checks. False is not an error: the bytes may be UTF-8.
 */
export function isPlainText(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at];
    if (byte >= SPACE && byte < DELETE) continue;
    if (byte !== LF && byte !== TAB && (byte !== CR || bytes[at + 1] !== LF)) return false;
  }
  return true;
}

/** U+FEFF in UTF-8, which some programs write at the start of a text. It is not part of a line. */
const MARK = [0xef, 0xbb, 0xbf] as const;
export const MARK_BYTES: number = MARK.length;

/** The length of the byte order mark at the start of a text: three bytes, or none. */
export function markLength(text: Uint8Array): number {
  return MARK.every((byte, i) => text[i] === byte) ? MARK.length : 0;
}

/**
 * The first bytes of a packed map. As in PNG, they detect transfers that change line ends or clear the
 * eighth bit.
 */
export const PACKED_MAGIC: Uint8Array = new TextEncoder().encode("\tMMP\r\n\u001a\n").with(0, 0x89);

/** Whether a file that begins with these bytes is a packed map. */
export function isPacked(start: Uint8Array): boolean {
  return standsAt(start, 0, start.length, PACKED_MAGIC);
}

/** The first and last bytes of a run of keys, as written by `partition`: `MMR` as above. */
export const RUN_MAGIC: Uint8Array = PACKED_MAGIC.with(3, 0x52);

/** Whether a file that begins with these bytes is a run of keys. */
export function isRun(start: Uint8Array): boolean {
  return standsAt(start, 0, start.length, RUN_MAGIC);
}

/** The first bytes of learned state of an aggregator, of any version; a digit follows. */
const LEARNT_MAGIC = new TextEncoder().encode("mmlearn");

/** Whether a file that begins with these bytes is learned state of an aggregator, of any version. */
export function isLearnt(start: Uint8Array): boolean {
  return standsAt(start, 0, start.length, LEARNT_MAGIC);
}

/** Compression of an input. */
export type Compression = "gzip" | "zstd";

/** Recognizes gzip and zstd by the first four bytes; file names do not matter. */
export function recognizeCompression(start: Uint8Array): Compression | undefined {
  const [a, b, c, d] = start;
  if (a === 0x1f && b === 0x8b) return "gzip";
  if (a === 0x28 && b === 0xb5 && c === 0x2f && d === 0xfd) return "zstd";
  // A skippable frame, which some writers put at the start of a zstd file.
  if (a !== undefined && a >> 4 === 5 && b === 0x2a && c === 0x4d && d === 0x18) return "zstd";
  return undefined;
}

const ELEMENTS = "html|head|body|title|meta|link|script|style|h1|h2|p|div|center|table";
const HTML = new RegExp(`^\\uFEFF?\\s*<(?:!doctype\\s|!--|\\?xml\\s|(?:${ELEMENTS})[\\s>])`, "i");

/** Whether text begins like an HTML or XML page. */
export function looksLikeHtml(text: string): boolean {
  return HTML.test(text);
}

/** The error for an HTML page where something else was expected. */
export function htmlInstead(wanted: string, source: string): MementoMapError {
  return badInput(
    source,
    `this is an HTML page, not ${wanted}; it may be an error or login page of a server`,
  );
}
