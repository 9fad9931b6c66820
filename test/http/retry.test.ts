import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pauseBefore } from "../../src/http/retry.ts";
import {
  askWhole,
  httpAnswer,
  rawArchive,
  testUpstream,
  timemapRequest,
} from "../aggregate/upstream/raw-archive.ts";

describe("trying again", () => {
  it.each([429, 502, 503, 504])("helps after status %i", async (status) => {
    const { archive, heads } = await rawArchive((socket, number) => {
      socket.write(number < 2 ? httpAnswer(status, "busy") : httpAnswer(200, "here"));
    });
    const upstream = testUpstream({ retries: 2 });
    expect(await askWhole(upstream, timemapRequest(archive))).toMatchObject({ body: "here" });
    expect(heads).toHaveLength(3);
    expect(upstream.counters.get("raw")).toMatchObject({
      requests: 3,
      retries: 2,
      failingAnswers: 2,
    });
  });

  it.each([400, 403, 404, 500, 501])("is not done after status %i", async (status) => {
    const { archive, heads } = await rawArchive(
      (socket) => void socket.write(httpAnswer(status, "no")),
    );
    const upstream = testUpstream({ retries: 2 });
    expect(await askWhole(upstream, timemapRequest(archive))).toMatchObject({ status, body: "no" });
    expect(heads).toHaveLength(1);
  });

  it("is done when the connection is cut before the answer, not within it", async () => {
    const { archive, heads } = await rawArchive((socket, number) => {
      if (number < 2) socket.resetAndDestroy();
      else if (number === 2) socket.write(httpAnswer(200, "here"));
      else socket.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx", () => socket.destroy());
    });
    const upstream = testUpstream({ retries: 2 });
    expect(await askWhole(upstream, timemapRequest(archive))).toMatchObject({ body: "here" });
    expect(heads).toHaveLength(3);
    await expect(askWhole(upstream, timemapRequest(archive))).rejects.toMatchObject({
      code: "MM_HTTP",
    });
    expect(heads).toHaveLength(4);
  });

  it("ends with the last answer when nothing helps", async () => {
    const { archive, heads } = await rawArchive(
      (socket) => void socket.write(httpAnswer(503, "busy")),
    );
    const upstream = testUpstream({ retries: 2 });
    expect(await askWhole(upstream, timemapRequest(archive))).toMatchObject({
      status: 503,
      body: "busy",
    });
    expect(heads).toHaveLength(3);
  });

  it.each([429, 503])("does not wait for Retry-After, of status %d", async (status) => {
    const { archive, heads } = await rawArchive((socket) => {
      socket.write(httpAnswer(status, "later", { "Retry-After": "1" }));
    });
    const upstream = testUpstream({ retries: 2, totalTimeoutMs: 3000, dormantMs: 1 });
    const begun = performance.now();
    expect(await askWhole(upstream, timemapRequest(archive))).toMatchObject({ status });
    expect(performance.now() - begun).toBeLessThan(900);
    expect(heads).toHaveLength(1);
    expect(upstream.counters.get("raw")?.retries).toBe(0);
  });

  it("leaves one endpoint alone that asks for it, not the other", async () => {
    const { archive } = await rawArchive((socket, _number, head) => {
      const isGate = head.includes("/timegate/");
      socket.write(isGate ? httpAnswer(503, "", { "Retry-After": "60" }) : httpAnswer(200, "here"));
    });
    const upstream = testUpstream();
    const gate = timemapRequest(archive, { url: `${archive.timegate}a`, endpoint: "timegate" });
    await askWhole(upstream, gate);
    await expect(upstream.ask(gate)).rejects.toMatchObject({ reason: "dormant" });
    expect(await askWhole(upstream, timemapRequest(archive))).toMatchObject({ body: "here" });
    expect(upstream.stateOf(archive)).toMatchObject({
      endpoints: { timemap: { health: "awake" }, timegate: { health: "dormant" } },
    });
  });

  it.each([
    ["Fri, 31 Dec 9999 23:59:59 GMT", 60_000],
    ["99999999999999999999", 60_000],
    ["7200", 900_000],
  ])("leaves the archive alone for a sensible time after Retry-After: %s", async (after, ms) => {
    const { archive } = await rawArchive((socket) => {
      socket.write(httpAnswer(503, "", { "Retry-After": after }));
    });
    const upstream = testUpstream({ tolerance: 1, longestDormantMs: 900_000 });
    await askWhole(upstream, timemapRequest(archive));
    const { dormantUntil = 0 } = upstream.stateOf(archive);
    expect(Math.abs(dormantUntil - Date.now() - ms)).toBeLessThan(2000);
  });

  it.each([
    ["seconds", () => "120"],
    ["a date", () => new Date(Date.now() + 120_000).toUTCString()],
  ])("leaves the archive alone until then (in %s)", async (_name, after) => {
    const { archive, heads } = await rawArchive((socket) => {
      socket.write(httpAnswer(503, "later", { "Retry-After": after() }));
    });
    let ahead = 0;
    const upstream = testUpstream({ retries: 2, now: () => Date.now() + ahead });
    expect(await askWhole(upstream, timemapRequest(archive))).toMatchObject({ status: 503 });
    const state = upstream.stateOf(archive);
    expect(state.health).toBe("dormant");
    expect(Math.abs((state.dormantUntil ?? 0) - Date.now() - 120_000)).toBeLessThan(2000);
    await expect(upstream.ask(timemapRequest(archive))).rejects.toMatchObject({
      code: "MM_REFUSED",
    });
    expect(heads).toHaveLength(1);
    ahead = 125_000;
    await askWhole(upstream, timemapRequest(archive));
    expect(heads).toHaveLength(2);
  });

  it("pauses longer each time, never all at once", () => {
    const part = fc.double({ min: 0, max: 0.999, noNaN: true });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), part, (attempt, random) => {
        const pause = pauseBefore(attempt, 100, () => random);
        expect(pause).toBeGreaterThanOrEqual(50 * 2 ** (attempt - 1));
        expect(pause).toBeLessThan(100 * 2 ** (attempt - 1));
      }),
    );
  });
});
