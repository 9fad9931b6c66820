import { lookup as dnsLookup } from "node:dns/promises";
import * as http from "node:http";
import * as https from "node:https";
import { isIP, type LookupFunction } from "node:net";
import type { HttpClient, HttpRequest, HttpResponse } from "../../discover/http-client.ts";
import { MementoMapError, quote } from "../../errors.ts";
import { packageVersion } from "../package-version.ts";
import { networkFailure } from "../upstream/network-failure.ts";
import { isPrivateAddress } from "./private-address.ts";

/** Finds the addresses of a host. */
export type Resolver = (
  host: string,
) => Promise<readonly { readonly address: string; readonly family: number }[]>;

export interface NodeClientOptions {
  /**
   * Origins that may be at private addresses: those the user typed, not those a server redirected
   * to. An array of ones such as
   * `https://archive.example.org`, without a path, will do.
   */
  readonly trustedOrigins?: { includes(origin: string): boolean } | undefined;
  /** Whether any origin may be at a private address; default false. */
  readonly allowsPrivate?: boolean | undefined;
  /** How long a server may take to begin its answer; default 30 s. */
  readonly headersTimeoutMs?: number | undefined;
  /** How long a server may send nothing in the middle of a body; default 30 s. */
  readonly idleTimeoutMs?: number | undefined;
  /** Default 5. */
  readonly maxRedirects?: number | undefined;
  /** Default the system's. */
  readonly resolver?: Resolver | undefined;
}

const MAX_HEADER_BYTES = 64 * 1024;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Gets things from servers that are not trusted.
 *
 * Addresses are checked where the connection is made, so that a name which resolves to something
 * else the second time gains nothing. Bodies come as sent, never decompressed. No redirect leads
 * from https to http.
 */
export class NodeClient implements HttpClient {
  readonly #options: NodeClientOptions;
  readonly #agents: { readonly http: http.Agent; readonly https: https.Agent };
  readonly #lookups: { readonly checked: LookupFunction; readonly unchecked: LookupFunction };

  constructor(options: NodeClientOptions = {}) {
    this.#options = options;
    const { resolver = systemResolver } = options;
    this.#lookups = { checked: lookupBy(checked(resolver)), unchecked: lookupBy(resolver) };
    this.#agents = {
      http: new http.Agent({ keepAlive: true, maxSockets: 8 }),
      https: new https.Agent({ keepAlive: true, maxSockets: 8 }),
    };
  }

  async request(url: string, request: HttpRequest = {}): Promise<HttpResponse> {
    const most = this.#options.maxRedirects ?? 5;
    const seen = new Set<string>();
    let current = parsed(url);
    for (;;) {
      if (seen.has(current.href)) throw refused(url, "the server redirects in a circle");
      if (seen.size > most) throw refused(url, `the server redirects more than ${most} times`);
      seen.add(current.href);
      const response = await this.#requestOnce(current, request);
      const location = response.headers["location"];
      const status = response.statusCode ?? 0;
      if (!REDIRECTS.has(status) || location === undefined) return this.#answer(current, response);
      response.destroy();
      current = redirected(current, location);
    }
  }

  /**
   * Asks once: a redirect is an answer like any other.
   *
   * @throws as `request` does.
   */
  async requestOnce(url: string, request: HttpRequest = {}): Promise<HttpResponse> {
    const address = parsed(url);
    return this.#answer(address, await this.#requestOnce(address, request));
  }

  /** Closes connections that are kept for later. */
  close(): void {
    this.#agents.http.destroy();
    this.#agents.https.destroy();
  }

  #isTrusted({ origin }: URL): boolean {
    const { allowsPrivate, trustedOrigins } = this.#options;
    return allowsPrivate === true || trustedOrigins?.includes(origin) === true;
  }

  #requestOnce(url: URL, request: HttpRequest): Promise<http.IncomingMessage> {
    const isTrusted = this.#isTrusted(url);
    const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
    if (!isTrusted && isIP(host) !== 0 && isPrivateAddress(host)) {
      return Promise.reject(privateAddress(url.href, host));
    }
    const { headersTimeoutMs = 30_000 } = this.#options;
    return new Promise((resolve, reject) => {
      const isSecure = url.protocol === "https:";
      const outgoing = (isSecure ? https : http).request(url, {
        method: request.method ?? "GET",
        headers: { "User-Agent": `mementomap/${packageVersion()}`, ...request.headers },
        agent: isSecure ? this.#agents.https : this.#agents.http,
        lookup: isTrusted ? this.#lookups.unchecked : this.#lookups.checked,
        maxHeaderSize: MAX_HEADER_BYTES,
        signal: request.signal,
      });
      const timer = setTimeout(() => {
        outgoing.destroy(failed(url.href, `no answer within ${headersTimeoutMs / 1000} s`));
      }, headersTimeoutMs);
      outgoing.once("response", (response) => {
        clearTimeout(timer);
        resolve(response);
      });
      outgoing.once("error", (error) => {
        clearTimeout(timer);
        reject(
          request.signal?.aborted === true ? abortReason(request.signal) : explained(error, url),
        );
      });
      outgoing.end();
    });
  }

  #answer(url: URL, response: http.IncomingMessage): HttpResponse {
    const { idleTimeoutMs = 30_000 } = this.#options;
    // On the socket: a response of a client is not told of its timeouts.
    const { socket } = response;
    const onIdle = (): void => {
      response.destroy(failed(url.href, `nothing was sent for ${idleTimeoutMs / 1000} s`));
    };
    socket.setTimeout(idleTimeoutMs);
    socket.on("timeout", onIdle);
    response.once("close", () => socket.off("timeout", onIdle));
    return {
      status: response.statusCode ?? 0,
      url: url.href,
      headers: {
        get(name) {
          const value = response.headers[name];
          return Array.isArray(value) ? value.join(", ") : value;
        },
      },
      body: wholeBody(url, response),
      discard: () => {
        response.destroy();
        return Promise.resolve();
      },
    };
  }
}

