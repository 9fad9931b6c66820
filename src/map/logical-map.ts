import { compareBytes } from "../bytes/compare.ts";
import { MementoMapError, quote } from "../errors.ts";
import { type ByteSource, sourceChunks } from "../lookup/byte-source.ts";
import type { KeyAnswer, KeyFinder } from "../lookup/lookup.ts";
import { bareHome } from "../lookup/map-row.ts";
import { MapSearch } from "../lookup/map-search.ts";
import { addFrequencies, formatFrequency, parseFrequency } from "../ukvs/frequency.ts";
import { formatHeaders, type Header, UkvsHeaders } from "../ukvs/header.ts";
import { SIZE_HEADER } from "../ukvs/map-size.ts";
import { readUkvs } from "../ukvs/reader.ts";
import type { RecordBatch } from "../ukvs/record-batch.ts";
import { isJsonObject } from "../ukvs/relaxed-json.ts";

/**
 * One map, whether it came whole or as the pages of a split.
 *
 * Pages must be one map before anything is decided about them: an exclusion on one page may belong
 * to a wildcard on another.
 */
export interface LogicalMap extends KeyFinder {
  readonly name: string;
  /** Without the `page` member of `!meta`. */
  readonly headers: UkvsHeaders;
  /** All records in key order, from the start each time it is called. */
  batches(): AsyncGenerator<RecordBatch, void, undefined>;
}

/** What the `page` member of `!meta` says. */
export interface PageMark {
  readonly number: number;
  readonly of: number;
  /** The first and last key of the page; none on an empty page. */
  readonly first?: string;
  readonly last?: string;
}

export interface OpenMapsOptions {
  readonly signal?: AbortSignal;
  /** Whether to refuse maps that are not of the size they state, or hold nothing. Default true. */
  readonly checkSize?: boolean | undefined;
}

/**
 * Opens maps, putting the pages of each split together.
 *
 * Pages belong together when they say the same in all headers but `page`. Order of the result: as
 * the maps, or the first pages of maps, are given.
 *
 * @throws MM_BAD_INPUT when a page is missing or given twice; MM_BAD_HEADER; MM_IO.
 */
export async function openLogicalMaps(
  sources: readonly ByteSource[],
  options: OpenMapsOptions = {},
): Promise<LogicalMap[]> {
  const groups = new Map<string, Part[]>();
  for (const [index, source] of sources.entries()) {
    const search = await MapSearch.open(source, options);
    const page = pageMark(search.headers, source.name);
    const headers = withoutPageMark(search.headers);
    const name =
      page === undefined
        ? `whole ${index}`
        : [`of ${page.of}`, ...formatHeaders(headers)].join("\n");
    const group = groups.get(name) ?? [];
    group.push({
      source,
      search,
      headers,
      page,
      first: bytesOf(page?.first),
      last: bytesOf(page?.last),
    });
    groups.set(name, group);
  }
  return Array.from(groups.values(), (parts) => joined(parts, options));
}

/**
 * Reads what a header says about pages; undefined for a map that is whole.
 *
 * @throws MM_BAD_HEADER when it makes no sense.
 */
export function pageMark(headers: UkvsHeaders, source: string): PageMark | undefined {
  const mark = headers.meta["page"];
  if (mark === undefined) return undefined;
  const { number, of, first, last } = isJsonObject(mark) ? mark : {};
  if (!isCount(number) || !isCount(of) || number > of) {
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

/** The same headers, of the whole map, without `!size`. A `!meta` that says nothing else goes. */
export function withoutPageMark(headers: UkvsHeaders): UkvsHeaders {
  return new UkvsHeaders(headers.list.flatMap(withoutPageMember));
}

function withoutPageMember(header: Header): Header[] {
  if (header.name === SIZE_HEADER) return [];
  if (header.name !== "meta" || !isJsonObject(header.value) || !("page" in header.value)) {
    return [header];
  }
  const { page: _page, ...rest } = header.value;
  return Object.keys(rest).length === 0 ? [] : [{ name: header.name, value: rest }];
}

interface Part {
  readonly source: ByteSource;
  readonly search: MapSearch;
  readonly headers: UkvsHeaders;
  readonly page: PageMark | undefined;
  readonly first: Uint8Array | undefined;
  readonly last: Uint8Array | undefined;
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
    async *batches() {
      for (const { source } of ordered) {
        const reader = await readUkvs(sourceChunks(source, { signal }), {
          source: source.name,
          checkSize,
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
  const answers: KeyAnswer[] = [];
  for (const part of parts) {
    const answer = mayHold(part, key) ? await part.search.find(key, options) : undefined;
    if (answer !== undefined) answers.push(answer);
  }
  // Rows of one key may stand on two pages; `com,cnn)` answers only where `com,cnn)/` does not.
  const exact = answers.filter((answer) => answer.key === key);
  const rows = exact.length > 0 ? exact : answers;
  return rows.length < 2 ? rows[0] : rows.reduce(addAnswers);
}

function addAnswers(a: KeyAnswer, b: KeyAnswer): KeyAnswer {
  if (a.frequency === undefined) return b;
  if (b.frequency === undefined) return a;
  const sum = addFrequencies(parseFrequency(a.frequency), parseFrequency(b.frequency));
  return { present: a.present || b.present, key: a.key, frequency: formatFrequency(sum) };
}

function mayHold({ page, first, last }: Part, key: string): boolean {
  if (page === undefined || first === undefined || last === undefined) return true;
  const bytes = encoder.encode(key);
  const lowest = encoder.encode(bareHome(key) ?? key);
  return compareBytes(first, bytes) <= 0 && compareBytes(lowest, last) <= 0;
}

const encoder = new TextEncoder();

function bytesOf(text: string | undefined): Uint8Array | undefined {
  return text === undefined ? undefined : encoder.encode(text);
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0;
}
