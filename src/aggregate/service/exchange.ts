import type { HttpRequest, HttpResponse } from "../../http/http-client.ts";
import type { BaseExchange, ServiceOptions } from "../../http/service.ts";
import type { ListState } from "../route/archive-list.ts";
import type { RouteRequest } from "../route/decision.ts";
import type { AggregatorMetrics } from "./aggregator-metrics.ts";
import type { WorkerCounts } from "./cluster.ts";
import type { HeldMaps } from "./held-maps.ts";
import type { OpenAggregator } from "./open-aggregator.ts";
import type { Monitor } from "./stream.ts";

/** Fetches mementos from untrusted archives: a `NodeClient`. */
export interface MementoClient {
  /**
   * Sends one request: a redirect is returned like any other response.
   *
   * @throws MM_HTTP when there is no response, MM_REFUSED for a private address, MM_BAD_URI.
   */
  requestOnce(url: string, request?: HttpRequest): Promise<HttpResponse>;
}

/** The processes of a service that listen on one port: see `WorkerLink`. */
interface ServiceProcesses {
  readonly counts: WorkerCounts;
  /** The combined metrics of all, in the text format of Prometheus. */
  text(): Promise<string>;
}

/** How an aggregator is served. Members with a default are optional. */
export interface AggregatorServiceOptions extends ServiceOptions {
  readonly open: OpenAggregator;
  /** Fetches mementos for `/memento/proxy/`. */
  readonly client: MementoClient;
  /**
   * The public URL of the service, or only its path; default: the URL that the client used. All paths
   * begin with its path, which requests may omit, as from a proxy that strips it.
   */
  readonly base?: string | undefined;
  /** The defaults of requests; read for each. */
  readonly defaults?: Omit<RouteRequest, "uri"> | undefined;
  /** Ignores clients' requests to force queries to archives; default false. */
  readonly ignoresForced?: boolean | undefined;
  /** Lookups at once; more are answered 503. Default 5,000. */
  readonly maxLookups?: number | undefined;
  /** Mementos per page of a TimeMap; default 1 million, so that nearly all TimeMaps have one page. */
  readonly pageSize?: number | undefined;
  /** How long clients may use a response without revalidation; default 600 seconds. */
  readonly maxAgeSeconds?: number | undefined;
  /** Maximum bytes of a proxied memento; default 256 MiB. */
  readonly maxProxyBytes?: number | undefined;
  /** Sends events to clients of `/monitor`; without it that path answers 501, as in MemGator. */
  readonly monitor?: Monitor | undefined;
  /** Metrics. To time archives, they must also be an observer of the aggregator. */
  readonly metrics?: AggregatorMetrics | undefined;
  /** The processes that share the port; default only this one. */
  readonly processes?: ServiceProcesses | undefined;
  /** State of the list of archives, if it can change; read for each response. */
  readonly list?: ListState | undefined;
  /** Settings to show, by name; read for each response. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
  /** Milliseconds since 1970; default the system's clock. */
  readonly now?: (() => number) | undefined;
}

/** A request to an aggregator in progress. */
export interface Exchange extends BaseExchange {
  /** The public URL of the service, without a trailing slash. */
  readonly base: string;
  readonly options: AggregatorServiceOptions;
  readonly now: number;
  /** When the service started. */
  readonly startedAt: number;
  readonly heldMaps: HeldMaps;
  readonly metrics: AggregatorMetrics;
}
