import { createHash, type Hash } from "node:crypto";
import { MemorySource } from "../../bytes/byte-source.ts";
import { isPacked, LF } from "../../bytes/bytes.ts";
import { peek } from "../../bytes/peek.ts";
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
import { mapHeadOf, pageMark } from "../../ukvs/head.ts";
import { startsHeader } from "../../ukvs/header.ts";
import { lineEnd, nextLine } from "../../ukvs/row.ts";
import {
  discoverMap,
  type DiscoverOptions,
  type Discovery,
  htmlLinks,
  MEMENTOMAP_RELATION,
  webAddress,
} from "./discover.ts";
import { nextPage, pageFault, type PageHead } from "./pages.ts";

interface Rule {
  readonly level: "MUST" | "SHOULD";
  /** The requirement, as shown after a finding that breaks it. */
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

/** The result of checking one rule of `docs/dissemination.md`. */
export interface Finding {
  readonly rule: RuleId;
  /** `error` for a broken MUST, `warning` for a broken SHOULD. */
  readonly outcome: "ok" | "error" | "warning" | "skipped";
  readonly message: string;
}

const MAX_CHECKED_PAGES = 10_000;

/**
 * Checks how an archive publishes its map, rule by rule.
 *
 * Downloads the map twice, plain and compressed, and its pages once; holds a chunk. A packed map is
 * downloaded once, and held in memory.
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
  // The map of another archive must not be at the site's own well-known URI.
  yield new URL(address).origin === new URL(archive).origin
    ? verdict("P1", method === "well-known", place)
    : skipped("P1", `${place}; the archive is elsewhere`);
  const records = createHash("sha256");
  const response = await get(url);
  const whole = await readMap(response, url, records);
  const { faults, bytes } = whole;
  const [fault = `the map has ${bytes} bytes and no fault`] = faults;
  yield verdict("P2", faults.length === 0, fault);
  yield identity(whole, archive);
  yield* validators(get, url, response);
  yield* ranges(get, url, whole);
  if (!whole.isPacked) yield* compression(get, url, response, whole.digest);
  for (const rule of whole.isPacked ? (["P9", "P10"] as const) : []) {
    yield skipped(rule, "a packed map does not become smaller");
  }
  yield* metadata(get, url, response);
  yield await announcement(get, address);
  yield whole.isPacked
    ? skipped("P15", "a packed map has no pages")
    : await pages(get, url, whole, records.digest("hex"));
}

/** Facts about a map, or a page of one, that was read completely. */
interface ReadMap {
  /** Decompressed. */
  readonly bytes: number;
  readonly digest: string;
  readonly start: Uint8Array;
  readonly faults: readonly string[];
  readonly isPacked: boolean;
  /** Undefined if the headers cannot be read. */
  readonly head: PageHead | undefined;
}

/**
 * Reads a whole map. Of a text map a chunk is held; a packed map is held in memory.
 *
 * @param records receives the lines after the headers as `split` writes them: without blank lines and
 *   CR, which a map may have and its pages do not.
 */
async function readMap(response: HttpResponse, url: string, records: Hash): Promise<ReadMap> {
  const digest = createHash("sha256");
  let bytes = 0;
  const noted = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of decompressed(response.body, { source: url })) {
      digest.update(chunk);
      bytes += chunk.length;
      yield chunk;
    }
  };
  const { head: start, chunks } = await peekHead(noted());
  const faults = response.status === 200 ? [] : [`status ${response.status}`];
  let head: PageHead | undefined;
  try {
    if (isPacked(start)) {
      const { head: all } = await peek(chunks, Infinity);
      const { header } = await checkPacked(new MemorySource(all, url));
      head = { headers: packedHeaders(header), mark: undefined };
    } else {
      const lines = addingRecords(wholeLines(chunks, url), records);
      for await (const { line, message } of validateMap(lines, { isOnlyErrors: true })) {
        faults.push(`line ${line}: ${message}`);
      }
      const { headers } = mapHeadOf(start.subarray(0, start.lastIndexOf(LF) + 1), url);
      head = { headers, mark: pageMark(headers, url) };
    }
  } catch (error) {
    if (!isMementoMapError(error) || error.code === "MM_HTTP") throw error;
    if (faults.length === 0) faults.push(error.message);
  }
  return { bytes, digest: digest.digest("hex"), start, faults, isPacked: isPacked(start), head };
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

function identity({ head }: ReadMap, archive: string): Finding {
  const id = head?.headers.id;
  if (id === undefined) return verdict("P3", false, "the map has no !id");
  const isSame = URL.canParse(id) && new URL(id).host === new URL(archive).host;
  return verdict("P3", isSame, `!id is ${id}`);
}

async function* validators(get: Get, url: string, { headers }: HttpResponse): Findings {
  const etag = headers.get("etag") ?? "";
  const isStrong = etag.startsWith('"');
  yield headerVerdict("P4", etag, ["the ETag is", "the response has no ETag"], isStrong);
  const modified = headers.get("last-modified") ?? "";
  yield headerVerdict("P5", modified, ["Last-Modified is", "the response has no Last-Modified"]);
  if (etag === "" && modified === "") {
    yield skipped("P6", "there is no ETag or Last-Modified for a conditional request");
    return;
  }
  const condition: Record<string, string> =
    etag === "" ? { "If-Modified-Since": modified } : { "If-None-Match": etag };
  const { status } = await discarded(get(url, condition));
  yield verdict("P6", status === 304, `a conditional request gives ${status}`);
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
  const but = status === 206 && !isRight ? ", but not the requested bytes" : "";
  yield verdict("P7", isRight, `a range request gives ${status}${but}`);
  if (status !== 206) {
    yield skipped("P8", "ranges are not offered");
    return;
  }
  const beyond = await discarded(get(url, { Range: `bytes=${bytes}-` }));
  yield verdict("P8", beyond.status === 416, `a range beyond the end gives ${beyond.status}`);
}

