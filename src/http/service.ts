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

/** A request that is being answered: what every service knows about it. */
export interface BaseExchange {
  readonly request: HttpRequest;
  /** How the client sees the service. */
  readonly client: ClientView;
  readonly path: string;
  readonly query: string;
  /** All routes of the service. */
  readonly routes: readonly Route<never>[];
  /** The JSON of another path of the service, for pages; undefined where there is none. */
  readonly answerOf: (target: string) => Promise<unknown>;
  /** What the request is counted as. */
  route: string;
}

/** What every service can be told. */
export interface ServiceOptions {
  readonly rateLimit?: RateLimit | undefined;
  /** Proxies whose word about clients is taken; default none. See `TrustedProxies`. */
  readonly trustedProxies?: readonly string[] | undefined;
  /** Whether `/metrics` is answered among the other paths; default true. See `monitoring`. */
  readonly servesMetrics?: boolean | undefined;
  readonly log?: Log | undefined;
}

/** What a service is made of. */
interface ServiceParts<Exchange> extends ServiceOptions {
  readonly routes: readonly Route<Exchange>[];
  /** What comes before all paths but fixed ones. */
  readonly prefix: string;
  /** Whether requests may come without the prefix, as from a proxy that takes it off. */
  readonly isPrefixOptional: boolean;
  readonly metrics: Metrics;
  /** The request headers that pages of other sites may send, beside those that all may. */
  readonly allowedHeaders: string;
  /** For paths that nothing is at. */
  readonly unknown: Problem;
}

/**
 * Answers requests by a table of routes, for `node:http`, Bun, Deno and workers.
 *
 * Knows nothing of ports. Methods, `OPTIONS`, the rate limit, metrics and the log follow from the table.
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

  /** What handlers are given. */
  protected abstract exchange(base: BaseExchange): Exchange;

  /** The headers of every reply, beside its own. */
  protected abstract headers(exchange: Exchange): ReplyHeaders;

  /**
   * Answers a request of a server whose handlers take a `Request`: Hono, Bun, Deno, workers.
   *
   * It need not be called as a method: `export default { fetch: service.fetch }`. Paths that are not
   * of the service are answered with 404; see {@link publishes}.
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

  /** Whether a request is for one of the paths of the service. */
  publishes(request: Request): boolean {
    return this.#match(this.open(webRequest(request))) !== undefined;
  }

  /**
   * Answers a request of `node:http` if it is for one of the paths of the service; false, with nothing
   * done, if it is not.
   */
  handle(request: IncomingMessage, response: ServerResponse): boolean {
    return this.#handle(request, response, (exchange) => this.#match(exchange));
  }

  /** Answers a request that nothing else answers: 404, or 400 where a path begins as one of ours. */
  handleUnknown(request: IncomingMessage, response: ServerResponse): void {
    this.#handle(request, response, (exchange) => this.#unknown(exchange));
  }

  /** Answers `/metrics` and `/health` and nothing else: for a port that the public does not reach. */
  get monitoring(): RequestHandler {
    const { unknown } = this.#parts;
    return {
      handle: (request, response) =>
        this.#handle(request, response, ({ path }) => this.#monitoring.match(path, "")),
      handleUnknown: (request, response) => void this.#handle(request, response, () => unknown),
    };
  }

  /** Answers over `node:http`, if there is something to answer with. */
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

  /** Everything about a request of a client but its match. */
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

  /** Answers a GET of our own, from the same client. */
  async #answerOf(request: HttpRequest, client: ClientView, target: string): Promise<unknown> {
    const own: HttpRequest = {
      method: "GET",
      target,
      headers: { accept: "application/json" },
      httpVersion: request.httpVersion,
      protocol: request.protocol,
      remoteAddress: request.remoteAddress,
      isAborted: false,
      body: () => request.body(),
    };
    const exchange = { ...this.open(own), client };
    const match = this.#router.match(target, "");
    const reply = await match?.routes.get("GET")?.answer(exchange, match.params);
    if (reply?.status !== 200 || typeof reply.body !== "string") return undefined;
    return JSON.parse(reply.body);
  }

  /** How a client sees the service. What a proxy takes off comes before what it leaves. */
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

  /** The whole reply to a request. */
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

  /** Servers other than `node:http` may not know the address. */
  #secondsToWait({ client: { address } }: Exchange): number {
    const seconds = address === "" ? 0 : (this.#parts.rateLimit?.take(address) ?? 0);
    return Math.ceil(seconds);
  }

  /** Adds what every reply carries. */
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

  /** Tells browsers what pages of other sites may send. */
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
    // A client that goes away in the middle, or sends what cannot be read, is not our fault.
    if (request.isAborted || error instanceof ClientFault) return;
    this.#log.event("error", "request failed", { target: request.target, reason: stackOf(error) });
  }
}

/**
 * What a handler throws about a request that it cannot understand, as a reply; other errors are thrown on.
 *
 * @param code of such errors; default any of ours.
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
    detail: `too many requests from your address; wait ${seconds} s`,
    headers: { "Retry-After": String(seconds) },
  };
}

export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
