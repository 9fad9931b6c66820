import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, Server as NetServer, type Socket } from "node:net";
import { ioError, MementoMapError, systemCode } from "../errors.ts";
import { ConnectionLimit } from "./connection-limit.ts";
import { type Problem, problemText } from "./reply.ts";
import { type ParserError, RawTargets } from "./target.ts";

/**
 * Connections that wait to be taken, where the system allows as many. When a crowd comes at once, all
 * that is beyond it is dropped, and comes back only after seconds, or not at all.
 */
const BACKLOG = 4096;

/** What answers requests: a publisher of maps, an aggregator. */
export interface RequestHandler {
  /** Answers a request if it is for one of its paths; false, with nothing done, if it is not. */
  handle(request: IncomingMessage, response: ServerResponse): boolean;
  /** Answers a request that nothing else answers. */
  handleUnknown(request: IncomingMessage, response: ServerResponse): void;
}

export interface ListenOptions {
  /** Default 8080; 0 takes any free port. */
  readonly port?: number | undefined;
  /** Default 127.0.0.1: a server is open to the world only on request. */
  readonly host?: string | undefined;
  /** A socket in the file system, or a pipe of Windows, in place of a port: for this process alone. */
  readonly socket?: string | undefined;
  readonly limits?: Partial<ConnectionLimits> | undefined;
  /** What messages call the port and the address; default `--port` and `--host`. */
  readonly options?: { readonly port: string; readonly host: string } | undefined;
  /** Called when connections cannot be accepted, as for want of open files; the server continues. */
  readonly onError?: ((error: MementoMapError) => void) | undefined;
}

/** A server that listens. */
export interface Listening {
  /** `http://127.0.0.1:8080`; the path of a socket. */
  readonly url: string;
  /**
   * Takes no more connections, lets requests under way end, and cuts those that take longer than
   * the grace period.
   *
   * @param options.isGentle whether clients may send one more request on a connection that they keep,
   *   if they do so within the time they were told: another server takes their next connection.
   */
  stop(options?: { readonly isGentle?: boolean | undefined }): Promise<void>;
}

/**
 * Serves a publisher or an aggregator on a port.
 *
 * @throws MM_IO when the port is taken or not allowed.
 *
 * @example
 * ```ts
 * import { generateMapFile } from "mementomap/node";
 * import { createPublisher, listen } from "mementomap/server";
 *
 * await generateMapFile(["index.cdxj"], "map.ukvs");
 * const publisher = await createPublisher("map.ukvs");
 * const server = await listen(publisher, { port: 0 });
 * const answer = await fetch(`${server.url}/lookup?url=http://nobody.example/`);
 * console.log((await answer.json()).present);
 * await server.stop();
 * await publisher.close();
 * ```
 * ```
 * false
 * ```
 */
export async function listen(
  handler: RequestHandler,
  options: ListenOptions = {},
): Promise<Listening> {
  const limits = { ...DEFAULT_CONNECTION_LIMITS, ...options.limits };
  let isStopping = false;
  const server = createServer(
    {
      maxHeaderSize: limits.maxHeaderBytes,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveMs,
      connectionsCheckingInterval: Math.min(1000, limits.headersTimeoutMs),
    },
    (request: IncomingMessage, response: ServerResponse) => {
      if (isStopping) response.setHeader("Connection", "close");
      if (connections.refuse(request, response)) return;
      if (!handler.handle(request, response)) handler.handleUnknown(request, response);
    },
  );
  const connections = new ConnectionLimit(server, limits.maxConnections);
  // Without a listener Node destroys a socket that does nothing for this long.
  server.setTimeout(limits.idleTimeoutMs);
  const rawTargets = new RawTargets(server, limits.maxHeaderBytes);
  server.on("clientError", (error: ParserError, socket: Socket) => {
    if (!rawTargets.take(error, socket)) refuse(error, socket);
  });
  const { port = 8080, host = "127.0.0.1", socket } = options;
  const place = socket === undefined ? { port, host } : { path: socket, exclusive: true };
  await started(server, place, options.options ?? { port: "--port", host: "--host" });
  // Without a listener Node would end the process.
  server.on("error", (error) => options.onError?.(ioError(error, socket ?? `${host}:${port}`)));
  return {
    url: urlOf(server),
    async stop({ isGentle = false } = {}) {
      isStopping = true;
      if (isGentle) await idle(server, Math.min(limits.keepAliveMs + 1000, limits.graceMs));
      await stopped(server, limits.graceMs);
    },
  };
}

