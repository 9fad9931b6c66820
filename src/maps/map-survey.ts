import type { ByteSource } from "../bytes/byte-source.ts";
import { CLOSE_PAREN, COLON, COMMA, STAR } from "../bytes/bytes.ts";
import { frequencyCount } from "../ukvs/frequency.ts";
import { columnEnd } from "../ukvs/record.ts";
import type { RowCursor } from "./row-cursor.ts";
import { eachRow, openWholeMap, PageCuts, pagesOf, type SplitPlan } from "./split-map.ts";

/** Fraction of a page that may stay unused if the key tree has a better place to cut. */
const SLACK = 0.1;

/** How many keys of a map begin with a label, usually a top-level domain. */
interface DomainShare {
  readonly domain: string;
  readonly keys: number;
}

/** Facts from one pass over a map, to serve and describe it. */
export interface MapSurvey {
  readonly plan: SplitPlan;
  readonly records: number;
  /** The sum of all frequencies but that of `*`. */
  readonly mementos: number;
  /** The frequency of `*`, which states the totals of the archive; most maps have none. */
  readonly total: string | undefined;
  /** The domains with most keys, largest first. */
  readonly topDomains: readonly DomainShare[];
  readonly domainCount: number;
}

export interface SurveyOptions {
  /** Maximum records per page; default 50,000. */
  readonly pageRecords?: number;
  /** Maximum number of domains to list; default 12. */
  readonly domains?: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads a map once: checks that it is sorted, plans its pages, counts.
 *
 * Holds one chunk, the list of pages, and a number per top-level domain.
 *
 * @throws MM_NOT_SORTED, MM_BAD_HEADER, MM_BAD_LINE, MM_IO; MM_BAD_INPUT when it is not a map, or
 *   is one page of a map.
 */
export async function surveyMap(
  source: ByteSource,
  options: SurveyOptions = {},
): Promise<MapSurvey> {
  const { pageRecords = 50_000, domains = 12, signal } = options;
  const reader = await openWholeMap(source, signal);
  const { headers } = reader;
  const cuts = new PageCuts({ maxLines: pageRecords, slack: SLACK }, source.size);
  const counter = new DomainCounter();
  let records = 0;
  let mementos = 0;
  let total: string | undefined;
  await eachRow(reader, source.name, (row, isNew, shared) => {
    const { bytes, start, keyEnd, restStart, end } = row;
    cuts.add(row, isNew, shared);
    records += 1;
    // The row `*` repeats the total.
    if (keyEnd - start === 1 && bytes[start] === STAR) {
      total ??= decoder.decode(bytes.subarray(restStart, columnEnd(bytes, restStart, end)));
      return;
    }
    if (isNew) counter.add(row, shared);
    mementos += frequencyCount(bytes, restStart, end);
  });
  return {
    plan: { headers, pages: await pagesOf(source, cuts.finish(), signal) },
    records,
    mementos,
    total,
    topDomains: counter.top(domains),
    domainCount: counter.count,
  };
}

const decoder = new TextDecoder();

/** Counts keys by their first label; in a sorted map, equal labels are mostly adjacent. */
class DomainCounter {
  readonly #counts = new Map<string, { readonly domain: string; keys: number }>();
  #current = { domain: "", keys: 0 };
  #length = Infinity;

  get count(): number {
    return this.#counts.size;
  }

  add({ bytes, start, keyEnd }: RowCursor, shared: number): void {
    if (shared <= this.#length) {
      let end = start;
      while (end < keyEnd && !isLabelEnd(bytes[end])) end++;
      const domain = decoder.decode(bytes.subarray(start, end));
      this.#length = end - start;
      this.#current = this.#counts.get(domain) ?? { domain, keys: 0 };
      this.#counts.set(domain, this.#current);
    }
    this.#current.keys += 1;
  }

  top(most: number): DomainShare[] {
    return [...this.#counts.values()].sort((a, b) => b.keys - a.keys).slice(0, most);
  }
}

function isLabelEnd(byte: number): boolean {
  return byte === COMMA || byte === CLOSE_PAREN || byte === COLON;
}
