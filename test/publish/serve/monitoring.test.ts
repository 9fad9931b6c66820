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

describe("/health and /metrics", () => {
  it("are not counted by the rate limit of a publisher", async () => {
    const { url } = await serving(undefined, {
      rateLimit: new RateLimit({ perSecond: 0.001, burst: 1 }),
    });
    expect(new Set(await statuses(url, MANY))).toEqual(new Set([200]));
    expect(await statuses(url, ["/maps", "/maps", "/health"])).toEqual([200, 429, 200]);
  });

  it("are not counted by the rate limit of an aggregator", async () => {
    const { url } = await aggregating([await plainArchive("one", [])], {
      service: { rateLimit: new RateLimit({ perSecond: 0.001, burst: 1 }) },
    });
    expect(new Set(await statuses(url, MANY))).toEqual(new Set([200]));
    expect(await statuses(url, ["/about", "/about", "/health"])).toEqual([200, 429, 200]);
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
