import type { LookupFunction } from "node:net";
import { MementoMapError, quote } from "../errors.ts";
import { userAgent } from "../files/package-file.ts";
import { checkSignal } from "../interruption.ts";
import { codingOf } from "./body-decoder.ts";
import { type Client, drain, type GetRequest, readBody, type TakeBody } from "./client.ts";
import { Connections } from "./connections.ts";
import { Exchange } from "./exchange.ts";
import type { HttpClient, HttpRequest, HttpResponse, ResponseHead } from "./http-client.ts";
import { basicAuthorization, type ProxySettings } from "./proxy.ts";
import { redirectOf, RedirectTrail } from "./redirects.ts";

export interface NodeClientOptions {
  /**
   * Origins allowed at private addresses: those named by the user, not redirect targets. Can be an array of origins
   * such as `https://archive.example.org`, without a path.
   */
  readonly trustedOrigins?: { includes(origin: string): boolean } | undefined;
  /** Whether any origin may be at a private address; default false. */
  readonly allowsPrivate?: boolean | undefined;
  /** Sent with every request; default a `User-Agent` with the name of this program. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Time limit for connecting; default `headersTimeoutMs`. */
  readonly connectTimeoutMs?: number | undefined;
  /** Time limit for the response headers; default 30 s. */
  readonly headersTimeoutMs?: number | undefined;
  /** Idle timeout within a body; default 30 s. */
  readonly idleTimeoutMs?: number | undefined;
  /** Max connections per origin; further requests are queued. Default 8. */
  readonly connections?: number | undefined;
  /** Limit on the response headers; default 64 KiB. */
  readonly maxHeaderBytes?: number | undefined;
  /** Resolves host names; default the system resolver. */
  readonly lookup?: LookupFunction | undefined;
  /** Proxies for requests; default none. */
  readonly proxies?: ProxySettings | undefined;
}

const TIMEOUT_MS = 30_000;
const MAX_HEADER_BYTES = 64 * 1024;
const MAX_CONNECTIONS = 8;

/**
 * An HTTP client for untrusted servers.
 *
 * Addresses are checked when the connection is made, so that DNS rebinding has no effect. Paths are sent byte for
 * byte. Redirects from https to http are rejected. With a proxy, only the proxy knows the address; names are then
 * rejected only if they resolve to private addresses on this machine.
 */
export class NodeClient implements HttpClient, Client {
  readonly #options: NodeClientOptions;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #connections: Connections;

  constructor(options: NodeClientOptions = {}) {
    const { headersTimeoutMs = TIMEOUT_MS, allowsPrivate = false, trustedOrigins } = options;
    this.#options = options;
    this.#headers = options.headers ?? { "User-Agent": userAgent() };
    this.#connections = new Connections({
      connectTimeoutMs: options.connectTimeoutMs ?? headersTimeoutMs,
      connections: options.connections ?? MAX_CONNECTIONS,
      maxHeaderBytes: options.maxHeaderBytes ?? MAX_HEADER_BYTES,
      mayBePrivate: (origin) => allowsPrivate || trustedOrigins?.includes(origin) === true,
      lookup: options.lookup,
      proxies: options.proxies,
    });
  }

  /** Follows redirects. The body is returned as sent, never decompressed. */
  async request(url: string, request: HttpRequest = {}): Promise<HttpResponse> {
    const trail = new RedirectTrail();
    let address = addressOf(url);
    for (;;) {
      const response = await this.#send(address, request);
      const location = redirectOf(response);
      if (location === undefined) return response;
      await response.discard();
      address = redirected(trail, address, location);
    }
  }

  /**
   * Sends one request; a redirect is returned like any other response.
   *
   * @throws like `request`.
   */
  async requestOnce(url: string, request: HttpRequest = {}): Promise<HttpResponse> {
    return this.#send(addressOf(url), request);
  }

  async get(request: GetRequest, take: TakeBody): Promise<ResponseHead> {
    let trail: RedirectTrail | undefined;
    for (let { url } = request; ;) {
      const { head, location } = await this.#getOnce(url, request, take);
      if (location === undefined) return head;
      trail ??= new RedirectTrail();
      url = trail.follow(url, location);
    }
  }

  /** Closes all connections, including idle ones; requests in flight fail. */
  close(): void {
    this.#connections.close().catch(() => undefined);
  }

  async #send(
    address: Address,
    { method = "GET", headers, signal }: HttpRequest,
  ): Promise<HttpResponse> {
    checkSignal(signal);
    const { origin, path, authorization } = address;
    const { headersTimeoutMs = TIMEOUT_MS, idleTimeoutMs = TIMEOUT_MS } = this.#options;
    const credentials = authorization === undefined ? {} : { Authorization: authorization };
    const exchange = new Exchange(this.#connections, {
      url: origin + path,
      method,
      headers: { ...this.#headers, ...headers, ...credentials },
      headersTimeoutMs,
      signal,
    });
    const head = await exchange.begin();
    exchange.failAfter(idleTimeoutMs, "no data received for", true);
    const discard = (): Promise<void> => Promise.resolve(exchange.end());
    return { ...head, url: written(address), body: exchange.body(), discard };
  }

  /** Returns the head, and the redirect location if it is followed. */
  async #getOnce(
    url: string,
    request: GetRequest,
    take: TakeBody,
  ): Promise<{ readonly head: ResponseHead; readonly location: string | undefined }> {
    const { headersTimeoutMs, until, maxBytes, followsRedirects = true } = request;
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
      const location = followsRedirects ? redirectOf(head) : undefined;
      const sink = location === undefined ? take(head) : undefined;
      if (sink === undefined) {
        await drain(exchange);
      } else {
        exchange.failAfter(until - performance.now(), "no complete response within", false, leftMs);
        await readBody(exchange, codingOf(headers.get("content-encoding")), maxBytes, sink);
      }
      return { head, location };
    } finally {
      exchange.end();
    }
  }
}

/** The parts of a URL used in a request. */
interface Address {
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
  /** `me:secret@`, or nothing. */
  readonly user: string;
  readonly authorization: string | undefined;
}

/** A URL whose path and query need no encoding; the fragment is not sent. */
const AS_WRITTEN = /^https?:\/\/[^/?#\\]+(\/[!"$-~]*)(?:#.*)?$/i;

/** @throws MM_BAD_URI */
function addressOf(url: string): Address {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) {
    throw new MementoMapError("MM_BAD_URI", `${quote(url)} is not a web address`);
  }
  const { origin, pathname, search, username, password } = parsed;
  const [, path = pathname + search] = AS_WRITTEN.exec(url) ?? [];
  const authorization = basicAuthorization(parsed);
  const secret = password === "" ? "" : `:${password}`;
  return {
    origin,
    path,
    authorization,
    user: authorization === undefined ? "" : `${username}${secret}@`,
  };
}

/** The URL with its user information, to request it again. */
function written({ origin, path, user }: Address): string {
  return origin.replace("//", () => `//${user}`) + path;
}

/** Credentials are kept for redirects to the same origin only. */
function redirected(trail: RedirectTrail, from: Address, location: string): Address {
  const { origin, path, user, authorization } = from;
  const to = addressOf(trail.follow(origin + path, location));
  return to.origin === origin ? { ...to, user, authorization } : to;
}
