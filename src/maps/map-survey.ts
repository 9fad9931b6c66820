import { CLOSE_PAREN, COLON, COMMA, SLASH, STAR } from "../bytes/bytes.ts";
import { type Cut, eachRecord, openWholeMap, pagesOf, type SplitPlan } from "./split-map.ts";
import { CurrentKey } from "../ukvs/key-tree.ts";
import type { ByteSource } from "../bytes/byte-source.ts";
import { columnStart, type RowLayout, rowLayout } from "../ukvs/row.ts";
import { columnEnd, notSorted, skipBlanks } from "../ukvs/record.ts";
import { frequencyCount } from "../ukvs/frequency.ts";

/** A page may end this much before it is full, if the tree of keys has a better place there. */
const SLACK = 0.1;

/**
 * Cuts a map into pages of at most `maxRecords`, between sub-trees where that costs little.
 *
 * In the last tenth of a page the cut goes where the neighbouring keys have least in common: best
 * between two top-level domains, then between sites, hosts, folders. So most sites are on one page,
 * and pages are at most a tenth shorter than they could be. All rows of one key stay together.
 * Holds one number per page.
 */
class TreeCuts {
  readonly #maxRecords: number;
  readonly #earliest: number;
  readonly #cuts: Cut[] = [];
  #page: Cut;
  #best: { offset: number; last: number; records: number; depth: number } | undefined;

  constructor(maxRecords: number, start: number) {
    this.#maxRecords = maxRecords;
    this.#earliest = Math.max(1, Math.floor(maxRecords * (1 - SLACK)));
    this.#page = { first: start, last: start, records: 0 };
  }

