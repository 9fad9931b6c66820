import { type ByteSource, readWhole, sourceChunks, SourceLines } from "../bytes/byte-source.ts";
import { CLOSE_PAREN, COMMA, joinBytes, LF, SLASH } from "../bytes/bytes.ts";
import { MementoMapError } from "../errors.ts";
import { type PageMark, pageMark } from "../ukvs/head.ts";
import { refuseNoRecords, SizedHead, type UkvsHeaders } from "../ukvs/header.ts";
import { CurrentKey } from "../ukvs/key-tree.ts";
import { readUkvs, type UkvsReader } from "../ukvs/reader.ts";
import { notSorted } from "../ukvs/record.ts";
import { keyEnd } from "../ukvs/row.ts";
import { requireFrequency, type RowCursor, visitRows } from "./row-cursor.ts";

const decoder = new TextDecoder();

/** Page size: a number of about equal pages, or a maximum number of records per page. */
export type SplitSize = { readonly pages: number } | { readonly maxLines: number };

/** One page of a map: its header mark, and the place of its records. */
export interface MapPage extends PageMark {
  readonly records: number;
  /** Bytes of its records as written, including the end of the last line. */
  readonly bytes: number;
  /** The byte range of its records in the map. */
  readonly start: number;
  readonly end: number;
}

/** The division of a map into pages; no byte is moved. */
export interface SplitPlan {
  readonly headers: UkvsHeaders;
  readonly pages: readonly MapPage[];
}

/**
 * Divides a map into pages in key order.
 *
 * All rows of one key stay on one page: a page exceeds `maxLines` only if one key has more rows.
 * There is at least one page, and there are fewer than `pages` if there are too few keys. The map
 * must be sorted. Pages contain its lines unchanged: merge a map alone first to get the canonical
 * form. Reads the source once, or twice if the number of pages is given; holds one chunk and the
 * list of pages.
 *
 * @throws MM_USAGE when the size is not a positive integer; MM_BAD_INPUT when the map is itself a
 *   page; MM_NOT_SORTED, MM_BAD_HEADER, MM_BAD_LINE, MM_IO.
 */