/** What to do about a port that cannot be had; undefined for what is not the port's fault. */
function portFault(
  code: string | undefined,
  options: { readonly port: string; readonly host: string },
): string | undefined {
  switch (code ?? "") {
    case "EADDRINUSE":
      return `another process listens on this port; stop it, or choose another port with ${options.port}`;
    case "EACCES":
      return `this user may not open the port; choose one above 1023 with ${options.port}`;
    case "EADDRNOTAVAIL":
      return `this machine has no such address; choose another with ${options.host}`;
    default:
      return undefined;
  }
}

type ListenPlace =
  | { readonly port: number; readonly host: string }
  | { readonly path: string; readonly exclusive: boolean };

function started(
  server: Server,
  place: ListenPlace,
  options: { readonly port: string; readonly host: string },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: Error): void => {
      const source = "path" in place ? place.path : `${place.host}:${place.port}`;
      const why = portFault(systemCode(error), options);
      reject(
        why === undefined
          ? ioError(error, source)
          : new MementoMapError("MM_IO", why, { position: { source }, cause: error }),
      );
    };
    server.once("error", onError);
    server.listen({ ...place, backlog: BACKLOG }, () => {
      server.off("error", onError);
      resolve();
    });
  });
}

/** Accepts no more connections, and waits until all are closed, for a time. */
function idle(server: Server, longestMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, longestMs);
    // That of `node:http` closes connections on which a request may be under way to us.
    NetServer.prototype.close.call(server, () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function stopped(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), graceMs);
    // Those that were in use when it stopped become idle later, and would be kept for a next request.
    const idle = setInterval(() => server.closeIdleConnections(), 50);
    server.close(() => {
      clearTimeout(timer);
      clearInterval(idle);
      resolve();
    });
    server.closeIdleConnections();
  });
}

