import { describe, expect, it } from "vitest";
import { JoinedMetrics } from "../../src/cli/common/aggregate-supervise.ts";
import { Metrics } from "../../src/http/metrics.ts";

function metricsOf(requests: number, awake: number): Metrics {
  const metrics = new Metrics();
  for (let i = 0; i < requests; i++) metrics.request("lookup", 200, 0.01);
  metrics.read({
    name: "awake",
    help: "x",
    type: "gauge",
    acrossProcesses: "min",
    read: () => [{ value: awake }],
  });
  return metrics;
}

function values(text: string): Record<string, number> {
  return Object.fromEntries(
    [...text.matchAll(/^(\w+(?:\{[^}]*\})?) (\S+)$/gm)].map(([, name, value]) => [
      name,
      Number(value),
    ]),
  );
}

const REQUESTS = 'mementomap_requests_total{route="lookup",status="200"}';
const COUNT = 'mementomap_request_seconds_count{route="lookup"}';

describe("metrics of several processes", () => {
  it("are joined as each metric wants, and do not fall when a process ends", async () => {
    const joined = new JoinedMetrics();
    joined.take(1, await metricsOf(3, 1).snapshot());
    joined.take(2, await metricsOf(5, 0).snapshot());
    expect(values(await joined.text([]))).toMatchObject({ [REQUESTS]: 8, [COUNT]: 8, awake: 0 });
    joined.end(2);
    joined.end(2);
    expect(values(await joined.text([]))).toMatchObject({ [REQUESTS]: 8, [COUNT]: 8, awake: 1 });
    joined.take(2, await metricsOf(1, 1).snapshot());
    joined.end(2);
    joined.end(1);
    const last = values(await joined.text([]));
    expect(last).toMatchObject({ [REQUESTS]: 9, [COUNT]: 9 });
    expect(last).not.toHaveProperty("awake");
  });
});
