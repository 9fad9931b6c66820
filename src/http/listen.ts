import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, type Socket } from "node:net";
import { ioError, MementoMapError, systemCode } from "../errors.ts";
import { ConnectionLimit } from "./connection-limit.ts";
import { badRequest, type Problem, problemReply } from "./reply.ts";

/**
 * The accept queue, if the system permits. In a burst, connections beyond it are dropped and retried only after
 * seconds, or never.
 */
const BACKLOG = 4096;

/** Handles requests: a publisher of maps, an aggregator. */
export interface RequestHandler {
  /** Handles a request for one of its paths; returns false, without side effects, for other paths. */
  handle(request: IncomingMessage, response: ServerResponse): boolean;
  /** Handles a request that no other handler accepts. */
  handleUnknown(request: IncomingMessage, response: ServerResponse): void;
}

export interface ListenOptions {
  /** Default 8080; 0 for any free port. */
  readonly port?: number | undefined;
  /** Default 127.0.0.1: public access must be requested explicitly. */
  readonly host?: string | undefined;
  readonly limits?: Partial<ConnectionLimits> | undefined;
  /** Names of the port and host options in messages; default `--port` and `--host`. */
  readonly options?: OptionNames | undefined;
  /** Called when connections cannot be accepted, e.g. when file descriptors run out; the server continues. */
  readonly onError?: ((error: MementoMapError) => void) | undefined;
}

interface OptionNames {
  readonly port: string;
  readonly host: string;
}

/** A listening server. */
export interface Listening {
  /** `http://127.0.0.1:8080` */
  readonly url: string;
  /**
   * Stops accepting connections, waits for requests in progress, and aborts them after the grace period.
   */
  stop(): Promise<void>;
}

/**
 * Serves a publisher or an aggregator on a port.
 *
 * @throws MM_IO when the port is in use or not permitted.
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
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
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
      const refusal = connections.admit(request, response) ? hostRefusal(request) : FULL;
      if (refusal !== undefined) send(response, refusal);
      else if (!handler.handle(request, response)) handler.handleUnknown(request, response);
    },
  );
  const connections = new ConnectionLimit(server, limits.maxConnections);
  // Without a `timeout` listener Node destroys sockets idle for this long.
  server.setTimeout(limits.idleTimeoutMs);
  server.on("clientError", refuse);
  const { port = 8080, host = "127.0.0.1" } = options;
  await started(server, { port, host }, options.options ?? { port: "--port", host: "--host" });
  // Without a listener Node would terminate the process.
  server.on("error", (error) => options.onError?.(ioError(error, `${host}:${port}`)));
  return {
    url: urlOf(server),
    stop() {
      isStopping = true;
      return stopped(server, limits.graceMs);
    },
  };
}

const FULL: Problem = {
  status: 503,
  title: "Service Unavailable",
  detail: "too many clients are connected; try again in a moment",
  headers: { "Retry-After": "1" },
};

/** With several Host headers, a cache in front may pick another one than this server (RFC 9112, 3.2). */
function hostRefusal({ headersDistinct }: IncomingMessage): Problem | undefined {
  const count = headersDistinct["host"]?.length ?? 0;
  return count > 1 ? badRequest("the request has several Host headers") : undefined;
}

/** Sends a problem document and closes the connection. */
function send(response: ServerResponse, problem: Problem): void {
  const { status, headers, body } = problemReply(problem);
  response.writeHead(status, { ...headers, Connection: "close" }).end(body);
}

/** Messages for a port that cannot be opened, by error code. */
const PORT_ERRORS: Readonly<Record<string, (options: OptionNames) => string>> = {
  EADDRINUSE: ({ port }) =>
    `the port is in use by another process; stop it, or choose another port with ${port}`,
  EACCES: ({ port }) => `permission denied for this port; choose one above 1023 with ${port}`,
  EADDRNOTAVAIL: ({ host }) => `this machine has no such address; choose another with ${host}`,
};

function started(
  server: Server,
  place: { readonly port: number; readonly host: string },
  options: OptionNames,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (cause: Error): void => {
      const source = `${place.host}:${place.port}`;
      const message = PORT_ERRORS[systemCode(cause) ?? ""]?.(options);
      reject(
        message === undefined
          ? ioError(cause, source)
          : new MementoMapError("MM_IO", message, { position: { source }, cause }),
      );
    };
    server.once("error", onError);
    server.listen({ ...place, backlog: BACKLOG }, () => {
      server.off("error", onError);
      resolve();
    });
  });
}

function stopped(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), graceMs);
    // Connections still in use become idle later, and would be kept alive for another request.
    const idle = setInterval(() => server.closeIdleConnections(), 50);
    server.close(() => {
      clearTimeout(timer);
      clearInterval(idle);
      resolve();
    });
    server.closeIdleConnections();
  });
}

const NOT_HTTP: Problem = {
  status: 400,
  title: "Bad Request",
  detail: "not an HTTP/1.1 request",
};

/** Replies to parser errors, by code. */
const REFUSALS: Readonly<Record<string, Problem>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    title: "Request Header Fields Too Large",
    detail: "the request line and headers exceed the limit of this server",
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    title: "Request Timeout",
    detail: "the request was not received in time",
  },
  HPE_INVALID_URL: {
    ...NOT_HTTP,
    detail: "the request target has a character not allowed in URIs; percent-encode it",
  },
};

/** Rejects a malformed or oversized request and closes the connection. */
function refuse(error: Error, socket: Socket): void {
  const code = systemCode(error) ?? "";
  if (socket.writable && !socket.destroyed && code !== "ECONNRESET") {
    const problem = REFUSALS[code] ?? NOT_HTTP;
    const { status, headers, body } = problemReply(problem);
    const lines = Object.entries({ Connection: "close", ...headers }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    );
    socket.end(`HTTP/1.1 ${status} ${problem.title}\r\n${lines.join("")}\r\n${body}`);
  }
  socket.destroySoon();
}

function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo; // it listens on a port
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}

/** Limits on connections and requests. */
const DEFAULT_LIMITS = {
  /** Limit on the request line and headers, which include long URIs to look up. */
  maxHeaderBytes: 64 * 2 ** 10,
  maxConnections: 1000,
  /** Time limit for the request headers. */
  headersTimeoutMs: 10_000,
  /** Time limit for the whole request, with its body. */
  requestTimeoutMs: 300_000,
  /** Idle timeout while a request is in progress: slow readers and writers. */
  idleTimeoutMs: 30_000,
  /** Keep-alive time of an idle connection. */
  keepAliveMs: 5_000,
  /** Grace period for requests in progress when the server stops. */
  graceMs: 10_000,
};

export type ConnectionLimits = Readonly<typeof DEFAULT_LIMITS>;
