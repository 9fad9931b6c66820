import { compareRanges } from "../bytes/compare.ts";
import { MementoMapError } from "../errors.ts";
import { lookupKeys } from "../surt/lookup-keys.ts";
import { surt as surtOf } from "../surt/surt.ts";
import { columnEnd } from "../ukvs/columns.ts";
import type { UkvsHeaders } from "../ukvs/header.ts";
import type { ByteSource } from "./byte-source.ts";
import type { Answer, KeyAnswer, LookupOptions, MapLookup } from "./lookup.ts";
import { readMapHead, refuseCut } from "./map-head.ts";
import { bareHome, type RowLayout, rowLayout, type RowRange } from "./map-row.ts";
import { answerFromRows, lookupPeriod } from "./row-answer.ts";
import { type SourceLine, SourceLines, type SourceLinesOptions } from "./source-lines.ts";

/** Below this many bytes, reading on line by line is as quick as halving. */
const SCAN_BYTES = 128;

const encoder = new TextEncoder();

/** How a map is opened for searching. */
export interface MapSearchOptions extends SourceLinesOptions {
  readonly signal?: AbortSignal;
  /** Whether to refuse a map that is shorter than it states. Default true. */
  readonly checkSize?: boolean | undefined;
}

/**
 * Binary search over a sorted map that stays where it is: a file, memory, a remote range.
 *
 * Opening reads the headers. A search reads about log2(size / blockBytes) blocks when nothing is
 * kept yet; searches after it share the blocks kept. Nothing else is held, whatever the size. The
 * order of the map is not checked: an unsorted map gives wrong answers, so validate it first.
 */
export class MapSearch implements MapLookup {
  readonly headers: UkvsHeaders;
  readonly #lines: SourceLines;
  readonly #recordsOffset: number;
  readonly #layout: RowLayout;

  private constructor(
    lines: SourceLines,
    headers: UkvsHeaders,
    recordsOffset: number,
    layout: RowLayout,
  ) {
    this.headers = headers;
    this.#lines = lines;
    this.#recordsOffset = recordsOffset;
    this.#layout = layout;
  }

  /**
   * Reads the headers of a map and makes it ready to search.
   *
   * @throws MM_BAD_HEADER; MM_BAD_INPUT when it is another kind of UKVS file; MM_CUT, MM_EMPTY; MM_IO.
   */
  static async open(source: ByteSource, options: MapSearchOptions = {}): Promise<MapSearch> {
    const lines = new SourceLines(source, options);
    const head = await readMapHead(lines, options.signal);
    const { headers, recordsOffset } = head;
    const layout = rowLayout(headers.fields, source.name);
    if (options.checkSize !== false) refuseCut(head, source.size, source.name);
    return new MapSearch(lines, headers, recordsOffset, layout);
  }

  lookup(uri: string, options: LookupOptions = {}): Promise<Answer> {
    return this.lookupSurt(surtOf(uri), options);
  }

  async lookupSurt(surt: string, options: LookupOptions = {}): Promise<Answer> {
    for (const { key, distance } of lookupKeys(surt)) {
      const found = await this.find(key, options);
      if (found !== undefined) return { ...found, distance };
    }
    return { present: false };
  }

  /** @throws MM_BAD_LINE and MM_BAD_FREQUENCY for a fault in the rows of the key; MM_IO. */
  async find(key: string, options: LookupOptions = {}): Promise<KeyAnswer | undefined> {
    let rows = await this.#rowsOf(key, options.signal);
    const bare = rows.length === 0 ? bareHome(key) : undefined;
    if (bare !== undefined) rows = await this.#rowsOf(bare, options.signal);
    return rows.length === 0
      ? undefined
      : answerFromRows(rows, this.#layout, lookupPeriod(options.at));
  }

  async #rowsOf(text: string, signal: AbortSignal | undefined): Promise<RowRange[]> {
    const key = encoder.encode(text);
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
      if (keyEnd > line.start) return line;
      if (keyEnd < line.end) throw this.#startsWithBlank(offset);
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
