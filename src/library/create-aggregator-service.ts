import { AggregatorService } from "../aggregate/service/aggregator-service.ts";
import type { AggregatorServiceOptions } from "../aggregate/service/exchange.ts";
import { mementoClient } from "../aggregate/service/memento.ts";
import { AggregatorMetrics } from "../aggregate/service/aggregator-metrics.ts";
import type { OpenAggregator } from "../aggregate/service/open-aggregator.ts";
import type { RequestHandler } from "../http/listen.ts";
import { ProxySettings } from "../http/proxy.ts";

/** Options for serving an aggregator; see `mementomap aggregate --serve`. */
export type AggregatorHandlerOptions = Partial<
  Omit<AggregatorServiceOptions, "open" | "metrics" | "processes" | "monitor" | "list" | "settings">
>;

/**
 * Serves an aggregator over HTTP: TimeMaps, TimeGates, mementos, `/about`, `/health` and `/metrics`, as
 * `mementomap aggregate --serve` does. Pass it to `listen`, or call `handle` in your own server.
 *
 * @example
 * ```ts
 * import { openAggregator } from "mementomap/node";
 * import { createAggregatorService, listen } from "mementomap/server";
 *
 * const aggregator = await openAggregator({ archives: [] });
 * const server = await listen(createAggregatorService(aggregator), { port: 0 });
 * console.log((await fetch(`${server.url}/health`)).status);
 * await server.stop();
 * await aggregator.close();
 * ```
 * ```
 * 200
 * ```
 */
export function createAggregatorService(
  open: OpenAggregator,
  options: AggregatorHandlerOptions = {},
): RequestHandler {
  const metrics = new AggregatorMetrics();
  open.aggregator.observe(metrics);
  return new AggregatorService({
    open,
    client: mementoClient(open.aggregator.router, { proxies: ProxySettings.of(process.env) }),
    metrics,
    ...options,
  });
}
