import type { HttpRequest, HttpResponse } from "../../http/http-client.ts";
import type { BaseExchange, ServiceOptions } from "../../http/service.ts";
import type { ListState } from "../route/archive-list.ts";
import type { RouteRequest } from "../route/decision.ts";
import type { AggregatorMetrics } from "./aggregator-metrics.ts";
import type { WorkerCounts } from "./cluster.ts";
import type { HeldMaps } from "./held-maps.ts";
import type { OpenAggregator } from "./open-aggregator.ts";
import type { Monitor } from "./stream.ts";

/** Gets mementos from archives that are not trusted: a `NodeClient`. */
export interface MementoClient {
  /**
   * Asks once: a redirect is an answer like any other.
   *
   * @throws MM_HTTP when there is no answer, MM_REFUSED for a private address, MM_BAD_URI.
   */
  requestOnce(url: string, request?: HttpRequest): Promise<HttpResponse>;
}

/** The processes of a service that listen on one port: see `WorkerLink`. */
interface ServiceProcesses {
  readonly counts: WorkerCounts;
  /** What all of them counted, in the text format of Prometheus. */
  text(): Promise<string>;
}

/** How an aggregator is served. Every member that has a default may be left out. */
export interface AggregatorServiceOptions extends ServiceOptions {
  readonly open: OpenAggregator;
  /** Gets mementos for `/memento/proxy/`. */
  readonly client: MementoClient;
  /**
   * The public address of the service, or only its path; by default that which the client used. All
   * paths begin with its path, which requests may leave out, as from a proxy that takes it off.
   */
  readonly base?: string | undefined;
  /** The defaults of requests; read for each. */
  readonly defaults?: Omit<RouteRequest, "uri"> | undefined;
  /** Ignores what clients say to force requests to archives; default false. */
  readonly ignoresForced?: boolean | undefined;
  /** Lookups at once; more are answered 503. Default 5,000. */
  readonly maxLookups?: number | undefined;
  /** Mementos of a page of a TimeMap; default 1 million, so that nearly all come whole. */
  readonly pageSize?: number | undefined;
  /** How long clients may use an answer without asking again; default 600 seconds. */
  readonly maxAgeSeconds?: number | undefined;
  /** Bytes of a memento that is passed on; default 256 MiB. */
  readonly maxProxyBytes?: number | undefined;
  /** Tells listeners at `/monitor`; without it that path answers 501, as MemGator does. */
  readonly monitor?: Monitor | undefined;
  /** Metrics. To time archives, they must be an observer of the aggregator, too. */
  readonly metrics?: AggregatorMetrics | undefined;
  /** The processes that serve on the same port; default only this one. */
  readonly processes?: ServiceProcesses | undefined;
  /** How the list of archives is, where it can change; looked at for each answer. */
  readonly list?: ListState | undefined;
  /** Settings worth showing, by their names; looked at for each answer. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
  /** Milliseconds since 1970; default the system's clock. */
  readonly now?: (() => number) | undefined;
}

/** A request to an aggregator that is being answered. */
export interface Exchange extends BaseExchange {
  /** The public address of the service, without a slash at its end. */
  readonly base: string;
  readonly options: AggregatorServiceOptions;
  readonly now: number;
  /** When the service started. */
  readonly startedAt: number;
  readonly heldMaps: HeldMaps;
  readonly metrics: AggregatorMetrics;
}
