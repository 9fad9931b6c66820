import { createHash, type Hash } from "node:crypto";
import { MemorySource } from "../../bytes/byte-source.ts";
import { isPacked, joinBytes, LF } from "../../bytes/bytes.ts";
import { wholeLines } from "../../bytes/lines.ts";
import { isMementoMapError } from "../../errors.ts";
import { decompressed } from "../../files/decompress.ts";
import { digestOf } from "../../files/source-digest.ts";
import { formatAmount } from "../../format.ts";
import { bodyStart, type HttpClient, type HttpResponse } from "../../http/http-client.ts";
import { peekHead } from "../../input/stream-lines.ts";
import { interruptibleChunks } from "../../interruption.ts";
import { validateMap } from "../../maps/validate-map.ts";
import { parseLinkHeader } from "../../memento/links.ts";
import { headersOf as packedHeaders } from "../../packed/packed-file.ts";
import { checkPacked } from "../../packed/read-packed.ts";
import { mapHeadOf, type PageMark, pageMark } from "../../ukvs/head.ts";
import { startsHeader, type UkvsHeaders } from "../../ukvs/header.ts";
import { lineEnd, nextLine } from "../../ukvs/row.ts";
import {
  discoverMap,
  type DiscoverOptions,
  type Discovery,
  htmlLinks,
  MEMENTOMAP_RELATION,
  webAddress,
} from "./discover.ts";
import { nextPage, pageVersion } from "./pages.ts";

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
  const { href } = webAddress(address);
  const get: Get = (url, more = {}, method = "GET") => {
    const headers = { "Accept-Encoding": "identity", ...more };
    return client.request(url, { method, headers, signal });
  };
  yield* interruptibleChunks(findings(get, href, found), signal);
}

type Get = (
  url: string,
  headers?: Readonly<Record<string, string>>,
  method?: "GET" | "HEAD",
) => Promise<HttpResponse>;

type Findings = AsyncGenerator<Finding, void, undefined>;

async function* findings(get: Get, address: string, found: Discovery): Findings {
  const { method, url, archive } = found;
  const place = `the map is at ${url}, found by ${method}`;
  // A third party must not have it at its own well-known URI.
  yield new URL(address).origin === new URL(archive).origin
    ? judged("P1", method === "well-known", place)
    : skipped("P1", `${place}; the archive is elsewhere`);
  const records = createHash("sha256");
  const response = await get(url);
  const whole = await readMap(response, url, records);
  const { faults, bytes } = whole;
  const [fault = `the map has ${bytes} bytes and no fault`] = faults;
  yield judged("P2", faults.length === 0, fault);
  yield identity(whole, found);
  yield* validators(get, url, response);
  yield* ranges(get, url, whole);
  if (whole.packed === undefined) {
    yield* compression(get, url, response, whole.digest);
  } else {
    yield skipped("P9", "a packed map does not become smaller");
    yield skipped("P10", "a packed map does not become smaller");
  }
  yield* metadata(get, url, response);
  yield await announcement(get, address);
  yield whole.packed === undefined
    ? await pages(get, url, whole, records.digest("hex"))
    : skipped("P15", "a packed map has no pages");
}

/** What is known of a map, or a page of one, that was read through. */
interface ReadMap {
  /** Decompressed. */
  readonly bytes: number;
  readonly digest: string;
  readonly start: Uint8Array;
  readonly faults: readonly string[];
  /** The description of a packed map. */
  readonly packed: UkvsHeaders | undefined;
}

/**
 * Reads a map through. Of one in text a chunk is held, one that is packed is held whole.
 *
 * @param records takes the lines behind the headers as `split` writes them: without blank lines and CR. A map
 *   may have them, and its pages have not.
 */
