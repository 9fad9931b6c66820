import { CLOSE_PAREN, COMMA, CR, LF, SLASH } from "../bytes/bytes.ts";
import { lineBatches } from "../bytes/lines.ts";
import { MementoMapError } from "../errors.ts";
import { type ByteSource, readWhole, sourceChunks, SourceLines } from "../bytes/byte-source.ts";
import { keyEnd } from "../ukvs/row.ts";
import { CurrentKey } from "../ukvs/key-tree.ts";
import { type PageMark, pageMark, readMapHead, refuseCut } from "../ukvs/head.ts";
import { columnEnd, notSorted, skipBlanks } from "../ukvs/record.ts";
import { checkSize, type MapSize, SizedHead, type UkvsHeaders } from "../ukvs/header.ts";

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
  const { headers, region } = await openWholeMap(source, options.signal);
  const cuts = new PageCuts(
    "pages" in size ? await cutsForCount(region, size.pages) : size,
    region.start,
  );
  await eachRow(region, (row) => cuts.add(row));
  return { headers, pages: await pagesOf(region, cuts.finish()) };
}

/**
 * Reads the headers of a map that is to be cut into pages.
 *
 * @throws MM_BAD_INPUT when it is a page itself; MM_BAD_HEADER, MM_IO.
 */
export async function openWholeMap(
  source: ByteSource,
  signal?: AbortSignal,
): Promise<{ readonly headers: UkvsHeaders; readonly region: Region }> {
  const lines = new SourceLines(source);
  const head = await readMapHead(lines, signal);
  const { headers, bodyOffset, recordsOffset, recordsLine } = head;
  const mark = pageMark(headers, source.name);
  if (mark !== undefined) {
    throw new MementoMapError(
      "MM_BAD_INPUT",
      `this is page ${mark.number} of ${mark.of} of a map already; merge the pages first`,
      { position: { source: source.name } },
    );
  }
  refuseCut(head, source.size, source.name);
  const { size } = headers;
  const region = { source, start: recordsOffset, bodyOffset, size, firstLine: recordsLine, signal };
  return { headers, region };
}

/** The pages between cuts, with the keys they begin and end with. */
export async function pagesOf(region: Region, cuts: readonly Cut[]): Promise<MapPage[]> {
  const { source, signal } = region;
  const lines = new SourceLines(source);
  const hasEnd = source.size === 0 || (await readWhole(source, source.size - 1, 1))[0] === LF;
  const pages: MapPage[] = [];
  for (const [index, cut] of cuts.entries()) {
    const start = cut.first;
    const end = cuts[index + 1]?.first ?? source.size;
    const lacksEnd = !hasEnd && end === source.size && start < end;
    pages.push({
      number: index + 1,
      of: cuts.length,
      ...(cut.records === 0
        ? {}
        : {
            first: await keyAt(lines, cut.first, signal),
            last: await keyAt(lines, cut.last, signal),
          }),
      records: cut.records,
      bytes: end - start + (lacksEnd ? 1 : 0),
      start,
      end,
    });
  }
  return pages;
}

/**
 * The bytes of one page: all headers of the map, `!meta {"page": …}`, and its records.
 *
 * Holds one chunk. Pages can be read in any order, and again.
 */
export async function* pageChunks(
  source: ByteSource,
  plan: SplitPlan,
  page: MapPage,
  options: { readonly signal?: AbortSignal | undefined; readonly more?: PageMembers } = {},
): AsyncGenerator<Uint8Array, void, undefined> {
  const { start, end } = page;
  yield pageHead(plan, page, options.more);
  let lastByte = LF;
  for await (const chunk of sourceChunks(source, { start, end, signal: options.signal })) {
    lastByte = chunk[chunk.length - 1];
    yield chunk;
  }
  if (lastByte !== LF) yield Uint8Array.of(LF);
}

/** Members of a `page` besides those of `PageMark`, such as where the next page is. */
export type PageMembers = Readonly<Record<string, unknown>>;

/** The lines before the records of a page: all headers of the map and `!meta {"page": …}`. */
export function pageHead(plan: SplitPlan, page: MapPage, more: PageMembers = {}): Uint8Array {
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

/** The records of a map. */
export interface Region {
  readonly source: ByteSource;
  readonly start: number;
  /** Where the last header ends, and what the map states to hold behind it. */
  readonly bodyOffset: number;
  readonly size: MapSize | undefined;
  /** The number of the line at `start`. */
  readonly firstLine: number;
  readonly signal: AbortSignal | undefined;
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

async function cutsForCount(region: Region, pages: number): Promise<CutRule> {
  let total = 0;
  await eachRow(region, () => total++);
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

  constructor(rule: CutRule, start: number) {
    const { maxLines, slack = 0 } = "wanted" in rule ? { maxLines: Infinity } : rule;
    this.#wanted = "wanted" in rule ? [...rule.wanted] : [];
    this.#maxRecords = maxLines;
    this.#hasSlack = slack > 0;
    this.#earliest = slack > 0 ? Math.max(1, Math.floor(maxLines * (1 - slack))) : 1;
    this.#page = { first: start, last: start, records: 0 };
  }

  add({ bytes, start, offset, isNew, shared }: ReadRow): void {
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

/** A row as it is read, `bytes[start, end)`; valid until the next one. */
export interface ReadRow {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly keyEnd: number;
  readonly end: number;
  /** Where it starts in the source. */
  readonly offset: number;
  /** Whether the row before has another key, and how many bytes the two have in common. */
  readonly isNew: boolean;
  readonly shared: number;
}

/**
 * Calls `visit` with every row, in one pass.
 *
 * @throws MM_NOT_SORTED; MM_CUT when the map states another number of records; MM_BAD_LINE, MM_IO.
 */
export async function eachRow(region: Region, visit: (row: ReadRow) => void): Promise<void> {
  const { source, start: regionStart, signal } = region;
  const { name } = source;
  const last = new CurrentKey();
  let offset = regionStart;
  let records = 0;
  const chunks = sourceChunks(source, { start: regionStart, signal });
  for await (const batch of lineBatches(chunks, { source: name })) {
    const { bytes, starts, ends } = batch;
    for (let i = 0; i < batch.count; i++) {
      const start = starts[i];
      const end = ends[i];
      const text = skipBlanks(bytes, start, end);
      if (text > start && text < end) {
        throw new MementoMapError(
          "MM_BAD_LINE",
          `the line at byte ${offset} starts with a blank, not with a key`,
          { position: { source: name } },
        );
      }
      if (text < end) {
        const keyEnd = columnEnd(bytes, start, end);
        const order = last.compare(bytes, start, keyEnd);
        const isNew = order > 0 || records === 0;
        if (order < 0) {
          const key = decoder.decode(bytes.subarray(start, keyEnd));
          const line = region.firstLine - 1 + batch.firstLine + i;
          throw notSorted(key, last.text(), { source: name, line });
        }
        visit({ bytes, start, keyEnd, end, offset, isNew, shared: last.shared });
        if (isNew) last.set(bytes, start, keyEnd);
        records++;
      }
      offset += end - start + (bytes[end] === CR ? 2 : 1);
    }
  }
  checkSize(region.size, { bytes: source.size - region.bodyOffset, records }, name);
}

async function keyAt(
  lines: SourceLines,
  offset: number,
  signal: AbortSignal | undefined,
): Promise<string> {
  const { bytes, start, end } = await lines.lineAt(offset, signal);
  return decoder.decode(bytes.subarray(start, Math.min(keyEnd(bytes, start), end)));
}
