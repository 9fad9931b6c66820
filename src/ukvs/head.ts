import { compareBytes, markLength } from "../bytes/bytes.ts";
import { located, MementoMapError, type Position, quote } from "../errors.ts";
import {
  checkSize,
  DEFAULT_FIELDS,
  type Header,
  isCount,
  isJsonObject,
  parseHeader,
  refuseForeignFile,
  refuseNoRecords,
  SIZE_HEADER,
  startsHeader,
  UkvsHeaders,
} from "./header.ts";
import { lineEnd, nextLine } from "./row.ts";
import type { SourceLines } from "../bytes/byte-source.ts";
import { parseFrequency } from "./frequency.ts";
import { parseRecord, skipBlanks } from "./record.ts";

/** The `page` member of `!meta`. */
export interface PageMark {
  readonly number: number;
  readonly of: number;
  /** The first and last key of the page; missing on an empty page. */
  readonly first?: string;
  readonly last?: string;
}

/**
 * Reads the page mark of the headers; undefined for a complete map. A part is a page without a stated key range.
 *
 * @throws MM_BAD_HEADER if it is invalid.
 */
export function pageMark(headers: UkvsHeaders, source: string): PageMark | undefined {
  const mark = headers.meta["page"] ?? headers.meta["part"];
  if (mark === undefined) return undefined;
  const { number, of, first, last } = isJsonObject(mark) ? mark : {};
  if (!isCount(number, 1) || !isCount(of, 1) || number > of) {
    throw new MementoMapError(
      "MM_BAD_HEADER",
      `the page in "!meta" is ${quote(JSON.stringify(mark) ?? "")}; expected {"number": 1, "of": 2, …}`,
      { position: { source } },
    );
  }
  return {
    number,
    of,
    ...(typeof first === "string" ? { first } : {}),
    ...(typeof last === "string" ? { last } : {}),
  };
}

/**
 * Adds a separate `!meta` which marks the rows as one key range of a map, generated separately: the keys from `from`
 * (inclusive) to `to` (exclusive).
 */
export function withPartMark(
  headers: UkvsHeaders,
  part: {
    readonly number: number;
    readonly of: number;
    readonly from?: string | undefined;
    readonly to?: string | undefined;
  },
): UkvsHeaders {
  return headers.with({ name: "meta", value: { part } });
}

/** The headers of the complete map: without page mark and `!size`. A `!meta` that becomes empty is removed. */
export function withoutPageMark(headers: UkvsHeaders): UkvsHeaders {
  return new UkvsHeaders(headers.list.flatMap(withoutPageMember));
}

function withoutPageMember(header: Header): Header[] {
  if (header.name === SIZE_HEADER) return [];
  if (header.name !== "meta" || !isJsonObject(header.value)) return [header];
  if (!("page" in header.value) && !("part" in header.value)) return [header];
  const { page: _page, part: _part, ...rest } = header.value;
  return Object.keys(rest).length === 0 ? [] : [{ name: header.name, value: rest }];
}

/**
 * The headers of a map to be read as a whole, without page mark and `!size`.
 *
 * @throws MM_PAGE if it is one page of several; MM_BAD_HEADER.
 */
export function wholeMapHeaders(headers: UkvsHeaders, source: string): UkvsHeaders {
  const mark = pageMark(headers, source);
  if (mark === undefined || mark.of === 1) return withoutPageMark(headers);
  throw new MementoMapError(
    "MM_PAGE",
    `this is page ${mark.number} of ${mark.of} of a map, not a map; merge the pages first`,
    { position: { source } },
  );
}

const encoder = new TextEncoder();

/**
 * The keys covered by a page of a map, from its first to its last key. The first page is open at the start, the
 * last page
 * at the end.
 */
export class PageRange {
  readonly mark: PageMark;
  readonly #source: string;
  readonly #first: Uint8Array | undefined;
  readonly #last: Uint8Array | undefined;
  readonly #hasRecords: boolean;

  constructor(mark: PageMark, source: string) {
    this.mark = mark;
    this.#source = source;
    this.#hasRecords = mark.first !== undefined && mark.last !== undefined;
    this.#first = mark.number === 1 ? undefined : encoder.encode(mark.first);
    this.#last = mark.number === mark.of ? undefined : encoder.encode(mark.last);
  }

  /** The range of a page; undefined for a complete map, even if marked as its only page. */
  static of(headers: UkvsHeaders, source: string): PageRange | undefined {
    const mark = pageMark(headers, source);
    return mark === undefined || mark.of === 1 ? undefined : new PageRange(mark, source);
  }

  /** Negative if a key belongs on an earlier page, positive if on a later one, 0 if on this one. */
  place(key: Uint8Array): number {
    if (this.#first !== undefined && (!this.#hasRecords || compareBytes(key, this.#first) < 0)) {
      return -1;
    }
    const isLater =
      this.#last !== undefined && (!this.#hasRecords || compareBytes(key, this.#last) > 0);
    return isLater ? 1 : 0;
  }

  /** @throws MM_PAGE if a row for the key may be on another page. */
  require(key: Uint8Array): void {
    if (this.place(key) !== 0) throw this.refusal(new TextDecoder().decode(key));
  }

