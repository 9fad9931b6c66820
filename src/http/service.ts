import type { IncomingMessage, ServerResponse } from "node:http";
import { isMementoMapError, type MementoMapError } from "../errors.ts";
import { compressedReply } from "./compress.ts";
import { type ClientView, TrustedProxies } from "./forwarded.ts";
import type { RequestHandler } from "./listen.ts";
import { type Log, SILENT_LOG } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import type { RateLimit } from "./rate-limit.ts";
import {
  badRequest,
  ClientFault,
  type HttpRequest,
  INTERNAL_ERROR,
  isWhole,
  methodNotAllowed,
  type Problem,
  problemReply,
  type Reply,
  type ReplyHeaders,
} from "./reply.ts";
import { type Match, type Route, Router } from "./router.ts";
import { inTurn, nodeRequest, sendReply } from "./send.ts";
import { originForm, splitTarget } from "./target.ts";
import { type FetchClient, webRequest, webResponse } from "./web-request.ts";

/** A request in progress, with the context common to all services. */
export interface BaseExchange {
  readonly request: HttpRequest;
  /** The client's view of the service. */
  readonly client: ClientView;
  readonly path: string;
  readonly query: string;
  /** All routes of the service. */
  readonly routes: readonly Route<never>[];
  /** The JSON of another path of the service, for pages; undefined if there is none. */
  readonly answerOf: (target: string) => Promise<unknown>;
  /** The route label in metrics. */
  route: string;
}

/** Options of every service. */
export interface ServiceOptions {
  readonly rateLimit?: RateLimit | undefined;
  /** Proxies trusted to describe clients; default none. See `TrustedProxies`. */
  readonly trustedProxies?: readonly string[] | undefined;
  /** Whether `/metrics` is served with the other paths; default true. See `monitoring`. */
  readonly servesMetrics?: boolean | undefined;
  readonly log?: Log | undefined;
}

/** The parts of a service. */
interface ServiceParts<Exchange> extends ServiceOptions {
  readonly routes: readonly Route<Exchange>[];
  /** The prefix of all paths except fixed ones. */
  readonly prefix: string;
  /** Whether requests may omit the prefix, as behind a proxy that strips it. */
  readonly isPrefixOptional: boolean;
  readonly metrics: Metrics;
  /** Request headers allowed in cross-origin requests, besides the CORS-safelisted ones. */
  readonly allowedHeaders: string;
  /** The reply for unknown paths. */
  readonly unknown: Problem;
}

/**
 * Serves a route table, for `node:http`, Bun, Deno and workers.
 *
 * Independent of ports. Methods, `OPTIONS`, the rate limit, metrics and the log follow from the table.
 */
export abstract class HttpService<Exchange extends BaseExchange> implements RequestHandler {
  readonly metrics: Metrics;
  readonly #parts: ServiceParts<Exchange>;
  readonly #router: Router<Exchange>;
  readonly #monitoring: Router<Exchange>;
  readonly #proxies: TrustedProxies;
  readonly #log: Log;

  constructor(parts: ServiceParts<Exchange>) {
    const { routes, servesMetrics = true } = parts;
    this.metrics = parts.metrics;
    this.#parts = parts;
    this.#router = new Router(routes.filter(({ name }) => servesMetrics || name !== "metrics"));
    this.#monitoring = new Router(routes.filter(({ isMonitoring }) => isMonitoring === true));
    this.#proxies = new TrustedProxies(parts.trustedProxies);
    this.#log = parts.log ?? SILENT_LOG;
  }

  /** Creates the context passed to handlers. */
  protected abstract exchange(base: BaseExchange): Exchange;

  /** Headers added to every reply. */
  protected abstract headers(exchange: Exchange): ReplyHeaders;

