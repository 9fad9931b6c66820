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

/** How large pages are: a number of about equal pages, or a number of records at most. */
export type SplitSize = { readonly pages: number } | { readonly maxLines: number };

/** One page of a map: what its header says, and where its records are. */
export interface MapPage extends PageMark {
  readonly records: number;
  /** Bytes of its records as they are written, the last line with its end. */
  readonly bytes: number;
  /** The byte range of its records in the map. */
  readonly start: number;
  readonly end: number;
}

/** A map divided into pages, without a byte of it moved. */
export interface SplitPlan {
  readonly headers: UkvsHeaders;
  readonly pages: readonly MapPage[];
}

/**
 * Divides a map into pages in key order.
 *
 * All rows of one key are on one page: a page is longer than `maxLines` only when one key has more
 * rows. There is always at least one page, and there are fewer than `pages` when there are too few
 * keys. The map must be sorted. Pages have its lines as they are: merge a map alone first to have them
 * in the form of writers. Reads the source once, and twice when the number of pages is given;
 * holds one chunk and the list of pages.
 *
 * @throws MM_USAGE when the size is not a positive integer; MM_BAD_INPUT when the map is a page
 *   itself; MM_NOT_SORTED, MM_BAD_HEADER, MM_BAD_LINE, MM_IO.
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
 * @throws MM_BAD_INPUT when it is a page itself; MM_BAD_HEADER, MM_IO.
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
    `this is page ${mark.number} of ${mark.of} of a map already; merge the pages first`,
    { position: { source: name } },
  );
}

/**
 * Takes a row of a sorted map.
 *
 * @param isNew whether the row before has another key.
 * @param shared how many bytes its key and that of the row before have in common.
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

/** The pages between cuts, with the keys they begin and end with. */
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
 * One page as a source of its own, without a byte of the map copied: all headers of the map and
 * `!meta {"page": …}`, the records where they stand in the map, and a line feed if the map lacks its last.
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

/** Members of a `page` besides those of `PageMark`, such as where the next page is. */
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
  const [name, value] = "pages" in size ? ["pages", size.pages] : ["lines a page", size.maxLines];
  if (Number.isSafeInteger(value) && value > 0) return;
  throw new MementoMapError("MM_USAGE", `${value} is not a number of ${name}; give 1 or more`);
}

/** Where the first and the last record of a page start. */
interface Cut {
  readonly first: number;
  readonly last: number;
  readonly records: number;
}

/** Where pages end: at these numbers of records of the map, or at most this many records of a page. */
export type CutRule =
  | { readonly wanted: readonly number[] }
  /** A page may end this part of it before it is full, if the tree of keys has a better place there. */
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
 * Cuts a map into pages while it is read. All rows of one key stay together.
 *
 * With slack, in the last part of a page the cut goes where the neighbouring keys have least in common:
 * best between two top-level domains, then between sites, hosts, folders. So most sites are on one page.
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

  /** @param end where the page of a map without records is. */
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

  /** The pages; there is always one. */
  finish(): readonly Cut[] {
    return [...this.#cuts, this.#page];
  }
}

/** How many labels and segments the common beginning of two keys has. */
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
