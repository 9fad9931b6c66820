import { MementoMapError } from "../../errors.ts";
import type { ByteSource } from "../../bytes/byte-source.ts";
import {
  bodyStart,
  type HttpClient,
  httpFailure,
  httpRefusal,
  type HttpResponse,
} from "../../http/http-client.ts";
import { interruptible } from "../../interruption.ts";
import { MapSearch } from "../../lookup/map-search.ts";
import { SourceLookup } from "../../lookup/map-lookup.ts";
import type { Held, Verdict } from "../../lookup/source.ts";
import { coveringKeyText, type Form, MISSING, NONE } from "../../surt/covering-keys.ts";
import { foreignSpellings } from "../../surt/spelling.ts";
import type { Key } from "../../surt/lookup-key.ts";
import type { DatetimeRange } from "../../ukvs/record.ts";
import { PageRange } from "../../ukvs/head.ts";
import type { UkvsHeaders } from "../../ukvs/header.ts";
import { neighbourPage, pageVersion } from "./pages.ts";

const encoder = new TextEncoder();
const FIRST_BYTES = 32_768;

/**
 * A map on a server, read in parts by HTTP `Range` requests: lookups without a download.
 *
 * `PagedSource` searches it, and finds the right page where it is one of several. Every part is checked to be of the version
 * that was opened. Holds the first block.
 */
export class HttpSource implements ByteSource {
  readonly name: string;
  readonly size: number;
  readonly link: string | undefined;
  /** How many requests were made, and how many bytes of the map came. */
  readonly traffic: { requests: number; bytes: number };
  readonly #client: HttpClient;
  readonly #etag: string;
  readonly #start: Uint8Array;
  /** Headers of every request. */
  readonly #headers: Headers;

  private constructor(
    client: HttpClient,
    { url, headers }: HttpResponse,
    first: { readonly size: number; readonly start: Uint8Array; readonly headers: Headers },
  ) {
    this.name = url;
    this.#client = client;
    this.size = first.size;
    this.link = headers.get("link") ?? undefined;
    this.#etag = headers.get("etag") ?? "";
    this.#start = first.start;
    this.#headers = first.headers;
    this.traffic = { requests: 1, bytes: first.start.length };
  }

  /**
   * Asks for the beginning of a map.
   *
   * @throws MM_REFUSED when the server does not answer ranges, or gives no strong tag by which a
   *   change could be noticed; MM_HTTP, MM_INTERRUPTED.
   */
  static open(
    client: HttpClient,
    url: string,
    signal?: AbortSignal,
    headers: Headers = {},
  ): Promise<HttpSource> {
    return interruptible(signal, async () => {
      const response = await ask(client, url, rangeOf(0, FIRST_BYTES, headers), signal);
      const { status } = response;
      if (status !== 206) {
        await response.discard();
        throw status === 200
          ? httpRefusal(
              url,
              "the server does not answer range requests; fetch the whole map instead",
            )
          : httpFailure(url, `the server answered with status ${status}`);
      }
      const { size } = contentRange(response, url);
      const start = await bodyStart(response, FIRST_BYTES);
      if (response.headers.get("etag")?.startsWith('"') !== true) {
        const message = "the server gives no strong ETag, so that a change could not be noticed";
        throw httpRefusal(url, message);
      }
      return new HttpSource(client, response, { size, start, headers });
    });
  }

