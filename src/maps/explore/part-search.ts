import { CLOSE_PAREN, COMMA, compareBytes, LF, QUESTION, SLASH, STAR } from "../../bytes/bytes.ts";
import { MementoMapError } from "../../errors.ts";
import { hostEnd, uriKey } from "../../surt/key.ts";
import { columnEnd } from "../../ukvs/record.ts";
import { behindAll, type KeyRange, nodeRanges } from "./key-node.ts";
import { lineEnd, type SummedRows } from "./summed-rows.ts";

/** How much of a map one search reads at most; it goes on where the last one ended. */
const MAX_SEARCHED_BYTES = 16 * 2 ** 20;
const MAX_TEXT_LENGTH = 500;
/** Bytes of keys, most frequent first: a search looks for the rarest byte of its text. */
const FREQUENT = "eaotinsrclm/,pdhu0-1g.)b2f%vwy3k4589_67xjzq";
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Which parts of a map a search found. */
export interface FoundParts {
  /** Names of nodes, and keys of single rows (queries), in the order of the map. */
  readonly parts: readonly { readonly name: string; readonly isRow: boolean }[];
  /** The key to go on at; undefined when the search reached the end. */
  readonly next: string | undefined;
}

/**
 * What keys have where people write `example.com/news`, `Ökostrom` or `news`.
 *
 * @throws MM_USAGE for an empty text, or one that no key can have.
 */
export function searchText(text: string): string {
  const trimmed = text.trim();
  if (trimmed === "" || trimmed.length > MAX_TEXT_LENGTH) {
    throw new MementoMapError("MM_USAGE", `search takes 1 to ${MAX_TEXT_LENGTH} characters`);
  }
  const isAddress = /^(?:[a-z]+:\/\/)?(?:[^\s/.,)]+\.)+[^\s/.,)]{2,}(?:\/|$)/i.test(trimmed);
  if (isAddress) {
    const key = uriKey(/^[a-z]+:\/\//i.test(trimmed) ? trimmed : `http://${trimmed}`);
    const end = hostEnd(key);
    return end !== -1 && key.length === end + 2 ? key.slice(0, end) : key;
  }
  // Behind a host, a path is written as keys have it.
  const key = uriKey(`http://a.b/${trimmed}`).slice("b,a)/".length);
  return /[,)]/.test(trimmed) ? trimmed.toLowerCase() : key;
}

/**
 * Finds the topmost parts below a node whose names have a text. Reads a bounded piece of the map.
 *
 * @param from the key to begin at, `next` of the search before.
 */