  /**
   * Handles a web `Request`, for Hono, Bun, Deno and workers.
   *
   * It is bound to the service: `export default { fetch: service.fetch }` works. Unknown paths get 404; see
   * {@link publishes}.
   */
  readonly fetch: (request: Request, client?: FetchClient) => Promise<Response> = async (
    request,
    client,
  ) => {
    const startedAt = performance.now();
    const exchange = this.open(webRequest(request, client));
    const match = this.#match(exchange) ?? this.#unknown(exchange);
    const reply = await this.#reply(exchange, match);
    return webResponse(reply, ({ bytes, error }) => {
      if (error !== undefined) this.#noteFailure(exchange, error);
      this.#noteRequest(exchange, { status: reply.status, bytes, startedAt });
    });
  };

  /** Whether the service has the path of a request. */
  publishes(request: Request): boolean {
    return this.#match(this.open(webRequest(request))) !== undefined;
  }

  /**
   * Handles a request of `node:http` for one of the paths of the service; returns false, without side effects, for
   * other paths.
   */
  handle(request: IncomingMessage, response: ServerResponse): boolean {
    return this.#handle(request, response, (exchange) => this.#match(exchange));
  }

  /** Handles a request that no other handler accepts: 404, or 400 with a hint for a similar path. */
  handleUnknown(request: IncomingMessage, response: ServerResponse): void {
    this.#handle(request, response, (exchange) => this.#unknown(exchange));
  }

  /** Serves only `/metrics` and `/health`, for a port without public access. */
  get monitoring(): RequestHandler {
    const { unknown } = this.#parts;
    return {
      handle: (request, response) =>
        this.#handle(request, response, ({ path }) => this.#monitoring.match(path, "")),
      handleUnknown: (request, response) => void this.#handle(request, response, () => unknown),
    };
  }

