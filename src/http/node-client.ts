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
   * Origins that may be at private addresses: those the user typed, not those a server redirected
   * to. An array of ones such as `https://archive.example.org`, without a path, will do.
   */
  readonly trustedOrigins?: { includes(origin: string): boolean } | undefined;
  /** Whether any origin may be at a private address; default false. */
  readonly allowsPrivate?: boolean | undefined;
  /** Sent with every request; default the name of this program as `User-Agent`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** How long a connection may take to be made; default `headersTimeoutMs`. */
  readonly connectTimeoutMs?: number | undefined;
  /** How long a server may take to begin its answer; default 30 s. */
  readonly headersTimeoutMs?: number | undefined;
  /** How long a server may send nothing in the middle of a body; default 30 s. */
  readonly idleTimeoutMs?: number | undefined;
  /** Connections to one origin; more requests wait. Default 8. */
  readonly connections?: number | undefined;
  /** Bytes of the head of an answer; default 64 KiB. */
  readonly maxHeaderBytes?: number | undefined;
  /** How names become addresses; default the system's way. */
  readonly lookup?: LookupFunction | undefined;
  /** Which requests go through which proxy; default none. */
  readonly proxies?: ProxySettings | undefined;
}

const TIMEOUT_MS = 30_000;
const MAX_HEADER_BYTES = 64 * 1024;
const MAX_CONNECTIONS = 8;

/**
 * Gets things from servers that are not trusted.
 *
 * Addresses are checked where the connection is made, so that a name which resolves to something
 * else the second time gains nothing. Paths go out byte for byte. No redirect leads from https to http.
 * Where a proxy makes the connection, it is that which knows the address; names are then refused only if
 * this machine knows them to be private.
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

  /** Follows redirects. The body comes as sent, never decompressed. */
  async request(url: string, request: HttpRequest = {}): Promise<HttpResponse> {
    const trail = new RedirectTrail();
    let address = addressOf(url);
    for (;;) {
      const response = await this.#ask(address, request);
      const location = redirectOf(response);
      if (location === undefined) return response;
      await response.discard();
      address = redirected(trail, address, location);
    }
  }

  /**
   * Asks once: a redirect is an answer like any other.
   *
   * @throws as `request` does.
   */
  async requestOnce(url: string, request: HttpRequest = {}): Promise<HttpResponse> {
    return this.#ask(addressOf(url), request);
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

  /** Cuts all connections, also those that are kept for later; what is in flight fails. */
  close(): void {
    this.#connections.close().catch(() => undefined);
  }

  async #ask(
    address: Address,
    { method = "GET", headers, signal }: HttpRequest,
  ): Promise<HttpResponse> {
    checkSignal(signal);
    const { origin, path, authorization } = address;
    const { headersTimeoutMs = TIMEOUT_MS, idleTimeoutMs = TIMEOUT_MS } = this.#options;
    const own = authorization === undefined ? {} : { Authorization: authorization };
    const exchange = new Exchange(this.#connections, {
      url: origin + path,
      method,
      headers: { ...this.#headers, ...headers, ...own },
      headersTimeoutMs,
      signal,
    });
    const head = await exchange.begin();
    exchange.failAfter(idleTimeoutMs, "nothing was sent for", true);
    const discard = (): Promise<void> => Promise.resolve(exchange.end());
    return { ...head, url: written(address), body: exchange.body(), discard };
  }

  /** The head, and where it redirects to if that is followed. */
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
        exchange.failAfter(until - performance.now(), "no whole answer within", false, leftMs);
        await readBody(exchange, codingOf(headers.get("content-encoding")), maxBytes, sink);
      }
      return { head, location };
    } finally {
      exchange.end();
    }
  }
}

/** A web address in the parts that a request needs. */
interface Address {
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
  /** `me:secret@`, or nothing. */
  readonly user: string;
  readonly authorization: string | undefined;
}

/** Path and query where nothing has to be encoded, and perhaps a fragment, which is not sent. */
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

/** An address with its user, by which it can be asked for again. */
function written({ origin, path, user }: Address): string {
  return origin.replace("//", () => `//${user}`) + path;
}

/** The user of an address is sent to its origin again, and to no other. */
function redirected(trail: RedirectTrail, from: Address, location: string): Address {
  const { origin, path, user, authorization } = from;
  const to = addressOf(trail.follow(origin + path, location));
  return to.origin === origin ? { ...to, user, authorization } : to;
}
