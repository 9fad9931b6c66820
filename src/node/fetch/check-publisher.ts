import { LF } from "../../bytes/ascii.ts";
import { createHash } from "node:crypto";
import {
  discoverMap,
  type Discovery,
  MEMENTOMAP_RELATION,
  webAddress,
} from "../../discover/discover.ts";
import { htmlLinks } from "../../discover/html-links.ts";
import { bodyStart, type HttpClient, type HttpResponse } from "../../discover/http-client.ts";
import { parseLinkHeader } from "../../memento/link-header.ts";
import { isMementoMapError } from "../../errors.ts";
import { mapHeadOf } from "../../lookup/map-head.ts";
import { pageMark } from "../../lookup/page-range.ts";
import { validateMap } from "../../map/validate.ts";
import { decompressed } from "../decompress.ts";
import { PUBLISHER_RULES, type RuleId } from "./publisher-rules.ts";

/** What was found about one rule of `docs/dissemination.md`. */
export interface Finding {
  readonly rule: RuleId;
  /** `error` where a MUST is broken, `warning` where a SHOULD is. */
  readonly outcome: "ok" | "error" | "warning" | "skipped";
  readonly message: string;
}

const MAX_CHECKED_PAGES = 10_000;
const HEAD_BYTES = 64 * 1024;

/**
 * Checks how an archive publishes its map, rule by rule.
 *
 * Downloads the map twice, plain and compressed, and its pages once; holds a chunk.
 *
 * @throws MM_NOT_FOUND when there is no map to check; MM_HTTP, MM_REFUSED, MM_BAD_URI.
 */
export async function* checkPublisher(
  client: HttpClient,
  address: string,
  options: { readonly signal?: AbortSignal | undefined } = {},
): AsyncGenerator<Finding, void, undefined> {
  const found = await discoverMap(client, address, options);
  const checks = new PublisherChecks(client, webAddress(address).href, found, options.signal);
  yield* checks.run();
}

/** What is known of the map after it was read through. */
interface Whole {
  readonly response: HttpResponse;
  readonly digest: string;
  readonly recordsDigest: string;
  readonly bytes: number;
  readonly start: Uint8Array;
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
    yield judged("P1", method === "well-known", `the map is at ${url}, found by ${method}`);
    const faults: string[] = [];
    const whole = await this.#readWhole(faults);
    yield judged("P2", faults.length === 0, faults[0] ?? `${whole.bytes} bytes without a fault`);
    yield this.#identity(whole);
    yield* this.#validators(whole.response);
    yield* this.#ranges(whole);
    yield* this.#compression(whole);
    yield* this.#metadata(whole.response);
    yield await this.#announcement();
    yield* this.#pages(whole);
  }

  #get(url: string, headers: Record<string, string> = {}): Promise<HttpResponse> {
    const all = { "Accept-Encoding": "identity", ...headers };
    return this.#client.request(url, { headers: all, signal: this.#signal });
  }

  async #readWhole(faults: string[]): Promise<Whole> {
    const response = await this.#get(this.#found.url);
    const reader = new MapReader();
    const chunks = decompressed(response.body, { source: this.#found.url });
    for await (const fault of validateMap(reader.passing(chunks))) {
      if (fault.severity === "error") faults.push(`line ${fault.line}: ${fault.message}`);
    }
    if (response.status !== 200) faults.unshift(`status ${response.status}`);
    return { response, ...reader.finish() };
  }

  #identity({ start }: Whole): Finding {
    const end = start.lastIndexOf(LF) + 1;
    try {
      const { id } = mapHeadOf(start.subarray(0, end), this.#found.url).headers;
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
    yield judged("P4", etag.startsWith('"'), etag === "" ? "no ETag" : `ETag ${etag}`);
    const modified = response.headers.get("last-modified") ?? "";
    yield judged("P5", modified !== "", modified === "" ? "no Last-Modified" : modified);
    if (etag === "" && modified === "") {
      yield skipped("P6", "nothing to ask with");
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
    yield judged("P7", isRight, `a range request gives ${part.status}`);
    if (part.status !== 206) {
      yield skipped("P8", "ranges are not offered");
      return;
    }
    const beyond = await this.#get(this.#found.url, { Range: `bytes=${bytes}-` });
    await beyond.discard();
    yield judged("P8", beyond.status === 416, `a range beyond the end gives ${beyond.status}`);
  }

  async *#compression(whole: Whole): AsyncGenerator<Finding, void, undefined> {
    const packed = await this.#get(this.#found.url, { "Accept-Encoding": "gzip" });
    const coding = packed.headers.get("content-encoding") ?? "";
    yield judged("P9", coding === "gzip", coding === "" ? "not compressed" : `sent as ${coding}`);
    if (coding !== "gzip") {
      await packed.discard();
      yield skipped("P10", "not compressed");
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
    yield judged("P10", wrong.length === 0, wrong.join("; ") || "the same map");
  }

  async *#metadata(plain: HttpResponse): AsyncGenerator<Finding, void, undefined> {
    const head = await this.#client.request(this.#found.url, {
      method: "HEAD",
      headers: { "Accept-Encoding": "identity" },
      signal: this.#signal,
    });
    await head.discard();
    const names = ["etag", "content-length", "last-modified"];
    const same = names.every((name) => head.headers.get(name) === plain.headers.get(name));
    yield judged("P11", head.status === 200 && same, `HEAD gives ${head.status}`);
    const origin = plain.headers.get("access-control-allow-origin") ?? "";
    yield judged("P12", origin === "*", origin === "" ? "no CORS header" : `for ${origin}`);
    const cache = plain.headers.get("cache-control") ?? plain.headers.get("expires") ?? "";
    yield judged("P13", cache !== "", cache === "" ? "nothing is said" : cache);
  }

  async #announcement(): Promise<Finding> {
    const page = await this.#get(this.#address);
    const links = parseLinkHeader(page.headers.get("link") ?? "");
    const isInHeader = links.some(({ rels }) => rels.includes(MEMENTOMAP_RELATION));
    const html = new TextDecoder().decode(await bodyStart(page, 512 * 1024));
    const isInPage = htmlLinks(html, MEMENTOMAP_RELATION).hrefs.length > 0;
    const where = isInHeader ? "by the Link header" : "by a link element";
    return judged("P14", isInHeader || isInPage, isInHeader || isInPage ? where : "no link");
  }

  async *#pages(whole: Whole): AsyncGenerator<Finding, void, undefined> {
    const all = createHash("sha256");
    let next: string | undefined = new URL("?page=1", this.#found.url).href;
    let count = 0;
    let of = 1;
    for (; next !== undefined && count < MAX_CHECKED_PAGES; count += 1) {
      const response: HttpResponse = await this.#get(next);
      const reader = new MapReader(all);
      for await (const chunk of decompressed(response.body, { source: next })) reader.take(chunk);
      const { start } = reader.finish();
      const mark = response.status === 200 ? markOf(start, next) : undefined;
      if (mark === undefined || mark.number !== count + 1) {
        yield count === 0
          ? skipped("P15", "the map is not offered in pages")
          : judged("P15", false, `${next} is not page ${count + 1}`);
        return;
      }
      of = mark.of;
      const links = parseLinkHeader(response.headers.get("link") ?? "");
      const following = links.find(({ rels }) => rels.includes("next"))?.target;
      next = following === undefined ? undefined : new URL(following, next).href;
    }
    const isWhole = count === of && all.digest("hex") === whole.recordsDigest;
    yield judged(
      "P15",
      isWhole,
      isWhole ? `${count} pages are the map` : `${count} of ${of} pages, not the map`,
    );
  }
}

