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
   * Whether an origin may be at a private address: those that the user named, not those that a server redirected
   * to. Asked again for each connection.
   */
  readonly mayBePrivate: (origin: string) => boolean;
  readonly connectTimeoutMs: number;
  /** Connections to one origin; more requests wait. */
  readonly connections: number;
  /** Bytes of the head of an answer. */
  readonly maxHeaderBytes: number;
  /** How names become addresses; default the system's way. */
  readonly lookup?: LookupFunction | undefined;
  /** Which requests go through which proxy; default none. */
  readonly proxies?: ProxySettings | undefined;
}

/** How long an unused connection is kept, and how long at most where the server says so. */
const KEPT_OPEN_MS = 10_000;
const MAX_KEPT_OPEN_MS = 600_000;
/** Names are looked up again after this time, however busy a connection is: archives move. */
const CONNECTION_LIFE_MS = 600_000;

/**
 * Whether origins that may be private were so when this process first connected to them. Public ones have to stay
 * public, whichever client asks: else their names could be made to lead to servers of this network.
 */
const WERE_PRIVATE = new Map<string, boolean>();

/** One request without a body; the path goes out byte for byte. */
export interface Sending {
  readonly origin: string;
  readonly path: string;
  readonly method: "GET" | "HEAD";
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Connections to servers that are not trusted, kept by origin.
 *
 * Addresses are checked where a connection is made, whatever led there, so that a name which resolves to something
 * else the second time gains nothing: a literal, a name and the target of a redirect alike. Trust goes by origin.
 *
 * Requests go through `dispatch`: the interceptors of undici for redirects and DNS connect past these checks and
 * rewrite paths.
 */
export class Connections {
  readonly #options: ConnectionsOptions;
  #agent: Agent;
  /** Ends what was in flight when the agent was replaced. */
  #before: Agent | undefined;
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
      // Those who send know how long they wait.
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

  /** @throws what undici says of a request that cannot be sent. */
  send(
    { origin, path, method, headers }: Sending,
    handler: Dispatcher.DispatchHandler,
  ): { readonly proxy: Proxy | undefined } {
    // Connections are kept longer than trust.
    if (WERE_PRIVATE.get(origin) === true && !this.#options.mayBePrivate(origin)) {
      throw privateAddressRefusal(origin, origin);
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

  /** Cuts all connections; requests under way fail. */
  async close(): Promise<void> {
    this.#closing.abort();
    const before = this.#before?.destroy();
    const destroyed = this.#agent.destroy();
    for (const socket of this.#connecting) socket.destroy();
    await before;
    await destroyed;
  }

  /** What is in flight ends on the connections of before; undici's own way opens too many. */
  #renew(): void {
    const now = performance.now();
    if (now < this.#renewAt || this.#closing.signal.aborted) return;
    this.#renewAt = now + CONNECTION_LIFE_MS;
    this.#before = this.#agent;
    this.#before.close().catch(() => undefined);
    this.#agent = this.#newAgent();
  }

  async #connect(target: buildConnector.Options): Promise<Socket> {
    const { protocol, host = "" } = target;
    const origin = `${protocol}//${host}`;
    const hostname = bareHost(target.hostname);
    const mayBePrivate = this.#options.mayBePrivate(origin);
    const address = privateHost(hostname);
    // Sockets look literals up nowhere.
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

  /** For https by a tunnel; for http it is the proxy that is connected to. */
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
      // It returns the socket that it connects, which its types do not say.
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

  /** Before the last file is taken: clients could not connect either then. */
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
  return new MementoMapError("MM_REFUSED", "the upstream is closed", { reason: "closed" });
}

/** An address in the two parts a request needs. */
export interface SplitAddress {
  readonly origin: string;
  /** Path and query as written, with what no URI has percent-encoded. */
  readonly path: string;
}

const UNSENDABLE = /[^\u0021-\u00ff]/;
const ORIGIN = /^https?:\/\/[^/?#]+/i;

/**
 * Cuts an address behind its origin and leaves the rest as it is: `..`, `//` and `%zz` have a meaning for archives that
 * `URL` would take away. Characters that no URI has are percent-encoded: an archive that writes the URI into a header
 * must not be led to write another one there.
 *
 * @throws MM_BAD_URI for anything but http and https, spaces, control characters, characters that are not bytes, and
 *   addresses that name a user.
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
  return new MementoMapError("MM_BAD_URI", `${quote(url)} is not a web address that can be sent`, {
    reason: "bad-request",
  });
}