  refusal(key: string): MementoMapError {
    const { number, of, first = "-", last = "-" } = this.mark;
    return new MementoMapError(
      "MM_PAGE",
      `this is page ${number} of ${of}, with the keys from ${quote(first)} to ${quote(last)}; the key ${quote(key)} is on another page: merge the pages first`,
      { position: { source: this.#source } },
    );
  }
}

/** The headers of a map and the start of its records. */
export interface MapHead {
  readonly headers: UkvsHeaders;
  /** The end of the last header line; `!size` counts from here. */
  readonly bodyOffset: number;
  /** The offset of the first line that is neither a header nor blank; the file size if there is none. */
  readonly recordsOffset: number;
  /** The number of that line, starting at 1. */
  readonly recordsLine: number;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Reads the headers of a map, which are its first lines, and checks the first row.
 *
 * @throws MM_BAD_HEADER, with its line, for an invalid header; MM_BAD_INPUT, MM_BAD_LINE and MM_BAD_FREQUENCY if
 * the first
 *   row is not that of a map.
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

/** Like `readMapHead`, for a map in memory. */
export function mapHeadOf(bytes: Uint8Array, source: string): MapHead {
  const head = new HeadReader(source);
  const offset = head.takeLines(bytes);
  return head.finish(offset);
}

/** Reads the headers of a map line by line. */
export class HeadReader {
  readonly #source: string;
  readonly #list: Header[] = [];
  #line = 1;
  #bodyOffset = 0;
  #firstRow: Uint8Array | undefined;
  /** Bytes read by {@link takeLines}. */
  #taken = 0;

  constructor(source: string) {
    this.#source = source;
  }

  /** The number of header and blank lines read so far. */
  get lines(): number {
    return this.#line - 1;
  }

  /** Reads the next complete lines of the map; returns the number of bytes before its rows. */
  takeLines(bytes: Uint8Array): number {
    let at = this.#taken === 0 ? markLength(bytes) : 0;
    while (at < bytes.length) {
      const end = lineEnd(bytes, at);
      const next = Math.min(nextLine(bytes, end), bytes.length);
      if (!this.take(bytes, at, end, this.#taken + next)) break;
      at = next;
    }
    this.#taken += at;
    return at;
  }

  /** Reads a line; the following line starts at `next`. Returns whether more headers may follow. */
  take(bytes: Uint8Array, start: number, end: number, next: number): boolean {
    if (skipBlanks(bytes, start, end) < end) {
      if (!startsHeader(bytes[start])) {
        refuseForeignFile(bytes.subarray(start), this.#list, this.#source);
        this.#firstRow = bytes.slice(start, end);
        return false;
      }
      const header = located(this.#position, () => parseHeader(textOfLine(bytes, start, end)));
      this.#list.push(header);
      this.#bodyOffset = next;
    }
    this.#line++;
    return true;
  }

  /** The headers read so far, and the offset of the body. */
  headers(): Pick<MapHead, "headers" | "bodyOffset"> {
    const headers = located({ source: this.#source }, () => new UkvsHeaders(this.#list));
    return { headers, bodyOffset: this.#bodyOffset };
  }

  /** Returns the head, after checking the first row. */
  finish(recordsOffset: number): MapHead {
    const { headers } = this.headers();
    const row = this.#firstRow;
    if (row !== undefined) located(this.#position, () => checkFirstRow(row, headers));
    return { headers, bodyOffset: this.#bodyOffset, recordsOffset, recordsLine: this.#line };
  }

  get #position(): Position {
    return { source: this.#source, line: this.#line };
  }
}

/** @throws MM_BAD_LINE for invalid UTF-8. */
export function textOfLine(bytes: Uint8Array, start: number, end: number): string {
  try {
    return decoder.decode(bytes.subarray(start, end));
  } catch (error) {
    throw new MementoMapError("MM_BAD_LINE", "the line looks binary: it is not UTF-8", {
      cause: error,
    });
  }
}

/**
 * Rejects a map of `size` bytes that is shorter than its `!size`, or has no records and no `!size` to confirm it.
 *
 * @throws MM_CUT, MM_EMPTY.
 */
export function refuseCut(head: MapHead, size: number, source: string): void {
  const { headers, bodyOffset } = head;
  checkSize(headers.size, { bytes: size - bodyOffset }, source);
  if (head.recordsOffset >= size) refuseNoRecords(headers.size, source);
}

/**
 * Rejects files whose first row is not that of a map, such as lists.
 *
 * A lookup does not read the whole map, and would report everything as absent. Files with `!fields` are not
 * checked, and
 * `refuseForeignFile` detects other formats.
 *
 * @throws MM_BAD_LINE and MM_BAD_FREQUENCY for an invalid row.
 */
function checkFirstRow(row: Uint8Array, headers: UkvsHeaders): void {
  const line = textOfLine(row, 0, row.length);
  if (headers.namesFields) return;
  const [frequency] = parseRecord(line, DEFAULT_FIELDS).values;
  if (frequency !== undefined) parseFrequency(frequency);
}

/** The time of the last change of the index (`updated_at`), in milliseconds since 1970; undefined if not stated. */
export function updatedAtOf({ meta }: UkvsHeaders): number | undefined {
  const { updated_at: stated } = meta;
  const time = typeof stated === "string" ? Date.parse(stated) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}
