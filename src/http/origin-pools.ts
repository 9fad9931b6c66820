import { setMaxListeners } from "node:events";
import type { LookupFunction, Socket } from "node:net";
import { type Connect, type ConnectOptions, connector } from "./connect.ts";
import { ConnectionPool } from "./connection-pool.ts";
import { MementoMapError, quote } from "../errors.ts";
import {
  bareHost,
  checkedLookup,
  privateAddressRefusal,
  privateHost,
  refusedName,
} from "./private-address.ts";
import { filesForArchives, roomForFiles } from "../files/open-files.ts";
import {
  openTunnel,
  type Proxy,
  type ProxySettings,
  type TunnelOptions,
  unreachable,
} from "./proxy.ts";
import { sendableUri } from "../memento/memento-list.ts";

interface OriginPoolsOptions {
  readonly connectTimeoutMs: number;
  /** Connections to one origin, where `trust` says nothing else. */
  readonly connections: number;
  /** Whether an origin may be at a private address that `trust` says nothing about. */
  readonly allowsPrivate: (origin: string) => boolean;
  /** How names become addresses; default the system's way. */
  readonly lookup?: LookupFunction | undefined;
  /** Which requests go through which proxy; default none. */
  readonly proxies?: ProxySettings | undefined;
  /** Bytes of the head of an answer; default 256 KiB. */
  readonly maxHeaderBytes?: number | undefined;
  /** How long an unused connection is kept; default 10 s, or what the server says, up to 10 min. */
  readonly keptOpenMs?: number | undefined;
  /** Milliseconds that only go up; default those of the process. */
  readonly now?: (() => number) | undefined;
}

/** TimeGates that name every memento in `Link` have long headers. */
const MAX_HEADER_BYTES = 256 * 1024;
const KEPT_OPEN_MS = 10_000;
const MAX_KEPT_OPEN_MS = 600_000;
/** Names are looked up again after this time, however busy a connection is: archives move. */
const POOL_LIFE_MS = 600_000;
/** Redirects can name any number of origins, and spell them in any way; those of archives are kept all the same. */
const MAX_POOLS = 512;

const NO_FILE_LEFT = Object.assign(new Error("too many open files"), { code: "EMFILE" });

/** What is known of an origin. */
interface OriginPool {
  readonly pool: ConnectionPool;
  /** Where requests are sent that name the whole address, and not the path. */
  readonly forwardedBy: Proxy | undefined;
  readonly origin: string;
  /** Connections that the pool was made for. */
  readonly connections: number;
  readonly openedAt: number;
  /** The address, where the origin names one and it is private. */
  readonly privateAddress: string | undefined;
}

/**
 * Keeps connections open, for each origin.
 *
 * Origins of archives are trusted wherever they are. All others have to be on the public Internet,
 * which is checked where the connection is made, so that a name that resolves to something else
 * the second time gains nothing.
 */
export class OriginPools {
  readonly #options: OriginPoolsOptions;
  readonly #now: () => number;
  readonly #pools = new Map<string, OriginPool>();
  /** Used no more, but for requests under way. */
  readonly #retired = new Set<ConnectionPool>();
  #isClosed = false;
  /** Origins of archives, and how many connections each may have. */
  readonly #trusted = new Map<string, number>();
  readonly #connecting = new Set<Socket>();
  /** Ends what proxies are asked for. */
  readonly #closing = new AbortController();
  readonly #room = roomForFiles();
  #sockets = 0;

