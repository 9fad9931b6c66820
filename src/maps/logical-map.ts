import { MementoMapError } from "../errors.ts";
import { type ByteSource, sourceChunks } from "../bytes/byte-source.ts";
import type { KeyAnswer } from "../lookup/decide.ts";
import type { KeyFinder } from "../lookup/map-lookup.ts";
import { foreignSpellings } from "../surt/spelling.ts";
import { MapSearch } from "../lookup/map-search.ts";
import { type PageMark, pageMark, PageRange, withoutPageMark } from "../ukvs/head.ts";
import { formatHeaders, type UkvsHeaders } from "../ukvs/header.ts";
import { readUkvs, type RecordBatch } from "../ukvs/reader.ts";

/**
 * One map, stored whole or as the pages of a split.
 *
 * Pages must be joined before anything is decided: an exclusion on one page may belong to a
 * wildcard on another. The headers lack the `page` member of `!meta`.
 */
export interface LogicalMap extends KeyFinder {
  readonly name: string;
  /** All records, from the start on each call; in any order if `checkOrder` is false. */
  batches(options?: { readonly checkOrder: boolean }): AsyncGenerator<RecordBatch, void, undefined>;
}

export interface OpenMapsOptions {
  readonly signal?: AbortSignal | undefined;
  /** Whether to reject maps that are empty or differ from their stated size. Default true. */
  readonly checkSize?: boolean | undefined;
}

/**
 * Opens maps, joining the pages of each split.
 *
 * Pages belong together if all their headers but `page` agree. The result is in the order of
 * the maps, or of the first page of each split.
 *
 * @throws MM_BAD_INPUT when a page is missing or duplicated; MM_BAD_HEADER; MM_IO.
 */
export async function openLogicalMaps(
  sources: readonly ByteSource[],
  options: OpenMapsOptions = {},
): Promise<LogicalMap[]> {
  const groups = new Map<string, Part[]>();
  for (const [index, source] of sources.entries()) {
    const search = await MapSearch.open(source, { ...options, isOnePageOfAll: true });
    const page = pageMark(search.headers, source.name);
    const headers = withoutPageMark(search.headers);
    const name =
      page === undefined
        ? `whole ${index}`
        : [`of ${page.of}`, ...formatHeaders(headers)].join("\n");
    const group = groups.get(name) ?? [];
    const range = PageRange.of(search.headers, source.name);
    group.push({ source, search, headers, page, range });
    groups.set(name, group);
  }
  return Array.from(groups.values(), (parts) => joined(parts, options));
}

interface Part {
  readonly source: ByteSource;
  readonly search: MapSearch;
  readonly headers: UkvsHeaders;
  readonly page: PageMark | undefined;
  readonly range: PageRange | undefined;
}

function joined(parts: readonly Part[], options: OpenMapsOptions): LogicalMap {
  const { signal, checkSize } = options;
  const ordered = parts.toSorted((a, b) => (a.page?.number ?? 0) - (b.page?.number ?? 0));
  const [head] = ordered;
  if (head === undefined) throw new MementoMapError("MM_USAGE", "a map needs at least one source");
  if (head.page !== undefined) checkComplete(ordered, head.page.of);
  const { name } = head.source;
  return {
    name,
    headers: head.headers,
    find: (key, asked) => findInParts(ordered, key, { signal, ...asked }),
    async *batches({ checkOrder } = { checkOrder: true }) {
      for (const { source } of ordered) {
        const reader = await readUkvs(sourceChunks(source, { signal }), {
          source: source.name,
          checkSize,
          checkOrder,
        });
        yield* reader.batches();
      }
    },
  };
}

function checkComplete(parts: readonly Part[], of: number): void {
  for (let number = 1; number <= of; number++) {
    const found = parts.filter(({ page }) => page?.number === number);
    if (found.length === 1) continue;
    const [, again = parts[0]] = found;
    const fault = found.length === 0 ? "is missing" : "is given twice";
    throw new MementoMapError(
      "MM_BAD_INPUT",
      `page ${number} of ${of} ${fault}; give every page of a map once`,
      again === undefined ? {} : { position: { source: again.source.name } },
    );
  }
}

async function findInParts(
  parts: readonly Part[],
  key: string,
  options: Parameters<KeyFinder["find"]>[1],
): Promise<KeyAnswer | undefined> {
  const bytes = encoder.encode(key);
  const isAnywhere = foreignSpellings(key, parts[0]?.headers.fields).length > 0;
  for (const { range, search } of parts) {
    if (!isAnywhere && range !== undefined && range.place(bytes) !== 0) continue;
    const answer = await search.find(key, options);
    // All rows of a key are on one page.
    if (answer !== undefined) return answer;
  }
  return undefined;
}

const encoder = new TextEncoder();
