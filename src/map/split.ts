import { LF, SPACE } from "../bytes/ascii.ts";
import { MementoMapError } from "../errors.ts";
import { type ByteSource, sourceChunks } from "../lookup/byte-source.ts";
import { keyEnd } from "../lookup/line-bounds.ts";
import { readMapHead } from "../lookup/map-head.ts";
import { SourceLines } from "../lookup/source-lines.ts";
import { formatHeaders, type UkvsHeaders } from "../ukvs/header.ts";
import { type PageMark, pageMark } from "./logical-map.ts";

/** How large pages are: so many of them, of equal size, or of so many records at most. */
export type SplitSize = { readonly pages: number } | { readonly maxLines: number };

/** One page of a map: what its header says, and where its records are. */
export interface MapPage extends PageMark {
  readonly records: number;
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
 * There are never more pages than records, and always at least one. The map must be sorted, for
 * the pages to be of use. Reads the source twice; holds one chunk and the list of pages.
 *
 * @throws MM_USAGE when the size is no positive integer; MM_BAD_INPUT when the map is a page
 *   itself; MM_BAD_HEADER, MM_BAD_LINE, MM_IO.
 */
export async function planPages(
  source: ByteSource,
  size: SplitSize,
  options: { readonly signal?: AbortSignal } = {},
): Promise<SplitPlan> {
  checkSize(size);
  const { signal } = options;
  const lines = new SourceLines(source);
  const { headers, recordsOffset } = await readMapHead(lines, signal);
  const mark = pageMark(headers, source.name);
  if (mark !== undefined) {
    throw new MementoMapError(
      "MM_BAD_INPUT",
      `this is page ${mark.number} of ${mark.of} of a map already; merge the pages first`,
      { position: { source: source.name } },
    );
  }

  let total = 0;
  await eachRecord(source, recordsOffset, signal, () => total++);
  const firstRecords = pageStarts(total, size);
  const firsts: number[] = [];
  const lasts: number[] = [];
  let record = 0;
  await eachRecord(source, recordsOffset, signal, (offset) => {
    if (record === firstRecords[firsts.length]) firsts.push(offset);
    lasts[firsts.length - 1] = offset;
    record++;
  });

  const pages: MapPage[] = [];
  for (const [index, firstRecord] of firstRecords.entries()) {
    pages.push({
      number: index + 1,
      of: firstRecords.length,
      ...(total === 0
        ? {}
        : {
            first: await keyAt(lines, firsts[index], signal),
            last: await keyAt(lines, lasts[index], signal),
          }),
      records: (firstRecords[index + 1] ?? total) - firstRecord,
      start: firsts[index] ?? recordsOffset,
      end: firsts[index + 1] ?? source.size,
    });
  }
  return { headers, pages };
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
  options: { readonly signal?: AbortSignal } = {},
): AsyncGenerator<Uint8Array, void, undefined> {
  const { number, of, first, last, start, end } = page;
  const mark: PageMark = {
    number,
    of,
    ...(first === undefined ? {} : { first }),
    ...(last === undefined ? {} : { last }),
  };
  const headers = plan.headers.with({ name: "meta", value: { page: mark } });
  yield new TextEncoder().encode(`${formatHeaders(headers).join("\n")}\n`);
  let lastByte = LF;
  for await (const chunk of sourceChunks(source, { start, end, signal: options.signal })) {
    lastByte = chunk[chunk.length - 1];
    yield chunk;
  }
  if (lastByte !== LF) yield Uint8Array.of(LF);
}

function checkSize(size: SplitSize): void {
  const [name, value] = "pages" in size ? ["pages", size.pages] : ["lines a page", size.maxLines];
  if (Number.isSafeInteger(value) && value > 0) return;
  throw new MementoMapError("MM_USAGE", `${value} is no number of ${name}; give 1 or more`);
}

/** The number of the first record of each page. */
function pageStarts(total: number, size: SplitSize): number[] {
  if (total === 0) return [0];
  if ("maxLines" in size) {
    const count = Math.ceil(total / size.maxLines);
    return Array.from({ length: count }, (_, page) => page * size.maxLines);
  }
  const count = Math.min(size.pages, total);
  // The product may exceed 2^53 only for maps that no disk holds.
  return Array.from({ length: count }, (_, page) => Math.floor((page * total) / count));
}

/** Calls `visit` with the offset of every line that is not blank, in one pass. */
async function eachRecord(
  source: ByteSource,
  start: number,
  signal: AbortSignal | undefined,
  visit: (offset: number) => void,
): Promise<void> {
  let chunkOffset = start;
  let isLineStart = true;
  let isInBlankLine = false;
  for await (const chunk of sourceChunks(source, { start, signal })) {
    for (let at = 0; at < chunk.length;) {
      if (isLineStart) {
        isInBlankLine = chunk[at] <= SPACE;
        if (!isInBlankLine) visit(chunkOffset + at);
      }
      const newline = chunk.indexOf(LF, at);
      const end = newline < 0 ? chunk.length : newline;
      if (isInBlankLine) refuseText(chunk, at, end, chunkOffset, source.name);
      isLineStart = newline >= 0;
      at = end + 1;
    }
    chunkOffset += chunk.length;
  }
}

function refuseText(
  chunk: Uint8Array,
  start: number,
  end: number,
  chunkOffset: number,
  source: string,
): void {
  for (let at = start; at < end; at++) {
    if (chunk[at] <= SPACE) continue;
    throw new MementoMapError(
      "MM_BAD_LINE",
      `the line around byte ${chunkOffset + at} starts with a blank, not with a key`,
      { position: { source } },
    );
  }
}

async function keyAt(
  lines: SourceLines,
  offset: number,
  signal: AbortSignal | undefined,
): Promise<string> {
  const { bytes, start, end } = await lines.lineAt(offset, signal);
  return new TextDecoder().decode(bytes.subarray(start, Math.min(keyEnd(bytes, start), end)));
}
