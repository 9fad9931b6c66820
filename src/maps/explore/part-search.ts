import { compareBytes, LF } from "../../bytes/bytes.ts";
import { MementoMapError } from "../../errors.ts";
import { hostEnd, uriKey } from "../../surt/key.ts";
import { columnEnd } from "../../ukvs/record.ts";
import { Row } from "../../ukvs/row.ts";
import { behindAll, nodeRanges, type Part, partOf } from "./key-node.ts";
import { isTotal } from "./row-sums.ts";
import { SEGMENTS_AHEAD, type SummedRows } from "./summed-rows.ts";

/** Limit on the bytes of a map that one search reads; the next search continues there. */
const MAX_SEARCHED_BYTES = 16 * 2 ** 20;
const MAX_TEXT_LENGTH = 500;
/** Bytes of keys, most frequent first: a search scans for the rarest byte of its text. */
const FREQUENT = "eaotinsrclm/,pdhu0-1g.)b2f%vwy3k4589_67xjzq";
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The parts found in a map. */
export interface FoundParts {
  /** In the order of the map. */
  readonly parts: readonly Part[];
  /** The key to continue at; undefined at the end. */
  readonly next: string | undefined;
}

/**
 * Converts a search text, such as `example.com/news`, `Ökostrom` or `news`, to its form in keys.
 *
 * @throws MM_USAGE for an empty text, or one that no key can contain.
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
  // After a host, a path is encoded as in keys.
  const key = uriKey(`http://a.b/${trimmed}`).slice("b,a)/".length);
  return /[,)]/.test(trimmed) ? trimmed.toLowerCase() : key;
}

/** A matching key, `bytes[start, end)`, and the minimum length of the name of its part. */
interface FoundKey {
  readonly start: number;
  readonly end: number;
  readonly length: number;
}

/** Finds the first matching key in some rows, from the line at `from` on. */
type FindKey = (bytes: Uint8Array, from: number) => FoundKey | undefined;

interface PartOptions {
  readonly limit: number;
  /** The key to begin at: `next` of the previous parts. */
  readonly from: string | undefined;
  /** Text that names must contain; without it, the children of the node are listed. */
  readonly text?: string | undefined;
  /** Names to leave out. */
  readonly known?: ReadonlySet<string> | undefined;
  /** Limit on the bytes of the map to search for a text; default 16 MiB. */
  readonly maxBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Lists the children of a node in the order of the map, or the topmost parts below it whose names contain
 * a text; a text search reads a bounded range of the map at a time.
 */
export async function findParts(
  rows: SummedRows,
  name: string,
  { limit, from, text, known, maxBytes = MAX_SEARCHED_BYTES, signal }: PartOptions,
): Promise<FoundParts> {
  const { length } = encoder.encode(name);
  const find =
    text === undefined
      ? nextKey(rows, length + 1)
      : needle(encoder.encode(text), Math.max(0, length - 1));
  let left = text === undefined ? Infinity : maxBytes;
  const parts: Part[] = [];
  const begin = encoder.encode(from);
  for (const range of nodeRanges(name)) {
    const isBehind = (key: Uint8Array): boolean =>
      range.to !== undefined && compareBytes(key, range.to) >= 0;
    const start = compareBytes(range.from, begin) < 0 ? begin : range.from;
    if (isBehind(start)) continue;
    let { segment, at } = await rows.seek(start, signal);
    while (segment < rows.segments) {
      const bytes = await rows.segment(segment, SEGMENTS_AHEAD, signal);
      const found = find(bytes, at);
      left -= (found?.start ?? bytes.length) - at;
      if (found === undefined) {
        segment += 1;
        at = 0;
        if (segment >= rows.segments || isBehind(rows.firstOf(segment))) break;
        if (left <= 0) return { parts, next: decoder.decode(rows.firstOf(segment)) };
        continue;
      }
      const key = bytes.subarray(found.start, found.end);
      if (isBehind(key)) break;
      const part = partOf(bytes, found.start, found.end, found.length);
      const text = decoder.decode(key);
      const isFirst =
        part.isRow || (await rows.firstRow(nodeRanges(part.name), signal))?.key === text;
      if (isFirst && known?.has(part.name) !== true) {
        if (parts.length === limit) return { parts, next: text };
        parts.push({ name: part.name, isRow: part.isRow });
      }
      // All keys that begin with the run belong to the same part.
      if (part.run !== undefined) ({ segment, at } = await rows.seek(behindAll(part.run), signal));
      else {
        const lineEnd = bytes.indexOf(LF, found.end);
        at = lineEnd === -1 ? bytes.length : lineEnd + 1;
      }
    }
  }
  return { parts, next: undefined };
}

/** Matches every key; the names of parts include at least `length` bytes of it. */
function nextKey(rows: SummedRows, length: number): FindKey {
  const row = new Row();
  return (bytes, from) => {
    for (let at = from; at < bytes.length; at = row.next) {
      if (!rows.readRow(bytes, at, row) || isTotal(bytes, row)) continue;
      return { start: at, end: row.keyEnd, length };
    }
    return undefined;
  };
}

/** Matches keys that contain a text after their first `skipped` bytes. */
function needle(text: Uint8Array, skipped: number): FindKey {
  let rarest = 0;
  for (const [i, byte] of text.entries()) if (rank(byte) > rank(text[rarest])) rarest = i;
  return (bytes, from) => {
    for (let at = from + rarest; ; at++) {
      at = bytes.indexOf(text[rarest], at);
      if (at === -1) return undefined;
      const start = at - rarest;
      let i = 0;
      while (i < text.length && bytes[start + i] === text[i]) i++;
      if (i < text.length) continue;
      const line = start === 0 ? 0 : bytes.lastIndexOf(LF, start - 1) + 1;
      if (start < line + skipped) continue;
      const end = columnEnd(bytes, line, bytes.length);
      const length = start + text.length - line;
      if (line + length <= end) return { start: line, end, length };
    }
  };
}

/** How rare a byte is in keys. */
function rank(byte: number): number {
  const index = FREQUENT.indexOf(String.fromCharCode(byte));
  return index === -1 ? FREQUENT.length : index;
}
