import { gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { memoryCache } from "../../../src/aggregate/ask/cache.ts";
import { createUpstream } from "../../../src/aggregate/ask/create-upstream.ts";
import { MementoMapError } from "../../../src/errors.ts";
import {
  linkTimeMap,
  type ScriptedAnswer,
  scriptedUpstream,
} from "../../support/scripted-upstream.ts";
import { localArchive } from "../../support/aggregating.ts";
import { archive } from "../../support/sessions.ts";
import { until } from "../../support/until.ts";

const URI = "http://example.org/";
const A = archive("a");
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

function timeMap(...datetimes: string[]): ScriptedAnswer {
  return { body: linkTimeMap(URI, "http://a/", datetimes) };
}

/** An upstream with a cache, and a clock that can be set. */
function asking(script: () => ScriptedAnswer | Promise<ScriptedAnswer>) {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 0, 1) });
  onTestFinished(() => void vi.useRealTimers());
  const { upstream, requests } = scriptedUpstream(script, { cache: memoryCache(1e6) });
  const ask = async (how?: "refresh" | "only-cached"): Promise<string> => {
    const { mementos, origin, result } = await upstream.ask(A, URI, how);
    return `${result} ${mementos.count} ${origin ?? "-"}`;
  };
  return { ask, requests, later: (ms: number) => vi.setSystemTime(Date.now() + ms) };
}

describe("what an archive answered", () => {
  it("is used for a day, and for 15 more while the archive is asked again", async () => {
    let answer = timeMap("20150101000000");
    const { ask, requests, later } = asking(() => answer);
    expect(await ask()).toBe("hit 1 network");
    later(23 * HOUR);
    expect(await ask()).toBe("hit 1 cache");
    expect(requests).toHaveLength(1);
    answer = timeMap("20150101000000", "20160101000000");
    later(14 * DAY);
    expect(await ask()).toBe("hit 1 stale");
    await until(async () => (await ask()) === "hit 2 cache");
    expect(requests).toHaveLength(2);
    later(17 * DAY);
    expect(await ask()).toBe("hit 2 network");
  });

  it("is used when the archive fails later", async () => {
    let answer = timeMap("20150101000000");
    const { ask, later } = asking(() => answer);
    await ask();
    answer = { status: 500 };
    later(2 * 60_000);
    expect(await ask("refresh")).toBe("hit 1 stale");
    later(17 * DAY);
    expect(await ask()).toBe("error 0 network");
  });

  it("is not said again that there is nothing, once that is an hour old", async () => {
    let answer: ScriptedAnswer = { status: 404 };
    const { ask, later } = asking(() => answer);
    expect(await ask()).toBe("miss 0 network");
    later(HOUR - 1000);
    expect(await ask()).toBe("miss 0 cache");
    later(2000);
    answer = { status: 503 };
    expect(await ask()).toBe("error 0 network");
  });

  it("is not replaced by less within a day", async () => {
    let answer = timeMap("20150101000000", "20160101000000");
    const { ask, later } = asking(() => answer);
    await ask();
    answer = timeMap("20150101000000");
    later(HOUR);
    expect(await ask("refresh")).toBe("hit 2 stale");
    answer = { status: 404 };
    later(HOUR);
    expect(await ask("refresh")).toBe("hit 2 stale");
    later(23 * HOUR);
    expect(await ask("refresh")).toBe("miss 0 network");
  });

  it.each<[Record<string, string>, string]>([
    [{ "cache-control": "no-store" }, "hit 1 network"],
    [{ "cache-control": "private" }, "hit 1 network"],
    [{ "cache-control": "max-age=60, must-revalidate" }, "hit 1 network"],
    [{ "cache-control": "max-age=60" }, "hit 1 stale"],
    [{ "cache-control": "max-age=7200" }, "hit 1 cache"],
    [{ "cache-control": "max-age=7200", age: "7000" }, "hit 1 stale"],
    [
      { expires: "Thu, 01 Jan 2026 02:00:00 GMT", date: "Thu, 01 Jan 2026 00:00:00 GMT" },
      "hit 1 cache",
    ],
    [{}, "hit 1 cache"],
  ])("is kept as its headers say: %j", async (headers, after) => {
    const { ask, later } = asking(() => ({ ...timeMap("20150101000000"), headers }));
    await ask();
    later(HOUR);
    expect(await ask()).toBe(after);
  });

  it("is asked for again once a minute by who wants a new one, and never by who wants none", async () => {
    const { ask, requests, later } = asking(() => timeMap("20150101000000"));
    expect(await ask("only-cached")).toBe("error 0 cache");
    await ask();
    expect(await ask("refresh")).toBe("hit 1 cache");
    later(61_000);
    expect(await ask("refresh")).toBe("hit 1 network");
    expect(await ask("only-cached")).toBe("hit 1 cache");
    expect(requests).toHaveLength(2);
  });

  it("does not go by what was kept while the clock was wrong", async () => {
    const { ask, later } = asking(() => timeMap("20150101000000"));
    later(10 * DAY);
    await ask();
    later(-10 * DAY);
    expect(await ask()).toBe("hit 1 network");
  });
});

