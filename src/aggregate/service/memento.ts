import type { Archive } from "../route/archive.ts";
import { NodeClient, type NodeClientOptions } from "../../http/node-client.ts";
import type { HttpRequest, HttpResponse } from "../../http/http-client.ts";
import { isMementoMapError } from "../../errors.ts";
import { isRedirect, MAX_REDIRECTS, redirectTarget } from "../../http/redirects.ts";
import { ClientFault, problemReply, type Reply } from "../../http/reply.ts";
import { OpenReplies } from "../../http/open-replies.ts";
import { formatHttpDate } from "../../memento/datetime.ts";
import type { MementoClient } from "./exchange.ts";
import { aggregationHeaders, type Found, headerUri } from "./timemap.ts";

/** Maximum connections to one archive for mementos. */
const CONNECTIONS = 64;
/** Mementos that one client may read concurrently: each occupies a connection to the archive. */
const READ_AT_ONCE = new OpenReplies(8);

/** A client for mementos: listed archives may be at private addresses, other servers may not. */
export function mementoClient(
  router: { readonly archives: readonly Archive[] },
  options: Omit<NodeClientOptions, "trustedOrigins">,
): NodeClient {
  const includes = (origin: string): boolean =>
    router.archives.some(
      ({ timemap, timegate }) => isAt(origin, timemap) || isAt(origin, timegate),
    );
  return new NodeClient({ ...options, trustedOrigins: { includes }, connections: CONNECTIONS });
}

function isAt(origin: string, address: string | undefined): boolean {
  return address !== undefined && URL.canParse(address) && new URL(address).origin === origin;
}

/** Response headers that are passed on; no cookies, nothing about the connection or policies. */
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

/** Scripts of the page run in an opaque origin: they must not act for the aggregator. */
const SANDBOX = "sandbox allow-scripts allow-forms allow-popups";

/**
 * Proxies the memento closest to a datetime as it was captured, without what its archive adds for replay.
 *
 * Holds one chunk. Private addresses are not reachable, and bodies beyond `maxProxyBytes` are cut off.
 */
export function proxyReply(found: Found): Promise<Reply> {
  return READ_AT_ONCE.of(found.exchange.client.address, () => passOn(found));
}

async function passOn(found: Found): Promise<Reply> {
  const { exchange, aggregation, datetime } = found;
  const { client, maxProxyBytes: maxBytes = 256 * 2 ** 20 } = exchange.options;
  const { method } = exchange.request;
  const closest = aggregation.mementos.at(aggregation.mementos.closest(datetime));
  const url = rawMementoUri(closest.uri);
  let answer: HttpResponse;
  try {
    answer = await memento(client, url, { method: method === "HEAD" ? "HEAD" : "GET" });
  } catch (error) {
    if (!isMementoMapError(error)) throw error;
    const detail = `the memento ${url} could not be fetched: ${error.message}`;
    return problemReply({ status: 502, title: "Bad gateway", detail });
  }
  if (Number(answer.headers.get("content-length") ?? 0) > maxBytes) {
    await answer.discard();
    const detail = `the memento ${url} is longer than ${maxBytes} bytes; open it at the archive`;
    return problemReply({ status: 502, title: "Memento too long", detail });
  }
  return {
    status: answer.status,
    headers: {
      ...aggregationHeaders(found),
      ...proxyHeaders(answer),
      "Memento-Datetime": formatHttpDate(closest.datetime),
      "Content-Location": headerUri(closest.uri),
      "Content-Security-Policy": SANDBOX,
    },
    body: limitBytes(answer.body, maxBytes),
    release: () => answer.discard(),
  };
}

/**
 * Follows redirects to other captures of the same archive: archives redirect to the nearest one. Any other
 * redirect was captured itself and leads to the live Web: it is passed on.
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

/** The target of a redirect, if it is a capture of the same archive. */
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

/** Throws at the limit, so that the connection is cut and the client sees that the body is incomplete. */
async function* limitBytes(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new ClientFault("the memento is too long");
    yield chunk;
  }
}

function proxyHeaders({ headers }: HttpResponse): Record<string, string> {
  const all: Record<string, string> = {};
  for (const name of PASSED_ON) {
    const value = headers.get(name);
    // Node would reject other values.
    if (typeof value === "string" && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)) all[name] = value;
  }
  return all;
}

/**
 * `…/20150101000000/…` → `…/20150101000000id_/…`: the URL of the memento as it was captured, in archives
 * that run Wayback or similar software. Others are unchanged.
 */
function rawMementoUri(uri: string): string {
  return uri.replace(/\/(\d{14})(?:[a-z]{2}_)?\//, "/$1id_/");
}