  /** @throws MM_IO when the map changed meanwhile; MM_HTTP, MM_INTERRUPTED. */
  read(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array> {
    return interruptible(signal, () => this.#read(offset, length, signal));
  }

  async #read(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array> {
    const wanted = Math.min(length, this.size - offset);
    if (wanted <= 0) return new Uint8Array(0);
    if (offset + wanted <= this.#start.length) return this.#start.subarray(offset, offset + wanted);
    this.traffic.requests += 1;
    const headers = rangeOf(offset, wanted, this.#headers);
    const response = await ask(this.#client, this.name, headers, signal);
    if (!this.#isSameVersion(response, offset)) {
      await response.discard();
      throw new MementoMapError("MM_IO", "the map changed while it was read; try again", {
        position: { source: this.name },
      });
    }
    const bytes = await bodyStart(response, wanted);
    this.traffic.bytes += bytes.length;
    return bytes;
  }

  #isSameVersion(response: HttpResponse, offset: number): boolean {
    if (response.status !== 206 || response.headers.get("etag") !== this.#etag) return false;
    const { start, size } = contentRange(response, this.name);
    return start === offset && size === this.size;
  }
}

type Headers = Readonly<Record<string, string>>;

function rangeOf(offset: number, length: number, headers: Headers): Headers {
  const range = `bytes=${offset}-${offset + length - 1}`;
  return { ...headers, Range: range, "Accept-Encoding": "identity" };
}

function ask(
  client: HttpClient,
  url: string,
  headers: Headers,
  signal: AbortSignal | undefined,
): Promise<HttpResponse> {
  // A browser may hold another representation, which it would cut the part from.
  return client.request(url, { headers, cache: "no-store", signal });
}

/** Where a part begins, and how large the whole is. */
function contentRange(response: HttpResponse, url: string): { start: number; size: number } {
  const header = response.headers.get("content-range") ?? "";
  const [, start, size] = /^bytes (\d{1,15})-\d{1,15}\/(\d{1,15})$/.exec(header) ?? [];
  if (start !== undefined && size !== undefined) {
    return { start: Number(start), size: Number(size) };
  }
  throw httpRefusal(url, "the server sent a part without saying which");
}

/** Large enough that few requests are made, small enough that little is fetched in vain. */
const BLOCK_BYTES = 32_768;

interface Page {
  readonly source: HttpSource;
  readonly rows: MapSearch;
  /** Undefined for a map that is whole. */
  readonly range: PageRange | undefined;
}

/**
 * A map on a server that is read by range requests, whether its address gives the map or one of its
 * pages. The page of a key is found by following the links between pages.
 *
 * Holds some blocks of each page that was opened.
 *
 * Asking throws MM_REFUSED where no link leads to the page of a key, or to another map; MM_PAGE for pages
 * that do not say which keys they have; MM_HTTP.
 */
export class PagedSource extends SourceLookup {
  readonly headers: UkvsHeaders;
  readonly readsQueries = true;
  readonly #client: HttpClient;
  readonly #pages = new Map<number, Page>();
  /** That of the key asked for last: the next one is mostly near it. */
  #last: Page;
  /** What the lookup lacks that was asked last. */
  #missing: ((held: Held, signal?: AbortSignal) => Promise<void>) | undefined;
  #period: DatetimeRange | undefined;
  #held: Held | undefined;

  private constructor(client: HttpClient, first: Page) {
    super();
    this.headers = first.rows.headers;
    this.#client = client;
    this.#last = first;
    if (first.range !== undefined) this.#pages.set(first.range.mark.number, first);
  }

  /** Searches a map, or a page of one, that is open already. */
  static async of(
    client: HttpClient,
    source: HttpSource,
    signal?: AbortSignal,
  ): Promise<PagedSource> {
    return new PagedSource(client, await searchPage(source, signal));
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

  open(key: Key, period?: DatetimeRange, held?: Held): number {
    this.#period = period;
    this.#held = held;
    return this.#last.range === undefined
      ? this.#asked(this.#last, (rows) => rows.open(key, period, held))
      : 0;
  }

  ask(key: Key, form: Form, index: number): number {
    const { range } = this.#last;
    if (range === undefined) return this.#asked(this.#last, (rows) => rows.ask(key, form, index));
    const text = coveringKeyText(key);
    for (const spelling of [text, ...foreignSpellings(text, this.headers.fields)]) {
      const page = this.#pageOf(encoder.encode(spelling));
      if (page === MISSING) return MISSING;
      if (page === undefined) continue;
      const found = this.#asked(page, (rows) => {
        const opened = rows.open(key, this.#period, this.#held);
        return opened < 0 ? opened : rows.ask(key, form, index);
      });
      if (found !== NONE) return found;
    }
    return NONE;
  }

  answer(key: Key, hit: number, into: Verdict): void {
    this.#last.rows.answer(key, hit, into);
  }

  load(held: Held, signal?: AbortSignal): Promise<void> {
    const missing = this.#missing;
    if (missing === undefined) throw new Error("nothing is missing");
    return missing(held, signal);
  }

  /** The map, or its pages from the first to the last. */
  async *sources(signal?: AbortSignal): AsyncGenerator<HttpSource, void, undefined> {
    let page = this.#last;
    while (page.range !== undefined && page.range.mark.number > 1) {
      page = await this.#neighbour(page, page.range, -1, signal);
    }
    yield page.source;
    while (page.range !== undefined && page.range.mark.number < page.range.mark.of) {
      page = await this.#neighbour(page, page.range, 1, signal);
      yield page.source;
    }
  }

  #asked({ rows }: Page, ask: (rows: MapSearch) => number): number {
    const found = ask(rows);
    if (found === MISSING) this.#missing = (held, signal) => rows.load(held, signal);
    return found;
  }

  /** The page that a key belongs on; undefined where it would be between two. */
  #pageOf(key: Uint8Array): Page | undefined | typeof MISSING {
    let page = this.#last;
    let direction = 0;
    for (;;) {
      const { range } = page;
      const place = range?.place(key) ?? 0;
      if (range === undefined || place === 0) {
        this.#last = page;
        return page;
      }
      const { first, last } = range.mark;
      if (first === undefined || last === undefined) {
        throw range.refusal(new TextDecoder().decode(key));
      }
      if (place === -direction) return undefined;
      direction = place;
      const next = this.#pages.get(range.mark.number + place);
      if (next === undefined) {
        const from = page;
        this.#missing = async (_held, signal) => {
          await this.#neighbour(from, range, place > 0 ? 1 : -1, signal);
        };
        return MISSING;
      }
      page = next;
    }
  }

  async #neighbour(
    from: Page,
    range: PageRange,
    step: 1 | -1,
    signal: AbortSignal | undefined,
  ): Promise<Page> {
    const number = range.mark.number + step;
    const known = this.#pages.get(number);
    if (known !== undefined) return known;
    const { source, rows } = from;
    const at = { url: source.name, link: source.link, headers: rows.headers };
    const next = neighbourPage(at, range.mark.number, step);
    if ("fault" in next) {
      throw httpRefusal(source.name, `${next.fault}; fetch all pages and merge them`);
    }
    const { url } = next;
    const page = await searchPage(await HttpSource.open(this.#client, url, signal), signal);
    const mark = page.range?.mark;
    const isExpected =
      mark?.number === number &&
      mark.of === range.mark.of &&
      pageVersion(page.rows.headers) === pageVersion(rows.headers);
    if (!isExpected) {
      throw httpRefusal(
        url,
        `page ${number} of ${range.mark.of} of the same map was expected; the map may have changed, try again`,
      );
    }
    this.#pages.set(number, page);
    return page;
  }
}

async function searchPage(source: HttpSource, signal: AbortSignal | undefined): Promise<Page> {
  const rows = await MapSearch.open(source, {
    blockBytes: BLOCK_BYTES,
    isOnePageOfAll: true,
    signal,
  });
  return { source, rows, range: PageRange.of(rows.headers, source.name) };
}
