import { packageVersion } from "../../files/package-file.ts";
import { notFound, type ReplyHeaders } from "../../http/reply.ts";
import { type BaseExchange, HttpService } from "../../http/service.ts";
import { pathPrefix } from "../../http/target.ts";
import { AggregatorMetrics } from "./aggregator-metrics.ts";
import type { AggregatorServiceOptions, Exchange } from "./exchange.ts";
import { HeldMaps } from "./held-maps.ts";
import { ROUTES } from "./routes.ts";

/** Serves an aggregator over HTTP: TimeMaps, TimeGates, mementos and what there is to know about it. */
export class AggregatorService extends HttpService<Exchange> {
  readonly #options: AggregatorServiceOptions;
  readonly #metrics: AggregatorMetrics;
  readonly #heldMaps: HeldMaps | undefined;
  readonly #base: string | undefined;

  constructor(options: AggregatorServiceOptions) {
    const { base = "", keeper, metrics = new AggregatorMetrics() } = options;
    super({
      ...options,
      routes: ROUTES,
      prefix: pathPrefix(new URL(base, "http://localhost/").pathname),
      isPrefixOptional: true,
      metrics,
      allowedHeaders:
        "Accept, Accept-Datetime, Cache-Control, Prefer, X-MemGator-Archive-Filter, X-MementoMap-Route",
      unknown: notFound("there is nothing here; see /about"),
    });
    this.#options = options;
    this.#metrics = metrics;
    this.#heldMaps = keeper && new HeldMaps(keeper);
    this.#base = base.startsWith("/") || base === "" ? undefined : base.replace(/(?<!\/)\/+$/, "");
    metrics.readStatus(options.status);
  }

  protected override exchange(exchange: BaseExchange): Exchange {
    const { protocol, host = "localhost", prefix } = exchange.client;
    return {
      ...exchange,
      base: this.#base ?? `${protocol}://${host}${prefix}`,
      options: this.#options,
      heldMaps: this.#heldMaps,
      metrics: this.#metrics,
    };
  }

  /** As MemGator's: who answers, and that pages of other sites may read it. */
  protected override headers(): ReplyHeaders {
    return HEADERS;
  }
}

const HEADERS: ReplyHeaders = {
  Server: `mementomap/${packageVersion()}`,
  "Access-Control-Expose-Headers":
    "Link, Location, X-Memento-Count, Server, Memento-Datetime, Preference-Applied, Retry-After, X-MementoMap-Archives, X-MementoMap-Missing, X-MementoMap-Route",
};
