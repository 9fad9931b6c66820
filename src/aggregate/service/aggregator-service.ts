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
  readonly #parts: Pick<Exchange, "options" | "metrics" | "heldMaps" | "startedAt">;
  readonly #base: string | undefined;
  readonly #now: () => number;

  constructor(options: AggregatorServiceOptions) {
    const { base = "", open, metrics = new AggregatorMetrics(), now = Date.now } = options;
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
    this.#now = now;
    const startedAt = now();
    this.#parts = { options, metrics, heldMaps: new HeldMaps(open.keeper), startedAt };
    this.#base = base.startsWith("/") || base === "" ? undefined : base.replace(/(?<!\/)\/+$/, "");
    metrics.readStatus(options);
  }

  protected override exchange(exchange: BaseExchange): Exchange {
    const { protocol, host = "localhost", prefix } = exchange.client;
    const base = this.#base ?? `${protocol}://${host}${prefix}`;
    return { ...exchange, ...this.#parts, base, now: this.#now() };
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
