import { markLength } from "../../bytes/bytes.ts";
import { isMementoMapError, MementoMapError, type Position } from "../../errors.ts";
import {
  checkSize,
  type Header,
  parseHeader,
  refuseForeignFile,
  refuseNoRecords,
  startsHeader,
  UkvsHeaders,
} from "../../ukvs/header.ts";
import { checkFirstRow } from "./first-row.ts";
import { lineEnd, nextLine } from "./line-bounds.ts";
import type { SourceLines } from "./source-lines.ts";

/** The headers of a map, and where its records start. */
export interface MapHead {
  readonly headers: UkvsHeaders;
  /** Where the last header line ends; `!size` counts from here. */
  readonly bodyOffset: number;
  /** The offset of the first line that is no header and not blank; the size when there is none. */
  readonly recordsOffset: number;
  /** The number of that line, counted from 1. */
  readonly recordsLine: number;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Reads the headers of a map, which are its first lines, and looks at the first row.
 *
 * @throws MM_BAD_HEADER, with its line, for a header that cannot be read; MM_BAD_INPUT, MM_BAD_LINE
 *   and MM_BAD_FREQUENCY when the first row is not that of a map.
 */
export async function readMapHead(lines: SourceLines, signal?: AbortSignal): Promise<MapHead> {
  const head = new HeadReader(lines.source.name);
  let offset = 0;
  if (lines.source.size > 0) {
    const { bytes, start, end } = await lines.lineAt(0, signal);
    offset = markLength(bytes.subarray(start, end));
  }
  while (offset < lines.source.size) {
    const line = await lines.lineAt(offset, signal);
    if (!head.take(line.bytes, line.start, line.end, line.next)) break;
    offset = line.next;
  }
  return head.finish(offset);
}

/** As `readMapHead`, for a map in memory. */
export function mapHeadOf(bytes: Uint8Array, source: string): MapHead {
  const head = new HeadReader(source);
  let offset = markLength(bytes);
  while (offset < bytes.length) {
    const end = lineEnd(bytes, offset);
    const next = Math.min(nextLine(bytes, end), bytes.length);
    if (!head.take(bytes, offset, end, next)) break;
    offset = next;
  }
  return head.finish(offset);
}

class HeadReader {
  readonly #source: string;
  readonly #list: Header[] = [];
  #line = 1;
  #bodyOffset = 0;
  #firstRow: string | undefined;

  constructor(source: string) {
    this.#source = source;
  }

  /** Takes a line, behind which comes that at `next`; says whether headers may follow. */
  take(bytes: Uint8Array, start: number, end: number, next: number): boolean {
    if (!isBlank(bytes, start, end)) {
      if (!startsHeader(bytes[start])) {
        refuseForeignFile(bytes.subarray(start, end), this.#list, this.#source);
      }
      const text = located(this.#position, () => textOf(bytes, start, end));
      if (!startsHeader(bytes[start])) {
        this.#firstRow = text;
        return false;
      }
      this.#list.push(located(this.#position, () => parseHeader(text)));
      this.#bodyOffset = next;
    }
    this.#line++;
    return true;
  }

  finish(recordsOffset: number): MapHead {
    const headers = located({ source: this.#source }, () => new UkvsHeaders(this.#list));
    if (this.#firstRow !== undefined) checkFirstRow(this.#firstRow, headers, this.#position);
    return { headers, bodyOffset: this.#bodyOffset, recordsOffset, recordsLine: this.#line };
  }

  get #position(): Position {
    return { source: this.#source, line: this.#line };
  }
}

function located<T>(position: Position, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw isMementoMapError(error) ? error.at(position) : error;
  }
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  try {
    return decoder.decode(bytes.subarray(start, end));
  } catch (error) {
    throw new MementoMapError("MM_BAD_LINE", "the line looks binary: it is not UTF-8", {
      cause: error,
    });
  }
}

function isBlank(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] > 0x20) return false;
  return true;
}

/**
 * Refuses a map of `size` bytes that is shorter than it states, or holds no record without stating so.
 *
 * @throws MM_CUT, MM_EMPTY.
 */
export function refuseCut(head: MapHead, size: number, source: string): void {
  const { headers, bodyOffset } = head;
  checkSize(headers.size, { bytes: size - bodyOffset }, source);
  refuseEmpty(head, size, source);
}

/**
 * Refuses a map that holds no record in its first `size` bytes without stating so.
 *
 * @throws MM_EMPTY.
 */
export function refuseEmpty(head: MapHead, size: number, source: string): void {
  if (head.recordsOffset >= size) refuseNoRecords(head.headers.size, source);
}