/** Answers what is not HTTP, or too long, and closes the connection. */
function refuse(error: Error, socket: Socket): void {
  if (socket.writable && !socket.destroyed && systemCode(error) !== "ECONNRESET") {
    const problem = refusalOf(systemCode(error));
    const body = problemText(problem);
    const { status, title } = problem;
    socket.end(
      `HTTP/1.1 ${status} ${title}\r\nConnection: close\r\nCache-Control: no-store\r\nContent-Type: application/problem+json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
  }
  socket.destroySoon();
}

function refusalOf(code: string | undefined): Problem {
  switch (code ?? "") {
    case "HPE_HEADER_OVERFLOW":
      return {
        status: 431,
        title: "Request Header Fields Too Large",
        detail: "the request line and headers are longer than this server takes",
      };
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return { status: 408, title: "Request Timeout", detail: "the request did not come in time" };
    case "HPE_INVALID_URL":
      return {
        status: 400,
        title: "Bad Request",
        detail: "the request target has a character that no URI has; percent-encode it",
      };
    default:
      return { status: 400, title: "Bad Request", detail: "this is not a request of HTTP/1.1" };
  }
}

function urlOf(server: Server): string {
  const listening = server.address();
  if (typeof listening === "string") return listening;
  const { address, family, port } = listening as AddressInfo; // it listens
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}

/** What a client may ask of the server; every limit has its option in `mementomap serve`. */
export interface PublisherLimits {
  /** Bytes of a batch, decompressed; larger ones are cut off. */
  readonly maxBatchBytes: number;
  /** Bytes of a URI within a batch. */
  readonly maxUriBytes: number;
}

/** How the server deals with connections. */
export interface ConnectionLimits {
  /** Bytes of the request line and headers. Long URIs to look up are part of it. */
  readonly maxHeaderBytes: number;
  readonly maxConnections: number;
  /** How long a client may take to send its headers. */
  readonly headersTimeoutMs: number;
  /** How long a client may take to send a request with its body. */
  readonly requestTimeoutMs: number;
  /** How long a connection may do nothing while a request is under way: slow readers and writers. */
  readonly idleTimeoutMs: number;
  /** How long an unused connection is kept for the next request. */
  readonly keepAliveMs: number;
  /** How long requests under way may take once the server is told to stop. */
  readonly graceMs: number;
}

export const DEFAULT_PUBLISHER_LIMITS: PublisherLimits = {
  maxBatchBytes: 256 * 2 ** 20,
  maxUriBytes: 64 * 2 ** 10,
};

export const DEFAULT_CONNECTION_LIMITS: ConnectionLimits = {
  maxHeaderBytes: 64 * 2 ** 10,
  maxConnections: 1000,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 300_000,
  idleTimeoutMs: 30_000,
  keepAliveMs: 5_000,
  graceMs: 10_000,
};

/**
 * Limits the requests a second of each address, with short bursts allowed: a token bucket.
 *
 * IPv6 addresses count by their first 64 bits, which is what one household has. Holds at most
 * `maxAddresses` buckets; the oldest is forgotten first, which errs on the side of answering.
 *
 * @example
 * ```ts
 * import { RateLimit } from "mementomap/server";
 *
 * const limit = new RateLimit({ perSecond: 1, burst: 1 });
 * console.log(limit.take("192.0.2.1"), limit.take("192.0.2.1") > 0);
 * ```
 * ```
 * 0 true
 * ```
 */
export class RateLimit {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #maxAddresses: number;
  readonly #now: () => number;
  readonly #buckets = new Map<string, { tokens: number; at: number }>();

  constructor(options: {
    readonly perSecond: number;
    /** Default twice the rate. */
    readonly burst?: number;
    readonly maxAddresses?: number;
    readonly now?: () => number;
  }) {
    this.#perSecond = options.perSecond;
    this.#burst = Math.max(1, options.burst ?? 2 * options.perSecond);
    this.#maxAddresses = options.maxAddresses ?? 10_000;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Seconds to wait before a request may be made; 0 when it may be made now. */
  take(address: string): number {
    const bucket = this.#bucketOf(address);
    if (bucket.tokens < 1) return (1 - bucket.tokens) / this.#perSecond;
    bucket.tokens -= 1;
    return 0;
  }

  /** Counts requests that were made elsewhere. */
  spend(address: string, requests: number): void {
    const bucket = this.#bucketOf(address);
    bucket.tokens = Math.max(-this.#burst, bucket.tokens - requests);
  }

  /** The bucket of an address as it is now. */
  #bucketOf(address: string): { tokens: number; at: number } {
    const key = networkOf(address);
    const now = this.#now();
    const bucket = this.#buckets.get(key) ?? this.#add(key, now);
    const gained = ((now - bucket.at) / 1000) * this.#perSecond;
    bucket.tokens = Math.min(this.#burst, bucket.tokens + gained);
    bucket.at = now;
    return bucket;
  }

  #add(key: string, now: number): { tokens: number; at: number } {
    if (this.#buckets.size >= this.#maxAddresses) {
      const [oldest] = this.#buckets.keys();
      if (oldest !== undefined) this.#buckets.delete(oldest);
    }
    const bucket = { tokens: this.#burst, at: now };
    this.#buckets.set(key, bucket);
    return bucket;
  }
}

/** `2001:db8:1:2:3::4` → `2001:db8:1:2`; other addresses as they are. */
function networkOf(address: string): string {
  if (!address.includes(":") || address.includes(".")) return address;
  const [head = "", tail] = address.split("::");
  const front = head === "" ? [] : head.split(":");
  const back = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length);
  return [...front, ...Array.from({ length: zeros }, () => "0"), ...back].slice(0, 4).join(":");
}
