import { formatRfc3339 } from "./datetime.ts";
import type { MementoSequence } from "./memento-list.ts";
import { selfUri, timeGateUri, type TimeMapDocument } from "./timemap-document.ts";

/** Mementos in the order of time, each of an archive. */
export interface AttributedMementos extends MementoSequence {
  /** The place of its archive in the list of archives. */
  archiveAt(index: number): number;
}

/** How many mementos there are, and of which time. */
export interface MementoCount {
  readonly count: number;
  /** RFC 3339; of the first and last memento. */
  readonly from: string;
  readonly until: string;
  /** By year; years without any are left out. */
  readonly years: Readonly<Record<string, number>>;
}

export interface ArchiveCount extends MementoCount {
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
  readonly timemap_uri: Readonly<Record<"link_format" | "json_format" | "cdxj_format", string>>;
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
    timemap_uri: {
      link_format: selfUri(document, "link"),
      json_format: selfUri(document, "json"),
      cdxj_format: selfUri(document, "cdxj"),
    },
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
