import type { IncomingMessage, ServerResponse } from "node:http";
import { Stop } from "../upstream.ts";
import { isMementoMapError, MementoMapError, quote } from "../../errors.ts";
import type { Archive } from "../route/archive.ts";
import type { GivenAnswer, RouteRequest } from "../route/decision.ts";
import { loopUtilization } from "../upstream/event-loop.ts";
import { Admission } from "./admission.ts";
import { answerStream } from "./answer-stream.ts";
import { answerNone } from "./answer-timemap.ts";
import { answerAsset, askedUrl, wantsPage } from "./aggregator-page.ts";
import { answerMetrics, answerRoute, answerView, type StatusParts } from "./answer-status.ts";
import {
  AGGREGATION_ROUTES,
  type AggregationOptions,
  routeOf,
  STATUS_ROUTES,
} from "./aggregator-routes.ts";
import { datetimeOfEpochMs, parseAcceptDatetime } from "../../memento/datetime.ts";
import { packageVersion } from "../../files/package-file.ts";
import { type Log, requestEntry, SILENT_LOG } from "../../http/log.ts";
import type { RateLimit, RequestHandler } from "../../http/listen.ts";
import {
  badRequest,
  INTERNAL_ERROR,
  methodNotAllowed,
  notFound,
  type Problem,
} from "../../http/reply.ts";
import { NodeRequest, sendReply, sendWhole } from "../../http/send.ts";
import type { ViewName } from "../../page/page-data.ts";
import { pathPrefix, splitTarget } from "../../http/target.ts";
import { type ClientView, TrustedProxies } from "../../publish/serve/trusted-proxies.ts";
import {
  type AggregatorExchange,
  ALLOWED,
  type AnswerStyle,
  commonHeaders,
  sendBody,
  sendPreflight,
  sendRefusal,
  setHeaders,
  tooFast,
} from "./aggregator-exchange.ts";
import { AggregatorMetrics } from "./aggregator-metrics.ts";
import { BASE_HEADER, type Peers } from "./peers.ts";
import { RecentAnswers } from "./recent-answers.ts";
import { HeldMaps } from "./held-maps.ts";
import type { LearntMaps } from "./learnt-maps.ts";
import type { MapKeeper } from "../route/map-keeper.ts";
import { joinedHealth, serviceHealth } from "./service-health.ts";
import {
  JoinedStatus,
  type ServiceLoad,
  type ServiceProcesses,
  type ServiceStatus,
  snapshotOf,
  type StatusSnapshot,
} from "./service-status.ts";
import type { Monitor } from "../memgator-events.ts";
import { NO_PREFERENCES, readPreferences } from "./preferences.ts";
import {
  type AggregatorTarget,
  type AskedTarget,
  aggregatorTarget,
  originalUri,
  type StatusName,
} from "./request-target.ts";

/** How an aggregator is served. Every member that has a default may be left out. */
export interface AggregatorServiceOptions extends AggregationOptions {
  /** What is known about the archives, for `/about` and `/metrics`. */
  readonly status: ServiceStatus;
  /** The public address of the service; by default that which the client used. */
  readonly base?: string | undefined;
  /** What all paths begin with; default `/`. */
  readonly root?: string | undefined;
  /** The path that a proxy has the service below, before `root`: links begin with it, requests may. */
  readonly prefix?: string | undefined;
  /** Tells listeners at `/monitor`; without it that path answers 501, as MemGator does. */
  readonly monitor?: Monitor | undefined;
  /** How long clients may use an answer without asking again; default 600 seconds. */
  readonly maxAgeSeconds?: number | undefined;
  /** What is counted. To time archives, these are an observer of the aggregator too. */
  readonly metrics?: AggregatorMetrics | undefined;
  readonly rateLimit?: RateLimit | undefined;
  /** Proxies whose word about clients is taken; default none. See `TrustedProxies`. */
  readonly trustedProxies?: readonly string[] | undefined;
  /** Whether `/metrics` is answered among the other paths; default true. See `monitoring`. */
  readonly servesMetrics?: boolean | undefined;
  /** The processes that serve together with this one; default none. */
  readonly processes?: ServiceProcesses | undefined;
  /** Those of them that requests are forwarded to; default none. */
  readonly peers?: Peers | undefined;
  /** Whether a TimeMap of the last minute is given again, where every lookup need not be seen; default false. */
  readonly repeatsAnswers?: boolean | undefined;
  /** Maps of what was learnt, for `/maps`; default none. */
  readonly learntMaps?: LearntMaps | undefined;
  /** The maps that it goes by, for people to explore and compare; default none. */
  readonly keeper?: MapKeeper | undefined;
  readonly log?: Log | undefined;
  /** Milliseconds since 1970; default the system's clock. */
  readonly now?: (() => number) | undefined;
}

