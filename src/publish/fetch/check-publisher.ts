import { formatAmount } from "../../format.ts";
import { createHash } from "node:crypto";
import { MemorySource } from "../../bytes/byte-source.ts";
import { isPacked, joinBytes, LF } from "../../bytes/bytes.ts";
import {
  discoverMap,
  type DiscoverOptions,
  type Discovery,
  htmlLinks,
  MEMENTOMAP_RELATION,
  nextPage,
  pageVersion,
  webAddress,
} from "./discover.ts";
import { bodyStart, type HttpClient, type HttpResponse } from "../../http/http-client.ts";
import { parseLinkHeader } from "../../memento/links.ts";
import { isMementoMapError } from "../../errors.ts";
import { mapHeadOf, type PageMark, pageMark } from "../../ukvs/head.ts";
import { validateMap } from "../../maps/validate-map.ts";
import type { UkvsHeaders } from "../../ukvs/header.ts";
import { peekHead } from "../../input/stream-lines.ts";
import { decompressed } from "../../files/decompress.ts";
import { headersOf as packedHeaders } from "../../packed/packed-file.ts";
import { checkPacked } from "../../packed/read-packed.ts";
import { MapReader, type ReadMap } from "./map-reader.ts";
import { interruptibleChunks } from "../../interruption.ts";

interface Rule {
  readonly level: "MUST" | "SHOULD";
  /** What the rule asks for, as it is said behind a finding that breaks it. */
  readonly asks: string;
}

/** The rules for publishers of `docs/dissemination.md` that can be checked from outside. */
export const PUBLISHER_RULES = {
  P1: { level: "SHOULD", asks: "the map should be at the well-known URI" },
  P2: { level: "MUST", asks: "the map must be a valid MementoMap" },
  P3: { level: "SHOULD", asks: "!id should name the archive" },
  P4: { level: "SHOULD", asks: "there should be a strong ETag" },
  P5: { level: "SHOULD", asks: "there should be a Last-Modified" },
  P6: { level: "MUST", asks: "conditional requests must be honoured" },
  P7: { level: "SHOULD", asks: "range requests should be honoured" },
  P8: { level: "MUST", asks: "a range beyond the end must be answered with 416" },
  P9: { level: "SHOULD", asks: "gzip should be offered" },
  P10: { level: "MUST", asks: "the compressed form must be the same map, with a tag of its own" },
  P11: { level: "MUST", asks: "HEAD must give the headers of GET" },
  P12: { level: "SHOULD", asks: "pages of other sites should be allowed to read the map" },
  P13: { level: "SHOULD", asks: "the response should say how long the map is fresh" },
  P14: { level: "SHOULD", asks: "the archive's page should link to the map" },
  P15: { level: "MUST", asks: "pages, if offered, must be linked and make up the map" },
} as const satisfies Record<string, Rule>;

/** The name of a rule. */
type RuleId = keyof typeof PUBLISHER_RULES;

/** What was found about one rule of `docs/dissemination.md`. */
export interface Finding {
  readonly rule: RuleId;
  /** `error` where a MUST is broken, `warning` where a SHOULD is. */
  readonly outcome: "ok" | "error" | "warning" | "skipped";
  readonly message: string;
}

const MAX_CHECKED_PAGES = 10_000;

/**
 * Checks how an archive publishes its map, rule by rule.
 *
 * Downloads the map twice, plain and compressed, and its pages once; holds a chunk. A packed map is
 * downloaded once, and held.
 *
 * @throws MM_NOT_FOUND when there is no map to check; MM_HTTP, MM_REFUSED, MM_BAD_URI,
 *   MM_INTERRUPTED.
 */
export async function* checkPublisher(
  client: HttpClient,
  address: string,
  options: DiscoverOptions = {},
): AsyncGenerator<Finding, void, undefined> {
  const { signal } = options;
  const found = await discoverMap(client, address, options);
  const checks = new PublisherChecks(client, webAddress(address).href, found, signal);
  yield* interruptibleChunks(checks.run(), signal);
}

interface Whole extends ReadMap {
  readonly response: HttpResponse;
  /** The description of a packed map. */
  readonly packed?: UkvsHeaders | undefined;
}

class PublisherChecks {
  readonly #client: HttpClient;
  readonly #address: string;
  readonly #found: Discovery;
  readonly #signal: AbortSignal | undefined;

