import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type CacheStore, MemoryStore } from "../../../src/aggregate/upstream/cache-store.ts";
import { isPlainlyFresh, policyOf } from "../../../src/aggregate/upstream/http-cache.ts";
import { openDiskStore } from "../../../src/aggregate/upstream/disk-store.ts";
import type { UpstreamRequest } from "../../../src/aggregate/upstream.ts";
import { scratchDir } from "../../support/scratch.ts";
import {
  askWhole,
  httpAnswer,
  type RawArchive,
  rawArchive,
  testUpstream,
  timemapRequest,
} from "./raw-archive.ts";

const START = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: START });
});

afterEach(() => {
  vi.useRealTimers();
});

const at = (minutes: number): void => {
  vi.setSystemTime(START + minutes * MINUTE);
};

const cacheable = (
  { archive }: RawArchive,
  members: Partial<UpstreamRequest> = {},
): UpstreamRequest => timemapRequest(archive, { isCacheable: true, ...members });

const stores: [string, () => Promise<CacheStore>][] = [
  ["memory", () => Promise.resolve(new MemoryStore())],
  ["disk", () => openDiskStore(scratchDir())],
];

describe.each(stores)("a cache in %s", (_name, openStore) => {
  it("answers as long as an answer is fresh", async () => {
    const raw = await rawArchive((socket, number) => {
      socket.write(
        httpAnswer(200, `v${number}`, { "Cache-Control": "max-age=600", "X-A": "\u00e9" }),
      );
    });
    const upstream = testUpstream({ cache: { store: await openStore() } });
    expect(await askWhole(upstream, cacheable(raw))).toMatchObject({
      body: "v0",
      origin: "network",
    });
    at(9);
    const again = await upstream.ask(cacheable(raw));
    expect(again).toMatchObject({ status: 200, origin: "cache" });
    expect(again.headers.get("x-a")).toBe("\u00c3\u00a9"); // the bytes that were sent
    again.discard();
    expect(await askWhole(upstream, cacheable(raw))).toMatchObject({ body: "v0", origin: "cache" });
    at(11);
    expect(await askWhole(upstream, cacheable(raw))).toMatchObject({
      body: "v1",
      origin: "network",
    });
    expect(raw.heads).toHaveLength(2);
    expect(upstream.counters.get("raw")).toMatchObject({ requests: 2, cacheHits: 2 });
  });

  it.each([
    ["ETag", '"1"', "if-none-match"],
    ["Last-Modified", "Thu, 01 Jan 2015 00:00:00 GMT", "if-modified-since"],
  ])("asks whether what it has is still right, by %s", async (name, value, condition) => {
    const raw = await rawArchive((socket, number, head) => {
      const isSame = head.includes(`${condition}: ${value}`);
      const headers = { [name]: value, "Cache-Control": "max-age=60", "X-Turn": String(number) };
      socket.write(isSame ? httpAnswer(304, "", headers) : httpAnswer(200, "body", headers));
    });
    const upstream = testUpstream({ cache: { store: await openStore() } });
    await askWhole(upstream, cacheable(raw));
    for (const turn of [1, 2, 3]) {
      at(2 * turn);
      const answer = await upstream.ask(cacheable(raw));
      expect(answer).toMatchObject({ status: 200, origin: "revalidated" });
      expect(answer.headers.get("x-turn")).toBe(String(turn));
      let body = "";
      await answer.read((chunk) => (body += Buffer.from(chunk).toString()));
      expect(body).toBe("body");
      expect(await askWhole(upstream, cacheable(raw))).toMatchObject({ origin: "cache" });
    }
    expect(raw.heads).toHaveLength(4);
    expect(upstream.counters.get("raw")).toMatchObject({ revalidations: 3, cacheHits: 3 });
  });

  it("takes an answer without a body that has the length of what it has", async () => {
    const raw = await rawArchive((socket, number) => {
      const headers = { ETag: '"1"', "Cache-Control": "max-age=60", "Content-Length": "4" };
      socket.write(httpAnswer(number === 0 ? 200 : 304, number === 0 ? "body" : "", headers));
    });
    const upstream = testUpstream({ cache: { store: await openStore() } });
    await askWhole(upstream, cacheable(raw));
    at(2);
    const answer = await askWhole(upstream, cacheable(raw));
    expect(answer).toMatchObject({ body: "body", origin: "revalidated" });
    expect(upstream.counters.get("raw")?.failures).toMatchObject({ reset: 0 });
  });

  it("takes the new answer when it is not", async () => {
    const raw = await rawArchive((socket, number) => {
      socket.write(
        httpAnswer(200, `v${number}`, { ETag: `"${number}"`, "Cache-Control": "max-age=60" }),
      );
    });
    const upstream = testUpstream({ cache: { store: await openStore() } });
    await askWhole(upstream, cacheable(raw));
    at(2);
    expect(await askWhole(upstream, cacheable(raw))).toMatchObject({
      body: "v1",
      origin: "network",
    });
    expect(raw.heads[1]).toContain('if-none-match: "0"');
    expect(await askWhole(upstream, cacheable(raw))).toMatchObject({ body: "v1", origin: "cache" });
  });

  it("gives what it has when the archive fails, is dormant, or answers 5xx", async () => {
    let turn = 0;
    const raw = await rawArchive((socket) => {
      turn += 1;
      if (turn === 1) socket.write(httpAnswer(200, "kept", { "Cache-Control": "max-age=60" }));
      else if (turn === 2) socket.resetAndDestroy();
      else socket.write(httpAnswer(500, "trouble"));
    });
    const upstream = testUpstream({
      tolerance: 2,
      now: Date.now, // the clock that this test sets
      cache: { store: await openStore(), staleIfErrorMs: 10 * MINUTE },
    });
    await askWhole(upstream, cacheable(raw));
    at(5);
    for (const health of ["awake", "dormant", "dormant"]) {
      expect(await askWhole(upstream, cacheable(raw))).toMatchObject({
        status: 200,
        body: "kept",
        origin: "cache",
      });
      expect(upstream.stateOf(raw.archive).health).toBe(health);
    }
    expect(turn).toBe(3);
    expect(upstream.counters.get("raw")?.staleAnswers).toBe(3);
    at(12);
    expect(await askWhole(upstream, cacheable(raw))).toMatchObject({ status: 500 });
  });

  it("does not go by what was kept while the clock was wrong", async () => {
    const raw = await rawArchive((socket, number) => {
      socket.write(httpAnswer(200, `v${number}`, { "Cache-Control": "max-age=600" }));
    });
    const upstream = testUpstream({ cache: { store: await openStore() } });
    const ask = async (): Promise<string> => (await askWhole(upstream, cacheable(raw))).body;
    at(60 * 24 * 365);
    expect(await ask()).toBe("v0");
    at(0);
    expect(await ask()).toBe("v1");
    expect(await ask()).toBe("v1");
  });

  it("keeps apart what Vary names, and requests for other times", async () => {
    const raw = await rawArchive((socket, number) => {
      socket.write(
        httpAnswer(200, `v${number}`, {
          Vary: "Accept-Datetime, Accept",
          "Cache-Control": "max-age=600",
        }),
      );
    });
    const upstream = testUpstream({ cache: { store: await openStore() } });
    const ask = async (headers: Record<string, string>): Promise<string> =>
      (await askWhole(upstream, cacheable(raw, { headers }))).body;
    expect(await ask({ "accept-datetime": "a" })).toBe("v0");
    expect(await ask({ "accept-datetime": "b" })).toBe("v1");
    expect(await ask({ "accept-datetime": "a" })).toBe("v0");
    expect(await ask({ "accept-datetime": "b" })).toBe("v1");
    expect(await ask({ "accept-datetime": "b", accept: "text/plain" })).toBe("v2");
    expect(await ask({ "accept-datetime": "b", accept: "text/plain" })).toBe("v2");
  });
});