  /**
   * Takes the next record. `shared` is how many bytes its key has in common with the key before;
   * -1 when it is the same key, so that no page may begin here.
   */
  add(offset: number, bytes: Uint8Array, keyStart: number, shared: number): void {
    const page = this.#page;
    if (page.records === 0) page.first = offset;
    if (shared >= 0 && page.records >= this.#earliest) {
      const depth = sharedDepth(bytes, keyStart, keyStart + shared);
      if (this.#best === undefined || depth <= this.#best.depth) {
        this.#best = { offset, last: page.last, records: page.records, depth };
      }
    }
    if (page.records >= this.#maxRecords && this.#best !== undefined) this.#cut(this.#best);
    this.#page.last = offset;
    this.#page.records += 1;
  }

  /** The pages; there is always one. */
  finish(): readonly Cut[] {
    return [...this.#cuts, this.#page];
  }

  #cut({ offset, last, records }: { offset: number; last: number; records: number }): void {
    const { first, last: lastOfAll, records: all } = this.#page;
    this.#cuts.push({ first, last, records });
    this.#page = { first: offset, last: lastOfAll, records: all - records };
    this.#best = undefined;
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

/** How many keys of a map begin with a label, which is a top-level domain for most. */
interface DomainShare {
  readonly domain: string;
  readonly keys: number;
}

/** What one reading of a map tells: how to serve it, and what to say about it. */
export interface MapSurvey {
  readonly plan: SplitPlan;
  readonly records: number;
  /** The sum of all frequencies but that of `*`. */
  readonly mementos: number;
  /** The frequency of `*`, which states the totals of the archive; none in most maps. */
  readonly total: string | undefined;
  /** The domains with most keys, largest first. */
  readonly topDomains: readonly DomainShare[];
  readonly domainCount: number;
}

export interface SurveyOptions {
  /** Records of a page at most; default 50,000. */
  readonly pageRecords?: number;
  /** How many domains to list; default 12. */
  readonly domains?: number;
  /** Called with the offset of the first row of each key, and with the key: `bytes[start, end)`. */
  readonly onKey?: (offset: number, bytes: Uint8Array, start: number, end: number) => void;
  /** Called with each row, `bytes[start, end)`, whose key ends at `keyEnd`, after `onKey`. */
  readonly onRow?: (bytes: Uint8Array, start: number, keyEnd: number, end: number) => void;
  /** Called once with the columns of the map, before its rows. */
  readonly onLayout?: (layout: RowLayout) => void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads a map once: checks that it is a sorted map, plans its pages, counts.
 *
 * Holds one chunk, the list of pages, and a number per top-level domain.
 *
 * @throws MM_NOT_SORTED, MM_BAD_HEADER, MM_BAD_LINE, MM_IO; MM_BAD_INPUT when it is not a map, or one
 *   page of a map.
 */
export async function surveyMap(
  source: ByteSource,
  options: SurveyOptions = {},
): Promise<MapSurvey> {
  const { pageRecords = 50_000, domains = 12, onKey, onRow, signal } = options;
  const { headers, region } = await openWholeMap(source, signal);
  const layout = rowLayout(headers.fields, source.name);
  options.onLayout?.(layout);
  const cuts = new TreeCuts(pageRecords, region.start);
  const counter = new DomainCounter();
  const last = new CurrentKey();
  let records = 0;
  let mementos = 0;
  let total: string | undefined;
  await eachRecord(region, (bytes, start, end, offset, line) => {
    const keyEnd = columnEnd(bytes, start, end);
    const order = last.compare(bytes, start, keyEnd);
    if (order < 0) {
      const key = decoder.decode(bytes.subarray(start, keyEnd));
      throw notSorted(key, last.text(), { source: source.name, line });
    }
    cuts.add(offset, bytes, start, order === 0 || records === 0 ? -1 : last.shared);
    if (order > 0) {
      if (keyEnd - start === 1 && bytes[start] === STAR) total = frequencyOf(bytes, keyEnd, end);
      else counter.add(bytes, start, keyEnd, last.shared);
      last.set(bytes, start, keyEnd);
      onKey?.(offset, bytes, start, keyEnd);
    }
    onRow?.(bytes, start, keyEnd, end);
    records += 1;
    // The row `*` states the total once more.
    if (keyEnd - start > 1 || bytes[start] !== STAR) {
      const second = skipBlanks(bytes, keyEnd, end);
      const from = columnStart(bytes, second, end, layout.frequencyColumn - 1);
      mementos += frequencyCount(bytes, from, end);
    }
  });
  return {
    plan: { headers, pages: await pagesOf(region, cuts.finish()) },
    records,
    mementos,
    total,
    topDomains: counter.top(domains),
    domainCount: counter.count,
  };
}

const decoder = new TextDecoder();

function frequencyOf(bytes: Uint8Array, keyEnd: number, end: number): string {
  const start = skipBlanks(bytes, keyEnd, end);
  return decoder.decode(bytes.subarray(start, columnEnd(bytes, start, end)));
}

/** Counts keys by their first label; a sorted map has the keys of one label together. */
class DomainCounter {
  readonly #counts = new Map<string, number>();
  #domain = "";
  #domainLength = -1;
  #keys = 0;

  get count(): number {
    this.#note();
    return this.#counts.size;
  }

  add(bytes: Uint8Array, start: number, end: number, shared: number): void {
    if (shared <= this.#domainLength || this.#domainLength < 0) {
      this.#note();
      const length = labelEnd(bytes, start, end) - start;
      this.#domain = decoder.decode(bytes.subarray(start, start + length));
      this.#domainLength = length;
    }
    this.#keys += 1;
  }

  top(most: number): DomainShare[] {
    this.#note();
    return Array.from(this.#counts, ([domain, keys]) => ({ domain, keys }))
      .sort((a, b) => b.keys - a.keys)
      .slice(0, most);
  }

  #note(): void {
    if (this.#keys > 0) {
      this.#counts.set(this.#domain, (this.#counts.get(this.#domain) ?? 0) + this.#keys);
    }
    this.#keys = 0;
  }
}

function labelEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end) {
    const byte = bytes[at];
    if (byte === COMMA || byte === CLOSE_PAREN || byte === COLON) break;
    at++;
  }
  return at;
}
