import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SharedRateLimit } from "../../../src/aggregate/service/shared-rate.ts";
import { LocalBus } from "../../support/local-bus.ts";

describe("a rate limit of several processes", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "performance"] }));
  afterEach(() => void vi.useRealTimers());

  it("counts what clients ask other processes for", () => {
    const bus = new LocalBus();
    const limits = [0, 1].map(() => new SharedRateLimit({ perSecond: 2, burst: 4 }, bus.join()));
    const [one, two] = limits;
    for (let count = 0; count < 4; count++) expect(one.take("192.0.2.1")).toBe(0);
    expect(one.take("192.0.2.1")).toBeGreaterThan(0);
    vi.advanceTimersByTime(100);
    expect(two.take("192.0.2.1")).toBeGreaterThan(0);
    expect(two.take("192.0.2.2")).toBe(0);
    vi.advanceTimersByTime(500);
    expect(two.take("192.0.2.1")).toBe(0);
    vi.advanceTimersByTime(100);
    expect(one.take("192.0.2.1")).toBeGreaterThan(0);
  });
});