describe("the age of an answer", () => {
  it("is what it was when it came, and the time since", async () => {
    const raw = await rawArchive((socket, number) => {
      const headers = { Age: "30", ETag: '"1"', "Cache-Control": "max-age=600" };
      const again = { "Cache-Control": "max-age=600" };
      socket.write(number === 0 ? httpAnswer(200, "x", headers) : httpAnswer(304, "", again));
    });
    const upstream = testUpstream();
    const ages: unknown[] = [];
    for (const minutes of [0, 5, 10, 12]) {
      at(minutes);
      const answer = await upstream.ask(cacheable(raw));
      ages.push([answer.origin, answer.headers.get("age")]);
      answer.discard();
    }
    expect(ages).toEqual([
      ["network", "30"],
      ["cache", "330"],
      ["revalidated", "0"],
      ["cache", "120"],
    ]);
  });
});

describe("what is kept", () => {
  it.each<[string, number, Record<string, string>, number, boolean]>([
    ["a TimeMap that says nothing, for an hour", 200, {}, 59, true],
    ["and no longer", 200, {}, 61, false],
    ["nothing found, for ten minutes", 404, {}, 9, true],
    ["and no longer", 404, {}, 11, false],
    ["nothing found, as long as it says", 404, { "Cache-Control": "max-age=3600" }, 59, true],
    ["one with the cookie of a load balancer", 200, { "Set-Cookie": "a=b" }, 59, true],
    ["one that is said to be public and no more", 200, { "Cache-Control": "public" }, 59, true],
    [
      "one with a past Last-Modified, no longer than others",
      200,
      { "Last-Modified": "Thu, 01 Jan 1998 00:00:00 GMT" },
      61,
      false,
    ],
    ["none that must not be stored", 200, { "Cache-Control": "no-store" }, 0, false],
    ["none that is private", 200, { "Cache-Control": "private, max-age=600" }, 0, false],
    ["none that has to be asked about", 200, { "Cache-Control": "no-cache" }, 0, false],
    ["none that expired", 200, { Expires: "Thu, 01 Jan 1998 00:00:00 GMT" }, 0, false],
    ["none that varies by everything", 200, { Vary: "*" }, 0, false],
    ["no redirect that says nothing", 302, { Location: "/x" }, 0, false],
    ["a redirect that says so", 302, { Location: "/x", "Cache-Control": "max-age=600" }, 9, true],
    ["no failure", 500, { "Cache-Control": "max-age=600" }, 0, false],
    ["no 403", 403, {}, 0, false],
  ])("%s", async (_name, status, headers, minutes, isKept) => {
    const raw = await rawArchive((socket) => void socket.write(httpAnswer(status, "x", headers)));
    const upstream = testUpstream();
    const request = cacheable(raw, { followsRedirects: false });
    await askWhole(upstream, request);
    at(minutes);
    expect((await askWhole(upstream, request)).origin).toBe(isKept ? "cache" : "network");
  });

  it("only what is whole, and not too long", async () => {
    const raw = await rawArchive((socket, number) => {
      if (number === 0) socket.end(httpAnswer(200, "x", { "Content-Length": "5" }));
      else socket.write(httpAnswer(200, "x".repeat(200_000)));
    });
    const upstream = testUpstream({ cache: { maxEntryBytes: 100_000 } });
    await expect(askWhole(upstream, cacheable(raw))).rejects.toMatchObject({ code: "MM_HTTP" });
    expect(await askWhole(upstream, cacheable(raw))).toMatchObject({ origin: "network" });
    expect(await askWhole(upstream, cacheable(raw))).toMatchObject({ origin: "network" });
  });

  it("nothing, where caching is off for the request or at all", async () => {
    const raw = await rawArchive((socket) => void socket.write(httpAnswer(200, "x")));
    const upstream = testUpstream();
    await askWhole(upstream, cacheable(raw));
    expect(await askWhole(upstream, cacheable(raw, { isCacheable: false }))).toMatchObject({
      origin: "network",
    });
    const without = testUpstream({ cache: "off" });
    await askWhole(without, cacheable(raw));
    expect(await askWhole(without, cacheable(raw))).toMatchObject({ origin: "network" });
  });
});