export async function planPages(
  source: ByteSource,
  size: SplitSize,
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<SplitPlan> {
  checkPages(size);
  const { signal } = options;
  const rule = "pages" in size ? await cutsForCount(source, size.pages, signal) : size;
  const reader = await openWholeMap(source, signal);
  const cuts = new PageCuts(rule, source.size);
  await eachRow(reader, source.name, (row, isNew, shared) => cuts.add(row, isNew, shared));
  return { headers: reader.headers, pages: await pagesOf(source, cuts.finish(), signal) };
}

/**
 * Opens a map to read all of it with {@link eachRow}.
 *
 * @throws MM_BAD_INPUT when it is itself a page; MM_BAD_HEADER, MM_IO.
 */
export async function openWholeMap(source: ByteSource, signal?: AbortSignal): Promise<UkvsReader> {
  const { name } = source;
  const chunks = sourceChunks(source, { signal });
  const reader = await readUkvs(chunks, { source: name, checkOrder: false });
  const mark = pageMark(reader.headers, name);
  if (mark === undefined) return reader;
  await reader.close();
  throw new MementoMapError(
    "MM_BAD_INPUT",
    `this is page ${mark.number} of ${mark.of} of a map; merge all pages first`,
    { position: { source: name } },
  );
}

/**
 * Receives a row of a sorted map.
 *
 * @param isNew whether the key differs from that of the previous row.
 * @param shared the number of leading bytes that the key shares with the previous one.
 */
export type VisitRow = (row: RowCursor, isNew: boolean, shared: number) => void;

/**
 * Calls `visit` with every row, in one pass.
 *
 * @throws MM_NOT_SORTED; MM_CUT when the map states another size, MM_EMPTY; MM_BAD_LINE,
 *   MM_BAD_FREQUENCY, MM_IO.
 */
export async function eachRow(reader: UkvsReader, name: string, visit: VisitRow): Promise<void> {
  const last = new CurrentKey();
  await visitRows(reader.batches(), (row) => {
    const { bytes, start, keyEnd } = row;
    const order = last.compare(bytes, start, keyEnd);
    if (order < 0) {
      const key = decoder.decode(bytes.subarray(start, keyEnd));
      throw notSorted(1, key, last.text(), { source: name, line: row.line });
    }
    requireFrequency(row, name);
    visit(row, order > 0, last.shared);
    if (order > 0) last.set(bytes, start, keyEnd);
  });
  if (last.length === 0) refuseNoRecords(reader.headers.size, name);
}

/** The pages between cuts, with their first and last keys. */
export async function pagesOf(
  source: ByteSource,
  cuts: readonly Cut[],
  signal?: AbortSignal,
): Promise<MapPage[]> {
  const lines = new SourceLines(source);
  const hasEnd = source.size === 0 || (await readWhole(source, source.size - 1, 1))[0] === LF;
  const pages: MapPage[] = [];
  for (const [index, { first, last, records }] of cuts.entries()) {
    const end = cuts[index + 1]?.first ?? source.size;
    const lacksEnd = !hasEnd && end === source.size && first < end;
    const keys =
      records === 0
        ? {}
        : { first: await keyAt(lines, first, signal), last: await keyAt(lines, last, signal) };
    const bytes = end - first + (lacksEnd ? 1 : 0);
    pages.push({ number: index + 1, of: cuts.length, ...keys, records, bytes, start: first, end });
  }
  return pages;
}

/**
 * One page as a source, without copying the map: all headers of the map and `!meta {"page": …}`, the
 * records from their place in the map, and a line feed if the map lacks its last.
 */
export function pageSource(
  map: ByteSource,
  plan: SplitPlan,
  page: MapPage,
  more: PageMembers = {},
): ByteSource {
  const head = pageHead(plan, page, more);
  const recordsEnd = head.length + page.end - page.start;
  const tail = new Uint8Array(page.bytes - (page.end - page.start)).fill(LF);
  const size = recordsEnd + tail.length;
  return {
    name: `page ${page.number} of ${map.name}`,
    size,
    async read(offset, length, signal) {
      const end = Math.min(offset + length, size);
      const parts = [head.subarray(offset, Math.max(offset, end))];
      const from = Math.max(offset, head.length);
      const to = Math.min(end, recordsEnd);
      if (from < to) {
        const start = page.start + from - head.length;
        parts.push(await readWhole(map, start, to - from, signal));
      }
      if (offset < end && end > recordsEnd) parts.push(tail);
      return joinBytes(parts);
    },
  };
}

/** Members of a `page` besides those of `PageMark`, such as links. */
export type PageMembers = Readonly<Record<string, unknown>>;

function pageHead(plan: SplitPlan, page: MapPage, more: PageMembers): Uint8Array {
  const { number, of, first, last } = page;
  const mark: PageMark = {
    number,
    of,
    ...(first === undefined ? {} : { first }),
    ...(last === undefined ? {} : { last }),
  };
  const headers = plan.headers.with({ name: "meta", value: { page: { ...mark, ...more } } });
  const { bytes, records } = page;
  return new SizedHead(headers).bytes({ bytes, records });
}

function checkPages(size: SplitSize): void {
  const [name, value] = "pages" in size ? ["pages", size.pages] : ["lines per page", size.maxLines];
  if (Number.isSafeInteger(value) && value > 0) return;
  throw new MementoMapError(
    "MM_USAGE",
    `the number of ${name} must be an integer ≥ 1, got ${value}`,
  );
}

/** Offsets of the first and the last record of a page. */
interface Cut {
  readonly first: number;
  readonly last: number;
  readonly records: number;
}

/** Page ends: after these numbers of records of the map, or after at most this many of a page. */
export type CutRule =
  | { readonly wanted: readonly number[] }
  /** `slack` is the fraction of a page that may stay unused if the key tree has a better place to cut. */
  | { readonly maxLines: number; readonly slack?: number };

async function cutsForCount(
  source: ByteSource,
  pages: number,
  signal: AbortSignal | undefined,
): Promise<CutRule> {
  let total = 0;
  await visitRows((await openWholeMap(source, signal)).batches(), () => void total++);
  // The product exceeds 2^53 only for maps that no disk holds.
  const wanted = Array.from({ length: pages }, (_, page) => Math.floor((page * total) / pages));
  return { wanted: [...new Set(wanted)].slice(1) };
}

/**
 * Cuts a map into pages while it is read, keeping the rows of one key together.
 *
 * With slack, the last part of a page is cut where neighbouring keys have the least in common: ideally
 * between two top-level domains, then between sites, hosts, folders. So most sites are on one page.
 */
export class PageCuts {
  readonly #wanted: number[];
  readonly #maxRecords: number;
  readonly #earliest: number;
  readonly #hasSlack: boolean;
  readonly #cuts: Cut[] = [];
  #page: Cut;
  #records = 0;
  #best: (Cut & { readonly depth: number }) | undefined;

  /** @param end offset of the page of a map without records. */
  constructor(rule: CutRule, end: number) {
    const { maxLines, slack = 0 } = "wanted" in rule ? { maxLines: Infinity } : rule;
    this.#wanted = "wanted" in rule ? [...rule.wanted] : [];
    this.#maxRecords = maxLines;
    this.#hasSlack = slack > 0;
    this.#earliest = slack > 0 ? Math.max(1, Math.floor(maxLines * (1 - slack))) : 1;
    this.#page = { first: end, last: end, records: 0 };
  }

  add({ bytes, start, offset }: RowCursor, isNew: boolean, shared: number): void {
    const { first, last, records } = this.#page;
    if (isNew && records >= this.#earliest) {
      const depth = this.#hasSlack ? sharedDepth(bytes, start, start + shared) : 0;
      if (this.#best === undefined || depth <= this.#best.depth) {
        this.#best = { first: offset, last, records, depth };
      }
    }
    const isWanted = isNew && this.#records >= (this.#wanted[0] ?? Infinity);
    if ((isWanted || records >= this.#maxRecords) && this.#best !== undefined) {
      this.#cuts.push({ first, last: this.#best.last, records: this.#best.records });
      this.#page = { first: this.#best.first, last, records: records - this.#best.records };
      this.#best = undefined;
      while (this.#records >= (this.#wanted[0] ?? Infinity)) this.#wanted.shift();
    }
    const page = this.#page;
    const from = page.records === 0 ? offset : page.first;
    this.#page = { first: from, last: offset, records: page.records + 1 };
    this.#records++;
  }

  /** The pages, at least one. */
  finish(): readonly Cut[] {
    return [...this.#cuts, this.#page];
  }
}

/** Number of labels and segments in the common prefix of two keys. */
function sharedDepth(bytes: Uint8Array, start: number, end: number): number {
  let depth = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at];
    if (byte === COMMA || byte === CLOSE_PAREN || byte === SLASH) depth++;
  }
  return depth;
}

async function keyAt(
  lines: SourceLines,
  offset: number,
  signal: AbortSignal | undefined,
): Promise<string> {
  const { bytes, start, end } = await lines.lineAt(offset, signal);
  return decoder.decode(bytes.subarray(start, Math.min(keyEnd(bytes, start), end)));
}
