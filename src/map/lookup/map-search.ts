import { compareRanges } from "../../bytes/bytes.ts";
import { MementoMapError } from "../../errors.ts";
import { surt as surtOf } from "../../surt/uri-to-surt.ts";
import { columnEnd, skipBlanks } from "../../ukvs/record.ts";
import type { UkvsHeaders } from "../../ukvs/header.ts";
import {
  type ByteSource,
  type SourceLine,
  SourceLines,
  type SourceLinesOptions,
} from "../../bytes/byte-source.ts";
import {
  type Answer,
  answerFromRows,
  findBySpelling,
  type KeyAnswer,
  lookupByKeys,
  type LookupOptions,
  lookupPeriod,
  type MapLookup,
} from "./map-lookup.ts";
import { PageRange, readMapHead, refuseCut } from "./map-head.ts";
import { checkRowStart, type RowLayout, rowLayout, type RowRange } from "./map-row.ts";
import { checkSignal } from "../../interruption.ts";

/** Below this many bytes, reading on line by line is as quick as halving. */
const SCAN_BYTES = 128;

const encoder = new TextEncoder();

/** How a map is opened for searching. */
export interface MapSearchOptions extends SourceLinesOptions {
  readonly signal?: AbortSignal | undefined;
  /** Whether to refuse a map that is shorter than it states. Default true. */
  readonly checkSize?: boolean | undefined;
  /**
   * Searches one page of a map as if there were no others; default false. For callers that know which
   * page a key is on.
   */
  readonly isOnePageOfAll?: boolean;
}

/**
 * Binary search over a sorted map that stays where it is: a file, memory, a remote range.
 *
 * Opening reads the headers. A search reads about log2(size / blockBytes) blocks when nothing is
 * kept yet; searches after it share the blocks kept. Nothing else is held, whatever the size. The
 * order of the map is not checked: an unsorted map gives wrong answers, so validate it first. Of one
 * page of a map only what is certain is answered.
 */
export class MapSearch implements MapLookup {
  readonly headers: UkvsHeaders;
  readonly #lines: SourceLines;
  readonly #recordsOffset: number;
  readonly #layout: RowLayout;
  readonly #page: PageRange | undefined;

  private constructor(
    lines: SourceLines,
    headers: UkvsHeaders,
    recordsOffset: number,
    page: PageRange | undefined,
  ) {
    this.headers = headers;
    this.#lines = lines;
    this.#recordsOffset = recordsOffset;
    this.#layout = rowLayout(headers.fields, lines.source.name);
    this.#page = page;
  }

  /**
   * Reads the headers of a map and makes it ready to search.
   *
   * @throws MM_BAD_HEADER; MM_BAD_INPUT when it is another kind of UKVS file; MM_CUT, MM_EMPTY; MM_IO.
   */
  static async open(source: ByteSource, options: MapSearchOptions = {}): Promise<MapSearch> {
    checkSignal(options.signal);
    const lines = new SourceLines(source, options);
    const head = await readMapHead(lines, options.signal);
    const { headers, recordsOffset } = head;
    const page = options.isOnePageOfAll === true ? undefined : PageRange.of(headers, source.name);
    const search = new MapSearch(lines, headers, recordsOffset, page);
    if (options.checkSize !== false) refuseCut(head, source.size, source.name);
    return search;
  }

  lookup(uri: string, options: LookupOptions = {}): Promise<Answer> {
    return this.lookupSurt(surtOf(uri), options);
  }

  lookupSurt(surt: string, options: LookupOptions = {}): Promise<Answer> {
    return lookupByKeys(this, surt, options);
  }

  /**
   * @throws MM_BAD_LINE and MM_BAD_FREQUENCY for a fault in the rows of the key; MM_PAGE when another
   *   page may have the key; MM_IO.
   */
  find(key: string, options: LookupOptions = {}): Promise<KeyAnswer | undefined> {
    return findBySpelling(key, this.#layout.fields, (spelling) =>
      this.findExactly(spelling, options),
    );
  }

  /** As `find`, of a key as it is written. */
  async findExactly(key: string, options: LookupOptions = {}): Promise<KeyAnswer | undefined> {
    checkSignal(options.signal);
    const rows = await this.#rowsOf(key, options.signal);
    return rows.length === 0
      ? undefined
      : answerFromRows(rows, this.#layout, lookupPeriod(options.at));
  }

  async #rowsOf(text: string, signal: AbortSignal | undefined): Promise<RowRange[]> {
    const key = encoder.encode(text);
    this.#page?.require(key);
    const rows: RowRange[] = [];
    let offset = await this.#narrow(key, signal);
    for (;;) {
      const line = await this.#recordAt(offset, signal);
      if (line === undefined) return rows;
      const order = compareKey(line, key);
      if (order > 0) return rows;
      if (order === 0) rows.push(line);
      offset = line.next;
    }
  }

  /** The start of a line shortly before the first whose key is not below `key`. */
  async #narrow(key: Uint8Array, signal: AbortSignal | undefined): Promise<number> {
    // Lines that start before `low` have keys below `key`; those that start after `high` do not.
    let low = this.#recordsOffset;
    let high = this.#lines.source.size;
    while (high - low > SCAN_BYTES) {
      const middle = this.#middle(low, high);
      const start = await this.#lines.startAfter(middle, signal);
      const line = start > high ? undefined : await this.#recordAt(start, signal);
      if (line === undefined || compareKey(line, key) >= 0) high = middle;
      else low = start;
    }
    return low;
  }

  /** Between the two; at the start of a block as long as there is one, so that blocks are shared. */
  #middle(low: number, high: number): number {
    const middle = low + Math.floor((high - low) / 2);
    const { blockBytes } = this.#lines;
    const aligned = Math.floor(middle / blockBytes) * blockBytes;
    return aligned > low ? aligned : middle;
  }

  /** The line at an offset, or the first after it that is not blank. */
  async #recordAt(from: number, signal: AbortSignal | undefined): Promise<SourceLine | undefined> {
    let offset = from;
    while (offset < this.#lines.source.size) {
      const line = await this.#lines.lineAt(offset, signal);
      const keyEnd = columnEnd(line.bytes, line.start, line.end);
      if (keyEnd > line.start) {
        checkRowStart(line.bytes, line.start, { source: this.#lines.source.name });
        return line;
      }
      if (skipBlanks(line.bytes, line.start, line.end) < line.end) {
        throw this.#startsWithBlank(offset);
      }
      offset = line.next;
    }
    return undefined;
  }

  #startsWithBlank(offset: number): MementoMapError {
    return new MementoMapError(
      "MM_BAD_LINE",
      `the line at byte ${offset} starts with a blank, not with a key`,
      { position: { source: this.#lines.source.name } },
    );
  }
}

function compareKey(line: SourceLine, key: Uint8Array): number {
  const end = columnEnd(line.bytes, line.start, line.end);
  return compareRanges(line.bytes, line.start, end, key, 0, key.length);
}