const NO_ROOM: Problem = {
  status: 503,
  title: "Too busy",
  detail: "too many questions wait already; ask again in a few seconds",
  headers: { "Retry-After": "5" },
};

/**
 * Serves an aggregator over HTTP: TimeMaps, TimeGates, mementos and what there is to know about it.
 *
 * It knows requests and responses of `node:http` and nothing of ports. A request counts as under way
 * until its answer is written, so that the limit of these bounds the memory for answers.
 */
export class AggregatorService {
  readonly metrics: AggregatorMetrics;
  readonly #admission: Admission;
  readonly #options: AggregatorServiceOptions;
  readonly #root: string;
  /** With what a request may begin, the longest first. */
  readonly #roots: readonly string[];
  readonly #prefix: string;
  readonly #proxies: TrustedProxies;
  readonly #base: string | undefined;
  readonly #style: AnswerStyle;
  readonly #log: Log;
  readonly #now: () => number;
  readonly #heldMaps: HeldMaps | undefined;
  readonly #recent: RecentAnswers | undefined;
  /** The archives and defaults that recent answers are of. */
  #answeredBy: {
    readonly archives: readonly Archive[];
    readonly defaults: AggregationOptions["defaults"];
  };

  constructor(options: AggregatorServiceOptions) {
    this.metrics = options.metrics ?? new AggregatorMetrics();
    this.#options = options;
    this.#root = `${pathPrefix(options.root)}/`;
    this.#prefix = pathPrefix(options.prefix);
    this.#roots = this.#prefix === "" ? [this.#root] : [`${this.#prefix}${this.#root}`, this.#root];
    this.#proxies = new TrustedProxies(options.trustedProxies);
    this.#base = options.base?.replace(/\/+$/, "");
    this.#style = {
      server: `mementomap/${packageVersion()}`,
      maxAgeSeconds: options.maxAgeSeconds ?? 600,
    };
    this.#admission = new Admission({
      most: options.maxUnderWay ?? 256,
      mostWaiting: options.maxWaiting ?? 20_000,
      utilization: loopUtilization(),
    });
    this.#log = options.log ?? SILENT_LOG;
    this.#now = options.now ?? Date.now;
    this.#heldMaps = options.keeper && new HeldMaps(options.keeper);
    if (options.repeatsAnswers === true) {
      this.#recent = new RecentAnswers({ bus: options.peers?.bus });
      options.aggregator.observe(this.#recent);
    }
    const { archives } = options.aggregator.router;
    this.#answeredBy = { archives, defaults: options.defaults };
    this.metrics.readStatus(options.status, () => this.load);
  }

  /** How many requests archives are asked for, and how many wait for that. */
  get load(): ServiceLoad {
    return this.#admission;
  }

  /** What this process is doing, for those that serve together with it. */
  snapshot(): StatusSnapshot {
    return snapshotOf(this.#options.status, this.load);
  }

  /** Gives no answer again that was given until now: archives have other maps, for instance. */
  forgetAnswers(): void {
    this.#recent?.clear();
  }

  /** Answers a request if it is for one of the paths of the service; false if it is not. */
  handle(request: IncomingMessage, response: ServerResponse): boolean {
    const behind = this.#behindRoot(request.url ?? "/");
    const target = behind === undefined ? undefined : aggregatorTarget(behind);
    if (target === undefined || target.name === "unknown") return false;
    if (target.name === "metrics" && this.#options.servesMetrics === false) return false;
    this.#answer(request, response, target);
    return true;
  }

  /** Answers `/metrics` and `/health` and nothing else: for a port that the public does not reach. */
  get monitoring(): RequestHandler {
    return {
      handle: (request, response) => {
        const name = splitTarget(request.url ?? "/").path.slice(1);
        if (name !== "metrics" && name !== "health") return false;
        this.#answer(request, response, { name });
        return true;
      },
      handleUnknown: (request, response) => this.handleUnknown(request, response),
    };
  }

  /** Answers what other processes that serve together with this one forward. */
  get forwarded(): RequestHandler {
    return {
      handle: (request, response) => {
        const behind = this.#behindRoot(request.url ?? "/");
        const target = behind === undefined ? undefined : aggregatorTarget(behind);
        if (target !== undefined) this.#answer(request, response, target, true);
        return target !== undefined;
      },
      handleUnknown: (request, response) => this.handleUnknown(request, response),
    };
  }

  /** Answers a request that nothing else answers: 404. */
  handleUnknown(request: IncomingMessage, response: ServerResponse): void {
    this.#answer(request, response, { name: "unknown" });
  }

  /** What follows the root, without a slash; undefined for a target elsewhere. */
  #behindRoot(url: string): string | undefined {
    // Proxies send the absolute form.
    const target = url.startsWith("/") ? url : url.replace(/^https?:\/\/[^/?]*/i, "");
    for (const root of this.#roots) {
      if (target.startsWith(root)) return target.slice(root.length);
      if (`${target}/` === root || target === "") return "";
    }
    return undefined;
  }

  /** @param isForwarded whether it comes from a process that has checked and counts it. */
  #answer(
    request: IncomingMessage,
    response: ServerResponse,
    target: AggregatorTarget,
    isForwarded = false,
  ): void {
    const startedAt = performance.now();
    const sentBefore = request.socket.bytesWritten;
    const gone = new Stop();
    const client = this.#proxies.view(new NodeRequest(request));
    const exchange: AggregatorExchange = {
      request,
      response,
      isHead: request.method === "HEAD",
      preferences: NO_PREFERENCES,
      client: client.address,
      base: isForwarded ? String(request.headers[BASE_HEADER]) : this.#baseFor(client),
      isForwarded,
      signal: gone,
      route: "other",
      style: this.#style,
    };
    response.once("close", () => {
      if (!response.writableFinished) gone.abort(undefined);
      if (!isForwarded) this.#note(exchange, startedAt, sentBefore);
    });
    try {
      this.#begin(exchange, target);
    } catch (error) {
      this.#fail(exchange, error);
    }
  }

  #begin(exchange: AggregatorExchange, target: AggregatorTarget): void {
    const { request } = exchange;
    const { method } = request;
    if (method !== "GET" && method !== "HEAD") {
      if (method === "OPTIONS") sendPreflight(exchange);
      else sendRefusal(exchange, methodNotAllowed(ALLOWED));
      return;
    }
    // Those who look after the service ask often, and all from one address.
    const isFree = exchange.isForwarded || target.name === "health" || target.name === "metrics";
    const wait = isFree ? 0 : (this.#options.rateLimit?.take(exchange.client) ?? 0);
    if (wait > 0) {
      sendRefusal(exchange, tooFast(wait));
      return;
    }
    try {
      exchange.preferences = readPreferences(request.headers);
      this.#dispatch(exchange, target);
    } catch (error) {
      if (!isMementoMapError(error)) throw error;
      sendRefusal(exchange, badRequest(error.message));
    }
  }

  #dispatch(exchange: AggregatorExchange, target: AggregatorTarget): void {
    if (target.name === "unknown") {
      sendRefusal(exchange, notFound("there is nothing here; see /about"));
    } else if (target.name === "malformed") {
      sendRefusal(exchange, badRequest(target.detail));
    } else if (target.name === "route") {
      this.#explainRoute(exchange, target.original);
    } else if (target.name === "asset") {
      answerAsset(exchange, target.file);
    } else if (target.name === "maps") {
      this.#answerMaps(exchange, target.path);
    } else if (target.name === "view") {
      if (isOfMaps(target.view) && !wantsPage(exchange)) this.#tellHoldings(exchange, target.view);
      else this.#showView(exchange, target.view);
    } else if ("isRoot" in target && wantsPage(exchange)) {
      this.#showView(exchange, "find");
    } else if (target.name === "timegate") {
      exchange.route = AGGREGATION_ROUTES.timegate.counted; // also for a bad Accept-Datetime
      const datetime = this.#acceptedDatetime(exchange.request);
      this.#aggregate(exchange, { ...target, datetime });
    } else if ("original" in target) {
      this.#aggregate(exchange, target);
    } else {
      this.#answerStatus(exchange, target.name).catch((error: unknown) =>
        this.#fail(exchange, error),
      );
    }
  }

  /**
   * Asks archives in its turn, and answers.
   *
   * @throws as `#routeRequest` does.
   */
  #aggregate(exchange: AggregatorExchange, target: AskedTarget): void {
    exchange.route = target.name === "stream" ? "timemap" : AGGREGATION_ROUTES[target.name].counted;
    if (!exchange.isForwarded) this.metrics.lookups.inc();
    if (this.#repeat(exchange, target.original)) return;
    const route = this.#routeRequest(exchange, target.original);
    // It may be called later, where nobody catches.
    const answerHere = (): void => {
      try {
        this.#admit(exchange, target, route);
      } catch (error) {
        this.#fail(exchange, error);
      }
    };
    const peers = exchange.isForwarded ? undefined : this.#options.peers;
    if (peers === undefined) answerHere();
    else peers.forward(exchange, target.original, answerHere);
  }

  /** Without those that other archives, or other defaults, have led to. */
  #recentAnswers(): RecentAnswers | undefined {
    const { aggregator, defaults } = this.#options;
    const { archives } = aggregator.router;
    if (archives !== this.#answeredBy.archives || defaults !== this.#answeredBy.defaults) {
      this.forgetAnswers();
      this.#answeredBy = { archives, defaults };
    }
    return this.#recent;
  }

  /** Whether the answer was given lately, and is given again. */
  #repeat(exchange: AggregatorExchange, original: string): boolean {
    const recent = this.#recentAnswers();
    const place = recent?.placeFor(exchange, original);
    if (recent === undefined || place === undefined) return false;
    // The process that has the client knows what it may give again.
    const mayRepeat = exchange.preferences === NO_PREFERENCES && !exchange.isForwarded;
    const answer = mayRepeat ? recent.find(place) : undefined;
    if (answer !== undefined) {
      const isBeingReplaced = recent.isBeingReplaced(place);
      if (this.#countRepeat(exchange, original, { ...answer, isBeingReplaced })) {
        this.metrics.repeatedAnswers.inc();
        sendWhole(exchange.response, answer);
        return true;
      }
      // One request waits for archives, and not all that come meanwhile.
      exchange.response.once("close", recent.replace(place));
    }
    exchange.onAnswer = (given) => recent.put(place, given);
    return false;
  }

  /**
   * Counts a lookup that gets an earlier answer, and asks archives as a sample, which nobody waits for. False, with
   * neither done, if the answer lacks an archive that is to be asked now.
   */
  #countRepeat(exchange: AggregatorExchange, original: string, given: GivenAnswer): boolean {
    const { aggregator } = this.#options;
    const { router } = aggregator;
    if (router.repeat === undefined) return true;
    const request = this.#routeRequest(exchange, original);
    const samples = router.repeat(request, given);
    if (samples === undefined) return false;
    if (samples.length > 0) {
      aggregator
        .timeMap({ ...request, samples })
        .catch((error: unknown) => this.#logFailure(exchange, error));
    }
    return true;
  }

  #admit(exchange: AggregatorExchange, target: AskedTarget, route: RouteRequest): void {
    if (exchange.signal.aborted) return;
    const cameAt = performance.now();
    const entered = this.#admission.enter(() => {
      this.metrics.questionWaits.observe((performance.now() - cameAt) / 1000);
      void this.#askArchives(exchange, target, route);
    });
    if (entered === "full") sendRefusal(exchange, NO_ROOM);
    else if (entered !== "started") exchange.signal.addEventListener("abort", entered);
  }

  async #askArchives(
    exchange: AggregatorExchange,
    target: AskedTarget,
    route: RouteRequest,
  ): Promise<void> {
    try {
      const { aggregator } = this.#options;
      const { cacheControl, isBroadcast } = exchange.preferences;
      const request = { ...route, cacheControl, isBroadcast, signal: exchange.signal };
      if (target.name === "stream") {
        await answerStream(exchange, aggregator, request);
        return;
      }
      const aggregation = await ("datetime" in target
        ? aggregator.timeGate({ ...request, datetime: target.datetime })
        : aggregator.timeMap(request));
      if (aggregation.mementos.count === 0) {
        answerNone(exchange, aggregation, this.#options.status);
      } else {
        const { answer } = routeOf(target);
        await answer(exchange, aggregation, target, this.#options);
      }
    } catch (error) {
      this.#fail(exchange, error);
    } finally {
      this.#admission.leave();
    }
  }

  /**
   * What a router is asked for a URI, by the preferences of the client.
   *
   * @throws MM_BAD_INPUT when none of the archives that it names exists.
   */
  #routeRequest({ preferences }: AggregatorExchange, uri: string): RouteRequest {
    const { defaults } = this.#options;
    const { route } = preferences;
    if (route === NO_PREFERENCES.route) return { ...defaults, uri };
    const { archives } = this.#options.aggregator.router;
    if (route.only !== undefined && !archives.some(({ id }) => route.only?.includes(id))) {
      throw new MementoMapError(
        "MM_BAD_INPUT",
        `there is no archive ${route.only.map((id) => quote(id)).join(", ")}; /archives.json lists the archives`,
      );
    }
    return { ...defaults, ...route, uri };
  }

  #explainRoute(exchange: AggregatorExchange, original: string): void {
    exchange.route = "route";
    this.metrics.lookups.inc();
    const { aggregator, status } = this.#options;
    answerRoute(exchange, this.#routeRequest(exchange, original), {
      router: aggregator.routerFor(exchange.preferences.isBroadcast),
      upstream: aggregator.upstream,
      status,
    });
  }

  #answerMaps(exchange: AggregatorExchange, path: string): void {
    exchange.route = "maps";
    const { request, response, base } = exchange;
    if (this.#options.learntMaps?.handle(request, response, path, prefixOf(base)) === true) return;
    if (path === "/maps")
      sendBody(exchange, 200, commonHeaders(exchange), "application/linkset", "");
    else sendRefusal(exchange, notFound("no map of what was learnt is here, or not yet"));
  }

  /** What maps hold, as JSON. */
  #tellHoldings(exchange: AggregatorExchange, view: "explore" | "compare"): void {
    exchange.route = view;
    const { request, response, isHead } = exchange;
    const heldMaps = this.#heldMaps;
    if (heldMaps === undefined) {
      sendRefusal(exchange, notFound("there are no maps here"));
      return;
    }
    const query = new URLSearchParams(splitTarget(request.url ?? "/").query);
    heldMaps.answer(view, request.headers, query).then(
      (reply) => {
        setHeaders(response, commonHeaders(exchange));
        response.setHeader("Vary", "Accept");
        void sendReply(response, isHead ? { ...reply, body: undefined } : reply);
      },
      (error: unknown) => this.#fail(exchange, error),
    );
  }

  /** Asks no archive: what is found at once comes from the maps. */
  #showView(exchange: AggregatorExchange, view: Exclude<ViewName, "about">): void {
    exchange.route = "about";
    exchange.mapLinks = this.#options.learntMaps?.linkHeader(prefixOf(exchange.base));
    const url = view === "find" ? askedUrl(exchange) : undefined;
    const { aggregator, status } = this.#options;
    const decisions =
      url === undefined
        ? undefined
        : aggregator.router.route({
            ...this.#routeRequest(exchange, originalUri(url)),
            isPreview: true,
          });
    answerView(exchange, view, { status, decisions });
  }

  async #answerStatus(exchange: AggregatorExchange, name: StatusName): Promise<void> {
    if (name === "metrics") {
      exchange.route = "metrics";
      const { processes } = this.#options;
      const text = await (processes === undefined ? this.metrics.text() : processes.metrics());
      answerMetrics(exchange, text, this.metrics.contentType);
      return;
    }
    const { counted, answer } = STATUS_ROUTES[name];
    exchange.route = counted;
    exchange.mapLinks = this.#options.learntMaps?.linkHeader(prefixOf(exchange.base));
    answer(exchange, await this.#statusParts());
  }

  async #statusParts(): Promise<StatusParts> {
    const { status, monitor, processes, servesMetrics: hasMetrics = true } = this.#options;
    const common = { monitor, hasMetrics };
    if (processes === undefined) {
      const health = serviceHealth(status);
      return { ...common, status, health, load: this.load, workers: undefined };
    }
    const { snapshots, ended, workers } = await processes.status();
    const joined = new JoinedStatus(ended === undefined ? snapshots : [...snapshots, ended]);
    const health = joinedHealth(snapshots, workers);
    return { ...common, status: joined, health, load: joined.load, workers };
  }

  /** What a TimeGate is asked for: now, if nothing is said. */
  #acceptedDatetime({ headers }: IncomingMessage): number {
    const text = headers["accept-datetime"];
    return typeof text === "string" && text !== ""
      ? parseAcceptDatetime(text)
      : datetimeOfEpochMs(this.#now());
  }

  #baseFor({ protocol, host = "localhost", prefix }: ClientView): string {
    if (this.#base !== undefined) return this.#base;
    const below = prefix === "" ? this.#prefix : prefix;
    return `${protocol}://${host}${below}${this.#root.slice(0, -1)}`;
  }

  #fail(exchange: AggregatorExchange, error: unknown): void {
    // A client that goes away in the middle is not our fault.
    if (exchange.signal.aborted) return;
    this.#logFailure(exchange, error);
    sendRefusal(exchange, INTERNAL_ERROR);
  }

  #logFailure({ request }: AggregatorExchange, error: unknown): void {
    this.#log.event("error", "request failed", {
      target: request.url,
      reason: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
  }

  #note(
    { request, response, route, client }: AggregatorExchange,
    startedAt: number,
    before: number,
  ): void {
    const ms = performance.now() - startedAt;
    const bytes = request.socket.bytesWritten - before;
    this.metrics.sentBytes.inc(bytes);
    this.metrics.request(route, response.statusCode, ms / 1000);
    const { statusCode: status } = response;
    this.#log.request?.(
      requestEntry(new NodeRequest(request), { status, bytes, ms, remote: client }),
    );
  }
}

function isOfMaps(view: ViewName): view is "explore" | "compare" {
  return view === "explore" || view === "compare";
}

/** The path of an address, without a slash at its end. */
function prefixOf(base: string): string {
  return pathPrefix(new URL(base).pathname);
}
