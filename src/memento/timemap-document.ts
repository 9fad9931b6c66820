import type { MementoSequence } from "./memento-list.ts";
import { formatRfc3339 } from "./datetime.ts";

/** The formats that TimeMaps are written in. */
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
  /** As asked for. */
  readonly original: string;
  /** What the service's own addresses begin with, without a slash at the end. */
  readonly service: string;
  /** All mementos, in the order of time, also where only a page of them is written. */
  readonly mementos: MementoSequence;
  /** Where the TimeMap is cut in pages. */
  readonly paging?: TimeMapPaging | undefined;
}

/** The pages of a TimeMap, which are parts of its list. */
export interface TimeMapPaging {
  /** In the order of time; none is empty. */
  readonly pages: readonly { readonly start: number; readonly end: number }[];
  /** The page that is written. */
  readonly current: number;
  /** The address of a page in a format. */
  uriOf(page: number, format: TimeMapFormat): string;
}

/** The address of the TimeMap in a format, or of the page of it that is written. */
export function selfUri(document: TimeMapDocument, format: TimeMapFormat): string {
  const { service, original, paging } = document;
  return paging === undefined
    ? `${service}/timemap/${format}/${original}`
    : paging.uriOf(paging.current, format);
}

/** The address in each format, by the names of members in JSON. */
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

/** The places that are written, from `start` to before `end`. */
export function writtenRange({ mementos, paging }: TimeMapDocument): {
  readonly start: number;
  readonly end: number;
} {
  return paging?.pages[paging.current] ?? { start: 0, end: mementos.count };
}

/** A page of a TimeMap, and the time it covers. */
export interface PageEntry {
  readonly from: string;
  readonly until: string;
  readonly uri: string;
}

/** All pages as a format names them, with their times as `time` writes them; none where there is no paging. */
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

/** A memento that stands out, and what as. */
export interface Landmark {
  readonly index: number;
  /** In the order that MemGator writes them in. */
  readonly rels: readonly string[];
}

/** The first and last memento, and with a closest one its neighbours, in the order of time. */
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

/** Mementos in the order of time, each of an archive. */
export interface AttributedMementos extends MementoSequence {
  /** The place of its archive in the list of archives. */
  archiveAt(index: number): number;
}

/** How many mementos there are, and their range of time. */
interface MementoCount {
  readonly count: number;
  /** RFC 3339; of the first and last memento. */
  readonly from: string;
  readonly until: string;
  /** By year; years without any are left out. */
  readonly years: Readonly<Record<string, number>>;
}

interface ArchiveCount extends MementoCount {
  readonly id: string;
  readonly name: string;
}

/** What a TimeMap comes to, without its list. Names of members are those of JSON TimeMaps. */
export interface TimeMapSummary {
  readonly original_uri: string;
  /** Undefined where there are none. */
  readonly mementos: MementoCount | undefined;
  /** Those that have mementos, in the order of the list of archives. */
  readonly archives: readonly ArchiveCount[];
  readonly timemap_uri: ReturnType<typeof timeMapUris>;
  readonly timegate_uri: string;
}

/**
 * Counts the mementos of a TimeMap by archive and by year. Goes over them once.
 *
 * @param archives what `archiveAt` tells the places of.
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

/** Counts mementos that come in the order of time. */
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