describe("an ask", () => {
  it("is one for all who want the same", async () => {
    let release = (_answer: ScriptedAnswer): void => undefined;
    const { upstream, requests } = scriptedUpstream(
      () => new Promise((resolve) => (release = resolve)),
    );
    const asks = Array.from({ length: 3 }, async () => upstream.ask(A, URI));
    await until(() => requests.length > 0);
    release(timeMap("20150101000000"));
    const answers = await Promise.all(asks);
    expect(answers.map(({ origin }) => origin)).toEqual(["network", "coalesced", "coalesced"]);
    expect(requests).toHaveLength(1);
    expect(upstream.traffic.get("a")?.requests).toBe(1);
  });

  it("ends with the upstream", async () => {
    const held = await localArchive("held", () => undefined);
    const upstream = createUpstream();
    const asks = Array.from({ length: 5 }, async (_, i) =>
      upstream.ask({ ...held.archive, concurrency: 2 }, `${URI}${i}`),
    );
    await until(() => held.requests.length === 2);
    await upstream.close();
    for (const answer of await Promise.all(asks))
      expect(answer).toMatchObject({ failure: "closed" });
    expect(await upstream.ask(held.archive, URI)).toMatchObject({ failure: "closed" });
    expect(upstream.stateOf(held.archive)).toMatchObject({ health: "awake", requestsUnderWay: 0 });
  });

  it("does not keep what becomes 200 times as long when it is decompressed", async () => {
    const bomb = gzipSync(`${"<http://a.b/>;rel=memento".padEnd(1000)},\n`.repeat(40_000));
    const bad = await localArchive("bad", (_request, response) => {
      response.writeHead(200, { "Content-Encoding": "gzip" }).end(bomb);
    });
    const upstream = createUpstream();
    onTestFinished(() => upstream.close());
    const answer = await upstream.ask(bad.archive, URI);
    expect(answer).toMatchObject({ result: "error", failure: "body-limit" });
    expect(upstream.traffic.get("bad")?.bytes).toBeLessThan(30 * 2 ** 20);
  });

  it("counts bytes over all pages of a TimeMap", async () => {
    let page = 0;
    const { upstream } = scriptedUpstream(
      () => {
        page += 1;
        const next = `<http://a/${page}>; rel="next"; type="application/link-format"`;
        return { body: linkTimeMap(URI, `http://a/${page}/`, ["20150101000000"], next) };
      },
      { limits: { maxBytes: 2000 } },
    );
    const answer = await upstream.ask(A, URI);
    expect(answer).toMatchObject({ result: "hit", failure: "body-limit" });
    expect(page).toBeLessThan(20);
  });
});

describe("the circuit breaker", () => {
  const down = new MementoMapError("MM_HTTP", "connection refused", { reason: "connect" });

  it("opens after failures in a row, for longer each time, and closes by one probe", async () => {
    let isDown = true;
    let now = 0;
    const changes: string[] = [];
    const { upstream, requests } = scriptedUpstream(
      () => {
        if (isDown) throw down;
        return timeMap("20150101000000");
      },
      { tolerance: 3, now: () => now, onChange: (_archive, { health }) => changes.push(health) },
    );
    const ask = async (): Promise<string> => {
      const { result, failure } = await upstream.ask(A, URI);
      return failure ?? result;
    };
    expect([await ask(), await ask(), await ask(), await ask()]).toEqual([
      "connect",
      "connect",
      "connect",
      "dormant",
    ]);
    expect(upstream.isDormant(A, "timemap")).toBe(true);
    expect(upstream.isDormant(A, "timegate")).toBe(false);
    now = 60_000;
    expect([await ask(), await ask()]).toEqual(["connect", "dormant"]);
    now = 179_000;
    expect(await ask()).toBe("dormant");
    now = 180_000;
    isDown = false;
    expect([await ask(), await ask()]).toEqual(["hit", "hit"]);
    expect(requests).toHaveLength(6);
    expect(changes).toEqual(["dormant", "probing", "dormant", "probing", "awake"]);
  });

  it("opens for those that wait for their turn", async () => {
    const { upstream, requests } = scriptedUpstream(
      async () => {
        await Promise.resolve();
        throw down;
      },
      { tolerance: 2 },
    );
    const asks = Array.from({ length: 50 }, async (_, i) =>
      upstream.ask({ ...A, concurrency: 1 }, `${URI}${i}`),
    );
    const failures = (await Promise.all(asks)).map(({ failure }) => failure);
    // The next ones have their turns before it is known why those before failed.
    expect(requests.length).toBeLessThan(6);
    expect(failures.filter((failure) => failure === "dormant")).toHaveLength(50 - requests.length);
  });

  it("stays closed with a tolerance of Infinity", async () => {
    const { upstream } = scriptedUpstream(
      () => {
        throw down;
      },
      { tolerance: Infinity },
    );
    for (let i = 0; i < 20; i++) await upstream.ask(A, URI);
    expect(upstream.stateOf(A)).toMatchObject({ health: "awake", consecutiveFailures: 20 });
  });
});
