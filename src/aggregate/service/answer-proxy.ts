import type { Aggregation } from "../aggregator.ts";
import type { Archive } from "../route/archive.ts";
import { NodeClient, type NodeClientOptions } from "../../http/node-client.ts";
import type { HttpRequest, HttpResponse } from "../../http/http-client.ts";
import { isMementoMapError } from "../../errors.ts";
import { isRedirect, MAX_REDIRECTS, redirectTarget } from "../../http/redirects.ts";
import { formatHttpDate } from "../../memento/datetime.ts";
import { writeBlock } from "../../http/send.ts";
import {
  aggregationHeaders,
  type AggregatorExchange,
  type HeaderList,
  headerUri,
  sendRefusal,
} from "./aggregator-exchange.ts";

/** Gets mementos from archives that are not trusted: a `NodeClient`. */
export interface MementoClient {
  /**
   * Asks once: a redirect is an answer like any other.
   *
   * @throws MM_HTTP when there is no answer, MM_REFUSED for a private address, MM_BAD_URI.
   */
  requestOnce(url: string, request?: HttpRequest): Promise<HttpResponse>;
}

/** A client for mementos: archives of the list may be at private addresses, other servers may not. */
export function mementoClient(
  router: { readonly archives: readonly Archive[] },
  options: Omit<NodeClientOptions, "trustedOrigins">,
): NodeClient {
  const includes = (origin: string): boolean =>
    router.archives.some(
      ({ timemap, timegate }) => isAt(origin, timemap) || isAt(origin, timegate),
    );
  return new NodeClient({ ...options, trustedOrigins: { includes } });
}

function isAt(origin: string, address: string | undefined): boolean {
  return address !== undefined && URL.canParse(address) && new URL(address).origin === origin;
}

export interface ProxyOptions {
  /** Gets mementos for `/memento/proxy/`. */
  readonly client: MementoClient;
  /** Bytes of a memento that is passed on; default 256 MiB. */
  readonly maxProxyBytes?: number | undefined;
}

/** What of an archive's answer is passed on; no cookies, nothing of its connection or its policies. */
const PASSED_ON: readonly string[] = [
  "content-type",
  "content-language",
  "content-encoding",
  "content-length",
  "content-disposition",
  "last-modified",
  "etag",
  "link",
  "location",
];

/** Scripts of the page may run, but as those of no site: they must not speak for the aggregator. */
const SANDBOX = "sandbox allow-scripts allow-forms allow-popups";

/**
 * Passes on the memento closest to a moment as it was captured, without what its archive adds for
 * replay.
 *
 * Holds one chunk and waits for the reader after each. Private addresses are not reached, and what
 * is longer than `maxProxyBytes` is cut off.
 */
export async function answerProxy(
  exchange: AggregatorExchange,
  aggregation: Aggregation,
  { datetime }: { readonly datetime: number },
  { client, maxProxyBytes: maxBytes = 256 * 2 ** 20 }: ProxyOptions,
): Promise<void> {
  const { response, isHead, signal } = exchange;
  const closest = aggregation.mementos.at(aggregation.mementos.closest(datetime));
  const url = rawMementoUri(closest.uri);
  const headers = aggregationHeaders(exchange, aggregation);
  const gone = new AbortController();
  signal.addEventListener("abort", () => gone.abort());
  let answer: HttpResponse;
  try {
    answer = await memento(client, url, { method: isHead ? "HEAD" : "GET", signal: gone.signal });
  } catch (error) {
    if (!isMementoMapError(error) || signal.aborted) throw error;
    const detail = `the archive's memento ${url} cannot be had: ${error.message}`;
    sendRefusal(exchange, { status: 502, title: "Bad gateway", detail });
    return;
  }
  if (isTooLong(answer, maxBytes)) {
    await answer.discard();
    const detail = `the memento ${url} is longer than ${maxBytes} bytes; ask the archive for it`;
    sendRefusal(exchange, { status: 502, title: "Too long to pass on", detail });
    return;
  }
  addPassedOn(headers, answer);
  headers.push("Memento-Datetime", formatHttpDate(closest.datetime));
  headers.push("Content-Location", headerUri(closest.uri));
  headers.push("Content-Security-Policy", SANDBOX);
  response.writeHead(answer.status, headers);
  if (isHead) {
    await answer.discard();
    response.end();
    return;
  }
  await passOn(exchange, answer, maxBytes);
}

/**
 * Follows redirects to other captures of the same archive: archives redirect to the nearest one. Any
 * other is what was captured: it leads to the web of today, and is passed on.
 */
async function memento(
  client: MementoClient,
  url: string,
  request: HttpRequest,
): Promise<HttpResponse> {
  let answer = await client.requestOnce(url, request);
  for (let step = 0; step < MAX_REDIRECTS && isRedirect(answer.status); step++) {
    const next = otherCapture(answer.url, answer.headers.get("location"));
    if (next === undefined) break;
    await answer.discard();
    answer = await client.requestOnce(rawMementoUri(next), request);
  }
  return answer;
}

/** Where a redirect leads, if that is a capture of the same archive. */
function otherCapture(from: string, location: string | null | undefined): string | undefined {
  if (typeof location !== "string") return undefined;
  try {
    const next = redirectTarget(from, location);
    const { origin, pathname } = new URL(next);
    return origin === new URL(from).origin && RAW_MEMENTO.test(pathname) ? next : undefined;
  } catch (error) {
    if (isMementoMapError(error)) return undefined;
    throw error;
  }
}

const RAW_MEMENTO = /\/\d{14}(?:[a-z]{2}_)?\//;

/** Cuts the connection when the body is too long or fails, so that the client sees it is not whole. */
async function passOn(
  { response }: AggregatorExchange,
  answer: HttpResponse,
  maxBytes: number,
): Promise<void> {
  let bytes = 0;
  for await (const chunk of answer.body) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      await answer.discard();
      response.destroy();
      return;
    }
    if (!(await writeBlock(response, chunk))) {
      await answer.discard();
      return;
    }
  }
  response.end();
}

function addPassedOn(headers: HeaderList, answer: HttpResponse): void {
  for (const name of PASSED_ON) {
    const value = answer.headers.get(name);
    // What Node would refuse to write is left out.
    if (typeof value === "string" && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      headers.push(name, value);
    }
  }
}

function isTooLong(answer: HttpResponse, maxBytes: number): boolean {
  return Number(answer.headers.get("content-length") ?? 0) > maxBytes;
}

/**
 * `…/20150101000000/…` → `…/20150101000000id_/…`: the address of a memento as it was captured, in
 * archives that run Wayback software or its kin. Others are taken as they are.
 */
function rawMementoUri(uri: string): string {
  return uri.replace(/\/(\d{14})(?:[a-z]{2}_)?\//, "/$1id_/");
}
