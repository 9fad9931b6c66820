import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { UpstreamState } from "../../../src/aggregate/upstream.ts";
import { LocalBus } from "../../support/local-bus.ts";
import { until } from "../../support/until.ts";
import { Dormancy } from "../../../src/aggregate/upstream/archive-health.ts";
import {
  archiveAt,
  askWhole,
  httpAnswer,
  numbered,
  rawArchive,
  testUpstream,
  timemapRequest,
} from "./raw-archive.ts";

describe("dormancy", () => {
  it("begins after failures in a row, ends with one request that goes well", async () => {
    let isDown = true;
    const { archive, heads } = await rawArchive((socket) => {
      if (isDown) socket.resetAndDestroy();
      else socket.write(httpAnswer(200, "back"));
    });
    let ahead = 0;
    const changes: UpstreamState["health"][] = [];
    const upstream = testUpstream({
      tolerance: 3,
      dormantMs: 1000,
      now: () => 1_000_000 + ahead,
      onChange: (_archive, { health }) => changes.push(health),
    });
    const ask = (): Promise<unknown> => askWhole(upstream, timemapRequest(archive));
    for (let turn = 0; turn < 3; turn++)
      await expect(ask()).rejects.toMatchObject({ code: "MM_HTTP" });
    expect(upstream.stateOf(archive)).toMatchObject({
      health: "dormant",
      consecutiveFailures: 3,
      dormantUntil: 1_001_000,
      lastFailure: "the connection was cut before the end",
    });
    await expect(ask()).rejects.toMatchObject({ code: "MM_REFUSED" });
    expect(heads).toHaveLength(3);
    ahead = 1000;
    await expect(ask()).rejects.toMatchObject({ code: "MM_HTTP" });
    expect(upstream.stateOf(archive).dormantUntil).toBe(1_003_000);
    ahead = 3000;
    isDown = false;
    const probe = ask();
    expect(upstream.stateOf(archive).health).toBe("probing");
    const url = `${archive.timemap}other`;
    const other = upstream.ask(timemapRequest(archive, { url }));
    await expect(other).rejects.toMatchObject({ code: "MM_REFUSED" });
    await expect(probe).resolves.toMatchObject({ body: "back" });
    expect(upstream.stateOf(archive)).toMatchObject({ health: "awake", consecutiveFailures: 0 });
    expect(changes).toEqual(["dormant", "probing", "dormant", "probing", "awake"]);
  });

  it.each([429, 500, 503])("counts status %i", async (status) => {
    const { archive } = await rawArchive((socket) => void socket.write(httpAnswer(status)));
    const upstream = testUpstream({ tolerance: 2 });
    await askWhole(upstream, timemapRequest(archive));
    expect(upstream.stateOf(archive)).toMatchObject({ health: "awake", consecutiveFailures: 1 });
    await askWhole(upstream, timemapRequest(archive));
    expect(upstream.stateOf(archive).health).toBe("dormant");
  });

  it("sends those away that wait, when it begins", async () => {
    const { archive, heads } = await rawArchive((socket) => socket.resetAndDestroy(), {
      concurrency: 1,
    });
    const upstream = testUpstream({ tolerance: 2 });
    const asked = numbered(archive.timemap, 500).map((url) =>
      upstream.ask(timemapRequest(archive, { url })).catch((error: { code: string }) => error.code),
    );
    const codes = await Promise.all(asked);
    expect(codes.filter((code) => code === "MM_HTTP")).toHaveLength(2);
    expect(codes.filter((code) => code === "MM_REFUSED")).toHaveLength(498);
    expect(heads).toHaveLength(2);
  });

  it("lets another request find out when the one that should is aborted", async () => {
    let isDown = true;
    const { archive } = await rawArchive((socket) => {
      if (isDown) socket.resetAndDestroy();
    });
    let ahead = 0;
    const upstream = testUpstream({ tolerance: 1, dormantMs: 1000, now: () => ahead });
    await expect(upstream.ask(timemapRequest(archive))).rejects.toMatchObject({ code: "MM_HTTP" });
    ahead = 1000;
    isDown = false;
    const controller = new AbortController();
    const probe = upstream.ask(timemapRequest(archive, { signal: controller.signal }));
    expect(upstream.stateOf(archive).health).toBe("probing");
    controller.abort(new Error("gone"));
    await expect(probe).rejects.toThrow("gone");
    expect(upstream.stateOf(archive).health).toBe("dormant");
    upstream.ask(timemapRequest(archive)).catch(() => undefined); // ends with the upstream
    expect(upstream.stateOf(archive).health).toBe("probing");
  });

  it("doubles up to its longest, and starts over after it was awake", () => {
    let now = 0;
    const dormancy = new Dormancy({ tolerance: 1, dormantMs: 60, longestMs: 200, now: () => now });
    const sleeps: number[] = [];
    for (let turn = 0; turn < 4; turn++) {
      const isProbe = dormancy.admit() === "probe";
      dormancy.failed("down", isProbe);
      sleeps.push((dormancy.until ?? 0) - now);
      now = dormancy.until ?? 0;
    }
    expect(sleeps).toEqual([60, 120, 200, 200]);
    expect(dormancy.admit()).toBe("probe");
    dormancy.succeeded(true);
    dormancy.failed("down", false);
    expect((dormancy.until ?? 0) - now).toBe(60);
  });

  it.each([-1, 1])("lasts as long as it should when the clock is set by %i days", async (days) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const raw = await rawArchive((socket, number) => {
      socket.write(httpAnswer(number === 0 ? 500 : 200, ""));
    });
    const upstream = testUpstream({ tolerance: 1, dormantMs: 300 });
    await askWhole(upstream, timemapRequest(raw.archive));
    vi.setSystemTime(Date.now() + days * 86_400_000);
    const left = (upstream.stateOf(raw.archive).dormantUntil ?? 0) - Date.now();
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(301);
    await expect(askWhole(upstream, timemapRequest(raw.archive))).rejects.toMatchObject({
      code: "MM_REFUSED",
    });
    const sleptAt = performance.now();
    const ask = (): Promise<number> =>
      askWhole(upstream, timemapRequest(raw.archive)).then(
        ({ status }) => status,
        () => 0,
      );
    await until(async () => (await ask()) === 200);
    expect(performance.now() - sleptAt).toBeGreaterThan(left - 50);
  });

  it("is off with a tolerance of Infinity", async () => {
    const upstream = testUpstream({ tolerance: Infinity });
    const archive = archiveAt("http://127.0.0.1:1");
    for (let turn = 0; turn < 20; turn++) {
      await expect(upstream.ask(timemapRequest(archive))).rejects.toMatchObject({
        code: "MM_HTTP",
      });
    }
    expect(upstream.stateOf(archive)).toMatchObject({ health: "awake", consecutiveFailures: 20 });
  });
});

