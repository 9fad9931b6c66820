import { compareBytes, CR, LF, ZERO } from "../bytes/bytes.ts";
import { lineBatches } from "../bytes/lines.ts";
import { isMementoMapError, MementoMapError } from "../errors.ts";
import { type ByteSource, readWhole, sourceChunks, SourceLines } from "../bytes/byte-source.ts";
import { keyEnd, plainKeyEnd } from "../ukvs/row.ts";
import { type PageMark, pageMark, readMapHead, refuseCut, withoutPageMark } from "../ukvs/head.ts";
import { columnEnd, LastKey, notSorted, skipBlanks } from "../ukvs/record.ts";
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
  const cuts = await cutPages(
    region,
    "pages" in size ? await cutsForCount(region, size.pages) : size,
  );
  return { headers, pages: await pagesOf(region, cuts) };
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

/**
 * Whether a map has the form that writers produce, so that merging it alone would not change it. Tells
 * this of plain maps only: of others, and of those with a fault, it says false. Reads the map once, or
 * up to the first other row.
 */
export async function isCanonicalMap(source: ByteSource, signal?: AbortSignal): Promise<boolean> {
  try {
    const { headers, region } = await openWholeMap(source, signal);
    const { keys, values } = headers.fields;
    if (keys.length !== 1 || values.length !== 1) return false;
    const { start, bodyOffset } = region;
    const records = await countPlainRows(source, start, signal);
    if (records === undefined) return false;
    const size = { bytes: source.size - bodyOffset, records };
    const head = new SizedHead(withoutPageMark(headers)).bytes(size);
    return head.length === start && compareBytes(head, await readWhole(source, 0, start)) === 0;
  } catch (error) {
    // Merging it reports the fault.
    if (isMementoMapError(error) && error.code !== "MM_INTERRUPTED") return false;
    throw error;
  }
}

/** How many rows there are from `start` on; undefined where one is not plain or not behind the last. */
async function countPlainRows(
  source: ByteSource,
  start: number,
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  const lastKey = new LastKey(1);
  let records = 0;
  let length = start;
  const chunks = sourceChunks(source, { start, signal });
  for await (const batch of lineBatches(chunks, { source: source.name })) {
    const { bytes, starts, ends, count } = batch;
    for (let i = 0; i < count; i++) {
      const [from, to] = [starts[i], ends[i]];
      const keyEnd = plainKeyEnd(bytes, from, to);
      if (keyEnd === -1 || lastKey.compareTo(bytes, from, keyEnd) >= 0) return undefined;
      // Another 0, such as 0+ or 00, is written as 0.
      if (bytes[keyEnd + 1] === ZERO && keyEnd + 2 < to) return undefined;
      lastKey.remember(bytes, from, keyEnd);
      length += to - from + 1;
    }
    records += count;
  }
  // Lines that end in CR LF, and a last one without an end, are not of this length.
  return length === source.size ? records : undefined;
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
export interface Cut {
  first: number;
  last: number;
  records: number;
}

/** Says where pages may end: as early as at `wanted` records of the map, or at `maxLines` of a page. */
type CutRule = { readonly maxLines: number } | { readonly wanted: readonly number[] };

async function cutsForCount(region: Region, pages: number): Promise<CutRule> {
  let total = 0;
  await eachRecord(region, () => total++);
  // The product exceeds 2^53 only for maps that no disk holds.
  const wanted = Array.from({ length: pages }, (_, page) => Math.floor((page * total) / pages));
  return { wanted: [...new Set(wanted)].slice(1) };
}

async function cutPages(region: Region, rule: CutRule): Promise<Cut[]> {
  const lastKey = new LastKey(1);
  let page: Cut = { first: region.start, last: region.start, records: 0 };
  const cuts = [page];
  // The rows of the current key: they move to the next page together.
  let key: Cut = { first: region.start, last: region.start, records: 0 };
  let record = 0;
  let nextWanted = 0;

  const addKeyToPage = (): void => {
    const isFull =
      "maxLines" in rule
        ? page.records + key.records > rule.maxLines
        : record - key.records >= (rule.wanted[nextWanted] ?? Infinity);
    if (isFull && page.records > 0) {
      page = { ...key };
      cuts.push(page);
      if ("wanted" in rule) {
        while ((rule.wanted[nextWanted] ?? Infinity) <= record - key.records) nextWanted++;
      }
      return;
    }
    if (page.records === 0) page.first = key.first;
    page.last = key.last;
    page.records += key.records;
  };

  await eachRecord(region, (bytes, start, end, offset, line) => {
    const stop = columnEnd(bytes, start, end);
    const comparison = lastKey.compareTo(bytes, start, stop);
    if (comparison > 0) {
      const text = decoder.decode(bytes.subarray(start, stop));
      throw notSorted(text, lastKey.text(), { source: region.source.name, line });
    }
    if (comparison < 0) {
      if (key.records > 0) addKeyToPage();
      key = { first: offset, last: offset, records: 0 };
      lastKey.remember(bytes, start, stop);
    }
    key.last = offset;
    key.records++;
    record++;
  });
  if (key.records > 0) addKeyToPage();
  return cuts;
}

/** Told of each record: its line within `bytes`, its offset in the source, its line number. */
export type Visit = (
  bytes: Uint8Array,
  start: number,
  end: number,
  offset: number,
  line: number,
) => void;

/**
 * Calls `visit` with every line that is not blank and its offset in the source, in one pass.
 *
 * @throws MM_CUT when the map states another number of records; MM_BAD_LINE, MM_IO.
 */
export async function eachRecord(region: Region, visit: Visit): Promise<void> {
  const { source, start, signal } = region;
  let offset = start;
  let records = 0;
  const chunks = sourceChunks(source, { start, signal });
  for await (const { bytes, starts, ends, count, firstLine } of lineBatches(chunks, {
    source: source.name,
  })) {
    for (let i = 0; i < count; i++) {
      const lineStart = starts[i];
      const lineEnd = ends[i];
      const text = skipBlanks(bytes, lineStart, lineEnd);
      if (text === lineStart && text < lineEnd) {
        visit(bytes, lineStart, lineEnd, offset, region.firstLine - 1 + firstLine + i);
        records++;
      } else if (text < lineEnd) {
        throw new MementoMapError(
          "MM_BAD_LINE",
          `the line at byte ${offset} starts with a blank, not with a key`,
          { position: { source: source.name } },
        );
      }
      offset += lineEnd - lineStart + (bytes[lineEnd] === CR ? 2 : 1);
    }
  }
  checkSize(region.size, { bytes: source.size - region.bodyOffset, records }, source.name);
}

async function keyAt(
  lines: SourceLines,
  offset: number,
  signal: AbortSignal | undefined,
): Promise<string> {
  const { bytes, start, end } = await lines.lineAt(offset, signal);
  return decoder.decode(bytes.subarray(start, Math.min(keyEnd(bytes, start), end)));
}