/** Notes what passes: the first bytes, the digest of all, and that of the records. */
class MapReader {
  readonly #all = createHash("sha256");
  readonly #records: ReturnType<typeof createHash>;
  readonly #ownsRecords: boolean;
  readonly #parts: Uint8Array[] = [];
  #kept = 0;
  #bytes = 0;
  #isInHeaders = true;
  #isLineStart = true;

  constructor(records?: ReturnType<typeof createHash>) {
    this.#records = records ?? createHash("sha256");
    this.#ownsRecords = records === undefined;
  }

  async *passing(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of chunks) {
      this.take(chunk);
      yield chunk;
    }
  }

  take(chunk: Uint8Array): void {
    this.#all.update(chunk);
    this.#bytes += chunk.length;
    if (this.#kept < HEAD_BYTES) this.#parts.push(chunk.slice(0, HEAD_BYTES));
    this.#kept += chunk.length;
    this.#records.update(chunk.subarray(this.#headersEnd(chunk)));
  }

  finish(): Omit<Whole, "response"> {
    return {
      digest: this.#all.digest("hex"),
      recordsDigest: this.#ownsRecords ? this.#records.digest("hex") : "",
      bytes: this.#bytes,
      start: Buffer.concat(this.#parts).subarray(0, HEAD_BYTES),
    };
  }

  /** How much of a chunk belongs to header lines. */
  #headersEnd(chunk: Uint8Array): number {
    let at = 0;
    while (this.#isInHeaders && at < chunk.length) {
      if (this.#isLineStart && chunk[at] !== 0x21 && chunk[at] !== 0x40) {
        this.#isInHeaders = false;
        break;
      }
      const newline = chunk.indexOf(LF, at);
      this.#isLineStart = newline !== -1;
      at = newline === -1 ? chunk.length : newline + 1;
    }
    return at;
  }
}

function markOf(start: Uint8Array, url: string): ReturnType<typeof pageMark> {
  const whole = start.subarray(0, start.lastIndexOf(LF) + 1);
  try {
    return pageMark(mapHeadOf(whole, url).headers, url);
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

function skipped(rule: RuleId, message: string): Finding {
  return { rule, outcome: "skipped", message };
}