describe("what the caller says about caching", () => {
  it("no-cache asks again, and only-if-cached never", async () => {
    const raw = await rawArchive(
      (socket, number) => void socket.write(httpAnswer(200, `v${number}`)),
    );
    const upstream = testUpstream();
    const only = cacheable(raw, { headers: { "cache-control": "only-if-cached" } });
    expect(await askWhole(upstream, only)).toMatchObject({ status: 504, origin: "cache" });
    expect(raw.heads).toHaveLength(0);
    await askWhole(upstream, cacheable(raw));
    expect(await askWhole(upstream, only)).toMatchObject({ status: 200, body: "v0" });
    const fresh = cacheable(raw, { headers: { "cache-control": "no-cache" } });
    expect(await askWhole(upstream, fresh)).toMatchObject({ body: "v1", origin: "network" });
    expect(await askWhole(upstream, cacheable(raw))).toMatchObject({ body: "v1", origin: "cache" });
  });

  it("HEAD is answered from what GET brought, without a body", async () => {
    const raw = await rawArchive((socket) => void socket.write(httpAnswer(200, "body")));
    const upstream = testUpstream();
    await askWhole(upstream, cacheable(raw));
    const head = await askWhole(upstream, cacheable(raw, { method: "HEAD" }));
    expect(head).toMatchObject({ status: 200, body: "", origin: "cache" });
  });

  it("a body longer than the caller takes is an error, also from the cache", async () => {
    const raw = await rawArchive((socket) => void socket.write(httpAnswer(200, "x".repeat(1000))));
    const upstream = testUpstream();
    await askWhole(upstream, cacheable(raw));
    const short = cacheable(raw, { maxBytes: 10 });
    await expect(askWhole(upstream, short)).rejects.toMatchObject({ code: "MM_LIMIT" });
  });
});

