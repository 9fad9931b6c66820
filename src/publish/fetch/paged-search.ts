import { MementoMapError } from "../../errors.ts";
import {
  type Answer,
  findBySpelling,
  type KeyAnswer,
  type LookupOptions,
  lookupByKeys,
  type MapLookup,
} from "../../map/lookup/lookup.ts";
import { MapSearch } from "../../map/lookup/map-search.ts";
import { PageRange } from "../../map/lookup/page-range.ts";
import { surt as surtOf } from "../../surt/surt.ts";
import type { UkvsHeaders } from "../../ukvs/header.ts";
import type { HttpClient } from "../../http/http-client.ts";
import { HttpSource } from "./http-source.ts";
import { pageLink, pageVersion } from "./page-links.ts";

/** Large enough that few requests are made, small enough that little is fetched in vain. */
const BLOCK_BYTES = 32_768;
const encoder = new TextEncoder();

interface Page {
  readonly source: HttpSource;
  readonly search: MapSearch;
  /** Undefined for a map that is whole. */
  readonly range: PageRange | undefined;
}

/**
 * Looks up in a map on a server by range requests, whether its address gives the map or one of its
 * pages. The page of a key is found by following the links between pages.
 *
 * Holds some blocks of each page that was opened.
 */
export class PagedSearch implements MapLookup {
  readonly headers: UkvsHeaders;
  readonly #client: HttpClient;
  readonly #pages = new Map<number, Page>();
  /** That of the key asked for last: the next one is mostly near it. */
  #last: Page;

  private constructor(client: HttpClient, first: Page) {
    this.headers = first.search.headers;
    this.#client = client;
    this.#last = first;
    if (first.range !== undefined) this.#pages.set(first.range.mark.number, first);
  }

  /** @throws as `HttpSource.open` and `MapSearch.open`. */
  static async open(client: HttpClient, url: string, signal?: AbortSignal): Promise<PagedSearch> {
    return new PagedSearch(client, await openPage(client, url, signal));
  }

  /** Requests made, bytes that came, and bytes of what was opened. */
  get traffic(): { readonly requests: number; readonly bytes: number; readonly size: number } {
    const pages = this.#pages.size === 0 ? [this.#last] : [...this.#pages.values()];
    const sum = (count: (source: HttpSource) => number): number =>
      pages.reduce((all, { source }) => all + count(source), 0);
    return {
      requests: sum(({ traffic }) => traffic.requests),
      bytes: sum(({ traffic }) => traffic.bytes),
      size: sum(({ size }) => size),
    };
  }

  lookup(uri: string, options: LookupOptions = {}): Promise<Answer> {
    return this.lookupSurt(surtOf(uri), options);
  }

  lookupSurt(surt: string, options: LookupOptions = {}): Promise<Answer> {
    return lookupByKeys(this, surt, options);
  }

  /**
   * @throws MM_REFUSED where no link leads to the page of a key, or to another map; MM_PAGE for pages
   *   that do not say which keys they have; as `MapSearch.find`; MM_HTTP.
   */
  find(key: string, options: LookupOptions = {}): Promise<KeyAnswer | undefined> {
    return findBySpelling(key, async (spelling) => {
      const page = await this.#pageOf(spelling, options.signal);
      return page?.search.findExactly(spelling, options);
    });
  }

  /** The page that a key belongs on; undefined where it would be between two. */
  async #pageOf(key: string, signal: AbortSignal | undefined): Promise<Page | undefined> {
    const bytes = encoder.encode(key);
    let page = this.#last;
    let direction = 0;
    for (;;) {
      const { range } = page;
      const place = range?.place(bytes) ?? 0;
      if (range === undefined || place === 0) {
        this.#last = page;
        return page;
      }
      const { first, last } = range.mark;
      if (first === undefined || last === undefined) throw range.refusal(key);
      if (place === -direction) return undefined;
      direction = place;
      page = await this.#neighbour(page, range, place, signal);
    }
  }

  async #neighbour(
    from: Page,
    range: PageRange,
    step: number,
    signal: AbortSignal | undefined,
  ): Promise<Page> {
    const number = range.mark.number + step;
    const known = this.#pages.get(number);
    if (known !== undefined) return known;
    const { source, search } = from;
    const url = pageLink(
      { url: source.name, link: source.link, headers: search.headers },
      step > 0 ? "next" : "prev",
    );
    if (url === undefined) {
      throw refused(
        source.name,
        `page ${range.mark.number} has no link to page ${number}; fetch all pages and merge them`,
      );
    }
    if (new URL(url).origin !== new URL(source.name).origin) {
      throw refused(source.name, `page ${range.mark.number} leads to another site, ${url}`);
    }
    const page = await openPage(this.#client, url, signal);
    const mark = page.range?.mark;
    const isExpected =
      mark?.number === number &&
      mark.of === range.mark.of &&
      pageVersion(page.search.headers) === pageVersion(search.headers);
    if (!isExpected) {
      throw refused(
        url,
        `page ${number} of ${range.mark.of} of the same map was expected; the map may have changed, try again`,
      );
    }
    this.#pages.set(number, page);
    return page;
  }
}

async function openPage(
  client: HttpClient,
  url: string,
  signal: AbortSignal | undefined,
): Promise<Page> {
  const source = await HttpSource.open(client, url, signal);
  const search = await MapSearch.open(source, {
    blockBytes: BLOCK_BYTES,
    isOnePageOfAll: true,
    ...(signal === undefined ? {} : { signal }),
  });
  return { source, search, range: PageRange.of(search.headers, source.name) };
}

function refused(url: string, message: string): MementoMapError {
  return new MementoMapError("MM_REFUSED", message, { position: { source: url } });
}
