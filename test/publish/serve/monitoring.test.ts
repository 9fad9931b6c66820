import { describe, expect, it, onTestFinished } from "vitest";
import { listen, type RequestHandler } from "../../../src/http/listen.ts";
import { RateLimit } from "../../../src/http/rate-limit.ts";
import { aggregating, plainArchive } from "../../support/aggregating.ts";
import { serving } from "../../support/serving.ts";

async function privatePort(handler: RequestHandler): Promise<string> {
  const server = await listen(handler, { port: 0 });
  onTestFinished(() => server.stop());
  return server.url;
}

async function statuses(url: string, paths: readonly string[]): Promise<number[]> {
  const found: number[] = [];
  for (const path of paths) {
    const response = await fetch(url + path);
    await response.text();
    found.push(response.status);
  }
  return found;
}

const MANY = Array.from({ length: 5 }, () => ["/health", "/metrics"]).flat();

async function publisherUrl(rateLimit: RateLimit): Promise<string> {
  return (await serving(undefined, { rateLimit })).url;
}

async function aggregatorUrl(rateLimit: RateLimit): Promise<string> {
  return (await aggregating([await plainArchive("one", [])], { service: { rateLimit } })).url;
}

describe("/health and /metrics", () => {
  it.each([
    ["a publisher", publisherUrl],
    ["an aggregator", aggregatorUrl],
  ])("are not counted by the rate limit of %s", async (_name, start) => {
    const url = await start(new RateLimit({ perSecond: 0.001, burst: 1 }));
    expect(new Set(await statuses(url, MANY))).toEqual(new Set([200]));
    expect(await statuses(url, ["/openapi.json", "/openapi.json", "/health"])).toEqual([
      200, 429, 200,
    ]);
  });

  it("move to a port of their own, and /metrics is gone from the public one", async () => {
    const { url, publisher } = await serving(undefined, { servesMetrics: false });
    const own = await privatePort(publisher.monitoring);
    expect(await statuses(url, ["/health", "/metrics", "/maps"])).toEqual([200, 404, 200]);
    expect(await statuses(own, ["/health", "/metrics", "/maps", "/lookup?url=a"])).toEqual([
      200, 200, 404, 404,
    ]);
  });

  it("do so for an aggregator, whatever its path is", async () => {
    const { url, service } = await aggregating([await plainArchive("one", [])], {
      service: { servesMetrics: false, base: "/x" },
    });
    const own = await privatePort(service.monitoring);
    expect(await statuses(url, ["/x/health", "/x/metrics", "/x/about"])).toEqual([200, 404, 200]);
    expect(await statuses(own, ["/health", "/metrics", "/about", "/timemap/link/a"])).toEqual([
      200, 200, 404, 404,
    ]);
  });
});