  /** Handles a request over `node:http` if `find` returns a match. */
  #handle(
    request: IncomingMessage,
    response: ServerResponse,
    find: (exchange: Exchange) => Match<Exchange> | Problem | undefined,
  ): boolean {
    const exchange = this.open(nodeRequest(request));
    const found = find(exchange);
    if (found === undefined) return false;
    inTurn(request, response, () => {
      const startedAt = performance.now();
      const { socket } = request;
      const sentBefore = socket.bytesWritten;
      response.once("close", () => {
        const bytes = socket.bytesWritten - sentBefore;
        this.#noteRequest(exchange, { status: response.statusCode, bytes, startedAt });
      });
      this.#reply(exchange, found)
        .then((reply) => sendReply(response, reply))
        .catch((error: unknown) => this.#noteFailure(exchange, error));
    });
    return true;
  }

  /** Creates the exchange of a client's request, without its match. */
  protected open(request: HttpRequest): Exchange {
    const target = splitTarget(request.target);
    const client = this.#view(request, target.path);
    return this.exchange({
      request,
      client,
      ...target,
      routes: this.#router.routes,
      route: "other",
      answerOf: (other) => this.#answerOf(request, client, other),
    });
  }

  /** Handles an internal GET on behalf of the same client. */
  async #answerOf(request: HttpRequest, client: ClientView, target: string): Promise<unknown> {
    const internal: HttpRequest = {
      method: "GET",
      target,
      headers: { accept: "application/json" },
      httpVersion: request.httpVersion,
      protocol: request.protocol,
      remoteAddress: request.remoteAddress,
      isAborted: false,
      body: () => request.body(),
    };
    const exchange = { ...this.open(internal), client };
    const match = this.#router.match(target, "");
    const reply = await match?.routes.get("GET")?.answer(exchange, match.params);
    if (reply?.status !== 200 || typeof reply.body !== "string") return undefined;
    return JSON.parse(reply.body);
  }

  /** The client's view of the service. The prefix stripped by a proxy precedes the one it leaves. */
  #view(request: HttpRequest, path: string): ClientView {
    const view = this.#proxies.view(request);
    const { prefix } = this.#parts;
    if (view.prefix === "" || view.prefix === prefix) return { ...view, prefix };
    const isKept = path.startsWith(`${prefix}/`);
    return { ...view, prefix: isKept ? view.prefix + prefix : view.prefix };
  }

  #match({ request }: Exchange): Match<Exchange> | undefined {
    const target = originForm(request.target);
    const { prefix, isPrefixOptional } = this.#parts;
    return (
      this.#router.match(target, prefix) ??
      (isPrefixOptional ? this.#router.match(target, "") : undefined)
    );
  }

  /** The complete reply to a request. */
  async #reply(exchange: Exchange, match: Match<Exchange> | Problem): Promise<Reply> {
    try {
      return await this.#complete(exchange, await this.#routed(exchange, match));
    } catch (error) {
      this.#noteFailure(exchange, error);
      return this.#complete(exchange, problemReply(INTERNAL_ERROR));
    }
  }

  #routed(exchange: Exchange, match: Match<Exchange> | Problem): Reply | Promise<Reply> {
    const { method } = exchange.request;
    const route = "routes" in match ? match.routes.get(method) : undefined;
    const wait = route?.isMonitoring === true ? 0 : this.#secondsToWait(exchange);
    if (wait > 0) return problemReply(tooManyRequests(wait));
    if (!("routes" in match)) return problemReply(match);
    if (route === undefined) {
      const { allow } = match;
      return method === "OPTIONS" ? this.#preflight(allow) : problemReply(methodNotAllowed(allow));
    }
    exchange.route = route.name;
    return route.answer(exchange, match.params);
  }

  #unknown({ path }: Exchange): Problem {
    const { prefix, unknown } = this.#parts;
    const similar = this.#router.similar(path, path.startsWith(prefix) ? prefix : "");
    return similar.length === 0 ? unknown : badRequest(`write ${similar.join(" or ")}`);
  }

  /** 0 if the address is unknown, as in some servers other than `node:http`. */
  #secondsToWait({ client: { address } }: Exchange): number {
    const seconds = address === "" ? 0 : (this.#parts.rateLimit?.take(address) ?? 0);
    return Math.ceil(seconds);
  }

  /** Adds the common headers, and compresses. */
  #complete(exchange: Exchange, reply: Reply): Reply | Promise<Reply> {
    const { request } = exchange;
    const { body } = reply;
    const headers = {
      ...(isWhole(body) ? { "Content-Length": String(Buffer.byteLength(body)) } : {}),
      "Access-Control-Allow-Origin": "*",
      "X-Content-Type-Options": "nosniff",
      ...this.headers(exchange),
      ...reply.headers,
    };
    return compressedReply(request, { ...reply, headers });
  }

  /** The reply to a CORS preflight request. */
  #preflight(allow: string): Reply {
    const headers = {
      Allow: allow,
      "Access-Control-Allow-Methods": allow,
      "Access-Control-Allow-Headers": this.#parts.allowedHeaders,
      "Access-Control-Max-Age": "86400",
    };
    return { status: 204, headers };
  }

  #noteRequest(
    { request, client, route }: Exchange,
    { status, bytes, startedAt }: { status: number; bytes: number; startedAt: number },
  ): void {
    const ms = performance.now() - startedAt;
    this.metrics.request({ route, status, bytes, seconds: ms / 1000 });
    const { method, target, httpVersion, headers } = request;
    this.#log.request?.({
      method,
      target,
      status,
      bytes,
      ms: Math.round(ms * 1000) / 1000,
      remote: client.address,
      httpVersion,
      userAgent: headers["user-agent"],
      referer: headers.referer,
    });
  }

  #noteFailure({ request }: Exchange, error: unknown): void {
    // Disconnects and unreadable input are not server errors.
    if (request.isAborted || error instanceof ClientFault) return;
    this.#log.event("error", "request failed", { target: request.target, reason: stackOf(error) });
  }
}

/**
 * Turns an error of a handler about an invalid request into a 400 reply; rethrows other errors.
 *
 * @param code the code of such errors; default any `MementoMapError`.
 */
export function requestFault(error: unknown, code?: MementoMapError["code"]): Reply {
  if (isMementoMapError(error) && (code ?? error.code) === error.code)
    return problemReply(badRequest(error.message));
  throw error;
}

function tooManyRequests(seconds: number): Problem {
  return {
    status: 429,
    title: "Too many requests",
    detail: `too many requests from your address; retry in ${seconds} s`,
    headers: { "Retry-After": String(seconds) },
  };
}

export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