  constructor(options: OriginPoolsOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    // Any number of them, without a warning.
    setMaxListeners(0, this.#closing.signal);
  }

  /** Lets the origin of an address be at a private address, and sets how many connections it may have. */
  trust(url: string, connections: number): void {
    const { origin } = parsedOrigin(splitAddress(url).origin);
    const most = Math.max(connections, this.#trusted.get(origin) ?? 0);
    this.#trusted.set(origin, most);
    if ((this.#pools.get(origin)?.connections ?? most) < most) this.#retire(origin);
  }

  /** Trusts only the origins of these addresses from now on; requests under way go on. */
  trustOnly(urls: readonly string[]): void {
    const origins = new Set(urls.map((url) => parsedOrigin(splitAddress(url).origin).origin));
    for (const origin of this.#trusted.keys()) {
      if (origins.has(origin)) continue;
      this.#trusted.delete(origin);
      // A connection that is open was checked for what it was then.
      this.#retire(origin);
    }
  }

  /**
   * @param url for messages: what is asked for there.
   * @throws MM_REFUSED for private addresses and after `close`, MM_BAD_URI.
   */
  poolOf(origin: string, url: string): OriginPool {
    if (this.#isClosed) throw closed();
    let found = this.#pools.get(origin) ?? this.#add(origin);
    if (this.#now() - found.openedAt > POOL_LIFE_MS) {
      this.#retire(found.origin);
      found = this.#add(origin);
    }
    if (found.privateAddress !== undefined && !this.#mayBePrivate(found.origin)) {
      throw privateAddressRefusal(url, found.privateAddress);
    }
    return found;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const pools = new Set(Array.from(this.#pools.values(), ({ pool }) => pool));
    for (const pool of this.#retired) pools.add(pool);
    this.#pools.clear();
    this.#retired.clear();
    const destroyed = Promise.all(Array.from(pools, (pool) => pool.destroy()));
    for (const socket of this.#connecting) socket.destroy();
    this.#closing.abort();
    await destroyed;
  }

  #mayBePrivate(origin: string): boolean {
    return this.#trusted.has(origin) || this.#options.allowsPrivate(origin);
  }

  #add(written: string): OriginPool {
    const url = parsedOrigin(written);
    const { origin } = url;
    // Before it is there: where all others are of archives, it would be the one to go.
    while (this.#pools.size >= MAX_POOLS && this.#dropOldest());
    const known = this.#pools.get(origin) ?? this.#open(url);
    this.#pools.set(origin, known);
    this.#pools.set(written, known);
    return known;
  }

  #open(url: URL): OriginPool {
    const { origin, protocol } = url;
    const { connectTimeoutMs: timeoutMs, proxies, keptOpenMs } = this.#options;
    const isSecure = protocol === "https:";
    const proxy = proxies?.proxyFor(url);
    const lookup = checkedLookup(this.#options.lookup, () => this.#mayBePrivate(origin));
    // Requests wait for a connection; without a file for it they would fail.
    const share = Math.floor(filesForArchives(this.#room) / Math.max(1, this.#trusted.size));
    const wanted = this.#trusted.get(origin) ?? this.#options.connections;
    const connections = Math.max(1, Math.min(wanted, share));
    const pool = new ConnectionPool({
      target: {
        hostname: bareHost(url.hostname),
        port: Number(url.port) || (isSecure ? 443 : 80),
        isSecure,
      },
      host: url.host,
      connections,
      maxHeadBytes: this.#options.maxHeaderBytes ?? MAX_HEADER_BYTES,
      keptMs: keptOpenMs ?? KEPT_OPEN_MS,
      maxKeptMs: keptOpenMs ?? MAX_KEPT_OPEN_MS,
      connect:
        proxy === undefined
          ? this.#connector({ timeoutMs, lookup })
          : proxyConnector(proxy, this.#connector({ timeoutMs }), {
              timeoutMs,
              signal: this.#closing.signal,
              lookup,
              isTrusted: () => this.#mayBePrivate(origin),
            }),
    });
    return {
      pool,
      forwardedBy: isSecure ? undefined : proxy,
      origin,
      connections: wanted,
      openedAt: this.#now(),
      privateAddress: privateHost(url.hostname),
    };
  }

  /** Connections that are being made end with `close`. */
  #connector(options: ConnectOptions): Connect {
    const connect = connector(options);
    return (target, onread, callback) => {
      // Before the last file is taken: clients could not connect either then.
      if (this.#isClosed || this.#sockets >= filesForArchives(this.#room)) {
        target.tunnel?.destroy();
        setImmediate(callback, this.#isClosed ? closed() : NO_FILE_LEFT);
        return;
      }
      const socket = connect(target, onread, (error, made) => {
        this.#connecting.delete(socket);
        callback(error, made);
      });
      this.#connecting.add(socket);
      this.#sockets += 1;
      socket.once("close", () => {
        this.#sockets -= 1;
      });
    };
  }

  /** Uses the connections to an origin no more; requests under way on them still end. */
  #retire(origin: string): void {
    const retired = this.#pools.get(origin)?.pool;
    if (retired === undefined) return;
    for (const [written, { pool }] of this.#pools) {
      if (pool === retired) this.#pools.delete(written);
    }
    this.#letEnd(retired);
  }

  #letEnd(pool: ConnectionPool): void {
    for (const other of this.#retired) if (other.isEmpty) this.#retired.delete(other);
    pool.close();
    if (!pool.isEmpty) this.#retired.add(pool);
  }

  /**
   * The oldest that is of no archive, by all its spellings, or another spelling of one; requests under way on it
   * still end. False where there is none.
   */
  #dropOldest(): boolean {
    for (const [written, { origin }] of this.#pools) {
      if (!this.#trusted.has(origin)) this.#retire(origin);
      else if (written !== origin) this.#pools.delete(written);
      else continue;
      return true;
    }
    return false;
  }
}

/** @throws MM_BAD_URI when there is more in it than a scheme, a host and a port. */
function parsedOrigin(written: string): URL {
  const url = URL.canParse(written) ? new URL(written) : undefined;
  const isBare =
    url !== undefined &&
    url.pathname === "/" &&
    url.search === "" &&
    url.hash === "" &&
    url.username === "" &&
    url.password === "" &&
    url.hostname !== "" &&
    (url.protocol === "http:" || url.protocol === "https:");
  if (isBare) return url;
  throw new MementoMapError("MM_BAD_URI", `${quote(written)} is not a web origin`, {
    reason: "bad-request",
  });
}

function closed(): MementoMapError {
  return new MementoMapError("MM_REFUSED", "the upstream is closed", { reason: "closed" });
}

interface ProxyConnectorOptions extends TunnelOptions {
  /** Fails for names that lead where nobody may go. */
  readonly lookup: LookupFunction;
  /** Whether the origin may be anywhere. */
  readonly isTrusted: () => boolean;
}

/**
 * Connects to an origin through a proxy: by a tunnel for https, and for http to the proxy itself, which requests
 * then have to name the whole address to.
 */
function proxyConnector(
  proxy: Proxy,
  connect: Connect,
  { timeoutMs, signal, lookup, isTrusted }: ProxyConnectorOptions,
): Connect {
  const toProxy = { hostname: proxy.hostname, port: proxy.port, isSecure: proxy.isSecure };
  return (target, onread, callback) => {
    const begin = async (): Promise<void> => {
      const refused = isTrusted() ? undefined : await refusedName(target.hostname, lookup);
      if (refused !== undefined) {
        callback(refused);
      } else if (target.isSecure) {
        const tunnel = await openTunnel(proxy, target, { timeoutMs, signal });
        connect({ ...target, tunnel }, onread, callback);
      } else {
        connect(toProxy, onread, (error, socket) => {
          callback(error === undefined ? undefined : unreachable(proxy, error), socket);
        });
      }
    };
    begin().catch(callback);
  };
}

/** An address in the two parts a connection needs. */
interface SplitAddress {
  readonly origin: string;
  /** Path and query as written, with what no URI has percent-encoded. */
  readonly path: string;
}

const UNSENDABLE = /[^\u0021-\u00ff]/;

/**
 * Cuts an address behind its origin and leaves the rest as it is: `..`, `//` and `%zz` have a
 * meaning for archives that `URL` would take away. Characters that no URI has are percent-encoded:
 * an archive that writes the URI into a header must not be led to write another one there.
 *
 * @throws MM_BAD_URI for anything but http and https, spaces, control characters and characters
 *   that are not bytes.
 */
export function splitAddress(url: string): SplitAddress {
  const from = url.startsWith("http://") ? 7 : url.startsWith("https://") ? 8 : schemeEnd(url);
  const slash = url.indexOf("/", from);
  const end = slash === -1 ? url.length : slash;
  if (end === from || UNSENDABLE.test(url)) throw badAddress(url);
  const origin = url.slice(0, end);
  const query = origin.indexOf("?");
  if (query !== -1) {
    return { origin: url.slice(0, query), path: `/${sendableUri(url.slice(query))}` };
  }
  return { origin, path: slash === -1 ? "/" : sendableUri(url.slice(slash)) };
}

/** Schemes in upper case are rare, so they may take longer. */
function schemeEnd(url: string): number {
  const match = /^https?:\/\//i.exec(url);
  if (match === null) throw badAddress(url);
  return match[0].length;
}

function badAddress(url: string): MementoMapError {
  return new MementoMapError("MM_BAD_URI", `${quote(url)} is not a web address that can be sent`, {
    reason: "bad-request",
  });
}
