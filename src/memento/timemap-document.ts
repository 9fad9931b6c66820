import type { MementoSequence } from "./memento-list.ts";
import { formatRfc3339 } from "./datetime.ts";

/** The output formats of TimeMaps. */
export const TIMEMAP_FORMATS = ["link", "json", "cdxj"] as const;

export type TimeMapFormat = (typeof TIMEMAP_FORMATS)[number];

/** The media types of the formats. */
export const TIMEMAP_TYPES: Readonly<Record<TimeMapFormat, string>> = {
  link: "application/link-format",
  json: "application/json",
  cdxj: "application/cdxj+ors",
};

/** A TimeMap to be written. */
export interface TimeMapDocument {
  /** The original URI, as requested. */
  readonly original: string;
  /** The base URL of the service, without a trailing slash. */
  readonly service: string;
  /** All mementos in chronological order, even if only a page of them is written. */
  readonly mementos: MementoSequence;
  /** The pages; undefined for a TimeMap without paging. */
  readonly paging?: TimeMapPaging | undefined;
}

/** The pages of a TimeMap, which are ranges of its list. */
export interface TimeMapPaging {
  /** In chronological order; not empty. */
  readonly pages: readonly { readonly start: number; readonly end: number }[];
  /** The page to write. */
  readonly current: number;
  /** The URL of a page in a format. */
  uriOf(page: number, format: TimeMapFormat): string;
}

/** The URL of the TimeMap in a format, or of the current page. */
export function selfUri(document: TimeMapDocument, format: TimeMapFormat): string {
  const { service, original, paging } = document;
  return paging === undefined
    ? `${service}/timemap/${format}/${original}`
    : paging.uriOf(paging.current, format);
}

/** The URL in each format, by JSON member name. */
export function timeMapUris(
  document: TimeMapDocument,
): Readonly<Record<"link_format" | "json_format" | "cdxj_format", string>> {
  return {
    link_format: selfUri(document, "link"),
    json_format: selfUri(document, "json"),
    cdxj_format: selfUri(document, "cdxj"),
  };
}

export function timeGateUri({ service, original }: TimeMapDocument): string {
  return `${service}/timegate/${original}`;
}

/** The range of mementos to write, `[start, end)`. */
export function writtenRange({ mementos, paging }: TimeMapDocument): {
  readonly start: number;
  readonly end: number;
} {
  return paging?.pages[paging.current] ?? { start: 0, end: mementos.count };
}

/** A page of a TimeMap and the period it covers. */
export interface PageEntry {
  readonly from: string;
  readonly until: string;
  readonly uri: string;
}

/** The entries of all pages, with times formatted by `time`; empty without paging. */
export function pageEntries(
  { mementos, paging }: TimeMapDocument,
  format: TimeMapFormat,
  time: (datetime: number) => string,
): PageEntry[] {
  if (paging === undefined) return [];
  return paging.pages.map(({ start, end }, page) => ({
    from: time(mementos.datetimeAt(start)),
    until: time(mementos.datetimeAt(end - 1)),
    uri: paging.uriOf(page, format),
  }));
}

/** A memento with special relations, such as `first`. */
export interface Landmark {
  readonly index: number;
  /** In MemGator's order. */
  readonly rels: readonly string[];
}

/** The first and last memento, and the closest one with its neighbours, in chronological order. */
export function landmarks(count: number, closest?: number): Landmark[] {
  const rels = new Map<number, string[]>();
  const mark = (index: number, rel: string): void => {
    if (index < 0 || index >= count) return;
    const marks = rels.get(index);
    if (marks === undefined) rels.set(index, [rel]);
    else marks.push(rel);
  };
  mark(0, "first");
  mark(count - 1, "last");
  if (closest !== undefined) {
    mark(closest, "closest");
    mark(closest + 1, "next");
    mark(closest - 1, "prev");
  }
  return Array.from(rels, ([index, marks]) => ({ index, rels: marks })).sort(
    (a, b) => a.index - b.index,
  );
}

/** Mementos in chronological order, each with its archive. */
export interface AttributedMementos extends MementoSequence {
  /** The index of its archive in the list of archives. */
  archiveAt(index: number): number;
}

/** The number of mementos and the period they cover. */
interface MementoCount {
  readonly count: number;
  /** RFC 3339; of the first and last memento. */
  readonly from: string;
  readonly until: string;
  /** By year; years without mementos are omitted. */
  readonly years: Readonly<Record<string, number>>;
}

interface ArchiveCount extends MementoCount {
  readonly id: string;
  readonly name: string;
}

/** A TimeMap without its list. Member names are those of JSON TimeMaps. */
export interface TimeMapSummary {
  readonly original_uri: string;
  /** Undefined if there are none. */
  readonly mementos: MementoCount | undefined;
  /** Archives with mementos, in the order of the list of archives. */
  readonly archives: readonly ArchiveCount[];
  readonly timemap_uri: ReturnType<typeof timeMapUris>;
  readonly timegate_uri: string;
}

/**
 * Counts the mementos of a TimeMap by archive and by year, in one pass.
 *
 * @param archives the archives to which the indexes of `archiveAt` refer.
 */
export function summarizeTimeMap(
  document: TimeMapDocument & { readonly mementos: AttributedMementos },
  archives: readonly { readonly id: string; readonly name: string }[],
): TimeMapSummary {
  const { mementos, original } = document;
  const all = new Tally();
  const tallies = archives.map(() => new Tally());
  for (let i = 0; i < mementos.count; i++) {
    const datetime = mementos.datetimeAt(i);
    all.add(datetime);
    tallies[mementos.archiveAt(i)].add(datetime);
  }
  return {
    original_uri: original,
    mementos: all.result(),
    archives: archives.flatMap(({ id, name }, i) => {
      const result = tallies[i].result();
      return result === undefined ? [] : [{ id, name, ...result }];
    }),
    timemap_uri: timeMapUris(document),
    timegate_uri: timeGateUri(document),
  };
}

/** Counts mementos, added in chronological order. */
class Tally {
  #count = 0;
  #first = 0;
  #last = 0;
  readonly #years = new Map<number, number>();

  add(datetime: number): void {
    if (this.#count === 0) this.#first = datetime;
    this.#count++;
    this.#last = datetime;
    const year = Math.floor(datetime / 1e10);
    this.#years.set(year, (this.#years.get(year) ?? 0) + 1);
  }

  result(): MementoCount | undefined {
    if (this.#count === 0) return undefined;
    return {
      count: this.#count,
      from: formatRfc3339(this.#first),
      until: formatRfc3339(this.#last),
      years: Object.fromEntries(
        Array.from(this.#years, ([year, count]) => [String(year).padStart(4, "0"), count]),
      ),
    };
  }
}
