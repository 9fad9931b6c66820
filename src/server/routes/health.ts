import { type Exchange, sendText } from "../exchange.ts";
import type { Gauge } from "../metrics.ts";
import { counter, gauge, processGauges } from "../process-gauges.ts";

/** `GET /health`: the maps that are served, in which version. */
export function health(exchange: Exchange): void {
  exchange.route = "health";
  const maps = exchange.site.maps.map(({ id, current, reloads, refusals }) => ({
    id,
    records: current.survey.records,
    bytes: current.whole.body.size,
    pages: current.survey.plan.pages.length,
    version: current.version,
    modified: current.whole.lastModified.toISOString(),
    inMemory: current.index !== undefined,
    reloads,
    refusals,
  }));
  const text = `${JSON.stringify({ status: "ok", maps })}\n`;
  sendText(exchange, "application/json", text, { "Cache-Control": "no-store" });
}

/** `GET /metrics`, for Prometheus. */
export function metrics(exchange: Exchange): void {
  exchange.route = "metrics";
  const text = exchange.metrics.text([...mapGauges(exchange), ...processGauges()]);
  sendText(exchange, "text/plain; version=0.0.4; charset=utf-8", text, {
    "Cache-Control": "no-store",
  });
}

function mapGauges({ site }: Exchange): Gauge[] {
  const values = (of: (map: (typeof site.maps)[number]) => number): Gauge["values"] =>
    site.maps.map((map) => ({ labels: { map: map.id }, value: of(map) }));
  return [
    gauge(
      "mementomap_records",
      "Records of a map.",
      values((map) => map.current.survey.records),
    ),
    gauge(
      "mementomap_bytes",
      "Size of a map.",
      values((map) => map.current.whole.body.size),
    ),
    gauge(
      "mementomap_modified_seconds",
      "When the file of a map was last modified, as Unix time.",
      values((map) => map.current.whole.lastModified.getTime() / 1000),
    ),
    counter(
      "mementomap_reloads_total",
      "New versions taken.",
      values((map) => map.reloads),
    ),
    counter(
      "mementomap_refusals_total",
      "New versions refused.",
      values((map) => map.refusals),
    ),
  ];
}