async function* wholeBody(
  url: URL,
  response: http.IncomingMessage,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    // Not in object mode and without an encoding: chunks are Buffers.
    for await (const chunk of response) yield chunk as Uint8Array;
  } catch (error) {
    throw explained(error, url);
  }
  if (!response.complete) throw failed(url.href, "the connection was cut before the end");
}

const systemResolver: Resolver = (host) => dnsLookup(host, { all: true });

/** The same, for addresses of the public Internet only. */
function checked(resolver: Resolver): Resolver {
  return async (host) => {
    const found = await resolver(host);
    const bad = found.find(({ address }) => isPrivateAddress(address));
    if (bad !== undefined) throw privateAddress(host, bad.address);
    return found;
  };
}

function lookupBy(resolver: Resolver): LookupFunction {
  return (host, options, callback) => {
    resolver(host).then(
      (found) => {
        const [first] = found;
        if (first === undefined) callback(failed(host, "the host has no address"), "");
        else if (options.all === true) callback(null, [...found]);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => {
        callback(error instanceof Error ? error : new Error(String(error)), "");
      },
    );
  };
}

function redirected(from: URL, location: string): URL {
  if (!URL.canParse(location, from.href)) {
    throw refused(from.href, `it redirects to ${quote(location)}, which is no address`);
  }
  const to = new URL(location, from);
  if (to.protocol !== "http:" && to.protocol !== "https:") {
    throw refused(from.href, `it redirects to ${quote(to.href)}, which is no web address`);
  }
  if (from.protocol === "https:" && to.protocol === "http:") {
    throw refused(from.href, `it redirects to ${quote(to.href)}, which anybody could tamper with`);
  }
  return to;
}

function parsed(url: string): URL {
  if (URL.canParse(url) && /^https?:/i.test(url)) return new URL(url);
  throw new MementoMapError("MM_BAD_URI", `${quote(url)} is no web address`);
}

function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error(String(signal.reason));
}

function explained(error: unknown, url: URL): Error {
  return networkFailure(error, url.href).error;
}

function failed(url: string, message: string): MementoMapError {
  return new MementoMapError("MM_HTTP", message, { position: { source: url } });
}

function privateAddress(place: string, address: string): MementoMapError {
  return refused(
    place,
    `it leads to ${address}, which is a private address; allow it with --allow-private if you mean it`,
  );
}

function refused(url: string, message: string): MementoMapError {
  return new MementoMapError("MM_REFUSED", message, { position: { source: url } });
}
