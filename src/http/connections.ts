import { isIP, type LookupFunction, type Socket } from "node:net";
import { Agent, buildConnector, type Dispatcher } from "undici";
import { MementoMapError, quote } from "../errors.ts";
import { filesForArchives, roomForFiles } from "../files/open-files.ts";
import { sendableUri } from "../memento/memento-list.ts";
import {
  bareHost,
  checkedLookup,
  privateAddressRefusal,
  privateHost,
  refusedName,
} from "./private-address.ts";
import { openTunnel, type Proxy, type ProxySettings, unreachable } from "./proxy.ts";

export interface ConnectionsOptions {
  /**
   * Whether an origin may be at a private address: true for origins named by the user, not for redirect targets.
   * Evaluated for each connection.
   */
  readonly mayBePrivate: (origin: string) => boolean;
  readonly connectTimeoutMs: number;
  /** Max connections per origin; further requests are queued. */
  readonly connections: number;
  /** Limit on the response headers, in bytes. */
  readonly maxHeaderBytes: number;
  /** Resolves host names; default the system resolver. */
  readonly lookup?: LookupFunction | undefined;
  /** Proxies for requests; default none. */
  readonly proxies?: ProxySettings | undefined;
}

/** Keep-alive time of idle connections: the default, and the maximum if the server sends its own. */
const KEPT_OPEN_MS = 10_000;
const MAX_KEPT_OPEN_MS = 600_000;
/** Connections are replaced after this time even if busy, to resolve names again: archives move. */
const CONNECTION_LIFE_MS = 600_000;

/**
 * Whether trusted origins were private when this process first connected to them. Public ones must stay public
 * for all clients: otherwise DNS rebinding could point their names at servers of this network.
 */
const WERE_PRIVATE = new Map<string, boolean>();

/** A request without a body; the path is sent byte for byte. */
export interface Sending {
  readonly origin: string;
  readonly path: string;
  readonly method: "GET" | "HEAD";
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * A connection pool for untrusted servers, by origin.
 *
 * Addresses are checked when a connection is made, for literals, names and redirect targets alike, so that DNS
 * rebinding has no effect. Trust is per origin.
 *
 * Requests use `dispatch`: undici's interceptors for redirects and DNS bypass these checks and rewrite paths.
 */
export class Connections {
  readonly #options: ConnectionsOptions;
  #agent: Agent;
  /** The previous agent, which completes its requests in flight. */
  #previous: Agent | undefined;
  #renewAt = performance.now() + CONNECTION_LIFE_MS;
  readonly #room = roomForFiles();
  readonly #connecting = new Set<Socket>();
  readonly #closing = new AbortController();
  readonly #direct: buildConnector.connector;
  #sockets = 0;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.#direct = buildConnector({ timeout: options.connectTimeoutMs });
    this.#agent = this.#newAgent();
  }