  constructor(
    client: HttpClient,
    address: string,
    found: Discovery,
    signal: AbortSignal | undefined,
  ) {
    this.#client = client;
    this.#address = address;
    this.#found = found;
    this.#signal = signal;
  }

  async *run(): AsyncGenerator<Finding, void, undefined> {
    const { method, url } = this.#found;
    const isThirdParty = new URL(this.#address).origin !== new URL(this.#found.archive).origin;
    const place = `the map is at ${url}, found by ${method}`;
    // A third party must not have it at its own well-known URI.
    if (isThirdParty) yield skipped("P1", `${place}; the archive is elsewhere`);
    else yield judged("P1", method === "well-known", place);
    const faults: string[] = [];
    const whole = await this.#readWhole(faults);
    const sound = `the map has ${whole.bytes} bytes and no fault`;
    yield judged("P2", faults.length === 0, faults[0] ?? sound);
    yield this.#identity(whole);
    yield* this.#validators(whole.response);
    yield* this.#ranges(whole);
    yield* this.#compression(whole);
    yield* this.#metadata(whole.response);
    yield await this.#announcement();
    yield* this.#pages(whole);
  }

  #get(
    url: string,
    more: Record<string, string> = {},
    method: "GET" | "HEAD" = "GET",
  ): Promise<HttpResponse> {
    const headers = { "Accept-Encoding": "identity", ...more };
    return this.#client.request(url, { method, headers, signal: this.#signal });
  }