async function* compression(get: Get, url: string, plain: HttpResponse, digest: string): Findings {
  const packed = await get(url, { "Accept-Encoding": "gzip" });
  const { headers } = packed;
  const coding = headers.get("content-encoding") ?? "";
  const words = ["the map comes as", "the map comes without compression"] as const;
  yield headerVerdict("P9", coding, words, coding === "gzip");
  if (coding !== "gzip") {
    await packed.discard();
    yield skipped("P10", "the map does not come as gzip");
    return;
  }
  const isSame = (await digestOf(decompressed(packed.body, { source: url }))) === digest;
  const etag = headers.get("etag");
  const varies = /accept-encoding|\*/i.test(headers.get("vary") ?? "");
  const isTagged = etag === undefined || etag !== plain.headers.get("etag");
  const wrong = [
    isSame ? "" : "it decompresses to other content",
    varies ? "" : "Vary does not name Accept-Encoding",
    isTagged ? "" : "both forms have the same strong ETag",
  ].filter((text) => text !== "");
  const sound = "the gzip form is the same map, with a tag of its own";
  yield verdict("P10", wrong.length === 0, wrong.join("; ") || sound);
}

async function* metadata(get: Get, url: string, plain: HttpResponse): Findings {
  const head = await discarded(get(url, {}, "HEAD"));
  const names = ["etag", "content-length", "last-modified"];
  const other = names.filter((name) => head.headers.get(name) !== plain.headers.get(name));
  const but = other.length === 0 ? "" : `, with another ${other.join(", ")} than GET`;
  yield verdict("P11", head.status === 200 && but === "", `HEAD gives ${head.status}${but}`);
  const allowed = "Access-Control-Allow-Origin";
  const origin = plain.headers.get(allowed.toLowerCase()) ?? "";
  yield headerVerdict("P12", origin, [`${allowed} is`, `there is no ${allowed}`], origin === "*");
  const cache = plain.headers.get("cache-control") ?? plain.headers.get("expires") ?? "";
  yield headerVerdict("P13", cache, [
    "the map is fresh for",
    "there is no Cache-Control or Expires",
  ]);
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
  return verdict("P14", isInHeader || isInPage, where);
}

/** Follows the links from the first page to the last. */
async function pages(
  get: Get,
  url: string,
  whole: ReadMap,
  wholeRecords: string,
): Promise<Finding> {
  // The discovered map may itself be the first page; then there is no whole map to compare with.
  const isFirst = whole.head?.mark !== undefined;
  const records = createHash("sha256");
  let next = isFirst ? url : new URL("?page=1", url).href;
  let before: PageHead | undefined;
  for (let number = 1; number <= MAX_CHECKED_PAGES; number += 1) {
    const response = await get(next);
    const { head, faults } = await readMap(response, next, records);
    if (response.status !== 200 || head?.mark === undefined) {
      if (before === undefined) return skipped("P15", "the map is not offered in pages");
      const message = `${next} is not a page of the map (status ${response.status})`;
      return verdict("P15", false, message);
    }
    const [fault] = faults;
    const wrong = fault === undefined ? pageFault(head, number, before) : `has a fault: ${fault}`;
    if (wrong !== undefined) return verdict("P15", false, `${next} ${wrong}`);
    if (number === head.mark.of) {
      const isWhole = isFirst || records.digest("hex") === wholeRecords;
      const what = isFirst
        ? ", linked and in order"
        : ` with ${isWhole ? "the records of the map" : "other records than the map"}`;
      return verdict(
        "P15",
        isWhole,
        `the map is offered in ${formatAmount(number, "page")}${what}`,
      );
    }
    const link = { url: response.url, link: response.headers.get("link"), headers: head.headers };
    const found = nextPage(link, number);
    if ("fault" in found) return verdict("P15", false, found.fault);
    next = found.url;
    before = head;
  }
  return verdict("P15", false, `there are more than ${MAX_CHECKED_PAGES} pages`);
}

async function discarded(response: Promise<HttpResponse>): Promise<HttpResponse> {
  await (await response).discard();
  return response;
}

function verdict(rule: RuleId, isFollowed: boolean, message: string): Finding {
  const { level } = PUBLISHER_RULES[rule];
  const outcome = isFollowed ? "ok" : level === "MUST" ? "error" : "warning";
  return { rule, outcome, message };
}

/** Evaluates a header, with wordings for a value and for none. */
function headerVerdict(
  rule: RuleId,
  value: string,
  [words, none]: readonly [words: string, none: string],
  isRight: boolean = true,
): Finding {
  return value === "" ? verdict(rule, false, none) : verdict(rule, isRight, `${words} ${value}`);
}

function skipped(rule: RuleId, message: string): Finding {
  return { rule, outcome: "skipped", message };
}