describe("answers that say nothing about caches", () => {
  it("are as fresh as RFC 9111 has it", () => {
    const fields = ["Content-Type: text/plain", "Date: Thu, 01 Jan 2026 00:00:00 GMT", "ETag: x"];
    const more = [
      "Cache-Control: max-age=60",
      "EXPIRES : 0",
      "Vary: accept",
      "Age: 50",
      "Set-Cookie: a=b",
    ];
    const freshness = { freshMs: 90_000, negativeMs: 30_000 };
    const url = "http://archive.example/timemap/x";
    fc.assert(
      fc.property(
        fc.subarray([...fields, ...more]),
        fc.constantFrom(200, 203, 204, 206, 300, 302, 308, 404, 410, 500),
        fc.constantFrom(-5000, 0, 29_999, 30_000, 30_001, 60_000, 89_999, 90_000),
        fc.constantFrom({}, { "cache-control": "max-age=5" }),
        (lines, status, agoMs, requestHeaders) => {
          const headerBlock = lines.map((line) => `${line}\r\n`).join("");
          const receivedAt = Date.now() - agoMs;
          const answer = { receivedAt, status, url, headerBlock, requestHeaders };
          const kept = { ...answer, body: new Uint8Array() };
          const policy = policyOf(url, kept, freshness);
          const request = { url, method: "GET", headers: {} };
          const isFresh = policy.storable() && policy.satisfiesWithoutRevalidation(request);
          const saysNothing = !lines.some((line) => /^(?:Ca|E[xX]|V|A)/.test(line));
          const isPlain = saysNothing && Object.keys(requestHeaders).length === 0;
          // Others are fresh only while the clock is wrong.
          const isTaken = [200, 203, 300, 308, 404, 410].includes(status);
          expect(isPlainlyFresh(kept, freshness)).toBe(isPlain && isFresh && isTaken);
        },
      ),
      { numRuns: 500 },
    );
  });
});