async function readMap(response: HttpResponse, url: string, records: Hash): Promise<ReadMap> {
  const all = createHash("sha256");
  let bytes = 0;
  const noted = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of decompressed(response.body, { source: url })) {
      all.update(chunk);
      bytes += chunk.length;
      yield chunk;
    }
  };
  const { head: start, chunks } = await peekHead(noted());
  const faults = response.status === 200 ? [] : [`status ${response.status}`];
  let packed: UkvsHeaders | undefined;
  try {
    if (isPacked(start)) {
      const parts: Uint8Array[] = [];
      for await (const chunk of chunks) parts.push(chunk.slice());
      const { header } = await checkPacked(new MemorySource(joinBytes(parts), url));
      packed = packedHeaders(header);
    } else {
      const lines = addingRecords(wholeLines(chunks, url), records);
      for await (const { line, message } of validateMap(lines, { isOnlyErrors: true })) {
        faults.push(`line ${line}: ${message}`);
      }
    }
  } catch (error) {
    if (!isMementoMapError(error) || error.code === "MM_HTTP") throw error;
    faults.push(error.message);
  }
  return { bytes, digest: all.digest("hex"), start, faults, packed };
}

async function* addingRecords(
  chunks: AsyncIterable<Uint8Array>,
  records: Hash,
): AsyncGenerator<Uint8Array, void, undefined> {
  let isInHeaders = true;
  for await (const lines of chunks) {
    for (let at = 0; at < lines.length;) {
      const end = lineEnd(lines, at);
      if (end > at) isInHeaders &&= startsHeader(lines[at]);
      if (end > at && !isInHeaders) records.update(lines.subarray(at, end)).update("\n");
      at = nextLine(lines, end);
    }
    yield lines;
  }
}

function identity({ start, packed }: ReadMap, { url, archive }: Discovery): Finding {
  try {
    const { id } = packed ?? mapHeadOf(start.subarray(0, start.lastIndexOf(LF) + 1), url).headers;
    if (id === undefined) return judged("P3", false, "the map has no !id");
    const isSame = URL.canParse(id) && new URL(id).host === new URL(archive).host;
    return judged("P3", isSame, `!id is ${id}`);
  } catch (error) {
    if (!isMementoMapError(error)) throw error;
    return judged("P3", false, error.message);
  }
}

async function* validators(get: Get, url: string, { headers }: HttpResponse): Findings {
  const etag = headers.get("etag") ?? "";
  const tagged = stated(etag, "the ETag is");
  yield judged("P4", etag.startsWith('"'), tagged ?? "the response has no ETag");
  const modified = headers.get("last-modified") ?? "";
  const dated = stated(modified, "Last-Modified is");
  yield judged("P5", dated !== undefined, dated ?? "the response has no Last-Modified");
  if (etag === "" && modified === "") {
    yield skipped("P6", "there is no ETag and no Last-Modified to ask with");
    return;
  }
  const condition: Record<string, string> =
    etag === "" ? { "If-Modified-Since": modified } : { "If-None-Match": etag };
  const { status } = await discarded(get(url, condition));
  yield judged("P6", status === 304, `a conditional request gives ${status}`);
}

async function* ranges(get: Get, url: string, { start, bytes }: ReadMap): Findings {
  const to = Math.min(16, start.length) - 1;
  const part = await get(url, { Range: `bytes=1-${to}` });
  const { status, headers } = part;
  const body = await bodyStart(part, 64);
  const isRight =
    status === 206 &&
    headers.get("content-range") === `bytes 1-${to}/${bytes}` &&
    Buffer.compare(body, start.subarray(1, to + 1)) === 0;
  const but = status === 206 && !isRight ? ", but not the bytes asked for" : "";
  yield judged("P7", isRight, `a range request gives ${status}${but}`);
  if (status !== 206) {
    yield skipped("P8", "ranges are not offered");
    return;
  }
  const beyond = await discarded(get(url, { Range: `bytes=${bytes}-` }));
  yield judged("P8", beyond.status === 416, `a range beyond the end gives ${beyond.status}`);
}

