import { MementoMapError } from "../errors.ts";
import { codingOf, decoded } from "./body-decoder.ts";
import type { Connections } from "./connections.ts";
import { Exchange } from "./exchange.ts";
import type { HttpHeaders } from "./http-client.ts";
import { isRedirect, MAX_REDIRECTS, RedirectTrail } from "./redirects.ts";

/** What to get. */
export interface GetRequest {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Default true; else a redirect is an answer like any other. */
  readonly followsRedirects?: boolean | undefined;
  /** Bytes of the body, as sent and decompressed. */
  readonly maxBytes: number;
  /** How long an answer may take to begin. */
  readonly headersTimeoutMs: number;
  /** When the whole answer has to be there, with all redirects; by `performance.now()`. */
  readonly until: number;
}

/** The start of an answer. */
export interface ResponseHead {
  readonly status: number;
  /** Where the answer came from, after redirects. */
  readonly url: string;
  readonly headers: HttpHeaders;
}

/** Takes the body of an answer, decompressed, as it comes; undefined where the body is not wanted. */
export type TakeBody = (head: ResponseHead) => ((chunk: Uint8Array) => void) | undefined;

/** Gets answers over connections that are checked: what archives are asked by. */
export interface Client {
  /**
   * Follows redirects; gives answers of any status. Resolves when the wanted body has come.
   *
   * @throws MM_HTTP when there is no whole answer in time, MM_LIMIT for a body that is too long, MM_REFUSED for a
   *   private address or a forbidden redirect, MM_BAD_URI; what the taker throws.
   */
  get(request: GetRequest, take: TakeBody): Promise<ResponseHead>;
  /** Cuts all connections; what is in flight fails. */
  close(): Promise<void>;
}

/** Bytes that a compressed body may become at once, whatever their number when compressed. */
const UNSUSPICIOUS_BYTES = 16 * 2 ** 20;
/** TimeMaps are compressed to a tenth or a thirtieth. */
const MAX_RATIO = 200;
/** A body that is not wanted is read up to this size to keep the connection; beyond, the connection is closed. */
const DRAINED_BYTES = 64 * 1024;
const DRAIN_MS = 1000;

/** {@link Client} over the network. */
export class NetworkClient implements Client {
  readonly #connections: Connections;
  readonly #headers: Readonly<Record<string, string>>;

  /** @param headers sent with every request. */
  constructor(connections: Connections, headers: Readonly<Record<string, string>>) {
    this.#connections = connections;
    this.#headers = headers;
  }

  async get(request: GetRequest, take: TakeBody): Promise<ResponseHead> {
    const { followsRedirects = true } = request;
    let trail: RedirectTrail | undefined;
    for (let url = request.url; ;) {
      const head = await this.#getOnce({ ...request, url }, take);
      const location = head.headers.get("location");
      if (!followsRedirects || !isRedirect(head.status) || typeof location !== "string") {
        return head;
      }
      trail ??= new RedirectTrail(MAX_REDIRECTS);
      url = trail.follow(url, location);
    }
  }

  close(): Promise<void> {
    return this.#connections.close();
  }

  async #getOnce(request: GetRequest, take: TakeBody): Promise<ResponseHead> {
    const { url, headersTimeoutMs, until, maxBytes, followsRedirects = true } = request;
    const leftMs = until - performance.now();
    const exchange = new Exchange(this.#connections, {
      url,
      method: "GET",
      headers: { ...this.#headers, ...request.headers },
      headersTimeoutMs: Math.min(headersTimeoutMs, leftMs),
    });
    try {
      const { status, headers } = await exchange.begin();
      const head = { status, url, headers };
      const isFollowed = followsRedirects && isRedirect(status);
      const sink = isFollowed && headers.get("location") !== undefined ? undefined : take(head);
      if (sink === undefined) {
        await drain(exchange);
        return head;
      }
      exchange.failAfter(until - performance.now(), "no whole answer within", false, leftMs);
      await read(exchange, codingOf(headers.get("content-encoding")), maxBytes, sink);
      return head;
    } finally {
      exchange.end();
    }
  }
}

/** Reads what is not wanted, to keep the connection. */
async function drain(exchange: Exchange): Promise<void> {
  exchange.failAfter(DRAIN_MS, "nobody wanted it for");
  let bytes = 0;
  try {
    while (bytes <= DRAINED_BYTES) {
      const chunk = await exchange.next();
      if (chunk === undefined) return;
      bytes += chunk.length;
    }
  } catch {
    // The head is all that was wanted.
  }
}

async function read(
  exchange: Exchange,
  coding: ReturnType<typeof codingOf>,
  maxBytes: number,
  sink: (chunk: Uint8Array) => void,
): Promise<void> {
  if (coding === "unknown") {
    const message = "it is compressed by a coding that was not asked for";
    throw new MementoMapError("MM_HTTP", message, { reason: "bad-encoding" });
  }
  let sent = 0;
  let length = 0;
  const next = async (): Promise<Uint8Array | undefined> => {
    const chunk = await exchange.next();
    sent += chunk?.length ?? 0;
    if (coding !== undefined && sent > maxBytes) throw tooLong(maxBytes);
    return chunk;
  };
  const take = (chunk: Uint8Array): void => {
    length += chunk.length;
    if (length > UNSUSPICIOUS_BYTES && length > sent * MAX_RATIO) throw bomb();
    const rest = chunk.length - (length - maxBytes);
    if (length <= maxBytes) sink(chunk);
    else if (rest > 0) sink(chunk.subarray(0, rest));
    if (length > maxBytes) throw tooLong(maxBytes);
  };
  if (coding === undefined) {
    for (let chunk = await next(); chunk !== undefined; chunk = await next()) take(chunk);
  } else {
    for await (const chunk of decoded(next, coding)) take(chunk);
  }
}

function tooLong(maxBytes: number): MementoMapError {
  const message = `the body is longer than ${maxBytes} bytes`;
  return new MementoMapError("MM_LIMIT", message, { reason: "body-limit" });
}

function bomb(): MementoMapError {
  const message = `the body becomes more than ${MAX_RATIO} times as long when it is decompressed`;
  return new MementoMapError("MM_LIMIT", message, { reason: "body-limit" });
}