  #newAgent(): Agent {
    const { connections, maxHeaderBytes } = this.#options;
    return new Agent({
      connections,
      maxHeaderSize: maxHeaderBytes,
      keepAliveTimeout: KEPT_OPEN_MS,
      keepAliveMaxTimeout: MAX_KEPT_OPEN_MS,
      // Callers set their own timeouts.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (target, callback) => {
        this.#connect(target).then(
          (socket) => callback(null, socket),
          (error: Error) => callback(error, null),
        );
      },
    });
  }

  /** @throws errors of undici for a request that cannot be sent. */
  send(
    { origin, path, method, headers }: Sending,
    handler: Dispatcher.DispatchHandler,
  ): { readonly proxy: Proxy | undefined } {
    // Trust may be revoked while a connection stays open.
    if (WERE_PRIVATE.get(origin) === true && !this.#options.mayBePrivate(origin)) {
      throw privateAddressRefusal(origin, bareHost(new URL(origin).hostname));
    }
    const { proxies } = this.#options;
    const isPlain = proxies !== undefined && origin.startsWith("http:");
    const proxy = isPlain ? proxies.proxyFor(new URL(origin)) : undefined;
    const request =
      proxy === undefined
        ? { origin, path, method, headers }
        : { origin, path: origin + path, method, headers: { ...headers, ...proxyHeaders(proxy) } };
    this.#renew();
    this.#agent.dispatch(request, handler);
    return { proxy };
  }

  /** Closes all connections; requests in flight fail. */
  async close(): Promise<void> {
    this.#closing.abort();
    const previous = this.#previous?.destroy();
    const destroyed = this.#agent.destroy();
    for (const socket of this.#connecting) socket.destroy();
    await previous;
    await destroyed;
  }

  /** Requests in flight complete on the previous agent; undici's own limit on lifetime opens too many connections. */
  #renew(): void {
    const now = performance.now();
    if (now < this.#renewAt || this.#closing.signal.aborted) return;
    this.#renewAt = now + CONNECTION_LIFE_MS;
    this.#previous = this.#agent;
    this.#previous.close().catch(() => undefined);
    this.#agent = this.#newAgent();
  }

  async #connect(target: buildConnector.Options): Promise<Socket> {
    const { protocol, host = "" } = target;
    const origin = `${protocol}//${host}`;
    const hostname = bareHost(target.hostname);
    const mayBePrivate = this.#options.mayBePrivate(origin);
    const address = privateHost(hostname);
    // Sockets do not pass literal addresses to `lookup`.
    if (address !== undefined && !mayBePrivate) throw privateAddressRefusal(origin, address);
    if (address !== undefined) WERE_PRIVATE.set(origin, true);
    const proxy = this.#options.proxies?.proxyFor(new URL(origin));
    if (proxy === undefined) {
      return this.#open({ ...target, hostname }, this.#connectorTo(origin));
    }
    const lookup = checkedLookup(this.#options.lookup, () => mayBePrivate);
    const refused = mayBePrivate ? undefined : await refusedName(hostname, lookup);
    if (refused !== undefined) throw refused;
    return this.#throughProxy(proxy, { ...target, hostname });
  }

  /** Opens a tunnel for https; for http, connects to the proxy itself. */
  async #throughProxy(proxy: Proxy, target: buildConnector.Options): Promise<Socket> {
    const { hostname, port } = proxy;
    if (target.protocol === "https:") {
      const place = { hostname: target.hostname, port: Number(target.port) || 443 };
      const { connectTimeoutMs: timeoutMs } = this.#options;
      this.#checkRoom();
      const tunnel = await openTunnel(proxy, place, { timeoutMs, signal: this.#closing.signal });
      return this.#open({ ...target, httpSocket: tunnel }, this.#direct);
    }
    const protocol = proxy.isSecure ? "https:" : "http:";
    const servername = isIP(hostname) === 0 ? hostname : "";
    const to = { hostname, host: hostname, port: String(port), protocol, servername };
    return this.#open(to, this.#direct).catch((error: Error) => {
      throw unreachable(proxy, error);
    });
  }

  #open(target: buildConnector.Options, connect: buildConnector.connector): Promise<Socket> {
    return new Promise((resolve, reject) => {
      try {
        this.#checkRoom();
      } catch (error) {
        target.httpSocket?.destroy();
        throw error;
      }
      // It returns the connecting socket, which its types omit.
      const opened = connect(target, (error, socket) => {
        this.#connecting.delete(opened);
        if (error === null) resolve(socket);
        else reject(error);
      }) as unknown as Socket;
      this.#connecting.add(opened);
      this.#sockets += 1;
      opened.once("close", () => {
        this.#sockets -= 1;
        this.#connecting.delete(opened);
      });
    });
  }

  /** Fails before file descriptors run out, so that clients can still connect. */
  #checkRoom(): void {
    if (this.#closing.signal.aborted) throw closed();
    if (this.#sockets < filesForArchives(this.#room)) return;
    throw Object.assign(new Error("too many open files"), { code: "EMFILE" });
  }

  #connectorTo(origin: string): buildConnector.connector {
    const { lookup, mayBePrivate, connectTimeoutMs: timeout } = this.#options;
    const isTrusted = (): boolean => mayBePrivate(origin) && WERE_PRIVATE.get(origin) !== false;
    const note = (isPrivate: boolean): void => {
      if (isTrusted()) WERE_PRIVATE.set(origin, isPrivate);
    };
    return buildConnector({ timeout, lookup: checkedLookup(lookup, isTrusted, note) });
  }
}

function proxyHeaders({ authorization }: Proxy): Readonly<Record<string, string>> {
  return authorization === undefined ? {} : { "proxy-authorization": authorization };
}

function closed(): MementoMapError {
  return new MementoMapError("MM_REFUSED", "the client is closed", { reason: "closed" });
}

/** A URL split into origin and path. */
export interface SplitAddress {
  readonly origin: string;
  /** Path and query as written, with invalid characters percent-encoded. */
  readonly path: string;
}

const UNSENDABLE = /[^\u0021-\u00ff]/;
const ORIGIN = /^https?:\/\/[^/?#]+/i;

/**
 * Splits a URL after its origin and leaves the rest unchanged: `..`, `//` and `%zz` are significant to archives,
 * but `URL`
 * would normalize them. Characters not allowed in URIs are percent-encoded, to prevent header injection in archives
 * that copy the URI into a header.
 *
 * @throws MM_BAD_URI for other schemes than http and https, spaces, control characters, characters above U+00FF, and
 *   URLs with a user name.
 */
export function splitAddress(url: string): SplitAddress {
  const [written = ""] = ORIGIN.exec(url) ?? [];
  if (!URL.canParse(written) || UNSENDABLE.test(url)) throw badAddress(url);
  const { origin, username, password } = new URL(written);
  if (username !== "" || password !== "") throw badAddress(url);
  const rest = url.slice(written.length);
  return { origin, path: sendableUri(rest.startsWith("/") ? rest : `/${rest}`) };
}

function badAddress(url: string): MementoMapError {
  return new MementoMapError(
    "MM_BAD_URI",
    `${quote(url)} is not an http or https URL that can be requested`,
    {
      reason: "bad-request",
    },
  );
}