async function* compression(get: Get, url: string, plain: HttpResponse, digest: string): Findings {
  const packed = await get(url, { "Accept-Encoding": "gzip" });
  const { headers } = packed;
  const coding = headers.get("content-encoding") ?? "";
  const packing = stated(coding, "the map comes as");
  yield judged("P9", coding === "gzip", packing ?? "the map comes without compression");
  if (coding !== "gzip") {
    await packed.discard();
    yield skipped("P10", "the map does not come as gzip");
    return;
  }
  const isSame = (await digestOf(decompressed(packed.body, { source: url }))) === digest;
  const etag = headers.get("etag");
  const isTagged = etag === undefined || etag !== plain.headers.get("etag");
  const wrong = [
    ...(isSame ? [] : ["it decompresses to something else"]),
    ...(/accept-encoding|\*/i.test(headers.get("vary") ?? "")
      ? []
      : ["Vary does not name Accept-Encoding"]),
    ...(isTagged ? [] : ["both forms have the same strong ETag"]),
  ];
  const sound = "the gzip form is the same map, with a tag of its own";
  yield judged("P10", wrong.length === 0, wrong.join("; ") || sound);
}

async function* metadata(get: Get, url: string, plain: HttpResponse): Findings {
  const head = await discarded(get(url, {}, "HEAD"));
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

async function announcement(get: Get, address: string): Promise<Finding> {
  const page = await get(address);
  const links = parseLinkHeader(page.headers.get("link") ?? "");
  const isInHeader = links.some(({ rels }) => rels.includes(MEMENTOMAP_RELATION));
  const html = new TextDecoder().decode(await bodyStart(page, 512 * 1024));
  const isInPage = htmlLinks(html, MEMENTOMAP_RELATION).hrefs.length > 0;
  const where = isInHeader
    ? "the Link header names the map"
    : isInPage
      ? "a link element names the map"
      : `${address} has no link to the map`;
  return judged("P14", isInHeader || isInPage, where);
}

/** Follows the links from the first page to the last. */
async function pages(
  get: Get,
  url: string,
  { start }: ReadMap,
  wholeRecords: string,
): Promise<Finding> {
  // What is found may be the first page itself; then there is no whole to compare with.
  const isFirst = headersOf(start, url)?.mark !== undefined;
  const records = createHash("sha256");
  let next = isFirst ? url : new URL("?page=1", url).href;
  let before: PageHead | undefined;
  for (let number = 1; number <= MAX_CHECKED_PAGES; number += 1) {
    const at = next;
    const response = await get(at);
    const read = await readMap(response, at, records);
    const page = response.status === 200 ? headersOf(read.start, at) : undefined;
    if (page?.mark === undefined) {
      if (before === undefined) return skipped("P15", "the map is not offered in pages");
      const message = `${at} is not a page of the map (status ${response.status})`;
      return judged("P15", false, message);
    }
    const [fault] = read.faults;
    const wrong = fault === undefined ? wrongPage(number, page, before) : `has a fault: ${fault}`;
    if (wrong !== undefined) return judged("P15", false, `${at} ${wrong}`);
    if (number === page.mark.of) {
      const isWhole = isFirst || records.digest("hex") === wholeRecords;
      const what = isFirst
        ? ", linked and in order"
        : ` with ${isWhole ? "the records of the map" : "other records than the map"}`;
      return judged("P15", isWhole, `the map is offered in ${formatAmount(number, "page")}${what}`);
    }
    const link = { url: response.url, link: response.headers.get("link"), headers: page.headers };
    const found = nextPage(link, number);
    if ("fault" in found) return judged("P15", false, found.fault);
    next = found.url;
    before = page;
  }
  return judged("P15", false, `there are more than ${MAX_CHECKED_PAGES} pages`);
}

async function discarded(response: Promise<HttpResponse>): Promise<HttpResponse> {
  await (await response).discard();
  return response;
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