  async #readWhole(faults: string[]): Promise<Whole> {
    const response = await this.#get(this.#found.url);
    const reader = new MapReader();
    const body = decompressed(response.body, { source: this.#found.url });
    const { head, chunks } = await peekHead(reader.passing(body));
    let packed: UkvsHeaders | undefined;
    if (isPacked(head)) {
      packed = await this.#readPacked(chunks, faults);
    } else {
      for await (const fault of validateMap(chunks)) {
        if (fault.severity === "error") faults.push(`line ${fault.line}: ${fault.message}`);
      }
    }
    if (response.status !== 200) faults.unshift(`status ${response.status}`);
    return { response, packed, ...reader.finish() };
  }

  /** The description of a packed map, which is held while it is checked. */
  async #readPacked(
    chunks: AsyncIterable<Uint8Array>,
    faults: string[],
  ): Promise<UkvsHeaders | undefined> {
    const parts: Uint8Array[] = [];
    for await (const chunk of chunks) parts.push(chunk.slice());
    try {
      const source = new MemorySource(joinBytes(parts), this.#found.url);
      return packedHeaders((await checkPacked(source, { signal: this.#signal })).header);
    } catch (error) {
      if (!isMementoMapError(error)) throw error;
      faults.push(error.message);
      return undefined;
    }
  }

  #identity({ start, packed }: Whole): Finding {
    const end = start.lastIndexOf(LF) + 1;
    try {
      const { id } = packed ?? mapHeadOf(start.subarray(0, end), this.#found.url).headers;
      const isSame =
        id !== undefined &&
        URL.canParse(id) &&
        new URL(id).host === new URL(this.#found.archive).host;
      return judged("P3", isSame, id === undefined ? "the map has no !id" : `!id is ${id}`);
    } catch (error) {
      if (!isMementoMapError(error)) throw error;
      return judged("P3", false, error.message);
    }
  }

  async *#validators(response: HttpResponse): AsyncGenerator<Finding, void, undefined> {
    const etag = response.headers.get("etag") ?? "";
    const tagged = stated(etag, "the ETag is");
    yield judged("P4", etag.startsWith('"'), tagged ?? "the response has no ETag");
    const modified = response.headers.get("last-modified") ?? "";
    const dated = stated(modified, "Last-Modified is");
    yield judged("P5", dated !== undefined, dated ?? "the response has no Last-Modified");
    if (etag === "" && modified === "") {
      yield skipped("P6", "there is no ETag and no Last-Modified to ask with");
      return;
    }
    const condition: Record<string, string> =
      etag === "" ? { "If-Modified-Since": modified } : { "If-None-Match": etag };
    const again = await this.#get(this.#found.url, condition);
    await again.discard();
    yield judged("P6", again.status === 304, `a conditional request gives ${again.status}`);
  }

  async *#ranges({ start, bytes }: Whole): AsyncGenerator<Finding, void, undefined> {
    const to = Math.min(16, start.length) - 1;
    const part = await this.#get(this.#found.url, { Range: `bytes=1-${to}` });
    const body = await bodyStart(part, 64);
    const expected = start.subarray(1, to + 1);
    const isRight =
      part.status === 206 &&
      part.headers.get("content-range") === `bytes 1-${to}/${bytes}` &&
      Buffer.compare(body, expected) === 0;
    const but = part.status === 206 && !isRight ? ", but not the bytes asked for" : "";
    yield judged("P7", isRight, `a range request gives ${part.status}${but}`);
    if (part.status !== 206) {
      yield skipped("P8", "ranges are not offered");
      return;
    }
    const beyond = await this.#get(this.#found.url, { Range: `bytes=${bytes}-` });
    await beyond.discard();
    yield judged("P8", beyond.status === 416, `a range beyond the end gives ${beyond.status}`);
  }

  async *#compression(whole: Whole): AsyncGenerator<Finding, void, undefined> {
    if (whole.packed !== undefined) {
      yield skipped("P9", "a packed map does not become smaller");
      yield skipped("P10", "a packed map does not become smaller");
      return;
    }
    const packed = await this.#get(this.#found.url, { "Accept-Encoding": "gzip" });
    const coding = packed.headers.get("content-encoding") ?? "";
    const packing = stated(coding, "the map comes as");
    yield judged("P9", coding === "gzip", packing ?? "the map comes without compression");
    if (coding !== "gzip") {
      await packed.discard();
      yield skipped("P10", "the map does not come as gzip");
      return;
    }
    const reader = new MapReader();
    for await (const chunk of decompressed(packed.body, { source: this.#found.url }))
      reader.take(chunk);
    const vary = packed.headers.get("vary") ?? "";
    const isTagged =
      packed.headers.get("etag") === undefined ||
      packed.headers.get("etag") !== whole.response.headers.get("etag");
    const wrong = [
      ...(reader.finish().digest === whole.digest ? [] : ["it decompresses to something else"]),
      ...(/accept-encoding|\*/i.test(vary) ? [] : ["Vary does not name Accept-Encoding"]),
      ...(isTagged ? [] : ["both forms have the same strong ETag"]),
    ];
    yield judged(
      "P10",
      wrong.length === 0,
      wrong.join("; ") || "the gzip form is the same map, with a tag of its own",
    );
  }

  async *#metadata(plain: HttpResponse): AsyncGenerator<Finding, void, undefined> {
    const head = await this.#get(this.#found.url, {}, "HEAD");
    await head.discard();
    const names = ["etag", "content-length", "last-modified"];
    const other = names.filter((name) => head.headers.get(name) !== plain.headers.get(name));
    const but = other.length === 0 ? "" : `, with another ${other.join(", ")} than GET`;
    yield judged("P11", head.status === 200 && but === "", `HEAD gives ${head.status}${but}`);
    const origin = plain.headers.get("access-control-allow-origin");
    const allowed = stated(origin, "Access-Control-Allow-Origin is");
    yield judged("P12", origin === "*", allowed ?? "there is no Access-Control-Allow-Origin");
    const cache = plain.headers.get("cache-control") ?? plain.headers.get("expires");
    const fresh = stated(cache, "the map is fresh for");
    yield judged("P13", fresh !== undefined, fresh ?? "there is no Cache-Control or Expires");
  }

  async #announcement(): Promise<Finding> {
    const page = await this.#get(this.#address);
    const links = parseLinkHeader(page.headers.get("link") ?? "");
    const isInHeader = links.some(({ rels }) => rels.includes(MEMENTOMAP_RELATION));
    const html = new TextDecoder().decode(await bodyStart(page, 512 * 1024));
    const isInPage = htmlLinks(html, MEMENTOMAP_RELATION).hrefs.length > 0;
    const where = isInHeader
      ? "the Link header names the map"
      : isInPage
        ? "a link element names the map"
        : `${this.#address} has no link to the map`;
    return judged("P14", isInHeader || isInPage, where);
  }

  async *#pages(whole: Whole): AsyncGenerator<Finding, void, undefined> {
    if (whole.packed !== undefined) {
      yield skipped("P15", "a packed map has no pages");
      return;
    }
    const { url } = this.#found;
    // What is found may be the first page itself; then there is no whole to compare with.
    const isFirst = headersOf(whole.start, url)?.mark !== undefined;
    const walk = await this.#walkPages(isFirst ? url : new URL("?page=1", url).href);
    if (walk === undefined) yield skipped("P15", "the map is not offered in pages");
    else if (walk.fault !== undefined) yield judged("P15", false, walk.fault);
    else {
      const isWhole = isFirst || walk.recordsDigest === whole.recordsDigest;
      const pages = formatAmount(walk.count, "page");
      const said = isFirst
        ? `${pages}, linked and in order`
        : `${pages} ${isWhole ? "with the records of the map" : "with other records than the map"}`;
      yield judged("P15", isWhole, `the map is offered in ${said}`);
    }
  }

  /** Follows the links from the first page to the last; undefined where there is no first page. */
  async #walkPages(first: string): Promise<PageWalk | undefined> {
    const records = createHash("sha256");
    let url = first;
    let before: PageHead | undefined;
    for (let number = 1; number <= MAX_CHECKED_PAGES; number += 1) {
      const response = await this.#get(url);
      const reader = new MapReader(records);
      const chunks = decompressed(response.body, { source: url });
      const faults: string[] = [];
      for await (const { line, message } of validateMap(reader.passing(chunks), {
        isOnlyErrors: true,
      })) {
        faults.push(`line ${line}: ${message}`);
      }
      const page = response.status === 200 ? headersOf(reader.finish().start, url) : undefined;
      const mark = page?.mark;
      if (page === undefined || mark === undefined) {
        if (before === undefined) return undefined;
        return failed(number, `${url} is not a page of the map (status ${response.status})`);
      }
      if (faults.length > 0) return failed(number, `${url} has a fault: ${faults[0]}`);
      const wrong = wrongPage(number, page, before);
      if (wrong !== undefined) return failed(number, `${url} ${wrong}`);
      if (number === mark.of) return { count: number, recordsDigest: records.digest("hex") };
      const link = { url: response.url, link: response.headers.get("link"), headers: page.headers };
      const next = nextPage(link, mark);
      if ("fault" in next) return failed(number, next.fault);
      ({ url } = next);
      before = page;
    }
    return failed(MAX_CHECKED_PAGES, `there are more than ${MAX_CHECKED_PAGES} pages`);
  }
}

interface PageWalk {
  readonly count: number;
  readonly fault?: string;
  readonly recordsDigest: string;
}

function failed(count: number, fault: string): PageWalk {
  return { count, fault, recordsDigest: "" };
}

interface PageHead {
  readonly headers: UkvsHeaders;
  readonly mark: PageMark | undefined;
}

/** What is wrong with a page as the one with this number, behind the one before it. */
function wrongPage(
  number: number,
  page: PageHead,
  before: PageHead | undefined,
): string | undefined {
  const { mark } = page;
  if (mark?.number !== number) return `is page ${mark?.number}, not page ${number}`;
  if (before?.mark === undefined) return undefined;
  if (mark.of !== before.mark.of)
    return `is one of ${formatAmount(mark.of, "page")}, not of ${before.mark.of}`;
  if (pageVersion(page.headers) !== pageVersion(before.headers)) {
    return "is of another version than the page before";
  }
  const [first, last] = [mark.first, before.mark.last].map((key) => Buffer.from(key ?? ""));
  const isBehind = first.length === 0 || last.length === 0 || Buffer.compare(last, first) < 0;
  return isBehind ? undefined : "begins before the end of the page before";
}

/** The headers at the start of a map; undefined where they cannot be read. */
function headersOf(start: Uint8Array, url: string): PageHead | undefined {
  const whole = start.subarray(0, start.lastIndexOf(LF) + 1);
  try {
    const { headers } = mapHeadOf(whole, url);
    return { headers, mark: pageMark(headers, url) };
  } catch (error) {
    if (isMementoMapError(error)) return undefined;
    throw error;
  }
}

function judged(rule: RuleId, isKept: boolean, message: string): Finding {
  const { level } = PUBLISHER_RULES[rule];
  const outcome = isKept ? "ok" : level === "MUST" ? "error" : "warning";
  return { rule, outcome, message };
}

/** What a header says, in words; undefined where it says nothing. */
function stated(value: string | null | undefined, words: string): string | undefined {
  return value === null || value === undefined || value === "" ? undefined : `${words} ${value}`;
}

function skipped(rule: RuleId, message: string): Finding {
  return { rule, outcome: "skipped", message };
}
