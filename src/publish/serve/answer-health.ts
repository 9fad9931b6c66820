import { type Exchange, sendText } from "./exchange.ts";
import type { HostedMap } from "./hosted-map.ts";
import type { ReadMetric } from "../../http/metrics.ts";
import type { Site } from "./site.ts";

/** `GET /health`: the maps that are served, in which version. */
export function health(exchange: Exchange): void {
  exchange.route = "health";
  const maps = exchange.site.maps.map(({ id, current, reloads, refusals, fault }) => ({
    id,
    records: current.survey.records,
    bytes: current.whole.body.size,
    pages: current.survey.plan.pages.length,
    version: current.version,
    modified: current.whole.lastModified.toISOString(),
    inMemory: current.index !== undefined,
    reloads,
    refusals,
    refused: fault,
  }));
  // It serves what it has: a refused version is for the operator to look at, not for a balancer.
  const status = maps.every(({ refused }) => refused === undefined) ? "ok" : "degraded";
  const text = `${JSON.stringify({ status, maps })}\n`;
  sendText(exchange, "application/json", text, { "Cache-Control": "no-store" });
}

/** `GET /metrics`, for Prometheus. */
export async function metrics(exchange: Exchange): Promise<void> {
  exchange.route = "metrics";
  const text = await exchange.metrics.text();
  sendText(exchange, exchange.metrics.contentType, text, { "Cache-Control": "no-store" });
}

/** What there is to know about the maps of a site. */
export function mapMetrics(site: Site): ReadMetric[] {
  const metric = (
    type: ReadMetric["type"],
    name: string,
    help: string,
    value: (map: HostedMap) => number,
  ): ReadMetric => ({
    name: `mementomap_${name}`,
    help,
    type,
    labels: ["map"],
    acrossProcesses: "max",
    read: () => site.maps.map((map) => ({ labels: { map: map.id }, value: value(map) })),
  });
  return [
    metric("gauge", "records", "Records of a map.", ({ current }) => current.survey.records),
    metric("gauge", "bytes", "Size of a map.", ({ current }) => current.whole.body.size),
    metric(
      "gauge",
      "modified_seconds",
      "When the file of a map was last modified, as Unix time.",
      ({ current }) => current.whole.lastModified.getTime() / 1000,
    ),
    metric("gauge", "map_age_seconds", "Time since a map was made.", (map) => ageOf(map) / 1000),
    metric("counter", "reloads_total", "New versions taken.", ({ reloads }) => reloads),
    metric("counter", "refusals_total", "New versions refused.", ({ refusals }) => refusals),
  ];
}

/** Since the map says it was made; since its file was written where it does not say. */
function ageOf({ current }: HostedMap): number {
  const { updated_at: stated } = current.survey.plan.headers.meta;
  const madeAt = typeof stated === "string" ? Date.parse(stated) : Number.NaN;
  const { lastModified } = current.whole;
  return Math.max(0, Date.now() - (Number.isNaN(madeAt) ? lastModified.getTime() : madeAt));
}
