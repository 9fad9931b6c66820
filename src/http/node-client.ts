import * as http from "node:http";
import * as https from "node:https";
import type { LookupFunction } from "node:net";
import {
  type HttpClient,
  httpFailure,
  type HttpRequest,
  type HttpResponse,
} from "./http-client.ts";
import { MementoMapError, quote } from "../errors.ts";
import { userAgent } from "../files/package-file.ts";
import {
  type Proxy,
  proxyAnswered,
  proxyHeaders,
  type ProxySettings,
  serverName,
  TunnelAgent,
  unreachable,
} from "./proxy.ts";
import {
  bareHost,
  checkedLookup,
  privateAddressRefusal,
  privateHost,
  refusedName,
} from "./private-address.ts";
import { isRedirect, RedirectTrail } from "./redirects.ts";
import { networkFailure } from "./network-failure.ts";
import { interruption } from "../interruption.ts";

export interface NodeClientOptions {
  /**
   * Origins that may be at private addresses: those the user typed, not those a server redirected
   * to. An array of ones such as `https://archive.example.org`, without a path, will do.
   */
  readonly trustedOrigins?: { includes(origin: string): boolean } | undefined;
  /** Whether any origin may be at a private address; default false. */
  readonly allowsPrivate?: boolean | undefined;
  /** How long a server may take to begin its answer; default 30 s. */
  readonly headersTimeoutMs?: number | undefined;
  /** How long a server may send nothing in the middle of a body; default 30 s. */
  readonly idleTimeoutMs?: number | undefined;
  /** How long an unused connection is kept; default 10 s. Servers may keep it for ever. */
  readonly keptOpenMs?: number | undefined;
  /** Redirects of one request; default 5. */
  readonly maxRedirects?: number | undefined;
  /** How names become addresses; default the system's way. */
  readonly lookup?: LookupFunction | undefined;
  /** Which requests go through which proxy; default none. */
  readonly proxies?: ProxySettings | undefined;
}

const MAX_HEADER_BYTES = 64 * 1024;
const MAX_SOCKETS = 8;

/** How a connection is made, and what is sent to a proxy on the way. */
interface Way extends Omit<https.RequestOptions, "headers"> {
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Gets things from servers that are not trusted.
 *
 * Addresses are checked where the connection is made, so that a name which resolves to something
 * else the second time gains nothing. Bodies come as sent, never decompressed. No redirect leads
 * from https to http. Where a proxy makes the connection, it is that which knows the address; names
 * are then refused only if this machine knows them to be private.
 */
export class NodeClient implements HttpClient {
  readonly #options: NodeClientOptions;
  readonly #agent = userAgent();
  readonly #agents: { readonly http: http.Agent; readonly https: https.Agent };
  /** For https through a proxy; the two kinds of requests may have different ones. */
  readonly #tunnels = new Map<Proxy, TunnelAgent>();
  /** For addresses of the public Internet only, and for any. */
  readonly #lookups: { readonly checked: LookupFunction; readonly unchecked: LookupFunction };

  constructor(options: NodeClientOptions = {}) {
    this.#options = options;
    this.#lookups = {
      checked: checkedLookup(options.lookup, () => false),
      unchecked: checkedLookup(options.lookup, () => true),
    };
    this.#agents = {
      http: new http.Agent(this.#agentOptions()),
      https: new https.Agent(this.#agentOptions()),
    };
  }

  async request(url: string, request: HttpRequest = {}): Promise<HttpResponse> {
    const trail = new RedirectTrail(this.#options.maxRedirects);
    let current = parsed(url);
    for (;;) {
      const response = await this.#requestOnce(current, request);
      const { location } = response.headers;
      if (location === undefined || !isRedirect(response.statusCode ?? 0)) {
        return this.#answer(current, response);
      }
      response.destroy();
      current = redirected(trail, current, location);
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
    for (const agent of this.#tunnels.values()) agent.destroy();
  }

  #isTrusted({ origin }: URL): boolean {
    const { allowsPrivate, trustedOrigins } = this.#options;
    return allowsPrivate === true || trustedOrigins?.includes(origin) === true;
  }

  async #requestOnce(url: URL, request: HttpRequest): Promise<http.IncomingMessage> {
    const isTrusted = this.#isTrusted(url);
    const ownAddress = isTrusted ? undefined : privateHost(url.hostname);
    if (ownAddress !== undefined) throw privateAddressRefusal(url.href, ownAddress);
    const proxy = this.#options.proxies?.proxyFor(url);
    if (proxy === undefined) return this.#send(url, request, this.#direct(url, isTrusted));
    const refused = isTrusted
      ? undefined
      : await refusedName(bareHost(url.hostname), this.#lookups.checked);
    if (refused !== undefined) throw refused;
    const response = await this.#send(url, request, this.#through(proxy, url), proxy);
    if (response.statusCode !== 407 || url.protocol === "https:") return response;
    response.destroy();
    throw explained(proxyAnswered(proxy, 407), url);
  }

  #agentOptions(): http.AgentOptions {
    // The time is that of connections without a request: others have times of their own.
    return {
      keepAlive: true,
      maxSockets: MAX_SOCKETS,
      timeout: this.#options.keptOpenMs ?? 10_000,
    };
  }

  #direct({ protocol }: URL, isTrusted: boolean): Way {
    return {
      agent: protocol === "https:" ? this.#agents.https : this.#agents.http,
      lookup: isTrusted ? this.#lookups.unchecked : this.#lookups.checked,
    };
  }