export async function searchParts(
  rows: SummedRows,
  name: string,
  options: {
    readonly text: string;
    readonly limit: number;
    readonly from: string | undefined;
    readonly firstKey: (ranges: readonly KeyRange[]) => Promise<string | undefined>;
    readonly maxBytes?: number | undefined;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<FoundParts> {
  const { text, limit, from, firstKey, maxBytes = MAX_SEARCHED_BYTES, signal } = options;
  const needle = new Needle(text, encoder.encode(name).length - 1);
  const parts: { name: string; isRow: boolean }[] = [];
  const start = from === undefined ? undefined : encoder.encode(from);
  let left = maxBytes;
  for (const range of nodeRanges(name)) {
    const begin = start !== undefined && compareBytes(range.from, start) < 0 ? start : range.from;
    if (range.to !== undefined && compareBytes(begin, range.to) >= 0) continue;
    let { segment, at } = await rows.seek(begin, signal);
    while (segment < rows.segments) {
      const read = rows.segmentAhead(segment, signal);
      const bytes = read instanceof Promise ? await read : read;
      const key = needle.next(bytes, at);
      const last = key === undefined ? bytes.length : key.start;
      const end = endOfRange(bytes, at, last, range.to);
      left -= (end ?? last) - at;
      if (end !== undefined) break;
      if (key === undefined) {
        segment += 1;
        at = 0;
        if (left > 0 || segment >= rows.segments) continue;
        const next = keyAt(await rows.segment(segment, signal), 0);
        return { parts, next };
      }
      const found = decoder.decode(bytes.subarray(key.start, key.end));
      if (!isInRange(bytes, key, range.to)) break;
      if (parts.length === limit) return { parts, next: found };
      const part = partOf(bytes, key);
      const isNew = part.isRow || (await firstKey(nodeRanges(part.name))) === found;
      if (isNew) parts.push({ name: part.name, isRow: part.isRow });
      // All keys that begin with the name are of the same part.
      if (part.run === undefined) at = lineEnd(bytes, key.start) + 1;
      else ({ segment, at } = await rows.seek(behindAll(encoder.encode(part.run)), signal));
    }
  }
  return { parts, next: undefined };
}

interface FoundKey {
  readonly start: number;
  readonly end: number;
  /** Where the text ends in it. */
  readonly textEnd: number;
}

/** A text that is looked for in the keys of rows. */
class Needle {
  readonly #bytes: Uint8Array;
  /** The rarest byte, and where it is in the text. */
  readonly #rare: number;
  readonly #at: number;
  /** Bytes at the beginning of keys that do not count. */
  readonly #skipped: number;

  constructor(text: string, skipped: number) {
    this.#bytes = encoder.encode(text);
    this.#skipped = Math.max(0, skipped);
    let at = 0;
    for (let i = 1; i < this.#bytes.length; i++) {
      if (rank(this.#bytes[i]) > rank(this.#bytes[at])) at = i;
    }
    this.#at = at;
    this.#rare = this.#bytes[at];
  }

  /** The next key that has the text, in the line at `from` or behind it. */
  next(bytes: Uint8Array, from: number): FoundKey | undefined {
    const needle = this.#bytes;
    let at = from + this.#at;
    for (;;) {
      at = bytes.indexOf(this.#rare, at);
      if (at === -1) return undefined;
      const start = at - this.#at;
      at += 1;
      let i = 0;
      while (i < needle.length && bytes[start + i] === needle[i]) i++;
      if (i < needle.length) continue;
      const lineStart = start === 0 ? 0 : bytes.lastIndexOf(LF, start - 1) + 1;
      if (start < lineStart + this.#skipped) continue;
      const end = columnEnd(bytes, lineStart, lineEnd(bytes, lineStart));
      if (start + needle.length <= end) {
        return { start: lineStart, end, textEnd: start + needle.length };
      }
    }
  }
}

/** How rare a byte is in keys. */
function rank(byte: number): number {
  const index = FREQUENT.indexOf(String.fromCharCode(byte));
  return index === -1 ? FREQUENT.length : index;
}

/** The part whose name ends where the text does, or at the next separator. */
function partOf(
  bytes: Uint8Array,
  { start, end, textEnd }: FoundKey,
): { name: string; isRow: boolean; run: string | undefined } {
  let host = start;
  while (host < end && bytes[host] !== CLOSE_PAREN) host++;
  const text = (to: number): string => decoder.decode(bytes.subarray(start, to));
  let at = textEnd - 1;
  if (host >= end) {
    const isWildcard = bytes[end - 1] === STAR && bytes[end - 2] === COMMA;
    if (!isWildcard || at >= end - 1) return { name: text(end), isRow: true, run: undefined };
    host = end - 2;
  }
  if (at < host || (at === host && bytes[at] === COMMA)) {
    while (at < host && bytes[at] !== COMMA) at++;
    const label = text(at);
    if (label.endsWith("*")) return { name: `${label})/`, isRow: false, run: `${label})` };
    return { name: `${label},`, isRow: false, run: label + String.fromCharCode(bytes[at]) };
  }
  // The text ends with the host, or with a slash of the path.
  if (at <= host + 1) return { name: `${text(host + 1)}/`, isRow: false, run: text(host + 1) };
  let query = host + 2;
  while (query < textEnd && bytes[query] !== QUESTION) query++;
  if (query < textEnd) return { name: text(end), isRow: true, run: undefined };
  while (at < end && bytes[at] !== SLASH && bytes[at] !== QUESTION) at++;
  const path = text(at);
  const run = at < end ? path + String.fromCharCode(bytes[at]) : undefined;
  return { name: `${path}/`, isRow: false, run };
}

function keyAt(bytes: Uint8Array, at: number): string {
  return decoder.decode(bytes.subarray(at, columnEnd(bytes, at, lineEnd(bytes, at))));
}

/** Where a range ends among the lines from `at` to `last`; undefined if it goes on. */
function endOfRange(
  bytes: Uint8Array,
  at: number,
  last: number,
  to: Uint8Array | undefined,
): number | undefined {
  if (to === undefined || last <= at) return undefined;
  const lineStart = bytes.lastIndexOf(LF, last - 2) + 1;
  const start = Math.max(at, lineStart);
  const key = bytes.subarray(start, columnEnd(bytes, start, lineEnd(bytes, start)));
  return compareBytes(key, to) < 0 ? undefined : last;
}

function isInRange(bytes: Uint8Array, key: FoundKey, to: Uint8Array | undefined): boolean {
  return to === undefined || compareBytes(bytes.subarray(key.start, key.end), to) < 0;
}