describe("dormancy of several processes", () => {
  const failing = (): ReturnType<typeof rawArchive> =>
    rawArchive((socket) => void socket.resetAndDestroy());

  it("counts the failures of all, and holds in all, also in one that begins later", async () => {
    const { archive, heads } = await failing();
    const bus = new LocalBus();
    let ahead = 0;
    const options = { tolerance: 4, dormantMs: 1000, now: () => 1_000_000 + ahead };
    const changes: string[] = [];
    const one = testUpstream({ ...options, bus: bus.join() });
    const two = testUpstream({
      ...options,
      bus: bus.join(),
      onChange: (_archive, { health }) => changes.push(health),
    });
    for (const upstream of [one, two, one, two]) {
      await expect(askWhole(upstream, timemapRequest(archive))).rejects.toMatchObject({
        code: "MM_HTTP",
      });
    }
    const three = testUpstream({ ...options, bus: bus.join() });
    for (const upstream of [one, two, three]) {
      expect(upstream.isDormant(archive, "timemap")).toBe(true);
      expect(upstream.stateOf(archive)).toMatchObject({
        health: "dormant",
        consecutiveFailures: 4,
        lastFailure: "the connection was cut before the end",
      });
      await expect(askWhole(upstream, timemapRequest(archive))).rejects.toMatchObject({
        code: "MM_REFUSED",
      });
    }
    expect(heads).toHaveLength(4);
    // Only the one that found out reports it.
    expect(changes).toEqual(["dormant"]);
    ahead = 2000;
    await expect(askWhole(three, timemapRequest(archive))).rejects.toMatchObject({
      code: "MM_HTTP",
    });
    expect(heads).toHaveLength(5);
    expect(one.isDormant(archive, "timemap")).toBe(true);
  });

  it("ends in all when one process finds that the archive is back; one of them probes", async () => {
    let isDown = true;
    let answer = (): void => undefined;
    const { archive, heads } = await rawArchive((socket) => {
      if (isDown) socket.resetAndDestroy();
      else answer = () => void socket.write(httpAnswer(200, "back"));
    });
    const bus = new LocalBus();
    let ahead = 0;
    const options = { tolerance: 1, dormantMs: 1000, now: () => 1_000_000 + ahead };
    const one = testUpstream({ ...options, bus: bus.join() });
    const two = testUpstream({ ...options, bus: bus.join() });
    await expect(askWhole(one, timemapRequest(archive))).rejects.toMatchObject({
      code: "MM_HTTP",
    });
    expect(two.isDormant(archive, "timemap")).toBe(true);
    isDown = false;
    ahead = 1100;
    const probe = askWhole(two, timemapRequest(archive));
    await until(() => heads.length === 2);
    await expect(askWhole(one, timemapRequest(archive))).rejects.toMatchObject({
      code: "MM_REFUSED",
    });
    answer();
    await expect(probe).resolves.toMatchObject({ body: "back" });
    for (const upstream of [one, two]) {
      expect(upstream.stateOf(archive)).toMatchObject({
        health: "awake",
        consecutiveFailures: 0,
      });
    }
  });

  it("asks again some time after a process that probed was lost", () => {
    let now = 1_000_000;
    const options = { tolerance: 1, dormantMs: 1000, longestMs: 1000, now: () => now };
    const other = new Dormancy(options);
    const lost = new Dormancy({ ...options, share: (news) => other.apply(news) });
    lost.failed("no", false);
    now += 1000;
    expect(lost.admit()).toBe("probe");
    expect(other.admit()).toBe("refused");
    now += 60_000;
    expect(other.admit()).toBe("probe");
  });

  it("keeps Retry-After in all", async () => {
    const head = "HTTP/1.1 503 Busy\r\nRetry-After: 30\r\nContent-Length: 0\r\n\r\n";
    const { archive } = await rawArchive((socket) => void socket.write(head));
    const bus = new LocalBus();
    const one = testUpstream({ bus: bus.join() });
    const two = testUpstream({ bus: bus.join() });
    await askWhole(one, timemapRequest(archive));
    expect(two.isDormant(archive, "timemap")).toBe(true);
    const { dormantUntil = 0 } = two.stateOf(archive);
    expect(dormantUntil - Date.now()).toBeGreaterThan(25_000);
    expect(dormantUntil - Date.now()).toBeLessThan(31_000);
  });
});
