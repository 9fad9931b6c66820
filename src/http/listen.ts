import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, type Socket } from "node:net";
import { ioError, MementoMapError, systemCode } from "../errors.ts";
import { ConnectionLimit } from "./connection-limit.ts";
import { badRequest, type Problem, problemReply } from "./reply.ts";

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
  readonly limits?: Partial<ConnectionLimits> | undefined;
  /** What messages call the port and the address; default `--port` and `--host`. */
  readonly options?: OptionNames | undefined;
  /** Called when connections cannot be accepted, as for want of open files; the server continues. */
  readonly onError?: ((error: MementoMapError) => void) | undefined;
}

interface OptionNames {
  readonly port: string;
  readonly host: string;
}

/** A server that listens. */
export interface Listening {
  /** `http://127.0.0.1:8080` */
  readonly url: string;
  /**
   * Takes no more connections, lets requests in progress end, and cuts those that take longer than
   * the grace period.
   */
  stop(): Promise<void>;
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
  // Without a listener Node destroys a socket that does nothing for this long.
  server.setTimeout(limits.idleTimeoutMs);
  server.on("clientError", refuse);
  const { port = 8080, host = "127.0.0.1" } = options;
  await started(server, { port, host }, options.options ?? { port: "--port", host: "--host" });
  // Without a listener Node would end the process.
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

/** Which of several hosts a request is for, a cache before the server may see otherwise (RFC 9112, 3.2). */
function hostRefusal({ headersDistinct }: IncomingMessage): Problem | undefined {
  const count = headersDistinct["host"]?.length ?? 0;
  return count > 1 ? badRequest("the request has several Host headers") : undefined;
}

/** Answers with a problem, and closes the connection. */
function send(response: ServerResponse, problem: Problem): void {
  const { status, headers, body } = problemReply(problem);
  response.writeHead(status, { ...headers, Connection: "close" }).end(body);
}

/** What to do about a port that cannot be opened. */
const PORT_FAULTS: Readonly<Record<string, (options: OptionNames) => string>> = {
  EADDRINUSE: ({ port }) =>
    `another process listens on this port; stop it, or choose another port with ${port}`,
  EACCES: ({ port }) => `this user may not open the port; choose one above 1023 with ${port}`,
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
      const message = PORT_FAULTS[systemCode(cause) ?? ""]?.(options);
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

const NOT_HTTP: Problem = {
  status: 400,
  title: "Bad Request",
  detail: "this is not a request of HTTP/1.1",
};

/** What the parser refuses, by its codes. */
const REFUSALS: Readonly<Record<string, Problem>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    title: "Request Header Fields Too Large",
    detail: "the request line and headers are longer than this server takes",
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    title: "Request Timeout",
    detail: "the request did not come in time",
  },
  HPE_INVALID_URL: {
    ...NOT_HTTP,
    detail: "the request target has a character that no URI has; percent-encode it",
  },
};

/** Answers what is not HTTP, or too long, and closes the connection. */
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

/** How the server deals with connections. */
const DEFAULT_LIMITS = {
  /** Of the request line and headers. Long URIs to look up are part of it. */
  maxHeaderBytes: 64 * 2 ** 10,
  maxConnections: 1000,
  /** How long a client may take to send its headers. */
  headersTimeoutMs: 10_000,
  /** How long a client may take to send a request with its body. */
  requestTimeoutMs: 300_000,
  /** How long a connection may do nothing while a request is in progress: slow readers and writers. */
  idleTimeoutMs: 30_000,
  /** How long an unused connection is kept for the next request. */
  keepAliveMs: 5_000,
  /** How long requests in progress may take once the server is told to stop. */
  graceMs: 10_000,
};

export type ConnectionLimits = Readonly<typeof DEFAULT_LIMITS>;