  /** https in a tunnel; http by sending the whole address to the proxy. */
  #through(proxy: Proxy, { protocol, host, origin, pathname, search }: URL): Way {
    if (protocol === "https:") return { agent: this.#tunnel(proxy) };
    return {
      protocol: proxy.isSecure ? "https:" : "http:",
      host: proxy.hostname,
      hostname: proxy.hostname,
      port: proxy.port,
      servername: serverName(proxy),
      path: `${origin}${pathname}${search}`,
      headers: { Host: host, ...proxyHeaders(proxy) },
      agent: proxy.isSecure ? this.#agents.https : this.#agents.http,
    };
  }

  #tunnel(proxy: Proxy): TunnelAgent {
    const known = this.#tunnels.get(proxy);
    if (known !== undefined) return known;
    const { headersTimeoutMs = 30_000 } = this.#options;
    const agent = new TunnelAgent(proxy, headersTimeoutMs, this.#agentOptions());
    this.#tunnels.set(proxy, agent);
    return agent;
  }

  #send(url: URL, request: HttpRequest, way: Way, proxy?: Proxy): Promise<http.IncomingMessage> {
    const { headersTimeoutMs = 30_000 } = this.#options;
    return new Promise((resolve, reject) => {
      const isSecure = (way.protocol ?? url.protocol) === "https:";
      const outgoing = (isSecure ? https : http).request(url, {
        ...way,
        method: request.method ?? "GET",
        headers: {
          "User-Agent": this.#agent,
          ...request.headers,
          ...way.headers,
        },
        maxHeaderSize: MAX_HEADER_BYTES,
        signal: request.signal,
      });
      const timer = setTimeout(() => {
        outgoing.destroy(httpFailure(url.href, `no answer within ${headersTimeoutMs / 1000} s`));
      }, headersTimeoutMs);
      outgoing.once("response", (response) => {
        clearTimeout(timer);
        resolve(response);
      });
      outgoing.once("error", (error) => {
        clearTimeout(timer);
        const isProxys = proxy !== undefined && isConnecting(error);
        const cause = isProxys ? unreachable(proxy, error) : error;
        reject(
          request.signal?.aborted === true ? interruption(request.signal) : explained(cause, url),
        );
      });
      outgoing.end();
    });
  }

  #answer(url: URL, response: http.IncomingMessage): HttpResponse {
    const { idleTimeoutMs = 30_000 } = this.#options;
    // On the socket: the response of a client does not emit its timeouts.
    const { socket } = response;
    const onIdle = (): void => {
      response.destroy(httpFailure(url.href, `nothing was sent for ${idleTimeoutMs / 1000} s`));
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
  if (!response.complete) throw httpFailure(url.href, "the connection was cut before the end");
}

/** The user of an address is sent to its origin again, and to no other. */
function redirected(trail: RedirectTrail, from: URL, location: string): URL {
  const { username, password } = from;
  const bare = new URL(from);
  bare.username = "";
  bare.password = "";
  const to = new URL(trail.follow(bare.href, location));
  if (to.origin === from.origin) {
    to.username = username;
    to.password = password;
  }
  return to;
}

function parsed(url: string): URL {
  if (URL.canParse(url) && /^https?:/i.test(url)) return new URL(url);
  throw new MementoMapError("MM_BAD_URI", `${quote(url)} is not a web address`);
}

/** Whether an error is one of making a connection. */
function isConnecting(error: NodeJS.ErrnoException): boolean {
  return error.syscall === "connect" || error.syscall === "getaddrinfo";
}

function explained(error: unknown, url: URL): Error {
  return networkFailure(error, url.href).error;
}
